// SPDX-License-Identifier: Apache-2.0
#include "coding/deflate/inflate.hpp"

#include "coding/deflate/deflated.hpp"
#include "coding/deflate/scene.hpp"
#include "coding/team/other_teams.hpp"
#include "support/exact_memory.hpp"

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace terrazzo::coding {
namespace {

using Bytes = std::vector<std::byte>;
using terrazzo::test::ExactMemory;
using test::deflated;

// The output, if the stream is accepted. `skew`: of the input's address.
template <class Team = LanesInTurn>
std::pair<bool, Bytes> inflate(Bytes const& stream, std::size_t size, std::size_t skew = 0, Team const& team = {}) {
  static auto const shared = std::make_unique<InflateShared>();
  std::memset(static_cast<void*>(shared.get()), 0xA5, sizeof(InflateShared));  // as left by another tile
  ExactMemory const in(stream.size(), skew), out(size, 0);
  std::ranges::copy(stream, in.data());
  tile::TileStatus const status = inflate_zlib(team, *shared, in.data(), stream.size(), out.data(), size);
  return {status == tile::TileStatus::ok, Bytes(out.data(), out.data() + size)};
}

TEST(Inflate, DecodesAllKindsOfDataAtAllLevels) {
  for (test::DeflateScene const scene : test::kDeflateScenes) {
    for (std::size_t const size : {0u, 1u, 2u, 3u, 255u, 8191u, 8192u, 8193u, 70'000u}) {
      Bytes const bytes = test::deflate_scene(scene, size);
      for (int const level : {0, 1, 6, 12}) {
        auto const [accepted, output] = inflate(deflated(bytes, level), size, size % 4);
        ASSERT_TRUE(accepted) << static_cast<int>(scene) << ", " << size << " bytes, level " << level;
        ASSERT_EQ(output, bytes) << static_cast<int>(scene) << ", " << size << " bytes, level " << level;
      }
    }
  }
}

// A lane's stretch makes many times the bytes of the window.
TEST(Inflate, DecodesStreamsThatGrowAThousandfold) {
  for (std::size_t const period : {1u, 2u, 3u, 257u, 258u, 259u, 8191u, 8192u}) {
    Bytes bytes(300'000);
    for (std::size_t i = 0; i < bytes.size(); ++i) { bytes[i] = static_cast<std::byte>(i % period * 7); }
    auto const [accepted, output] = inflate(deflated(bytes, 9), bytes.size());
    EXPECT_TRUE(accepted) << period;
    EXPECT_TRUE(output == bytes) << period;
  }
}

TEST(Inflate, FindsSourcesUpToTheFarthestDistance) {
  Bytes bytes = test::deflate_scene(test::DeflateScene::noise, 33'000);
  for (std::size_t const distance : {kDeflateFarthest, kDeflateFarthest - 1, OutputWindow::kBytes}) {
    for (std::size_t i = distance; i < bytes.size(); ++i) { bytes[i] = bytes[i - distance]; }
    auto const [accepted, output] = inflate(deflated(bytes, 12), bytes.size());
    EXPECT_TRUE(accepted) << distance;
    EXPECT_TRUE(output == bytes) << distance;
  }
}

TEST(Inflate, RefusesStreamsOfAnotherSize) {
  Bytes const bytes = test::deflate_scene(test::DeflateScene::words, 9'000);
  Bytes const stream = deflated(bytes, 6);
  EXPECT_FALSE(inflate(stream, bytes.size() - 1).first);
  EXPECT_FALSE(inflate(stream, bytes.size() + 1).first);
  EXPECT_FALSE(inflate(stream, 0).first);
}

TEST(Inflate, IgnoresBytesAfterTheStream) {
  Bytes const bytes = test::deflate_scene(test::DeflateScene::runs, 3'000);
  Bytes stream = deflated(bytes, 6);
  stream.insert(stream.end(), 9, std::byte{0x78});
  auto const [accepted, output] = inflate(stream, bytes.size());
  EXPECT_TRUE(accepted);
  EXPECT_EQ(output, bytes);
}

TEST(Inflate, RefusesStreamsCutAnywhere) {
  Bytes const bytes = test::deflate_scene(test::DeflateScene::elevations, 2'000);
  for (int const level : {0, 6}) {
    Bytes const stream = deflated(bytes, level);
    for (std::size_t size = 0; size < stream.size(); ++size) {
      ASSERT_FALSE(inflate(Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size)), 2'000).first)
          << size;
    }
  }
}

// The verdict of libdeflate, and its bytes where it accepts the stream.
void expect_agreement(Bytes const& stream, std::size_t size, std::uint32_t seed) {
  std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> const state(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  Bytes expected(size);
  bool const is_good = libdeflate_zlib_decompress(state.get(), stream.data(), stream.size(), expected.data(), size,
                                                  nullptr) == LIBDEFLATE_SUCCESS;
  auto const [accepted, output] = inflate(stream, size, seed % 4);
  ASSERT_EQ(accepted, is_good) << "seed " << seed;
  if (accepted) { ASSERT_TRUE(output == expected) << "seed " << seed; }
}

// A stream with changed bytes, or none if the seed is a multiple of 4, and its size.
std::pair<Bytes, std::size_t> damaged_stream(std::uint32_t seed) {
  std::mt19937 random(seed);
  auto const below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  std::size_t const size = 1 + below(seed % 50 == 0 ? 60'000 : 3'000);
  Bytes const bytes = test::deflate_scene(test::kDeflateScenes[seed % std::size(test::kDeflateScenes)], size, seed);
  Bytes stream = deflated(bytes, static_cast<int>(below(13)));
  std::size_t const changes = seed % 4 == 0 ? 0 : 1 + below(8);
  for (std::size_t i = 0; i < changes; ++i) { stream[below(stream.size())] = static_cast<std::byte>(below(256)); }
  if (seed % 5 == 0) { stream.resize(below(stream.size())); }
  return {std::move(stream), size};
}

TEST(Inflate, JudgesDamagedStreamsAsLibdeflateDoes) {
  for (std::uint32_t seed = 0; seed < 1'500; ++seed) {
    auto const [stream, size] = damaged_stream(seed);
    expect_agreement(stream, size, seed);
    if (HasFatalFailure()) { return; }
  }
}

// A missing barrier shows where lanes do not run in turn.
TEST(Inflate, DoesNotDependOnTheOrderOfTheLanes) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    auto const [stream, size] = damaged_stream(seed);
    auto const expected = inflate(stream, size);
    for (std::uint32_t const order : {0u, seed + 1}) {
      auto const result = inflate(stream, size, 0, test::LanesInOrder(order));
      ASSERT_EQ(result.first, expected.first) << "seed " << seed << ", order " << order;
      if (result.first) { ASSERT_TRUE(result.second == expected.second) << "seed " << seed << ", order " << order; }
    }
  }
}

}  // namespace
}  // namespace terrazzo::coding
