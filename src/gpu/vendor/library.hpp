// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's closed libraries, found and loaded at run time: never linked, never shipped. A library is searched once per
// process and stays loaded. An absent library, or one that cannot be loaded on this machine, is a result and not an
// error.
//
// Search path: base/library_search.hpp. TERRAZZO_DISABLE (a comma-separated list) makes libraries absent.
//
// Thread rule: everything here may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace terrazzo::gpu {

enum class Vendor : std::uint8_t { nvcomp, nvjpeg, nvjpeg2k };

struct VendorLibrary {
  std::string name;     // "nvcomp"; the name in TERRAZZO_DISABLE
  bool found = false;
  std::string path;     // path of the file in use
  std::string version;  // "6.0.0"
  std::string hint;     // if not found: the reason, and the package to install
  std::string refused;  // files found but rejected because other users can replace them; empty if there are none
};

// One loaded library; `handle` is null if it is absent.
struct VendorModule {
  VendorLibrary library;
  void* handle = nullptr;

  // Null if the library is absent or lacks the function.
  [[nodiscard]] void* symbol(char const* name) const noexcept;
};

[[nodiscard]] VendorModule const& vendor_module(Vendor vendor);

// All libraries; loads those that were not searched yet: for the `doctor` command.
[[nodiscard]] std::vector<VendorLibrary> vendor_libraries();

// Binds a function pointer to the library's function of that name; returns false if it is missing.
template <class Function>
[[nodiscard]] bool bind(VendorModule const& module, char const* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(module.symbol(name));
  return function != nullptr;
}

}  // namespace terrazzo::gpu
