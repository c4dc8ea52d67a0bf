// SPDX-License-Identifier: Apache-2.0
//
// The system calls of everything that writes files, in one table, so that a test can make the n-th call fail. Only
// tests replace entries, and only while nothing is being written. Below it: calls that go on after signals and short
// writes.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::io {

// Named and behaving as in the manual: -1 and errno.
struct FileCalls {
  int (*openat)(int folder, char const* name, int flags, mode_t mode);
  int (*flock)(int descriptor, int operation);
  ssize_t (*write)(int descriptor, void const* bytes, std::size_t size);
  ssize_t (*pwrite)(int descriptor, void const* bytes, std::size_t size, off_t offset);
  ssize_t (*pwritev)(int descriptor, iovec const* parts, int count, off_t offset);
  ssize_t (*pread)(int descriptor, void* bytes, std::size_t size, off_t offset);
  ssize_t (*copy_file_range)(int from, off_t* from_offset, int to, off_t* to_offset, std::size_t size, unsigned flags);
  int (*fallocate)(int descriptor, int mode, off_t offset, off_t size);
  int (*ftruncate)(int descriptor, off_t size);
  int (*fchmod)(int descriptor, mode_t mode);
  int (*fsync)(int descriptor);
  int (*close)(int descriptor);
  int (*renameat)(int from_folder, char const* from, int to_folder, char const* to);
  int (*unlinkat)(int folder, char const* name, int flags);
};
extern FileCalls file_calls;

// A descriptor of our own.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) noexcept : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  [[nodiscard]] int get() const noexcept { return value_; }
  [[nodiscard]] explicit operator bool() const noexcept { return value_ >= 0; }
  [[nodiscard]] int release() noexcept;
  void reset() noexcept;

 private:
  int value_ = -1;
};

// All bytes, or false and errno. ECANCELED once `cancel` is set: a pipe may wait for ever for its reader.
[[nodiscard]] bool write_all(int descriptor, std::span<std::byte const> bytes,
                             std::atomic<bool> const* cancel = nullptr) noexcept;
[[nodiscard]] bool write_all_at(int descriptor, std::uint64_t offset_bytes, std::span<std::byte const> bytes) noexcept;
// Parts that follow each other, in as few calls as are quick: large ones only into room that the file has already.
enum class Room : std::uint8_t { none, made };
[[nodiscard]] bool write_all_at(int descriptor, std::uint64_t offset_bytes,
                                std::span<std::span<std::byte const> const> parts, Room room) noexcept;
// A file that ends too early is ENODATA.
[[nodiscard]] bool read_all_at(int descriptor, std::uint64_t offset_bytes, std::span<std::byte> into) noexcept;

// A file without a name, open for reading and writing, that goes when it is closed. An invalid one, and errno, when the
// folder takes none.
[[nodiscard]] Descriptor open_unnamed(std::string const& folder);

}  // namespace terrazzo::io
