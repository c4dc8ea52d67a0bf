// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/proj_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string_view>
#include <utility>

namespace terrazzo::geo {
namespace {

bool climbs(std::string_view path) {
  while (!path.empty()) {
    auto const end = std::min(path.find('/'), path.size());
    if (path.substr(0, end) == "..") { return true; }
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

ProjFiles const& files_of(void* user_data) { return *static_cast<ProjFiles const*>(user_data); }
std::FILE* file_of(PROJ_FILE_HANDLE* handle) { return reinterpret_cast<std::FILE*>(handle); }

PROJ_FILE_HANDLE* open_file(PJ_CONTEXT*, char const* name, PROJ_OPEN_ACCESS access, void* user_data) {
  if (access != PROJ_OPEN_ACCESS_READ_ONLY || !files_of(user_data).is_allowed(name)) { return nullptr; }
  // O_NONBLOCK: opening a pipe does not wait; it is then refused.
  int const descriptor = ::open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) { return nullptr; }
  struct stat status {};
  std::FILE* const file =
      ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) ? ::fdopen(descriptor, "rb") : nullptr;
  if (file == nullptr) { ::close(descriptor); }
  return reinterpret_cast<PROJ_FILE_HANDLE*>(file);
}

std::size_t read_file(PJ_CONTEXT*, PROJ_FILE_HANDLE* handle, void* into, std::size_t bytes, void*) {
  return std::fread(into, 1, bytes, file_of(handle));
}

std::size_t write_file(PJ_CONTEXT*, PROJ_FILE_HANDLE*, void const*, std::size_t, void*) { return 0; }

int seek_file(PJ_CONTEXT*, PROJ_FILE_HANDLE* handle, long long offset, int whence, void*) {
  return ::fseeko(file_of(handle), static_cast<off_t>(offset), whence) == 0 ? 1 : 0;
}

unsigned long long tell_file(PJ_CONTEXT*, PROJ_FILE_HANDLE* handle, void*) {
  return static_cast<unsigned long long>(::ftello(file_of(handle)));
}

void close_file(PJ_CONTEXT*, PROJ_FILE_HANDLE* handle, void*) { std::fclose(file_of(handle)); }

int exists(PJ_CONTEXT*, char const* name, void* user_data) {
  struct stat status {};
  return files_of(user_data).is_allowed(name) && ::stat(name, &status) == 0 ? 1 : 0;
}

int refuse_path(PJ_CONTEXT*, char const*, void*) { return 0; }
int refuse_rename(PJ_CONTEXT*, char const*, char const*, void*) { return 0; }

constexpr PROJ_FILE_API kInterface = {.version = 1,
                                      .open_cbk = open_file,
                                      .read_cbk = read_file,
                                      .write_cbk = write_file,
                                      .seek_cbk = seek_file,
                                      .tell_cbk = tell_file,
                                      .close_cbk = close_file,
                                      .exists_cbk = exists,
                                      .mkdir_cbk = refuse_path,
                                      .unlink_cbk = refuse_path,
                                      .rename_cbk = refuse_rename};

}  // namespace

ProjFiles::ProjFiles(std::vector<std::string> folders) : folders_(std::move(folders)) {
  std::erase(folders_, "");
  for (std::string& folder : folders_) {
    if (!folder.ends_with('/')) { folder += '/'; }
  }
}

PROJ_FILE_API const& ProjFiles::interface() noexcept { return kInterface; }

bool ProjFiles::is_allowed(std::string const& path) const {
  return std::ranges::any_of(folders_, [&](std::string const& folder) {
    return path.starts_with(folder) && !climbs(path.substr(folder.size()));
  });
}

}  // namespace terrazzo::geo
