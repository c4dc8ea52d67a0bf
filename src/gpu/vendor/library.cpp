// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/library.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/vendor/nvcomp_api.hpp"
#include "gpu/vendor/nvjpeg2k_api.hpp"
#include "gpu/vendor/nvjpeg_api.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <system_error>

namespace terrazzo::gpu {
namespace {

namespace fs = std::filesystem;

// Folders above an origin that are looked at for a site-packages; deeper trees are not ours.
constexpr int kMaxAncestors = 6;

// The library's own word for its version; empty when it cannot tell.
using ReadVersion = std::string (*)(VendorModule const&);

template <class GetProperty>
std::string property_version(VendorModule const& module, char const* function_name) {
  GetProperty* get = nullptr;
  if (!bind(module, function_name, get)) { return {}; }
  std::array<int, 3> parts{};
  for (int i = 0; i < 3; ++i) {
    if (get(static_cast<libraryPropertyType>(i), &parts[static_cast<std::size_t>(i)]) != 0) { return {}; }
  }
  return text(parts[0], ".", parts[1], ".", parts[2]);
}

std::string nvcomp_version(VendorModule const& module) {
  nvcomp::GetProperties* get = nullptr;
  nvcomp::Properties properties{};
  if (!bind(module, "nvcompGetProperties", get) || get(&properties) != nvcomp::kSuccess) { return {}; }
  return text(properties.version / 1000, ".", properties.version % 1000 / 100, ".", properties.version % 100);
}

std::string nvjpeg_version(VendorModule const& module) {
  return property_version<nvjpeg::GetProperty>(module, "nvjpegGetProperty");
}

std::string nvjpeg2k_version(VendorModule const& module) {
  return property_version<nvjpeg2k::GetProperty>(module, "nvjpeg2kGetProperty");
}

// The sonames are those whose headers our declarations were checked against: another major is another interface.
struct Spec {
  char const* name;
  char const* soname;
  char const* package;
  ReadVersion version;
};

constexpr std::array<Spec, 3> kSpecs{{
    {"nvcomp", "libnvcomp.so.6", "nvidia-libnvcomp-cu13", &nvcomp_version},
    {"nvjpeg", "libnvjpeg.so.13", "nvidia-nvjpeg", &nvjpeg_version},
    {"nvjpeg2k", "libnvjpeg2k.so.0", "nvidia-nvjpeg2k-cu13", &nvjpeg2k_version},
}};

std::string_view environment(char const* name) noexcept {
  char const* const value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

void add_folder(std::vector<fs::path>& folders, fs::path const& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) { return; }
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) { folders.push_back(folder); }
}

// The subfolders of `folder`, sorted, so that the choice does not depend on the file system's order.
std::vector<fs::path> subfolders(fs::path const& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) { found.push_back(it->path()); }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// NVIDIA's wheels put their libraries under site-packages/nvidia/<name>/lib or lib64.
void add_wheels(std::vector<fs::path>& folders, fs::path const& site_packages) {
  for (fs::path const& package : subfolders(site_packages / "nvidia")) {
    add_folder(folders, package / "lib");
    add_folder(folders, package / "lib64");
  }
}

// A Python environment keeps its packages in lib/python3.x/site-packages (Debian's own: dist-packages).
void add_environment(std::vector<fs::path>& folders, fs::path const& root) {
  for (fs::path const& python : subfolders(root / "lib")) {
    if (!python.filename().string().starts_with("python")) { continue; }
    add_wheels(folders, python / "site-packages");
    add_wheels(folders, python / "dist-packages");
  }
}

VendorSearchRoots process_roots() {
  VendorSearchRoots roots;
  roots.vendor_path = std::string(environment("TERRAZZO_VENDOR_PATH"));
  std::error_code error;
  Dl_info self{};
  if (dladdr(reinterpret_cast<void const*>(&vendor_libraries), &self) != 0 && self.dli_fname != nullptr) {
    fs::path const file = fs::canonical(self.dli_fname, error);
    if (!error) { roots.origins.push_back(file.parent_path()); }
  }
  error.clear();
  fs::path const executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) { roots.origins.push_back(executable.parent_path()); }
  for (char const* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (!environment(name).empty()) { roots.environments.emplace_back(environment(name)); }
  }
  return roots;
}

