// SPDX-License-Identifier: Apache-2.0
//
// A local file, read at positions: no shared cursor, so any number of threads read at once. Nothing is mapped: a file
// that shrinks while it is read gives an `io` error, where a mapping would give SIGBUS.
#pragma once

#include "base/byte_source.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::io {

class FileSource final : public ByteSource {
 public:
  // Throws `io` when the path cannot be opened, `usage` when it is a directory or another thing that has no size.
  explicit FileSource(std::string path);
  ~FileSource() override;
  FileSource(FileSource const&) = delete;
  FileSource& operator=(FileSource const&) = delete;

  [[nodiscard]] std::string const& name() const noexcept override { return path_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

  // Reads in the calling thread, before it returns: the page cache answers faster than a hand-over to another thread
  // would take. Ranges that follow one another in the file become one vectored read.
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace terrazzo::io
