// SPDX-License-Identifier: Apache-2.0
#include "io/file_sink.hpp"

#include "base/text.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <string_view>
#include <utility>

namespace terrazzo::io {

namespace {

constexpr int kMaxLinks = 40;  // as the kernel follows
constexpr mode_t kPermissions = 0777;
constexpr std::size_t kMaxCopyBytes = std::size_t{1} << 30;

// Room is taken ahead in such steps once a file has grown past the first of them. On ext4 (Linux 6.18) files are then
// written a fifth faster, since blocks need not be reserved page by page: tiles of 575 KB 3.0 to 3.7 GB/s, and
// 32 MiB at a time 3.5 to 4.3. Elsewhere it is not known to help; tmpfs would fill its pages twice.
constexpr std::uint64_t kRoomBytes = std::uint64_t{64} << 20;
constexpr auto kExt4Magic = 0xEF53;

// The descriptor behind "-", "/dev/stdout", "/dev/fd/7". Opened by their path they would be followed to the file behind
// them, which the process that gave them to us means to be appended to, not replaced.
std::optional<int> standing_descriptor(std::string_view path) {
  if (path == "-" || path == "/dev/stdout") { return STDOUT_FILENO; }
  if (path == "/dev/stderr") { return STDERR_FILENO; }
  for (std::string_view const prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) { continue; }
    std::string_view const digits = path.substr(prefix.size());
    int number = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc{} && end == digits.data() + digits.size() && number >= 0) { return number; }
  }
  return std::nullopt;
}

// "a/b.tif" is "a" and "b.tif"; "b.tif" is "." and "b.tif"; "/b.tif" is "/" and "b.tif".
std::pair<std::string, std::string> split_path(std::string const& path) {
  std::size_t const slash = path.find_last_of('/');
  if (slash == std::string::npos) { return {".", path}; }
  return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

// Where a symbolic link leads in the end, also when nothing is there yet. False and errno for a circle.
bool follow_links(std::string& path) {
  for (int i = 0; i < kMaxLinks; ++i) {
    std::array<char, PATH_MAX> target;
    ssize_t const size = readlink(path.c_str(), target.data(), target.size());
    if (size < 0) { return true; }  // not a link, or not there: opening it will tell
    std::string next(target.data(), static_cast<std::size_t>(size));
    path = next.starts_with('/') ? std::move(next) : split_path(path).first + "/" + next;
  }
  errno = ELOOP;
  return false;
}

// Asks the file system itself, on a file of its own: names of file systems promise nothing.
std::uint64_t probe_insert_unit(std::string const& folder) {
  Descriptor const file = open_unnamed(folder);
  struct statvfs info {};
  if (!file || fstatvfs(file.get(), &info) != 0) { return 0; }
  // The block; and 64 KiB for file systems that allocate in clusters of blocks.
  for (std::uint64_t const unit : {std::uint64_t{info.f_bsize}, std::uint64_t{64} << 10}) {
    if (unit == 0 || unit > (std::uint64_t{1} << 20)) { continue; }
    std::byte const mark{0x5A};
    std::byte moved{};
    if (write_all_at(file.get(), 0, {&mark, 1}) &&
        file_calls.fallocate(file.get(), FALLOC_FL_INSERT_RANGE, 0, static_cast<off_t>(unit)) == 0 &&
        read_all_at(file.get(), unit, {&moved, 1}) && moved == mark) {
      return unit;
    }
    if (file_calls.ftruncate(file.get(), 0) != 0) { return 0; }
  }
  return 0;
}

}  // namespace

FileSink::FileSink(std::string path, Durability durability)
    : path_(std::move(path)), name_(path_ == "-" ? "standard output" : path_), durability_(durability) {}

void FileSink::fail(char const* doing, std::optional<std::uint64_t> offset_bytes) const {
  throw Error(ErrorKind::io, text("cannot ", doing, ": ", std::strerror(errno)),
              {.source = name_, .offset = offset_bytes});
}

void FileSink::open() {
  if (std::exchange(opened_, true)) {
    throw Error(ErrorKind::usage, "this sink has been used: one sink, one file", {.source = name_});
  }
  if (path_.empty()) { throw Error(ErrorKind::usage, "the path to write to is empty"); }
  if (std::optional<int> const standing = standing_descriptor(path_)) {
    open_stream(fcntl(*standing, F_DUPFD_CLOEXEC, 0));
    return;
  }
  std::string target = path_;
  if (!follow_links(target)) { fail("write"); }
  struct stat status {};
  bool const exists = stat(target.c_str(), &status) == 0;
  if ((exists && S_ISDIR(status.st_mode)) || target.ends_with('/')) {
    throw Error(ErrorKind::usage, "cannot write: this is a directory", {.source = name_});
  }
  if (exists && !S_ISREG(status.st_mode)) {
    open_stream(file_calls.openat(AT_FDCWD, target.c_str(), O_WRONLY | O_CLOEXEC, 0));
  } else {
    open_file(target);
  }
}

