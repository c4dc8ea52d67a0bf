// SPDX-License-Identifier: Apache-2.0
//
// Bytes for tests of Deflate encoders: what rasters are made of, and what is hard for a parse or for a code.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace terrazzo::coding::test {

enum class DeflateScene : std::uint8_t { constant, ramp, noise, runs, words, elevations, skewed, repeats, two_values };

inline constexpr DeflateScene kDeflateScenes[] = {
    DeflateScene::constant,   DeflateScene::ramp,   DeflateScene::noise,   DeflateScene::runs,      DeflateScene::words,
    DeflateScene::elevations, DeflateScene::skewed, DeflateScene::repeats, DeflateScene::two_values};

inline std::vector<std::byte> deflate_scene(DeflateScene scene, std::size_t size, std::uint32_t seed = 1) {
  std::mt19937 random(seed * 101 + static_cast<std::uint32_t>(scene));
  auto const engine = [&] { return static_cast<std::uint32_t>(random()); };
  std::vector<std::byte> bytes(size);
  auto const below = [&](std::uint32_t limit) { return static_cast<std::size_t>(engine() % limit); };
  auto const byte = [](std::size_t value) { return static_cast<std::byte>(value & 0xFFU); };
  switch (scene) {
    case DeflateScene::constant: std::fill(bytes.begin(), bytes.end(), byte(seed)); break;
    case DeflateScene::ramp:
      for (std::size_t i = 0; i < size; ++i) { bytes[i] = byte(i + i / 256); }
      break;
    case DeflateScene::noise:
      for (std::byte& b : bytes) { b = byte(engine()); }
      break;
    case DeflateScene::runs:
      for (std::size_t i = 0; i < size;) {
        std::size_t const end = std::min(size, i + 1 + below(below(8) == 0 ? 2000 : 40));
        std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(i), bytes.begin() + static_cast<std::ptrdiff_t>(end),
                  byte(below(5)));
        i = end;
      }
      break;
    case DeflateScene::words: {
      constexpr std::string_view kWords[] = {"tile ",    "row ", "the ",  "piece ", "of ",
                                             "stream\n", "{ ",   "std::", "0x7F "};
      for (std::size_t i = 0; i < size;) {
        for (char const letter : kWords[below(9)]) {
          if (i < size) { bytes[i++] = static_cast<std::byte>(letter); }
        }
      }
      break;
    }
    case DeflateScene::elevations:  // rows of 512: a plane that hardly changes, one that does, two of noise
      for (std::size_t i = 0; i < size; ++i) {
        std::size_t const plane = i / 512 % 4;
        bytes[i] = byte(plane == 0 ? (below(40) == 0 ? 1 : 0) : plane == 1 ? below(3) * below(9) + 250 : engine());
      }
      break;
    case DeflateScene::skewed:  // counts that double from symbol to symbol make a tree deeper than codes may be
      for (std::byte& b : bytes) {
        std::uint32_t const bits = engine();
        b = byte(bits == 0 ? 31 : static_cast<std::size_t>(__builtin_ctz(bits)));
      }
      break;
    case DeflateScene::repeats:  // of noise, at distances up to the farthest and past it
      for (std::size_t i = 0; i < size;) {
        std::size_t const length = 1 + below(400), distance = 1 + below(below(2) == 0 ? 40'000 : 300);
        for (std::size_t k = 0; k < length && i < size; ++k, ++i) {
          bytes[i] = i < distance || length % 7 == 0 ? byte(engine()) : bytes[i - distance];
        }
      }
      break;
    case DeflateScene::two_values:
      for (std::size_t i = 0; i < size; ++i) { bytes[i] = byte(i / 97 % 13 < 6 || below(50) == 0 ? 255 : 0); }
      break;
  }
  return bytes;
}

}  // namespace terrazzo::coding::test
