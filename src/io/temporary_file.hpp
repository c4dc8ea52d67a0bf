// SPDX-License-Identifier: Apache-2.0
//
// The temporary name of a file that is being written: ".dem.tif.0.terrazzo-tmp" for "dem.tif", in the same folder.
//
// The writer holds a lock (flock) on it as long as it lives, so the next writer of the same path can tell what a dead
// one left (kill -9, power failure) from what is still being written: it removes the former and takes another number
// beside the latter. Numbers instead of random names: no folder has to be listed, however many files it holds. Where a
// file system has no locks nothing is ever removed.
//
// A dead writer may have set sidecars of the old file aside (io/set_aside.hpp): they get their names again before its
// temporary file goes, unless the old file was changed after the new one was ready.
//
// The name is looked at again before it is renamed or removed: it may bear somebody else's file by then. Whoever may
// rename files in the folder can still exchange it between the look and the rename, and could as well exchange the
// final file a moment later; nobody else can.
#pragma once

#include "io/file_calls.hpp"
#include "io/place.hpp"

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>

namespace terrazzo::io {

class TemporaryFile {
 public:
  static constexpr std::string_view kSuffix = ".terrazzo-tmp";

  TemporaryFile() = default;
  // For the file at the last of these places; the others are links that lead to it. Invalid, and errno, when the folder
  // takes no file. The places must outlive this.
  [[nodiscard]] static TemporaryFile create(std::span<Place const> places, mode_t mode);
  // Puts away what dead writers left, and nothing else.
  static void clean(std::span<Place const> places) noexcept;
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) noexcept;
  ~TemporaryFile() { remove(); }

  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(file_); }

  [[nodiscard]] std::string const& number() const noexcept { return number_; }

  // Gives it the final name, over what bears it. False, and errno: both are as they were. ESTALE when the temporary
  // name is gone, or another file bears it.
  [[nodiscard]] bool rename_to(std::string const& final_name) noexcept;
  // In a forked child it only closes: the file is the parent's.
  void remove() noexcept;

 private:
  [[nodiscard]] bool has_its_name() const noexcept;

  int folder_ = -1;
  pid_t owner_ = 0;
  std::string number_{};
  std::string name_{};  // empty: has its final name, or is gone
  Descriptor file_{};
};

}  // namespace terrazzo::io
