// SPDX-License-Identifier: Apache-2.0
//
// A stream of ZSTD that is read from its last bit on, for loops that take many bits: the next bits are in a register,
// and the word after them is on its way. backward_reader.hpp has the reader for everything else.
#pragma once

#include "base/host_device.hpp"
#include "coding/deflate/format.hpp"
#include "coding/team/stream_words.hpp"

#include <cstdint>

namespace terrazzo::coding {

// The extent of a stream: its bits in front of the highest bit that is set, which ends it.
struct BackwardExtent {
  std::uint32_t first_place;  // of the lowest bit, in StreamWords
  std::uint32_t bits;
  bool is_valid;

  // REQUIRES: begin <= end, both bytes of the stream
  [[nodiscard]] TERRAZZO_HOST_DEVICE static BackwardExtent of(StreamWords const& words, std::uint32_t begin,
                                                              std::uint32_t end) noexcept {
    BackwardExtent extent{words.place_of(begin * 8), 0, false};
    std::uint32_t const last = begin == end ? 0 : static_cast<std::uint32_t>(words.bytes()[end - 1]);
    if (last == 0) { return extent; }
    extent.is_valid = true;
    extent.bits = (end - begin - 1) * 8 + bits_of(last) - 1;
    return extent;
  }
};

class BackwardBits {
 public:
  // Begins after `taken` bits. Bits after the end of the stream have any value: compare taken() with the extent's bits.
  TERRAZZO_HOST_DEVICE BackwardBits(StreamWords const& words, BackwardExtent const& extent,
                                    std::uint32_t taken) noexcept
      : words_(&words), taken_(taken) {
    std::uint32_t const place = extent.first_place + extent.bits - taken;  // the next bit is before it
    count_ = place % 32;
    word_ = place / 32;
    bits_ = count_ == 0 ? 0 : std::uint64_t{words.word(word_)} << (64 - count_);
    ahead_ = words.word(--word_);
  }

  // Makes at least 32 bits available.
  TERRAZZO_HOST_DEVICE void fill() noexcept {
    if (count_ >= 32) { return; }
    bits_ |= std::uint64_t{ahead_} << (32 - count_);
    count_ += 32;
    ahead_ = words_->word(--word_);
  }
  // REQUIRES of both: bits <= 32, and as many are available
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t peek(std::uint32_t bits) const noexcept {
    return static_cast<std::uint32_t>(bits_ >> 1 >> (63 - bits));
  }
  TERRAZZO_HOST_DEVICE void skip(std::uint32_t bits) noexcept {
    bits_ <<= bits;
    count_ -= bits;
    taken_ += bits;
  }
  TERRAZZO_HOST_DEVICE std::uint32_t take(std::uint32_t bits) noexcept {
    std::uint32_t const value = peek(bits);
    skip(bits);
    return value;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t taken() const noexcept { return taken_; }

 private:
  StreamWords const* words_;
  std::uint64_t bits_;  // the next one is the highest
  std::uint32_t count_;
  std::uint32_t word_;  // index of ahead_
  std::uint32_t ahead_;
  std::uint32_t taken_;
};

}  // namespace terrazzo::coding