void FileSink::open_stream(int descriptor) {
  stream_ = Descriptor(descriptor);
  if (!stream_) { fail("write"); }
}

void FileSink::open_file(std::string const& target) {
  std::tie(folder_path_, final_name_) = split_path(target);
  // O_PATH: a folder may be writable and not readable.
  folder_ = Descriptor(file_calls.openat(AT_FDCWD, folder_path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
  if (!folder_) {
    throw Error(ErrorKind::io, text("cannot write: folder ", folder_path_, ": ", std::strerror(errno)),
                {.source = name_});
  }
  struct stat old {};
  bool const replaces = fstatat(folder_.get(), final_name_.c_str(), &old, 0) == 0;
  // A name that is too long is better known now than when the file is renamed.
  if (!replaces && errno != ENOENT) { fail("write"); }
  if (replaces && faccessat(folder_.get(), final_name_.c_str(), W_OK, AT_EACCESS) != 0) { fail("write"); }
  // Never wider than the old file, not even for a moment.
  file_ = TemporaryFile::create(folder_.get(), final_name_, replaces ? old.st_mode & kPermissions & 0666u : 0666u);
  if (!file_) { fail("make a file in its folder"); }
  if (replaces && file_calls.fchmod(file_.descriptor(), old.st_mode & kPermissions) != 0) {
    fail("keep the permissions of the old file");
  }
  struct statfs system {};
  makes_room_ = fstatfs(file_.descriptor(), &system) == 0 && system.f_type == kExt4Magic;
}

void FileSink::put(std::uint64_t offset_bytes, std::span<Bytes const> parts) {
  if (stream_) {
    for (Bytes const part : parts) {
      if (!write_all(stream_.get(), part)) { fail("write", offset_bytes); }
    }
    return;
  }
  std::uint64_t end_bytes = offset_bytes;
  for (Bytes const part : parts) { end_bytes += part.size(); }
  make_room(end_bytes);
  Room const room = end_bytes <= room_bytes_ ? Room::made : Room::none;
  if (!write_all_at(file_.descriptor(), offset_bytes, parts, room)) { fail("write", offset_bytes); }
}

// Only for speed: where there is no room, writing will tell.
void FileSink::make_room(std::uint64_t end_bytes) noexcept {
  if (!makes_room_ || end_bytes <= std::max(room_bytes_, kRoomBytes)) { return; }
  std::uint64_t const wanted_bytes = end_bytes + kRoomBytes;
  // Past a process's limit on files the call would not fail but raise SIGXFSZ, for bytes that nobody wants to write.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || wanted_bytes > limit.rlim_cur) {
    makes_room_ = false;
    return;
  }
  int result = 0;
  do {
    result = file_calls.fallocate(file_.descriptor(), 0, static_cast<off_t>(room_bytes_),
                                  static_cast<off_t>(wanted_bytes - room_bytes_));
  } while (result != 0 && errno == EINTR);
  makes_room_ = result == 0;
  if (makes_room_) { room_bytes_ = wanted_bytes; }
}

void FileSink::flush() {
  gather_.flush([this](std::uint64_t offset, std::span<Bytes const> parts) { put(offset, parts); });
}

void FileSink::let_go() {
  gather_.let_go([this](std::uint64_t offset, std::span<Bytes const> parts) { put(offset, parts); });
}

void FileSink::write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
  if (stream_ && offset_bytes != end_bytes_) {
    throw Error(ErrorKind::usage, text("only byte ", end_bytes_, " can be written next here"),
                {.source = name_, .offset = offset_bytes});
  }
  gather_.write(offset_bytes, bytes,
                [this](std::uint64_t offset, std::span<Bytes const> parts) { put(offset, parts); });
  if (!bytes.empty()) { end_bytes_ = std::max(end_bytes_, offset_bytes + bytes.size()); }
}

void FileSink::read_at(std::uint64_t offset_bytes, std::span<std::byte> into) {
  if (stream_) { return ByteSink::read_at(offset_bytes, into); }
  flush();
  if (!read_all_at(file_.descriptor(), offset_bytes, into)) { fail("read back", offset_bytes); }
}

std::uint64_t FileSink::insert_unit_bytes() noexcept {
  if (!insert_unit_bytes_) { insert_unit_bytes_ = stream_ ? 0 : probe_insert_unit(folder_path_); }
  return *insert_unit_bytes_;
}

