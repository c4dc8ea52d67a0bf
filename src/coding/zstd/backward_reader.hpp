// SPDX-License-Identifier: Apache-2.0
//
// A stream of ZSTD that is read from its last bit on (RFC 8878, 4.1 and 4.2), on host and device.
#pragma once

#include "base/host_device.hpp"
#include "coding/deflate/format.hpp"
#include "coding/team/stream_words.hpp"

#include <cstdint>

namespace terrazzo::coding {

class BackwardReader {
 public:
  // REQUIRES: begin <= end, both bytes of the stream
  TERRAZZO_HOST_DEVICE BackwardReader(StreamWords const& words, std::uint32_t begin, std::uint32_t end) noexcept
      : words_(words), first_place_(words.place_of(begin * 8)) {
    if (begin == end) { return; }
    auto const last = static_cast<std::uint32_t>(words.bytes()[end - 1]);
    // The highest bit that is set ends the stream.
    is_valid_ = last != 0;
    left_ = is_valid_ ? static_cast<std::int32_t>((end - begin - 1) * 8 + bits_of(last) - 1) : 0;
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE bool is_valid() const noexcept { return is_valid_; }
  // Negative: more bits were taken than there are.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::int32_t left() const noexcept { return left_; }

  // The next bits, at most 31; zeros follow the stream.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t peek(std::uint32_t bits) noexcept {
    if (left_ <= 0) { return 0; }
    auto const there = static_cast<std::uint32_t>(left_);
    return there >= bits ? bits_at(there - bits, bits) : bits_at(0, there) << (bits - there);
  }
  TERRAZZO_HOST_DEVICE void skip(std::uint32_t bits) noexcept { left_ -= static_cast<std::int32_t>(bits); }
  TERRAZZO_HOST_DEVICE std::uint32_t take(std::uint32_t bits) noexcept {
    std::uint32_t const value = peek(bits);
    // A stream that is too short stays so: the sum of all bits that are taken is bounded only by the caller's loops.
    left_ = left_ < 0 ? left_ : left_ - static_cast<std::int32_t>(bits);
    return value;
  }

 private:
  // Keeps two words; the next bits are in them, or in the word before them.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t bits_at(std::uint32_t low, std::uint32_t bits) noexcept {
    std::uint32_t const place = first_place_ + low;
    std::uint32_t const word = place / 32;
    if (word + 1 == word_) {
      kept_ = kept_ << 32 | words_.word(word);
      word_ = word;
    } else if (word != word_) {
      kept_ = std::uint64_t{words_.word(word + 1)} << 32 | words_.word(word);
      word_ = word;
    }
    return static_cast<std::uint32_t>(kept_ >> (place % 32)) & ((1U << bits) - 1);
  }

  StreamWords const& words_;
  std::uint32_t first_place_;
  std::int32_t left_ = 0;
  bool is_valid_ = false;
  std::uint32_t word_ = 0xFFFFFFFE;  // the first word of kept_: none yet
  std::uint64_t kept_ = 0;
};

}  // namespace terrazzo::coding
