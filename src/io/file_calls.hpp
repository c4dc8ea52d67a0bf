// SPDX-License-Identifier: Apache-2.0
//
// The system calls that write files, in one table, so that a test can make the n-th call fail. Only tests replace
// entries, and only while no file is being written. Below: calls that continue after signals and short writes.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::io {

// Named as in the manual; -1 and errno on failure.
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

// An owned file descriptor.
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

// Writes all bytes, or returns false with errno. ECANCELED if `cancel` is set: a pipe's reader may never come.
[[nodiscard]] bool write_all(int descriptor, std::span<std::byte const> bytes,
                             std::atomic<bool> const* cancel = nullptr) noexcept;
[[nodiscard]] bool write_all_at(int descriptor, std::uint64_t offset_bytes, std::span<std::byte const> bytes) noexcept;
// Writes adjacent parts in few calls; large calls only into space that is already allocated.
enum class Room : std::uint8_t { none, made };
[[nodiscard]] bool write_all_at(int descriptor, std::uint64_t offset_bytes,
                                std::span<std::span<std::byte const> const> parts, Room room) noexcept;
// A file that ends too early gives ENODATA.
[[nodiscard]] bool read_all_at(int descriptor, std::uint64_t offset_bytes, std::span<std::byte> into) noexcept;

// An unnamed file, open for reading and writing, removed when closed. Invalid, with errno, if the folder does not
// support it.
[[nodiscard]] Descriptor open_unnamed(std::string const& folder);

}  // namespace terrazzo::io
