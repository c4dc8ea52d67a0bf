// SPDX-License-Identifier: Apache-2.0
#include "write/update/file_update.hpp"

#include "base/text.hpp"
#include "io/file_sink.hpp"
#include "io/path_target.hpp"
#include "io/temporary_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace terrazzo::writing {

FileUpdate::FileUpdate(std::string path, Durability durability) : path_(std::move(path)), durability_(durability) {}

void FileUpdate::fail(char const* doing, std::optional<std::uint64_t> offset_bytes) const {
  int const why = errno;
  throw Error(ErrorKind::io, text("cannot ", doing, ": ", std::strerror(why)),
              {.source = path_, .offset = offset_bytes});
}

void FileUpdate::open() {
  if (file_ || published_) { throw Error(ErrorKind::usage, "a file is opened once", {.source = path_}); }
  io::Target const target = io::find_target(path_);
  if (target.descriptor) { throw Error(ErrorKind::usage, "this is no regular file", {.source = path_}); }
  io::Place const& place = target.places.back();
  file_ = io::Descriptor(io::file_calls.openat(place.folder.get(), place.name.c_str(),
                                               O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0));
  if (!file_) { fail("open for writing"); }
  // Lock first: later checks of the file then stay valid. File systems without locks are accepted.
  if (io::file_calls.flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    file_.reset();
    throw Error(ErrorKind::io, "another process is changing the file", {.source = path_});
  }
  struct stat status {};
  if (fstat(file_.get(), &status) != 0) { fail("open for writing"); }
  if (!S_ISREG(status.st_mode)) { throw Error(ErrorKind::usage, "this is no regular file", {.source = path_}); }
  check_name("nothing is changed");
  // Sidecars that a crashed writer has set aside belong to this file.
  io::TemporaryFile::clean(target.places);
  old_size_bytes_ = static_cast<std::uint64_t>(status.st_size);
}

void FileUpdate::check_name(char const* state) const {
  struct stat status {
  }, named{};
  if (fstat(file_.get(), &status) == 0 && stat(path_.c_str(), &named) == 0 && named.st_ino == status.st_ino &&
      named.st_dev == status.st_dev) {
    return;
  }
  throw Error(ErrorKind::io, text("another process has replaced or removed the file: ", state), {.source = path_});
}

std::shared_ptr<ByteSink> FileUpdate::replacement() const {
  struct stat status {};
  if (fstat(file_.get(), &status) != 0) { fail("write"); }
  // The old file is replaced: for any durability, the new one is on disk first.
  auto sink = std::make_shared<io::FileSink>(path_, Durability::fsync);
  sink->replace_only(status.st_dev, status.st_ino);
  return sink;
}

void FileUpdate::put(std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
  if (!io::write_all_at(file_.get(), offset_bytes, bytes)) { fail("write", offset_bytes); }
}

void FileUpdate::write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
  if (offset_bytes < old_size_bytes_ || published_) {
    throw Error(ErrorKind::usage, "only bytes behind the old end can be added",
                {.source = path_, .offset = offset_bytes});
  }
  added_ = true;
  gather_.write(offset_bytes, bytes, io::one_by_one([this](std::uint64_t at, io::Bytes part) { put(at, part); }));
}

void FileUpdate::sync() {
  if (io::file_calls.fsync(file_.get()) != 0) { fail("bring to the disk"); }
  unsynced_ = false;
}

void FileUpdate::publish(std::uint64_t size_bytes) {
  gather_.flush(io::one_by_one([this](std::uint64_t at, io::Bytes part) { put(at, part); }));
  // A file that lost this name may have other names; readers of those must not see the change.
  check_name("nothing is changed");
  struct stat status {};
  if (fstat(file_.get(), &status) != 0) { fail("finish"); }
  if (static_cast<std::uint64_t>(status.st_size) != size_bytes &&
      io::file_calls.ftruncate(file_.get(), static_cast<off_t>(size_bytes)) != 0) {
    fail("set the size", size_bytes);
  }
  if (added_) { sync(); }
  published_ = true;
}

void FileUpdate::patch(std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
  if (!published_) { throw Error(ErrorKind::usage, "publish() must come before patch()", {.source = path_}); }
  Undo before{offset_bytes, std::vector<std::byte>(bytes.size())};
  if (!io::read_all_at(file_.get(), offset_bytes, before.bytes)) { fail("read", offset_bytes); }
  // Bytes that this patch relies on must be on disk first.
  if (unsynced_) { sync(); }
  patches_.push_back(std::move(before));
  unsynced_ = true;
  put(offset_bytes, bytes);
  if (durability_ == Durability::fsync) { sync(); }
  check_name("the file that has this name now is unchanged");
}

void FileUpdate::commit() {
  if (!published_) { throw Error(ErrorKind::usage, "nothing was published", {.source = path_}); }
  check_name("the file that has this name now is unchanged");
  committed_ = true;
}

bool FileUpdate::undo() noexcept {
  if (patches_.empty()) { return true; }
  bool undone = true;
  for (; undone && !patches_.empty(); patches_.pop_back()) {
    undone = io::write_all_at(file_.get(), patches_.back().offset_bytes, patches_.back().bytes);
  }
  patches_.clear();
  return undone && io::file_calls.fsync(file_.get()) == 0;
}

void FileUpdate::discard() noexcept {
  gather_.clear();
  // Keep the tail while bytes on disk may still refer to it. If truncation fails, the file is too long, but readers see
  // the same contents.
  if (file_ && !committed_ && undo() && added_) {
    static_cast<void>(io::file_calls.ftruncate(file_.get(), static_cast<off_t>(old_size_bytes_)));
  }
  file_.reset();
}

}  // namespace terrazzo::writing
