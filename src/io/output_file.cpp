// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/output_file.hpp"

#include "io/file_sink.hpp"
#include "io/path_target.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/sink.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace terrazzo {

OutputFile::OutputFile(std::string path, std::atomic<bool> const* cancel)
    : sink_(std::make_shared<io::FileSink>(std::move(path), Durability::none, cancel)) {
  sink_->open();
}

OutputFile::~OutputFile() = default;

bool OutputFile::seekable() const noexcept { return sink_->is_seekable(); }

void OutputFile::write(std::span<std::byte const> bytes) {
  write_at(next_bytes_, bytes);
  next_bytes_ += bytes.size();
}

void OutputFile::write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
  sink_->write_at(offset_bytes, bytes);
  if (!bytes.empty()) { end_bytes_ = std::max(end_bytes_, offset_bytes + bytes.size()); }
}

void OutputFile::publish() { sink_->publish(end_bytes_); }

bool is_standard_output(std::string const& path) {
  try {
    return io::find_target(path).descriptor == STDOUT_FILENO;
  } catch (Error const&) {
    return false;  // the file cannot be opened for writing
  }
}

}  // namespace terrazzo