bool FileSink::insert_front(std::uint64_t bytes) {
  flush();
  if (stream_) { return false; }
  if (end_bytes_ == 0 || bytes == 0) { return true; }
  struct stat before {};
  struct stat after {};
  if (fstat(file_.descriptor(), &before) != 0) { fail("insert bytes in front", 0); }
  int result = 0;
  do {
    result = file_calls.fallocate(file_.descriptor(), FALLOC_FL_INSERT_RANGE, 0, static_cast<off_t>(bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0) {
    end_bytes_ += bytes;
    room_bytes_ += room_bytes_ != 0 ? bytes : 0;
    return true;
  }
  // A refusal leaves the file as it was; a failure halfway (ext4 sets the size first) does not.
  int const why = errno;
  if (fstat(file_.descriptor(), &after) != 0 || after.st_size != before.st_size || why == EIO) {
    errno = why;
    fail("insert bytes in front", 0);
  }
  return false;
}

std::uint64_t FileSink::copy_from(int descriptor, std::uint64_t from_bytes, std::uint64_t to_bytes,
                                  std::uint64_t size_bytes) {
  if (stream_) { return 0; }
  flush();
  make_room(to_bytes + size_bytes);
  std::uint64_t copied = 0;
  while (copied < size_bytes) {
    off_t from = static_cast<off_t>(from_bytes + copied);
    off_t to = static_cast<off_t>(to_bytes + copied);
    std::size_t const size = static_cast<std::size_t>(std::min<std::uint64_t>(size_bytes - copied, kMaxCopyBytes));
    ssize_t const done = file_calls.copy_file_range(descriptor, &from, file_.descriptor(), &to, size, 0);
    if (done < 0 && errno == EINTR) { continue; }
    if (done < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)) {
      fail("write", to_bytes + copied);
    }
    if (done <= 0) { break; }  // not between these two: the caller reads and writes
    copied += static_cast<std::uint64_t>(done);
  }
  if (copied > 0) { end_bytes_ = std::max(end_bytes_, to_bytes + copied); }
  return copied;
}

void FileSink::publish(std::uint64_t size_bytes) {
  if (stream_) {
    publish_stream(size_bytes);
  } else {
    publish_file(size_bytes);
  }
  gather_.clear();
}

void FileSink::publish_stream(std::uint64_t size_bytes) {
  if (size_bytes < end_bytes_) {
    throw Error(ErrorKind::usage, text("more bytes are written than the ", size_bytes, " of the file"),
                {.source = name_});
  }
  static constexpr std::array<std::byte, 4096> kZeros{};
  while (end_bytes_ < size_bytes) {
    write_at(end_bytes_, std::span(kZeros).first(static_cast<std::size_t>(
                             std::min<std::uint64_t>(size_bytes - end_bytes_, kZeros.size()))));
  }
  flush();
  // Pipes and terminals know no fsync.
  if (durability_ == Durability::fsync && file_calls.fsync(stream_.get()) != 0 && errno != EINVAL && errno != EROFS &&
      errno != ENOTSUP) {
    fail("bring to the disk");
  }
  if (file_calls.close(stream_.release()) != 0 && errno != EINTR) { fail("finish"); }
}

void FileSink::publish_file(std::uint64_t size_bytes) {
  flush();
  struct stat status {};
  if (fstat(file_.descriptor(), &status) != 0) { fail("finish"); }
  if (static_cast<std::uint64_t>(status.st_size) != size_bytes) {
    int result = 0;
    do {
      result = file_calls.ftruncate(file_.descriptor(), static_cast<off_t>(size_bytes));
    } while (result != 0 && errno == EINTR);
    if (result != 0) { fail("set the size", size_bytes); }
  }
  if (durability_ == Durability::fsync && file_calls.fsync(file_.descriptor()) != 0) { fail("bring to the disk"); }
  // Network file systems tell of a full disk when a descriptor is closed. The lock stays with the other one.
  int const second = fcntl(file_.descriptor(), F_DUPFD_CLOEXEC, 0);
  if (second >= 0 && file_calls.close(second) != 0 && errno != EINTR) { fail("finish"); }
  if (!file_.rename_to(final_name_)) { fail("give the file its name"); }
  if (durability_ == Durability::fsync) { sync_folder(); }
  file_ = TemporaryFile();
  folder_.reset();
}

void FileSink::sync_folder() {
  Descriptor const readable(file_calls.openat(folder_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (!readable || file_calls.fsync(readable.get()) != 0) {
    fail("bring the folder to the disk (the file is whole and has its name)");
  }
}

void FileSink::discard() noexcept {
  gather_.clear();
  file_.remove();
  folder_.reset();
  stream_.reset();
}

}  // namespace terrazzo::io

namespace terrazzo {

std::shared_ptr<ByteSink> file_sink(std::string path, Durability durability) {
  return std::make_shared<io::FileSink>(std::move(path), durability);
}

}  // namespace terrazzo
