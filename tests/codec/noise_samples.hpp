// SPDX-License-Identifier: Apache-2.0
//
// Blocks that are partly noise, for tests of what codes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

namespace terrazzo::codec::testing {

// make(i) for each byte.
template <class Make>
std::vector<std::byte> bytes_of(std::size_t count, Make const& make) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) { bytes[i] = static_cast<std::byte>(make(i)); }
  return bytes;
}

inline std::vector<std::byte> random_noise(std::size_t size, std::mt19937& random) {
  std::vector<std::byte> bytes(size);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(random()); }
  return bytes;
}

// Rows of four planes of 512 bytes, as predictor 3 leaves elevations: two that say little, two of noise.
inline std::vector<std::byte> planes(std::size_t rows, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes;
  for (std::size_t row = 0; row < rows; ++row) {
    for (int i = 0; i < 512; ++i) { bytes.push_back(static_cast<std::byte>(random() % 200 == 0 ? random() % 3 : 0)); }
    for (int i = 0; i < 512; ++i) { bytes.push_back(static_cast<std::byte>(random() % 12)); }
    for (int i = 0; i < 512; ++i) { bytes.push_back(static_cast<std::byte>(random())); }
    for (int i = 0; i < 512; ++i) { bytes.push_back(static_cast<std::byte>(random() % 64)); }
  }
  return bytes;
}

// As planes(), of elevations so smooth that a byte of the second plane says little more than a bit.
inline std::vector<std::byte> smooth_planes(std::size_t rows, unsigned seed) {
  std::vector<std::byte> bytes = planes(rows, seed);
  std::mt19937 random(seed + 1);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned const chosen = random() % 8;
    if (i / 512 % 4 == 1) { bytes[i] = chosen == 0 ? std::byte{1} : chosen < 3 ? std::byte{0xFF} : std::byte{0}; }
  }
  return bytes;
}

// Rows of noise and of bytes that say next to nothing, a bit in eight of them: repeats are far longer than in planes().
inline std::vector<std::byte> sparse_bits(std::size_t rows, unsigned seed) {
  std::mt19937 random(seed);
  return bytes_of(1024 * rows, [&](std::size_t i) {
    auto const value = random();
    return i / 512 % 2 == 0 ? value : i % 8 == 0 ? value % 2 : 0;
  });
}

// Little-endian differences of 16 bits whose low bytes are noise.
inline std::vector<std::byte> differences(std::size_t samples, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes;
  bytes.reserve(2 * samples);
  for (std::size_t i = 0; i < samples; ++i) {
    bytes.push_back(static_cast<std::byte>(random()));
    bytes.push_back(random() % 2 == 0 ? std::byte{0} : std::byte{0xFF});
  }
  return bytes;
}

// As differences(), of rows of 512 that resemble the one above: every third sample or so is another.
inline std::vector<std::byte> rows_alike(std::size_t rows, unsigned seed) {
  std::vector<std::byte> bytes = differences(512, seed);
  std::mt19937 random(seed + 1);
  bytes.reserve(1024 * rows);
  while (bytes.size() < 1024 * rows) {
    std::byte const above = bytes[bytes.size() - 1024];
    bytes.push_back(bytes.size() % 2 == 0 && random() % 3 == 0 ? above ^ static_cast<std::byte>(1 + random() % 3)
                                                               : above);
  }
  return bytes;
}

// Rows of 512 bytes of noise and 512 that are those of the row above but for every eighth or so.
inline std::vector<std::byte> rows_alike_beside_noise(std::size_t rows, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes = random_noise(1024, random);
  while (bytes.size() < 1024 * rows) {
    bool const is_new = bytes.size() % 1024 < 512 || random() % 8 == 0;
    bytes.push_back(is_new ? static_cast<std::byte>(random() % 256) : bytes[bytes.size() - 1024]);
  }
  return bytes;
}

// Noise, structure, copies of what was before at any distance, in pieces of any length.
inline std::vector<std::byte> mixture(std::size_t size, std::mt19937& random) {
  std::vector<std::byte> bytes;
  while (bytes.size() < size) {
    std::size_t const length = 1 + random() % 3000;
    unsigned const kind = random() % 4;
    std::size_t const from = bytes.empty() ? 0 : random() % bytes.size();
    for (std::size_t i = 0; i < length; ++i) {
      bytes.push_back(kind == 0       ? static_cast<std::byte>(random())
                      : kind == 1     ? std::byte{0}
                      : kind == 2     ? static_cast<std::byte>(random() % 5)
                      : bytes.empty() ? std::byte{1}
                                      : bytes[std::min(from + i, bytes.size() - 1)]);
    }
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace terrazzo::codec::testing
