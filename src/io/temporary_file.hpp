// SPDX-License-Identifier: Apache-2.0
//
// The temporary name of a file that is being written: ".dem.tif.0.terrazzo-tmp" for "dem.tif", in the same folder.
//
// The writer holds a lock (flock) on it while it lives, so the next writer of the same path can tell the file of a dead
// writer (kill -9, power failure) from one that is being written: it removes the former and takes another number
// beside the latter. With numbers instead of random names, no folder has to be listed. On a file system
// without locks nothing is ever removed.
//
// A dead writer may have renamed sidecars of the old file (io/set_aside.hpp): they are restored before its
// temporary file is removed, unless the old file was changed after the new one was ready.
//
// The name is checked again before it is renamed or removed: it may belong to another file by then. A user who may
// rename files in the folder can still exchange it between check and rename, and could as well exchange the
// final file a moment later; no other user can.
#pragma once

#include "io/file_calls.hpp"
#include "io/path_target.hpp"

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>

namespace terrazzo::io {

class TemporaryFile {
 public:
  static constexpr std::string_view kSuffix = ".terrazzo-tmp";

  TemporaryFile() = default;
  // Creates a file for the last of these places; the others are links that lead to it. Invalid, with errno, if the
  // folder accepts no file. The places must outlive this object.
  [[nodiscard]] static TemporaryFile create(std::span<Place const> places, mode_t mode);
  // Only removes files of dead writers.
  static void clean(std::span<Place const> places) noexcept;
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  ~TemporaryFile() { remove(); }

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(file_); }

  [[nodiscard]] std::string const& number() const noexcept { return number_; }

  // Renames to the final name, over an existing file. On failure false and errno, and both names stay. ESTALE if the
  // temporary name is gone or belongs to another file.
  [[nodiscard]] bool rename_to(std::string const& final_name) noexcept;
  // In a forked child, remove() only closes: the parent owns the file.
  void remove() noexcept;

 private:
  [[nodiscard]] bool has_its_name() const noexcept;

  int folder_ = -1;
  pid_t owner_ = 0;
  std::string number_{};
  std::string name_{};  // empty: renamed or removed
  Descriptor file_{};
};

}  // namespace terrazzo::io
