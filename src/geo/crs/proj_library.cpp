// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/proj_library.hpp"

#include "geo/crs/crs_text.hpp"
#include "geo/crs/proj_files.hpp"
#include "geo/number.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace terrazzo::geo {
namespace {

// By interface version, newest known first; the plain name exists if development files are installed.
constexpr std::array<char const*, 5> kLibraryNames = {"libproj.so.25", "libproj.so.26", "libproj.so.22",
                                                      "libproj.so.19", "libproj.so"};

bool resolve(void* library, ProjApi& api) {
  bool complete = true;
#define TERRAZZO_PROJ_RESOLVE(function)                                               \
  api.function = reinterpret_cast<decltype(api.function)>(dlsym(library, #function)); \
  complete = complete && api.function != nullptr;
  TERRAZZO_PROJ_FUNCTIONS(TERRAZZO_PROJ_RESOLVE)
  bool const usable = complete;
  TERRAZZO_PROJ_NEWER_FUNCTIONS(TERRAZZO_PROJ_RESOLVE)
#undef TERRAZZO_PROJ_RESOLVE
  return usable;
}

ProjApi const* load() {
  static ProjApi api;
  for (char const* name : kLibraryNames) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) { continue; }
    if (resolve(library, api)) { return &api; }
    dlclose(library);
  }
  return nullptr;
}

std::mutex& session_mutex() {
  static std::mutex mutex;
  return mutex;
}

// The folders in which PROJ searches its data.
std::vector<std::string> data_folders(ProjApi const& api) {
  std::string_view paths = api.proj_info().searchpath;
  std::vector<std::string> folders;
  while (!paths.empty()) {
    auto const end = std::min(paths.find(':'), paths.size());
    folders.emplace_back(paths.substr(0, end));
    paths.remove_prefix(std::min(end + 1, paths.size()));
  }
  return folders;
}

// Never destroyed: at exit PROJ's own globals may be destroyed first. Null if PROJ cannot be confined.
PJ_CONTEXT* shared_context(ProjApi const& api) {
  static PJ_CONTEXT* const context = [&]() -> PJ_CONTEXT* {
    PJ_CONTEXT* const made = api.proj_context_create();
    if (made == nullptr) { return nullptr; }
    api.proj_log_level(made, PJ_LOG_NONE);  // many files have CRSs that do not parse; the caller sees the result
    static ProjFiles* const files = new ProjFiles(data_folders(api));  // never destroyed: used by the context
    // Set the files first: PROJ reads its proj.ini when the network is disabled.
    if (api.proj_context_set_fileapi(made, &ProjFiles::interface(), files) == 0) { return nullptr; }
    return api.proj_context_set_enable_network(made, 0) == 0 ? made : nullptr;
  }();
  return context;
}

std::string text_or_empty(char const* text) { return text == nullptr ? std::string() : std::string(text); }

}  // namespace

ProjApi const* proj_api() {
  static ProjApi const* const api = load();
  return api;
}

void PjDeleter::operator()(PJ* object) const noexcept { proj_api()->proj_destroy(object); }

ProjSession::ProjSession() : lock_(session_mutex()), api_(proj_api()), context_(shared_context(*api_)) {}

PjPtr ProjSession::create(std::string const& definition) const {
  PjPtr made = adopt(api_->proj_create(context_, definition.c_str()));
  return made && api_->proj_is_crs(made.get()) != 0 ? std::move(made) : nullptr;
}

PjPtr ProjSession::create_typed(std::string_view text) const {
  std::string const typed = typed_crs(text);
  if (typed.empty()) { return nullptr; }
  if (!is_crs_name(typed)) { return create(typed); }
  for (PJ_TYPE const type : {PJ_TYPE_GEOGRAPHIC_2D_CRS, PJ_TYPE_PROJECTED_CRS, PJ_TYPE_COMPOUND_CRS, PJ_TYPE_CRS}) {
    if (PjPtr found = from_name(typed, type)) { return found; }
  }
  return nullptr;
}

PjPtr ProjSession::from_epsg(int code, PJ_CATEGORY category) const {
  // Without a context there is no database either: callers stop.
  if (code <= 0 || context_ == nullptr) { return nullptr; }
  return adopt(api_->proj_create_from_database(context_, "EPSG", std::to_string(code).c_str(), category, 0, nullptr));
}

std::string ProjSession::name(PjPtr const& object) const {
  return object ? text_or_empty(api_->proj_get_name(object.get())) : std::string();
}

int ProjSession::epsg(PjPtr const& object) const {
  if (!object || text_or_empty(api_->proj_get_id_auth_name(object.get(), 0)) != "EPSG") { return 0; }
  return integer_or_zero(text_or_empty(api_->proj_get_id_code(object.get(), 0)));
}

int ProjSession::identify(PjPtr const& crs, int min_confidence, int wanted) const {
  int* confidences = nullptr;
  PJ_OBJ_LIST* const matches = api_->proj_identify(context_, crs.get(), nullptr, nullptr, &confidences);
  int code = 0;
  for (int i = 0; matches != nullptr && code == 0 && i < api_->proj_list_get_count(matches); ++i) {
    if (confidences[i] < min_confidence) { continue; }
    PjPtr match = adopt(api_->proj_list_get(context_, matches, i));
    // A CRS with its shift to WGS 84 has no code of its own: use the CRS inside.
    if (match && api_->proj_get_type(match.get()) == PJ_TYPE_BOUND_CRS) {
      match = adopt(api_->proj_get_source_crs(context_, match.get()));
    }
    int const found = epsg(match);
    if (wanted == 0 || found == wanted) { code = found; }
  }
  if (matches != nullptr) { api_->proj_list_destroy(matches); }
  if (confidences != nullptr) { api_->proj_int_list_destroy(confidences); }
  return code;
}

PjPtr ProjSession::from_name(std::string const& name, PJ_TYPE type) const {
  PJ_OBJ_LIST* const matches =
      api_->proj_create_from_name(context_, "EPSG", name.c_str(), &type, 1, /* approximateMatch */ 0, 1, nullptr);
  if (matches == nullptr) { return nullptr; }
  PjPtr found = api_->proj_list_get_count(matches) > 0 ? adopt(api_->proj_list_get(context_, matches, 0)) : nullptr;
  api_->proj_list_destroy(matches);
  return found;
}

std::string ProjSession::wkt(PjPtr const& object, PJ_WKT_TYPE type) const {
  static constexpr std::array<char const*, 2> kOptions = {"MULTILINE=NO", nullptr};
  return object ? text_or_empty(api_->proj_as_wkt(context_, object.get(), type, kOptions.data())) : std::string();
}

std::string ProjSession::projjson(PjPtr const& object) const {
  static constexpr std::array<char const*, 2> kOptions = {"MULTILINE=NO", nullptr};
  return object ? text_or_empty(api_->proj_as_projjson(context_, object.get(), kOptions.data())) : std::string();
}

}  // namespace terrazzo::geo
