// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's closed libraries, found and loaded at run time: never linked, never shipped. A library is looked for once
// per process and stays loaded. That it is absent, or cannot be loaded on this machine, is an answer and not an error.
//
// Where: base/library_search.hpp. TERRAZZO_DISABLE (a comma list) makes libraries absent.
//
// Thread rule: everything here may be called from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace terrazzo::gpu {

enum class Vendor : std::uint8_t { nvcomp, nvjpeg, nvjpeg2k };

struct VendorLibrary {
  std::string name;     // "nvcomp"; the word that TERRAZZO_DISABLE takes
  bool found = false;
  std::string path;     // of the file in use
  std::string version;  // "6.0.0"
  std::string hint;     // when not found: why, and what to install
  std::string refused;  // files that were there and that other users can replace; empty when there are none
};

// One loaded library; `handle` is null when it is absent.
struct VendorModule {
  VendorLibrary library;
  void* handle = nullptr;

  // Null when the library is absent or lacks the function.
  [[nodiscard]] void* symbol(char const* name) const noexcept;
};

[[nodiscard]] VendorModule const& vendor_module(Vendor vendor);

// Every library we know, loading those that were not looked for yet: for the `doctor` command.
[[nodiscard]] std::vector<VendorLibrary> vendor_libraries();

// Binds a function pointer to the library's function of that name; false when it is not there.
template <class Function>
[[nodiscard]] bool bind(VendorModule const& module, char const* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(module.symbol(name));
  return function != nullptr;
}

}  // namespace terrazzo::gpu
