// SPDX-License-Identifier: Apache-2.0
//
// LZW streams as other programs write them: in both bit orders, with any clearing, with and without EOI. A textbook
// encoder that is independent of our decoders and our encoder; and single codes for broken streams.
#pragma once

#include "coding/lzw/decode.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace terrazzo::testing {

class LzwCodeWriter {
 public:
  explicit LzwCodeWriter(coding::LzwBitOrder order) : order_(order) {}

  void put(std::uint32_t code, std::uint32_t width) {
    if (order_ == coding::LzwBitOrder::msb_first) {
      bits_ = bits_ << width | code;
      count_ += width;
      for (; count_ >= 8; count_ -= 8) { bytes_.push_back(static_cast<std::byte>(bits_ >> (count_ - 8) & 0xFF)); }
    } else {
      bits_ |= std::uint64_t{code} << count_;
      count_ += width;
      for (; count_ >= 8; count_ -= 8, bits_ >>= 8) { bytes_.push_back(static_cast<std::byte>(bits_ & 0xFF)); }
    }
  }

  // Pads the last byte with zeros.
  [[nodiscard]] std::vector<std::byte> take() {
    if (count_ != 0) { put(0, 8 - count_); }
    return std::move(bytes_);
  }

 private:
  coding::LzwBitOrder order_;
  std::vector<std::byte> bytes_;
  std::uint64_t bits_ = 0;
  std::uint32_t count_ = 0;
};

struct LzwStreamOptions {
  coding::LzwBitOrder order = coding::LzwBitOrder::msb_first;
  std::uint32_t clear_at = 4094;  // number of entries at which the table is cleared
  bool end_of_information = true;
};

// Longest match in a trie; 0 means no child, since no entry is 0.
inline std::vector<std::byte> lzw_stream(std::vector<std::byte> const& data, LzwStreamOptions options = {}) {
  LzwCodeWriter writer(options.order);
  std::uint32_t const early = options.order == coding::LzwBitOrder::msb_first ? 1 : 0;
  std::vector<std::uint16_t> children(std::size_t{4096} * 256, 0);
  std::vector<std::size_t> used;  // used entries of `children`, which is too large to clear completely
  std::uint32_t next = 258;
  std::uint32_t width = 9;
  // The decoder is one entry behind the encoder: it adds an entry at the next code.
  auto const widen = [&] {
    if (next + early > (1U << width) && width < 12) { ++width; }
  };
  auto const clear = [&] {
    writer.put(coding::kLzwClear, width);
    for (std::size_t const child : used) { children[child] = 0; }
    used.clear();
    next = 258;
    width = 9;
  };
  clear();
  bool matching = false;
  std::uint32_t match = 0;
  for (std::byte const b : data) {
    auto const value = static_cast<std::uint32_t>(b);
    if (!matching) {
      match = value;
      matching = true;
      continue;
    }
    std::size_t const child = std::size_t{match} * 256 + value;
    if (children[child] != 0) {
      match = children[child];
      continue;
    }
    writer.put(match, width);
    if (next < 4096) {
      children[child] = static_cast<std::uint16_t>(next);
      used.push_back(child);
    }
    ++next;
    widen();
    if (next == options.clear_at) { clear(); }
    match = value;
  }
  if (matching) {
    writer.put(match, width);
    ++next;
    widen();
  }
  if (options.end_of_information) { writer.put(coding::kLzwEndOfInformation, width); }
  return writer.take();
}

// ---- input data ----

inline std::vector<std::byte> noise(std::size_t count, std::uint32_t seed, std::uint32_t alphabet) {
  std::mt19937 engine(seed);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(engine() % alphabet); }
  return bytes;
}

// Differences of a slow walk: many short strings, as in rasters.
inline std::vector<std::byte> walk_steps(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> step(0.0F, 2.0F);
  std::vector<std::byte> bytes(count);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(static_cast<int>(step(engine)) & 0xFF); }
  return bytes;
}

}  // namespace terrazzo::testing
