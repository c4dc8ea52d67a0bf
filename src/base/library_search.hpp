// SPDX-License-Identifier: Apache-2.0
//
// Finds and loads shared libraries that are never linked: NVIDIA's codec libraries and the kvikIO plugin. A library
// that is absent, or that cannot be loaded on this machine, is an answer and not an error.
//
// Where, in this order: the folders of TERRAZZO_VENDOR_PATH (separated by ':'), the folders of set_vendor_folders(),
// the loader's own search, the folder of our own library (of the executable, where that is linked statically), and
// `nvidia/*/lib` of the active Python environment (VIRTUAL_ENV, CONDA_PREFIX).
//
// A library runs with all rights of the process, so a file is loaded from a folder only if nobody but root, the current
// user and the owner of our own library can replace it: the file, its folder and every folder above it are checked. The
// loader's own search is the system administrator's (and LD_LIBRARY_PATH's) and is not checked.
//
// Thread rule: everything here may be called from any thread.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace terrazzo {

// What the search starts from; taken from the process, or made up by a test.
struct LibrarySearchRoots {
  std::string vendor_path;  // TERRAZZO_VENDOR_PATH
  std::vector<std::filesystem::path> given;  // set_vendor_folders()
  std::filesystem::path own;  // folder of our own library
  std::vector<std::filesystem::path> environments;  // roots of active Python environments
};
[[nodiscard]] LibrarySearchRoots process_library_roots();

// Existing folders to try, in order: before the loader's own search, and after it.
struct LibraryFolders {
  std::vector<std::filesystem::path> before_loader, after_loader;
};
[[nodiscard]] LibraryFolders library_folders(LibrarySearchRoots const& roots);

// Says who else could replace the file: "everyone may write to /srv/lib". Empty when nobody can but root, the current
// user and `also_trusted`.
[[nodiscard]] std::string who_else_can_replace(std::filesystem::path const& file, uid_t also_trusted);

struct RefusedLibrary {
  std::string file;
  std::string reason;
};

struct LoadedLibrary {
  void* handle = nullptr;  // of dlopen; stays open
  std::string path;  // of the file in use
  std::string trouble;  // the loader's complaint about a file that is there; empty when none is
  std::vector<RefusedLibrary> refused;  // files that somebody else could replace
};
[[nodiscard]] LoadedLibrary load_library(char const* file_name, LibrarySearchRoots const& roots);
[[nodiscard]] LoadedLibrary load_library(char const* file_name);

// "libx.so in /srv/lib was refused: everyone may write to /srv/lib"; empty when nothing was refused.
[[nodiscard]] std::string refusal_note(LoadedLibrary const& library);

}  // namespace terrazzo
