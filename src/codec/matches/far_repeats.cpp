// SPDX-License-Identifier: Apache-2.0
#include "codec/matches/far_repeats.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace terrazzo::codec {

namespace {

std::uint64_t word_at(std::byte const* bytes) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

// The contents choose the places, some thousands, so that a copy has the places of its original.
bool has_far_repeats(std::span<std::byte const> block) noexcept {
  constexpr std::uint64_t kMultiplier = 0x9E37'79B9'7F4A'7C15;
  constexpr std::size_t kStretch = 16, kTableBits = 13, kPlaces = 4096;
  auto const place_bits = static_cast<std::size_t>(std::bit_width(block.size() / kPlaces));
  std::uint64_t const place_mask = (std::uint64_t{1} << place_bits) - 1;
  // Two of a hundred: random places of noise do not repeat, and real rasters without repeats have a few flat spots.
  constexpr std::size_t kOften = 50, kFewest = 8;
  std::array<std::uint32_t, std::size_t{1} << kTableBits> last{};  // the place after each hash; 0: none
  std::size_t places = 0, repeated = 0;
  for (std::size_t at = 0; at + kStretch <= block.size(); ++at) {
    std::byte const* const here = block.data() + at;
    std::uint64_t const word = word_at(here), hash = word * kMultiplier;
    if ((hash >> (64 - kTableBits - place_bits) & place_mask) != 0) { continue; }
    if (word == (word << 8 | word >> 56)) { continue; }  // a run
    ++places;
    std::uint32_t& seen = last[hash >> (64 - kTableBits)];
    if (seen != 0 && std::memcmp(block.data() + seen - 1, here, kStretch) == 0) { ++repeated; }
    seen = static_cast<std::uint32_t>(at + 1);
  }
  return repeated >= kFewest && repeated * kOften > places;
}

}  // namespace terrazzo::codec
