// SPDX-License-Identifier: Apache-2.0
#include "base/library_search.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"

#include <dlfcn.h>
#include <grp.h>
#include <link.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace terrazzo {
namespace {

namespace fs = std::filesystem;

// Programs with more rights than their caller ignore the caller's environment.
std::string environment(char const* name) {
  char const* const value = secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

void add_folder(std::vector<fs::path>& folders, fs::path const& folder) {
  std::error_code ignored;
  if (folder.empty() || !fs::is_directory(folder, ignored)) { return; }
  if (std::ranges::find(folders, folder) == folders.end()) { folders.push_back(folder); }
}

// The subfolders of `folder`, sorted: the choice must not depend on the file system's order.
std::vector<fs::path> subfolders(fs::path const& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_directory(ignored)) { found.push_back(it->path()); }
  }
  std::ranges::sort(found);
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

// Some distributions give every user a private group and create group-writable folders. Such a group counts as the
// user.
bool is_private_group(gid_t group, uid_t owner) {
  char buffer[16384];
  passwd user{};
  passwd* found_user = nullptr;
  if (getpwuid_r(owner, &user, buffer, sizeof buffer, &found_user) != 0 || found_user == nullptr) { return false; }
  if (user.pw_gid != group) { return false; }
  std::string const name = user.pw_name;
  ::group entry{};
  ::group* found_group = nullptr;
  if (getgrgid_r(group, &entry, buffer, sizeof buffer, &found_group) != 0 || found_group == nullptr) { return false; }
  for (char** member = entry.gr_mem; member != nullptr && *member != nullptr; ++member) {
    if (name != *member) { return false; }
  }
  return entry.gr_name == name;  // a shared primary group ("users") has another name than its users
}

// With an access control list, the group bits of the mode are its mask: it may grant access to other users.
bool has_access_list(fs::path const& path) { return getxattr(path.c_str(), "system.posix_acl_access", nullptr, 0) > 0; }

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

// The file that contains this code: libterrazzo.so, or the program that it is linked into. The loader reports the name
// that the caller typed, which may be another file here; the kernel reports the file itself.
fs::path own_file() {
  Dl_info info{};
  link_map* map = nullptr;
  void const* const here = reinterpret_cast<void const*>(&process_library_roots);
  bool const known = dladdr1(here, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0 && map != nullptr;
  fs::path const loaded = known && map->l_name != nullptr ? map->l_name : "";
  std::error_code error;
  fs::path const file = loaded.empty() ? fs::read_symlink("/proc/self/exe", error) : fs::canonical(loaded, error);
  return error || !(loaded.empty() || loaded.is_absolute()) ? fs::path() : file;
}

uid_t owner_of_own_file() {
  struct stat status {};
  return stat(own_file().c_str(), &status) == 0 ? status.st_uid : geteuid();
}

void* open_in(std::vector<fs::path> const& folders, char const* file_name, LoadedLibrary& library) {
  for (fs::path const& folder : folders) {
    std::error_code error;
    fs::path const file = fs::canonical(folder / file_name, error);
    if (error) { continue; }  // does not exist
    if (std::string reason = who_else_can_replace(file, owner_of_own_file()); !reason.empty()) {
      library.refused.push_back({(folder / file_name).string(), std::move(reason)});
      continue;
    }
    if (void* const handle = open_library(file.string(), library.trouble)) { return handle; }
  }
  return nullptr;
}

}  // namespace

LibrarySearchRoots process_library_roots() {
  LibrarySearchRoots roots;
  roots.vendor_path = environment("TERRAZZO_VENDOR_PATH");
  for (std::string const& folder : vendor_folders()) { roots.given.emplace_back(folder); }
  roots.own = own_file().parent_path();
  for (char const* const name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (std::string const root = environment(name); !root.empty()) { roots.environments.emplace_back(root); }
  }
  return roots;
}

LibraryFolders library_folders(LibrarySearchRoots const& roots) {
  LibraryFolders folders;
  std::string_view rest = roots.vendor_path;
  while (!rest.empty()) {
    auto const colon = std::min(rest.find(':'), rest.size());
    add_folder(folders.before_loader, fs::path(rest.substr(0, colon)));
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  for (fs::path const& folder : roots.given) { add_folder(folders.before_loader, folder); }
  add_folder(folders.after_loader, roots.own);
  for (fs::path const& root : roots.environments) { add_environment(folders.after_loader, root); }
  return folders;
}

std::string who_else_can_replace(fs::path const& file, uid_t also_trusted) {
  std::error_code error;
  fs::path const real = fs::canonical(file, error);
  if (error) { return text(file.string(), ": ", error.message()); }
  for (fs::path at = real;; at = at.parent_path()) {
    struct stat status {};
    if (lstat(at.c_str(), &status) != 0) { return text(at.string(), " cannot be examined"); }
    if (status.st_uid != 0 && status.st_uid != geteuid() && status.st_uid != also_trusted) {
      return text(at.string(), " belongs to another user (", status.st_uid, ")");
    }
    // In a sticky folder only an entry's owner can replace it, and the owner of the entry below was just checked. This
    // exception excludes the library's own folder: others could add libraries that this one loads.
    bool const is_sticky_above = (status.st_mode & S_ISVTX) != 0 && at != real && at != real.parent_path();
    if (!is_sticky_above) {
      if ((status.st_mode & S_IWOTH) != 0) { return text("everyone may write to ", at.string()); }
      if ((status.st_mode & S_IWGRP) != 0 && (has_access_list(at) || !is_private_group(status.st_gid, status.st_uid))) {
        return text("group ", status.st_gid, " may write to ", at.string());
      }
    }
    if (at == at.parent_path()) { return {}; }
  }
}

LoadedLibrary load_library(char const* file_name, LibrarySearchRoots const& roots) {
  LibraryFolders const folders = library_folders(roots);
  LoadedLibrary library;
  std::string not_found;  // the loader's error is usually "no such file": not worth reporting
  library.handle = open_in(folders.before_loader, file_name, library);
  if (library.handle == nullptr) { library.handle = open_library(file_name, not_found); }
  if (library.handle == nullptr) { library.handle = open_in(folders.after_loader, file_name, library); }
  if (library.handle != nullptr) { library.path = path_of(library.handle); }
  return library;
}

LoadedLibrary load_library(char const* file_name) { return load_library(file_name, process_library_roots()); }

std::string refusal_note(LoadedLibrary const& library) {
  std::string note;
  for (RefusedLibrary const& refused : library.refused) {
    note += text(note.empty() ? "" : "; ", refused.file, " was refused: ", refused.reason);
  }
  return note;
}

}  // namespace terrazzo