std::string path_of(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name == nullptr) { return {}; }
  return map->l_name;
}

// Local binding: two versions of a CUDA library in one process must not see each other's symbols.
void* open_library(std::string const& file, std::string& trouble) {
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    char const* const why = dlerror();
    trouble = why == nullptr ? "unknown reason" : why;
  }
  return handle;
}

void* open_in(std::vector<fs::path> const& folders, char const* soname, std::string& trouble) {
  for (fs::path const& folder : folders) {
    fs::path const file = folder / soname;
    std::error_code ignored;
    if (!fs::exists(file, ignored)) { continue; }
    if (void* const handle = open_library(file.string(), trouble)) { return handle; }
  }
  return nullptr;
}

VendorModule load(Spec const& spec) {
  VendorModule module;
  module.library.name = spec.name;
  if (is_disabled(spec.name)) {
    module.library.hint = "disabled by TERRAZZO_DISABLE";
    return module;
  }
  VendorFolders const folders = vendor_folders(process_roots());
  std::string trouble;         // of a file that is there and cannot be loaded: worth telling
  std::string loader_trouble;  // mostly "no such file": told only as such
  module.handle = open_in(folders.before_loader, spec.soname, trouble);
  if (module.handle == nullptr) { module.handle = open_library(spec.soname, loader_trouble); }
  if (module.handle == nullptr) { module.handle = open_in(folders.after_loader, spec.soname, trouble); }
  if (module.handle == nullptr) {
    module.library.hint = trouble.empty() ? text(spec.soname, " was not found; install the package ", spec.package,
                                                 " or name its folder in TERRAZZO_VENDOR_PATH")
                                          : text(spec.soname, " cannot be loaded: ", trouble);
    return module;
  }
  module.library.found = true;
  module.library.path = path_of(module.handle);
  module.library.version = spec.version(module);
  return module;
}

}  // namespace

void* VendorModule::symbol(char const* name) const noexcept {
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

VendorFolders vendor_folders(VendorSearchRoots const& roots) {
  VendorFolders folders;
  std::string_view rest = roots.vendor_path;
  while (!rest.empty()) {
    auto const colon = std::min(rest.find(':'), rest.size());
    if (colon != 0) { add_folder(folders.before_loader, fs::path(rest.substr(0, colon))); }
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  for (fs::path const& origin : roots.origins) {
    add_folder(folders.after_loader, origin);
    add_folder(folders.after_loader, origin / "lib");
    add_folder(folders.after_loader, origin.parent_path() / "lib");
  }
  for (fs::path const& origin : roots.origins) {
    fs::path ancestor = origin;
    for (int i = 0; i < kMaxAncestors && ancestor.has_relative_path(); ++i, ancestor = ancestor.parent_path()) {
      add_wheels(folders.after_loader, ancestor);
    }
    add_environment(folders.after_loader, origin.parent_path());
  }
  for (fs::path const& root : roots.environments) { add_environment(folders.after_loader, root); }
  return folders;
}

VendorModule const& vendor_module(Vendor vendor) {
  // One initialisation each: asking for one library does not load the others.
  switch (vendor) {
    case Vendor::nvcomp: {
      static VendorModule const kModule = load(kSpecs[0]);
      return kModule;
    }
    case Vendor::nvjpeg: {
      static VendorModule const kModule = load(kSpecs[1]);
      return kModule;
    }
    case Vendor::nvjpeg2k: break;
  }
  static VendorModule const kModule = load(kSpecs[2]);
  return kModule;
}

std::vector<VendorLibrary> vendor_libraries() {
  std::vector<VendorLibrary> libraries;
  for (Vendor const vendor : {Vendor::nvcomp, Vendor::nvjpeg, Vendor::nvjpeg2k}) {
    libraries.push_back(vendor_module(vendor).library);
  }
  return libraries;
}

}  // namespace terrazzo::gpu
