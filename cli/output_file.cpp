// SPDX-License-Identifier: Apache-2.0
#include "output_file.hpp"

#include "terrazzo/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace terrazzo::cli {
namespace {

constexpr std::size_t kMaxWriteBytes = std::size_t{1} << 30;  // Linux writes at most 2 GiB a call
constexpr int kMaxNameTries = 100;

bool is_special(std::string const& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (path_ == "-") {
    descriptor_ = dup(STDOUT_FILENO);
  } else if (is_special(path_)) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    struct stat status {};
    if (stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
      errno = EISDIR;
      fail("write");
    }
    for (int i = 0; i < kMaxNameTries && descriptor_ < 0; ++i) {
      temporary_path_ = path_ + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(i);
      descriptor_ = ::open(temporary_path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ < 0 && errno != EEXIST) { break; }
    }
  }
  if (descriptor_ < 0) {
    temporary_path_.clear();
    fail("write");
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) { close(descriptor_); }
  if (!temporary_path_.empty()) { unlink(temporary_path_.c_str()); }
}

void OutputFile::fail(char const* doing) const {
  throw Error(ErrorKind::io, std::string("cannot ") + doing + ": " + std::strerror(errno),
              {.source = path_ == "-" ? "standard output" : path_});
}

void OutputFile::write(std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    ssize_t const done = ::write(descriptor_, bytes.data(), std::min(bytes.size(), kMaxWriteBytes));
    if (done < 0 && errno == EINTR) { continue; }
    if (done < 0) { fail("write"); }
    bytes = bytes.subspan(static_cast<std::size_t>(done));
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
