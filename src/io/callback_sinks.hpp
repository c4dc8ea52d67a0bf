// SPDX-License-Identifier: Apache-2.0
//
// Sinks that pass every byte to the caller's function. Adjacent small writes are passed in one call, because calls may
// be expensive (Python). Exceptions of the functions are rethrown unchanged.
//
// A function cannot take bytes back, so discard() only stops. The caller removes a file that was never published.
#pragma once

#include "io/write_gather.hpp"
#include "terrazzo/sink.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::io {

constexpr std::size_t kGatherBytes = std::size_t{4} << 20;
constexpr std::size_t kDirectBytes = std::size_t{128} << 10;

// Bytes that were never written must read as zeros once a later byte is written.
class SeekableSink final : public ByteSink {
 public:
  SeekableSink(std::string name, WriteAt write_at);

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  void open() override;
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) override;
  void publish(std::uint64_t size_bytes) override;
  void discard() noexcept override { gather_.clear(); }

 private:
  std::string name_;
  WriteAt write_at_;
  WriteGather gather_{kGatherBytes, kDirectBytes};
  std::uint64_t end_bytes_ = 0;
  bool opened_ = false;
};

class AppendSink final : public ByteSink {
 public:
  AppendSink(std::string name, Append append);

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  [[nodiscard]] bool is_seekable() const noexcept override { return false; }
  void open() override;
  // Throws `usage` for a write that is not at the end.
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) override;
  void publish(std::uint64_t size_bytes) override;
  void discard() noexcept override { gather_.clear(); }

 private:
  std::string name_;
  Append append_;
  WriteGather gather_{kGatherBytes, kDirectBytes};
  std::uint64_t end_bytes_ = 0;
  bool opened_ = false;
};

}  // namespace terrazzo::io
