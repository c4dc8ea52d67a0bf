// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/library.hpp"

#include "base/library_search.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/vendor/nvcomp_api.hpp"
#include "gpu/vendor/nvjpeg2k_api.hpp"
#include "gpu/vendor/nvjpeg_api.hpp"

#include <dlfcn.h>

#include <array>

namespace terrazzo::gpu {
namespace {

// The version that the library reports; empty if it has no function for it.
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

// The sonames are those whose headers our declarations were checked against: another major version is another
// interface.
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

VendorModule load(Spec const& spec) {
  VendorModule module;
  module.library.name = spec.name;
  if (is_gpu_part_disabled(spec.name)) {
    module.library.hint = "disabled by TERRAZZO_DISABLE";
    return module;
  }
  LoadedLibrary const loaded = load_library(spec.soname);
  module.handle = loaded.handle;
  module.library.refused = refusal_note(loaded);
  if (module.handle == nullptr) {
    module.library.hint = !loaded.trouble.empty()   ? text(spec.soname, " cannot be loaded: ", loaded.trouble)
                          : !loaded.refused.empty() ? module.library.refused
                                                    : text(spec.soname, " was not found; install the package ",
                                                           spec.package, " or name its folder in TERRAZZO_VENDOR_PATH");
    return module;
  }
  module.library.found = true;
  module.library.path = loaded.path;
  module.library.version = spec.version(module);
  return module;
}

}  // namespace

void* VendorModule::symbol(char const* name) const noexcept {
  return handle == nullptr ? nullptr : dlsym(handle, name);
}

VendorModule const& vendor_module(Vendor vendor) {
  // One initialisation each: a request for one library does not load the others.
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
