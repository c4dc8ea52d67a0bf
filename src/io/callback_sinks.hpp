// SPDX-License-Identifier: Apache-2.0
//
// Sinks that hand every byte to the caller's function. Small writes that follow one another are handed over together:
// calls may be dear (Python). What the functions throw goes through as it is.
//
// Nothing can be taken back from a function, so discard() only stops. A file that never got to publish() is for the
// caller to throw away.
#pragma once

#include "base/byte_sink.hpp"
#include "io/write_gather.hpp"
#include "terrazzo/write.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace terrazzo::io {

constexpr std::size_t kGatherBytes = std::size_t{4} << 20;
constexpr std::size_t kDirectBytes = std::size_t{128} << 10;

// Places that are not written before are taken to read as zeros, and to come into being when a later one is written.
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
  // Anywhere but at the end is a `usage` error.
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
