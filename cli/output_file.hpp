// SPDX-License-Identifier: Apache-2.0
//
// A file that appears whole or not at all: written under a temporary name in the same folder, renamed at the end.
// "-" is standard output; what exists and is not a regular file (a pipe, /dev/null) is written as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::cli {

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
  [[noreturn]] void fail(char const* doing) const;

  std::string path_;
  std::string temporary_path_{};
  int descriptor_ = -1;
};

}  // namespace terrazzo::cli
