// SPDX-License-Identifier: Apache-2.0
//
// The temporary name of a file that is being written: ".dem.tif.0.terrazzo-tmp" for "dem.tif", in the same folder.
//
// The writer holds a lock (flock) on it as long as it lives, so the next writer of the same path can tell what a dead
// one left (kill -9, power failure) from what is still being written: it removes the former and takes another number
// beside the latter. Numbers instead of random names: no folder has to be listed, however many files it holds. Where a
// file system has no locks nothing is ever removed.
#pragma once

#include "io/file_calls.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>

namespace terrazzo::io {

class TemporaryFile {
 public:
  static constexpr std::string_view kSuffix = ".terrazzo-tmp";

  TemporaryFile() = default;
  // Invalid, and errno, when the folder takes no file. `folder` is a descriptor and must outlive this.
  [[nodiscard]] static TemporaryFile create(int folder, std::string const& final_name, mode_t mode);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  ~TemporaryFile() { remove(); }

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(file_); }

  // Gives it the final name, over what bears it. False, and errno: both are as they were.
  [[nodiscard]] bool rename_to(std::string const& final_name) noexcept;
  // In a forked child it only closes: the file is the parent's.
  void remove() noexcept;

 private:
  int folder_ = -1;
  pid_t owner_ = 0;
  std::string name_{};  // empty: has its final name, or is gone
  Descriptor file_{};
};

}  // namespace terrazzo::io
