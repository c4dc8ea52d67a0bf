// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's closed libraries, found and loaded at run time: never linked, never shipped. A library is looked for once
// per process and stays loaded. That it is absent, or cannot be loaded on this machine, is an answer and not an error.
//
// Where: the folders of TERRAZZO_VENDOR_PATH (separated by ':'), the loader's own search, then the places where wheels
// and bundles lie: beside the executable and beside our own library, their lib folders, and `nvidia/*/lib` of the
// site-packages around them or in the active environment. TERRAZZO_DISABLE (a comma list) makes libraries absent.
//
// Thread rule: everything here may be called from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::gpu {

enum class Vendor : std::uint8_t { nvcomp, nvjpeg, nvjpeg2k };

struct VendorLibrary {
  std::string name;     // "nvcomp"; the word that TERRAZZO_DISABLE takes
  bool found = false;
  std::string path;     // of the file in use
  std::string version;  // "6.0.0"
  std::string hint;     // when not found: why, and what to install
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

// What the search starts from; taken from the process, or made up by a test.
struct VendorSearchRoots {
  std::string vendor_path;                          // TERRAZZO_VENDOR_PATH
  std::vector<std::filesystem::path> origins;       // folders of the executable and of our own library
  std::vector<std::filesystem::path> environments;  // roots of active Python environments
};

// Folders to try, in order. `before_loader` are the user's own; `after_loader` those of wheels and bundles.
struct VendorFolders {
  std::vector<std::filesystem::path> before_loader;
  std::vector<std::filesystem::path> after_loader;
};
[[nodiscard]] VendorFolders vendor_folders(VendorSearchRoots const& roots);

// Binds a function pointer to the library's function of that name; false when it is not there.
template <class Function>
[[nodiscard]] bool bind(VendorModule const& module, char const* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(module.symbol(name));
  return function != nullptr;
}

}  // namespace terrazzo::gpu
