// SPDX-License-Identifier: Apache-2.0
//
// Finds and loads shared libraries that are never linked: NVIDIA's codec libraries, the kvikIO plugin and libjxl. A
// library that is absent, or that cannot be loaded on this machine, is a normal result and not an error.
//
// Search order: the folders of TERRAZZO_VENDOR_PATH (separated by ':'), the folders of set_vendor_folders(), the
// loader's search path, the folder of our own library (of the executable if linked statically), and `nvidia/*/lib` of
// the active Python environment (VIRTUAL_ENV, CONDA_PREFIX).
//
// A library runs with all rights of the process, so a file is loaded from a folder only if root, the current user and
// the owner of our own library are the only ones who can replace it: the file, its folder and every folder above it are
// checked. The loader's search path belongs to the administrator (and LD_LIBRARY_PATH) and is not checked.
//
// Thread rule: any thread may call any function.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace terrazzo {

// The inputs of the search; taken from the process, or from a test.
struct LibrarySearchRoots {
  std::string vendor_path;  // TERRAZZO_VENDOR_PATH
  std::vector<std::filesystem::path> given;  // set_vendor_folders()
  std::filesystem::path own;  // folder of our own library
  std::vector<std::filesystem::path> environments;  // roots of active Python environments
};
[[nodiscard]] LibrarySearchRoots process_library_roots();

// Existing folders to try, in order: before the loader's search path, and after it.
struct LibraryFolders {
  std::vector<std::filesystem::path> before_loader, after_loader;
};
[[nodiscard]] LibraryFolders library_folders(LibrarySearchRoots const& roots);

// Names another user who could replace the file: "everyone may write to /srv/lib". Empty if only root, the current
// user and `also_trusted` can.
[[nodiscard]] std::string who_else_can_replace(std::filesystem::path const& file, uid_t also_trusted);

struct RefusedLibrary {
  std::string file;
  std::string reason;
};

struct LoadedLibrary {
  void* handle = nullptr;  // from dlopen; stays open
  std::string path;  // path of the loaded file
  std::string trouble;  // the loader's error for an existing file; empty if there was none
  std::vector<RefusedLibrary> refused;  // files that other users could replace
};
[[nodiscard]] LoadedLibrary load_library(char const* file_name, LibrarySearchRoots const& roots);
[[nodiscard]] LoadedLibrary load_library(char const* file_name);

// "libx.so in /srv/lib was refused: everyone may write to /srv/lib"; empty if no file was refused.
[[nodiscard]] std::string refusal_note(LoadedLibrary const& library);

}  // namespace terrazzo
