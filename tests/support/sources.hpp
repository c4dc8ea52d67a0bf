// SPDX-License-Identifier: Apache-2.0
//
// Byte sources for tests: one that counts the bytes read through it, one that generates its bytes.
#pragma once

#include "base/checked.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/source.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::testing {

// Passes everything on and counts it. Reports that it is not in memory, so that every byte passes through it.
class CountingSource final : public ByteSource {
 public:
  explicit CountingSource(ByteSourcePtr inner) : inner_(std::move(inner)) {}
  [[nodiscard]] std::string const& name() const noexcept override { return inner_->name(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return inner_->size_bytes(); }
  [[nodiscard]] SourceHints hints() const noexcept override { return inner_->hints(); }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override {
    ++submits;
    for (RangeRead const& range : ranges) { bytes += range.into.size(); }
    if (fails) { return ReadTicket(std::make_exception_ptr(Error(ErrorKind::io, "the source failed"))); }
    return inner_->submit(ranges);
  }

  mutable std::atomic<std::uint64_t> submits{0}, bytes{0};
  std::atomic<bool> fails{false};

 private:
  ByteSourcePtr inner_;
};

// A file of any size that is not stored: real bytes at the front, then the values of `byte_at`.
class SyntheticSource final : public ByteSource {
 public:
  using ByteAt = std::function<std::byte(std::uint64_t offset_bytes)>;
  SyntheticSource(std::vector<std::byte> front, std::uint64_t size_bytes, ByteAt byte_at)
      : front_(std::move(front)), size_bytes_(size_bytes), byte_at_(std::move(byte_at)) {}
  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override {
    for (RangeRead const& range : ranges) {
      if (!range_fits(range.offset_bytes, range.into.size(), size_bytes_)) {
        return ReadTicket(std::make_exception_ptr(Error(ErrorKind::io, "past the end")));
      }
      for (std::size_t i = 0; i < range.into.size(); ++i) {
        std::uint64_t const at = range.offset_bytes + i;
        range.into[i] = at < front_.size() ? front_[static_cast<std::size_t>(at)] : byte_at_(at);
      }
    }
    return {};
  }

 private:
  std::vector<std::byte> front_;
  std::uint64_t size_bytes_;
  ByteAt byte_at_;
  std::string name_ = "synthetic.tif";
};

}  // namespace terrazzo::testing
