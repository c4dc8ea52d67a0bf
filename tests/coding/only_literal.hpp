// SPDX-License-Identifier: Apache-2.0
//
// Tiles whose last piece has one byte for all its literals, without being constant.
#pragma once

#include "coding/deflate/matches.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace terrazzo::coding::test {

// So few and short that no place of a part is forgotten before it comes again.
inline constexpr std::uint32_t kOnlyLiterals = 16;

// A piece that ends with noise, and then parts of the noise, each with the byte `literal` behind it.
inline std::vector<std::byte> only_literal_tile(std::uint32_t literal) {
  constexpr std::uint32_t kPartBytes = 16, kNoiseBytes = kOnlyLiterals * kPartBytes;
  auto const byte = [](std::uint32_t value) { return static_cast<std::byte>(value & 0xFFU); };
  std::mt19937 engine(1);
  std::vector<std::byte> tile(kDeflatePieceBytes, byte(77));
  for (std::size_t i = tile.size() - kNoiseBytes; i < tile.size(); ++i) {
    tile[i] = byte(static_cast<std::uint32_t>(engine()));
    if (tile[i] == byte(literal)) { tile[i] = byte(literal + 7); }
  }
  for (std::uint32_t i = 0; i < kNoiseBytes; ++i) {
    tile.push_back(i % kPartBytes == kPartBytes - 1 ? byte(literal) : tile[kDeflatePieceBytes - kNoiseBytes + i]);
  }
  return tile;
}

}  // namespace terrazzo::coding::test
