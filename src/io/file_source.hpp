// SPDX-License-Identifier: Apache-2.0
//
// A local file, read by offset: there is no shared cursor, so any number of threads may read. It is not mapped: a file
// that shrinks during a read gives an `io` error instead of SIGBUS.
#pragma once

#include "terrazzo/source.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::io {

class FileSource final : public ByteSource {
 public:
  // Throws `io` if the path cannot be opened, `usage` for a directory or another object without a size.
  explicit FileSource(std::string path);
  ~FileSource() override;
  FileSource(FileSource const&) = delete;
  FileSource& operator=(FileSource const&) = delete;

  [[nodiscard]] std::string const& name() const noexcept override { return path_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

  [[nodiscard]] SourceHints hints() const noexcept override { return {.local = true, .trusted = true}; }

  // Reads in the calling thread before it returns: the page cache is faster than a hand-over to another thread.
  // Adjacent ranges become one vectored read.
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_bytes_ = 0;
};

}  // namespace terrazzo::io
