// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/block_writer.hpp"

#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_LIBDEFLATE

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <memory>
#include <random>
#include <vector>

namespace terrazzo::codec {
namespace {

using Bytes = std::vector<std::byte>;

Bytes inflate(std::span<std::byte const> packed, std::size_t size) {
  std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> const state(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  Bytes out(size);
  EXPECT_EQ(libdeflate_deflate_decompress(state.get(), packed.data(), packed.size(), out.data(), size, nullptr),
            LIBDEFLATE_SUCCESS);
  return out;
}

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (auto& byte : bytes) { byte = static_cast<std::byte>(random()); }
  return bytes;
}

TEST(DeflateBlockWriter, WritesLiteralsThatInflate) {
  for (std::size_t const size : {1U, 2U, 3U, 4U, 5U, 255U, 4096U, 70000U}) {
    SCOPED_TRACE(size);
    Bytes const bytes = random_bytes(size, 3);
    Bytes out(2 * size + 1000);
    DeflateBlockWriter writer(out);
    ASSERT_TRUE(writer.write(bytes, {}, true));
    EXPECT_EQ(inflate(std::span(out).first(writer.finish()), size), bytes);
  }
}

TEST(DeflateBlockWriter, WritesEveryLengthAndTheEndsOfEveryRangeOfDistances) {
  Bytes bytes = random_bytes(kFarthestMatch + 10, 4);
  std::vector<DeflateMatch> matches;
  auto literals = static_cast<std::uint32_t>(bytes.size());
  std::vector<std::size_t> distances;
  for (std::size_t power = 1; power <= kFarthestMatch; power *= 2) {
    for (std::size_t const distance : {power - 1, power, power + 1, power + power / 2, power + power / 2 + 1}) {
      if (distance >= 1 && distance <= kFarthestMatch) { distances.push_back(distance); }
    }
  }
  for (std::size_t i = 0; i < 256 * 3; ++i) {
    std::size_t const length = 3 + i % 256;
    std::size_t const distance = distances[i % distances.size()];
    for (std::size_t k = 0; k < length; ++k) { bytes.push_back(bytes[bytes.size() - distance]); }
    matches.push_back({literals, static_cast<std::uint16_t>(length), static_cast<std::uint16_t>(distance - 1)});
    bytes.push_back(std::byte{7});
    literals = 1;
  }
  Bytes out(2 * bytes.size());
  DeflateBlockWriter writer(out);
  ASSERT_TRUE(writer.write(bytes, matches, true));
  EXPECT_EQ(inflate(std::span(out).first(writer.finish()), bytes.size()), bytes);
}

TEST(DeflateBlockWriter, JoinsBlocksInTheMiddleOfAByte) {
  Bytes const bytes = random_bytes(3000, 5);
  Bytes out(8000);
  DeflateBlockWriter writer(out);
  for (std::size_t at = 0; at < bytes.size(); at += 100) {
    ASSERT_TRUE(writer.write(std::span(bytes).subspan(at, 100), {}, at + 100 == bytes.size()));
  }
  EXPECT_EQ(inflate(std::span(out).first(writer.finish()), bytes.size()), bytes);
}

TEST(DeflateBlockWriter, RefusesABlockThatDoesNotFitAndWritesNothingPastTheEnd) {
  Bytes const bytes = random_bytes(1000, 6);
  constexpr std::byte kMark{0xA5};
  for (std::size_t room = 0; room < 1300; room += 13) {
    Bytes out(room + 64, kMark);
    DeflateBlockWriter writer(std::span<std::byte>{out}.first(room));
    if (writer.write(bytes, {}, true)) {
      std::size_t const size = writer.finish();
      EXPECT_LE(size, room);
      EXPECT_EQ(inflate(std::span(out).first(size), bytes.size()), bytes);
    }
    for (std::size_t i = room; i < out.size(); ++i) { EXPECT_EQ(out[i], kMark); }
  }
}

}  // namespace
}  // namespace terrazzo::codec

#endif
