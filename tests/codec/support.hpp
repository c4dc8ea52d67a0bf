// SPDX-License-Identifier: Apache-2.0
//
// What all codec tests share: buffers of the exact size, so that a sanitizer sees one byte too many, and the promises
// that every decoder keeps whatever it is fed.
#pragma once

#include "codec/registry/codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <random>
#include <vector>

namespace terrazzo::codec::testing {

using Bytes = std::vector<std::byte>;
using tile::TileStatus;

struct Decoded {
  tile::TileResult result;
  Bytes bytes;
};

// Copies `in` to memory of its own length and decodes into memory of `out_bytes`, filled with a pattern.
inline Decoded decode(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in, std::size_t out_bytes,
                      Workspace& workspace) {
  Codec const* const codec = find_codec(format.compression);
  EXPECT_NE(codec, nullptr);
  EXPECT_NE(codec->decode, nullptr);
  auto const exact = std::make_unique<std::byte[]>(in.size());
  std::copy(in.begin(), in.end(), exact.get());
  Decoded decoded{{}, Bytes(out_bytes, std::byte{0xA5})};
  decoded.bytes.shrink_to_fit();
  decoded.result = codec->decode_block(format, shape, {exact.get(), in.size()}, decoded.bytes, workspace);
  return decoded;
}

inline Decoded decode(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                      std::size_t out_bytes) {
  Workspace workspace;
  return decode(format, shape, in, out_bytes, workspace);
}

// Holds for every result: never more bytes than there is room for, all of them when ok, and a reason when not.
inline void expect_honest(Decoded const& decoded) {
  EXPECT_LE(decoded.result.bytes_written, decoded.bytes.size());
  if (decoded.result.status == TileStatus::ok) {
    EXPECT_EQ(decoded.result.bytes_written, decoded.bytes.size());
  } else {
    EXPECT_NE(decoded.result.reason, nullptr);
  }
  EXPECT_NE(decoded.result.status, TileStatus::sparse);
}

// Every prefix (or `tries` of them): never ok with bytes that differ, and the good bytes of a truncated one are good.
inline void expect_prefixes_are_honest(BlockFormat const& format, BlockShape shape, std::span<std::byte const> stream,
                                       std::span<std::byte const> truth, std::size_t tries = 500) {
  Workspace workspace;
  std::size_t const step = std::max<std::size_t>(1, stream.size() / tries);
  for (std::size_t length = 0; length < stream.size(); length += step) {
    Decoded const decoded = decode(format, shape, stream.first(length), truth.size(), workspace);
    expect_honest(decoded);
    auto const status = decoded.result.status;
    if (status == TileStatus::ok || status == TileStatus::truncated) {
      ASSERT_TRUE(std::equal(truth.begin(), truth.begin() + static_cast<std::ptrdiff_t>(decoded.result.bytes_written),
                             decoded.bytes.begin()))
          << "prefix of " << length << " bytes";
    }
  }
}

inline Bytes bytes_of(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (unsigned const value : values) { bytes.push_back(static_cast<std::byte>(value)); }
  return bytes;
}

inline Bytes random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  Bytes bytes(count);
  for (std::byte& b : bytes) { b = static_cast<std::byte>(generator() & 0xFF); }
  return bytes;
}

// A picture that compresses: two waves, a different mix for each sample.
inline Bytes picture(std::uint32_t width, std::uint32_t height, std::uint32_t samples) {
  Bytes bytes;
  bytes.reserve(std::size_t{width} * height * samples);
  for (std::uint32_t y = 0; y < height; ++y) {
    for (std::uint32_t x = 0; x < width; ++x) {
      for (std::uint32_t s = 0; s < samples; ++s) {
        bytes.push_back(static_cast<std::byte>((x * (3 + s) + y * (5 - s % 5) + 40 * s) / 2 % 256));
      }
    }
  }
  return bytes;
}

// Flips bits and cuts pieces out, and asks for no more than honesty (and, by the sanitizers, no harm).
inline void expect_survives_damage(BlockFormat const& format, BlockShape shape, Bytes const& stream,
                                   std::size_t out_bytes, int rounds = 200) {
  Workspace workspace;
  std::mt19937 generator(7);
  for (int round = 0; round < rounds; ++round) {
    Bytes damaged = stream;
    for (unsigned i = 0; i < 1 + generator() % 4 && !damaged.empty(); ++i) {
      damaged[generator() % damaged.size()] ^= static_cast<std::byte>(1U << generator() % 8);
    }
    if (round % 5 == 0 && damaged.size() > 4) {
      auto const at = damaged.begin() + static_cast<std::ptrdiff_t>(generator() % (damaged.size() - 2));
      damaged.erase(at, at + 2);
    }
    expect_honest(decode(format, shape, damaged, out_bytes, workspace));
    expect_honest(decode(format, shape, random_bytes(generator() % 300, static_cast<std::uint32_t>(generator())),
                         out_bytes, workspace));
  }
}

}  // namespace terrazzo::codec::testing
