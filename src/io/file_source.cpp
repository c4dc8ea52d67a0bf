// SPDX-License-Identifier: Apache-2.0
#include "io/file_source.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

namespace terrazzo::io {

namespace {

// Linux accepts 1,024 (IOV_MAX); with 256 rows per call the cost of the call is negligible.
constexpr std::size_t kMaxVectors = 256;

[[noreturn]] void fail(std::string const& path, std::string const& message, std::uint64_t offset_bytes) {
  throw Error(ErrorKind::io, message, {.source = path, .offset = offset_bytes});
}

// Fills all vectors from one position on, with as many calls as needed.
void read_vectors(int descriptor, std::string const& path, std::uint64_t offset_bytes, std::span<iovec> vectors) {
  while (!vectors.empty()) {
    if (offset_bytes > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max())) {
      fail(path, "read past the largest file offset", offset_bytes);
    }
    ssize_t const got =
        preadv(descriptor, vectors.data(), static_cast<int>(vectors.size()), static_cast<off_t>(offset_bytes));
    if (got < 0) {
      if (errno == EINTR) { continue; }
      fail(path, text("read failed: ", std::strerror(errno)), offset_bytes);
    }
    if (got == 0) { fail(path, "the file ends here: it is truncated, or it shrank while it was read", offset_bytes); }
    offset_bytes += static_cast<std::uint64_t>(got);
    std::size_t left = static_cast<std::size_t>(got);
    while (!vectors.empty() && left >= vectors.front().iov_len) {
      left -= vectors.front().iov_len;
      vectors = vectors.subspan(1);
    }
    if (left > 0) {
      vectors.front().iov_base = static_cast<std::byte*>(vectors.front().iov_base) + left;
      vectors.front().iov_len -= left;
    }
  }
}

}  // namespace

FileSource::FileSource(std::string path) : path_(std::move(path)) {
  // O_NONBLOCK has no effect on a file and prevents waiting for the writer of a named pipe.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) { throw Error(ErrorKind::io, text("cannot open: ", std::strerror(errno)), {.source = path_}); }
  struct stat status {};
  bool const known = fstat(descriptor_, &status) == 0;
  if (!known || !(S_ISREG(status.st_mode) || S_ISBLK(status.st_mode))) {
    ::close(descriptor_);
    throw Error(ErrorKind::usage,
                known && S_ISDIR(status.st_mode) ? "this is a directory, not a raster file"
                                                 : "not a file that can be read at positions",
                {.source = path_});
  }
  off_t const end = S_ISREG(status.st_mode) ? status.st_size : lseek(descriptor_, 0, SEEK_END);
  size_bytes_ = static_cast<std::uint64_t>(std::max<off_t>(end, 0));
}

FileSource::~FileSource() { ::close(descriptor_); }

ReadTicket FileSource::submit(std::span<RangeRead const> ranges) const {
  try {
    std::array<iovec, kMaxVectors> vectors;
    std::size_t i = 0;
    while (i < ranges.size()) {
      std::size_t count = 0;
      std::uint64_t const start = ranges[i].offset_bytes;
      std::uint64_t end = start;
      while (i < ranges.size() && count < kMaxVectors && ranges[i].offset_bytes == end) {
        std::span<std::byte> const into = ranges[i].into;
        if (!into.empty()) { vectors[count++] = {into.data(), into.size()}; }
        end += into.size();
        ++i;
      }
      read_vectors(descriptor_, path_, start, {vectors.data(), count});
    }
  } catch (Error const&) { return ReadTicket(std::current_exception()); }
  return {};
}

}  // namespace terrazzo::io

namespace terrazzo {

ByteSourcePtr file_source(std::string path) { return std::make_shared<io::FileSource const>(std::move(path)); }

}  // namespace terrazzo
