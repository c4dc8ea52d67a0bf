// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include "interrupt.hpp"

#include "terrazzo/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace terrazzo::cli {
namespace {

constexpr std::size_t kMaxWriteBytes = std::size_t{1} << 30;  // Linux writes at most 2 GiB a call
constexpr int kMaxNameTries = 100;

constexpr int kMaxLinks = 40;  // as Linux
constexpr mode_t kPermissions = 07777, kReadAndWrite = 0666;

// The descriptor behind "-", "/dev/stdout" and "/dev/fd/7".
std::optional<int> standing_descriptor(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") { return STDOUT_FILENO; }
  if (path == "/dev/stderr") { return STDERR_FILENO; }
  for (std::string_view const prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) { continue; }
    std::string_view const digits = path.substr(prefix.size());
    int number = -1;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc{} && end == digits.data() + digits.size() && number >= 0) { return number; }
  }
  return std::nullopt;
}

// Where a path leads: to an open descriptor, or to a file, which need not be there yet.
struct Destination {
  std::optional<int> descriptor;
  std::string path;
};

// Links are followed: a file renamed over one would take its place, and "/dev/stdout" is one.
Destination follow(std::string path) {
  for (int i = 0; i < kMaxLinks; ++i) {
    if (std::optional<int> const descriptor = standing_descriptor(path)) { return {descriptor, path}; }
    std::array<char, PATH_MAX> target;
    ssize_t const size = readlink(path.c_str(), target.data(), target.size());
    if (size < 0) { break; }  // not a link, or not there: opening it will tell
    std::string const next(target.data(), static_cast<std::size_t>(size));
    path = next.starts_with('/') ? next : path.substr(0, path.rfind('/') + 1) + next;
  }
  return {std::nullopt, path};
}

// A pipe is opened when somebody reads it, which may be never.
int open_stream(std::string const& path) {
  while (true) {
    throw_if_cancelled();
    int const descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor >= 0 || errno != EINTR) { return descriptor; }
  }
}

}  // namespace

bool is_standard_output(std::string const& path) { return follow(path).descriptor == STDOUT_FILENO; }

OutputFile::OutputFile(std::string path) : name_(path == "-" ? "standard output" : path) {
  Destination const destination = follow(std::move(path));
  path_ = destination.path;
  if (destination.descriptor) {
    descriptor_ = fcntl(*destination.descriptor, F_DUPFD_CLOEXEC, 0);
  } else {
    open_path();
  }
  if (descriptor_ < 0) {
    temporary_path_.clear();
    fail("write");
  }
}

void OutputFile::open_path() {
  struct stat old {};
  bool const exists = stat(path_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) { return; }  // a circle of links
  if (exists && S_ISDIR(old.st_mode)) {
    errno = EISDIR;
    return;
  }
  if (exists && !S_ISREG(old.st_mode)) {
    descriptor_ = open_stream(path_);
    return;
  }
  if (exists && faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) { return; }
  // Never wider than the old file, not even for a moment.
  mode_t const mode = exists ? old.st_mode & kReadAndWrite : kReadAndWrite;
  for (int i = 0; i < kMaxNameTries && descriptor_ < 0; ++i) {
    temporary_path_ = path_ + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(i);
    descriptor_ = ::open(temporary_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno != EEXIST) { return; }
  }
  // Where the file system has no permissions there are none to keep.
  if (descriptor_ >= 0 && exists) { fchmod(descriptor_, old.st_mode & kPermissions); }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) { close(descriptor_); }
  if (!temporary_path_.empty()) { unlink(temporary_path_.c_str()); }
}

void OutputFile::fail(char const* doing) const {
  throw Error(ErrorKind::io, std::string("cannot ") + doing + ": " + std::strerror(errno), {.source = name_});
}

void OutputFile::write(std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    ssize_t const done = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kMaxWriteBytes));
    if (done < 0 && errno != EINTR) { fail("write"); }
    bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
    if (!bytes.empty()) { throw_if_cancelled(); }  // a signal ended the wait for a reader who may never go on
  }
}

void OutputFile::write_at(std::uint64_t offset, std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    ssize_t const done =
        pwrite(descriptor_, bytes.data(), std::min(bytes.size(), kMaxWriteBytes), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) { continue; }
    if (done < 0) { fail("write"); }
    offset += static_cast<std::uint64_t>(done);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

void OutputFile::publish() {
  if (close(std::exchange(descriptor_, -1)) != 0) { fail("finish"); }
  if (temporary_path_.empty()) { return; }
  if (rename(temporary_path_.c_str(), path_.c_str()) != 0) { fail("rename"); }
  temporary_path_.clear();
}

}  // namespace terrazzo::cli
