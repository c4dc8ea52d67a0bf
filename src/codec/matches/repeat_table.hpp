// SPDX-License-Identifier: Apache-2.0
//
// Finds the previous positions of some bytes, by hashes of them. The table has pairs of positions, by hash of the first
// bytes: the last two, the newer first. If positions are also looked up by more bytes, the second of a pair is the last
// position of another hash, of eight or sixteen bytes. Each position has a few more bits of its hash beside it, so that
// few candidates have other bytes; the caller compares the bytes.
#pragma once

#include "codec/matches/common_length.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

struct RepeatCandidate {
  std::uint32_t at, from;
};

// A view of a table's memory, kept in registers. Uses masks instead of shifts by variable counts, which are three
// micro-operations each on many x86-64 machines.
class RepeatTable {
 public:
  // The size of `places` is a power of two, at least 4. `place_mask` has all bits of a position in `in`.
  RepeatTable(std::byte const* in, std::span<std::uint32_t> places, std::uint32_t place_mask,
              std::size_t hashed_bytes) noexcept
      : in_(in),
        places_(places.data()),
        factor_(kMix << (64 - 8 * hashed_bytes)),
        index_bits_(std::countr_zero(places.size() / 2)),
        index_mask_(places.size() / 2 - 1),
        place_mask_(place_mask) {}

  // Reads eight bytes at a position, sixteen if as many are hashed.
  [[nodiscard]] std::uint64_t hash(std::size_t at) const noexcept {
    return std::rotl(load_eight(in_ + at) * factor_, index_bits_);
  }
  template <std::size_t bytes>
  [[nodiscard]] std::uint64_t long_hash(std::size_t at) const noexcept {
    std::uint64_t mixed = load_eight(in_ + at);
    if constexpr (bytes == 16) { mixed += load_eight(in_ + at + 8) * kMix; }
    return std::rotl(mixed * 0xD6E8'FEB8'6659'FD93, index_bits_);
  }
  [[nodiscard]] std::uint32_t* pair_of(std::uint64_t mixed) const noexcept {
    return places_ + 2 * (mixed & index_mask_);
  }

  // All of these insert `at` in the table. They always write candidates, and count only real ones.
  [[nodiscard]] RepeatCandidate* look_up(std::size_t at, RepeatCandidate* to) const noexcept {
    std::uint64_t const mixed = hash(at);
    std::uint32_t* const last_two = pair_of(mixed);
    std::uint32_t const newest = entry(at, mixed), newer = last_two[0], older = last_two[1];
    auto const place = static_cast<std::uint32_t>(at);
    *to = {place, newer & place_mask_};
    to += has_same_tag(newer, newest);
    *to = {place, older & place_mask_};
    to += has_same_tag(older, newest);
    last_two[0] = newest;
    last_two[1] = newer;
    return to;
  }

  // A candidate with `long_bytes` equal bytes, otherwise one with fewer.
  template <std::size_t long_bytes>
  [[nodiscard]] RepeatCandidate* look_up_long(std::size_t at, RepeatCandidate* to) const noexcept {
    std::uint64_t const few = hash(at), many = long_hash<long_bytes>(at);
    std::uint32_t& last_few = pair_of(few)[0];
    std::uint32_t& last_many = pair_of(many)[1];
    std::uint32_t const old_few = last_few, old_many = last_many;
    last_few = entry(at, few);
    last_many = entry(at, many);
    std::uint32_t const has_few = has_same_tag(old_few, last_few), has_many = has_same_tag(old_many, last_many);
    *to = {static_cast<std::uint32_t>(at), (has_many != 0 ? old_many : old_few) & place_mask_};
    return to + (has_few | has_many);
  }

 private:
  static constexpr std::uint64_t kMix = 0x9E37'79B1'85EB'CA87;

  // A position, and above it bits of the hash that are not in the index: the index has the lowest bits, which come from
  // the highest bits of the product and are the best mixed; the next best are on top.
  [[nodiscard]] std::uint32_t entry(std::size_t at, std::uint64_t mixed) const noexcept {
    return static_cast<std::uint32_t>(at) | (static_cast<std::uint32_t>(mixed >> 32) & ~place_mask_);
  }
  [[nodiscard]] std::uint32_t has_same_tag(std::uint32_t a, std::uint32_t b) const noexcept {
    return (a ^ b) <= place_mask_ ? 1 : 0;
  }

  std::byte const* in_;
  std::uint32_t* places_;
  std::uint64_t factor_;  // drops the bytes after the hashed ones
  int index_bits_;
  std::uint64_t index_mask_;
  std::uint32_t place_mask_;
};

}  // namespace terrazzo::codec
