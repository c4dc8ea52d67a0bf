// SPDX-License-Identifier: Apache-2.0
//
// Makes system calls of all file writers fail during its lifetime. One object at a time per process.
#pragma once

#include "io/file_calls.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <string_view>

namespace terrazzo::testing {

struct Fault {
  std::string_view call{};  // "pwrite"; empty: any
  int at = 0;               // index of the first call of this name that fails
  int error = EIO;
  int times = 1;
  // Not an error: every write is cut to this many bytes.
  std::size_t short_bytes = 0;
  // Not an error: the process ends before the call, as by kill -9. For child processes.
  bool kills = false;
};

constexpr int kKilled = 98;  // exit code of a process that a fault ended

// A literal as a template argument.
template <std::size_t N>
struct CallName {
  char text[N]{};
  constexpr CallName(char const (&from)[N]) { std::copy_n(from, N, text); }
};

class FailingCalls {
 // First, because their types are deduced.
 private:
  static bool fails(std::string_view call) {
    if (!fault_.call.empty() && fault_.call != call) { return false; }
    int const index = count_++;
    if (index < fault_.at || index >= fault_.at + fault_.times || fault_.short_bytes > 0) { return false; }
    if (fault_.kills) { ::_exit(kKilled); }
    errno = fault_.error;
    return true;
  }

  template <CallName kName, auto kMember, class Result, class... Arguments>
  static auto wrap(Result (*)(Arguments...)) {
    return +[](Arguments... arguments) -> Result {
      if (fails(kName.text)) { return -1; }
      return (real_.*kMember)(arguments...);
    };
  }
  template <CallName kName, auto kMember>
  static auto wrapped() {
    return wrap<kName, kMember>(io::FileCalls{}.*kMember);
  }

  template <CallName kName, auto kMember, class... Rest>
  static auto wrap_write(ssize_t (*)(int, void const*, std::size_t, Rest...)) {
    return +[](int descriptor, void const* bytes, std::size_t size, Rest... rest) -> ssize_t {
      if (fails(kName.text)) { return -1; }
      if (fault_.short_bytes > 0) { size = std::min(size, fault_.short_bytes); }
      return (real_.*kMember)(descriptor, bytes, size, rest...);
    };
  }
  template <CallName kName, auto kMember>
  static auto wrapped_write() {
    return wrap_write<kName, kMember>(io::FileCalls{}.*kMember);
  }

  static ssize_t failing_pwritev(int descriptor, iovec const* parts, int count, off_t offset) {
    if (fails("pwritev")) { return -1; }
    iovec first{};
    if (fault_.short_bytes > 0 && count > 0) {
      first = {parts->iov_base, std::min(parts->iov_len, fault_.short_bytes)};
      parts = &first;
      count = 1;
    }
    return real_.pwritev(descriptor, parts, count, offset);
  }

  // A descriptor is closed even if close() fails.
  static int failing_close(int descriptor) {
    int const result = real_.close(descriptor);
    return fails("close") ? -1 : result;
  }

  inline static Fault fault_{};
  inline static int count_ = 0;
  inline static io::FileCalls real_{};

 public:
  explicit FailingCalls(Fault const& fault) {
    fault_ = fault;
    count_ = 0;
    real_ = io::file_calls;
    io::file_calls = {
        .openat = wrapped<"openat", &io::FileCalls::openat>(),
        .flock = wrapped<"flock", &io::FileCalls::flock>(),
        .write = wrapped_write<"write", &io::FileCalls::write>(),
        .pwrite = wrapped_write<"pwrite", &io::FileCalls::pwrite>(),
        .pwritev = failing_pwritev,
        .pread = wrapped<"pread", &io::FileCalls::pread>(),
        .copy_file_range = wrapped<"copy_file_range", &io::FileCalls::copy_file_range>(),
        .fallocate = wrapped<"fallocate", &io::FileCalls::fallocate>(),
        .ftruncate = wrapped<"ftruncate", &io::FileCalls::ftruncate>(),
        .fchmod = wrapped<"fchmod", &io::FileCalls::fchmod>(),
        .fsync = wrapped<"fsync", &io::FileCalls::fsync>(),
        .close = failing_close,
        .renameat = wrapped<"renameat", &io::FileCalls::renameat>(),
        .unlinkat = wrapped<"unlinkat", &io::FileCalls::unlinkat>(),
    };
  }
  ~FailingCalls() { io::file_calls = real_; }
  FailingCalls(FailingCalls const&) = delete;
  FailingCalls& operator=(FailingCalls const&) = delete;

  // Calls that match the fault's name, failed or not.
  [[nodiscard]] int count() const noexcept { return count_; }
  // True if the fault has occurred.
  [[nodiscard]] bool struck() const noexcept { return count_ > fault_.at; }
};

}  // namespace terrazzo::testing
