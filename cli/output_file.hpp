// SPDX-License-Identifier: Apache-2.0
//
// A file that appears whole or not at all: written under a temporary name in the same folder, renamed at the end.
// "-" is standard output; what exists and is not a regular file (a pipe, /dev/null) is written as it is, and so are
// open descriptors (/dev/stdout, /dev/fd/7). Links are followed, and an old file's permissions kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::cli {

// "-", "/dev/stdout" and whatever leads there: nothing else may be printed.
[[nodiscard]] bool is_standard_output(std::string const& path);

class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();  // an unfinished file is removed
  OutputFile(OutputFile const&) = delete;
  OutputFile& operator=(OutputFile const&) = delete;

  // False for pipes: only write(), in order.
  [[nodiscard]] bool seekable() const noexcept { return !temporary_path_.empty(); }

  // Where the last write() ended.
  void write(std::span<std::byte const> bytes);
  // Anywhere; does not move the place of write().
  void write_at(std::uint64_t offset, std::span<std::byte const> bytes);

  // Gives the file its name.
  void publish();

 private:
  // Leaves the descriptor at -1, and errno, when it cannot.
  void open_path();
  [[noreturn]] void fail(char const* doing) const;

  std::string name_;  // as it was given
  std::string path_{};
  std::string temporary_path_{};
  int descriptor_ = -1;
};

}  // namespace terrazzo::cli
