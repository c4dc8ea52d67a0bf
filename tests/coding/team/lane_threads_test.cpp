// SPDX-License-Identifier: Apache-2.0
//
// The decoders of teams with a thread and an object for each lane, as on a device. ThreadSanitizer reports accesses
// that no barrier separates.
#include "coding/deflate/deflated.hpp"
#include "coding/deflate/inflate.hpp"
#include "coding/deflate/scene.hpp"
#include "coding/team/other_teams.hpp"
#include "coding/team/team.hpp"
#include "coding/zstd/decode.hpp"
#include "support/exact_memory.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

using Bytes = std::vector<std::byte>;

struct Tile {
  Bytes stream;
  std::size_t size;
};

// Whole tiles of all kinds of data, and tiles with changed bytes.
template <class Encode>
std::vector<Tile> tiles_of(Encode const& encode) {
  std::vector<Tile> tiles;
  for (test::DeflateScene const scene : test::kDeflateScenes) {
    for (std::size_t const size : {300u, 20'000u}) {
      tiles.push_back({encode(test::deflate_scene(scene, size), static_cast<int>(tiles.size() % 10)), size});
    }
  }
  std::size_t const whole = tiles.size();
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 random(seed);
    Tile tile = tiles[seed % whole];
    for (int i = 0; i < 3; ++i) { tile.stream[random() % tile.stream.size()] = static_cast<std::byte>(random() % 256); }
    if (seed % 5 == 0) { tile.stream.resize(random() % tile.stream.size()); }
    tiles.push_back(std::move(tile));
  }
  return tiles;
}

// `decode(team, stream, output)` has one status and one output for every way to run the lanes.
template <class Decode>
void expect_same_by_threads(std::vector<Tile> const& tiles, Decode const& decode) {
  std::size_t accepted = 0;
  std::vector<tile::TileStatus> expected;
  std::vector<std::unique_ptr<terrazzo::test::ExactMemory>> outputs;
  for (Tile const& tile : tiles) {
    outputs.push_back(std::make_unique<terrazzo::test::ExactMemory>(tile.size, 0));
    expected.push_back(decode(LanesInTurn{}, tile, outputs.back()->data()));
    accepted += expected.back() == tile::TileStatus::ok ? 1 : 0;
  }
  EXPECT_GE(accepted, 18u);
  EXPECT_LT(accepted, tiles.size());
  std::vector<std::array<tile::TileStatus, kTeamLanes>> statuses(tiles.size());
  std::vector<std::unique_ptr<terrazzo::test::ExactMemory>> threaded;
  for (Tile const& tile : tiles) { threaded.push_back(std::make_unique<terrazzo::test::ExactMemory>(tile.size, 0)); }
  test::LaneThreads::run([&](test::LaneThreads const& team, std::uint32_t lane) {
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      statuses[i][lane] = decode(team, tiles[i], threaded[i]->data());
      team.each([](std::uint32_t) {});  // the next tile uses the same memory
    }
  });
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    for (tile::TileStatus const status : statuses[i]) { ASSERT_EQ(status, expected[i]) << "tile " << i; }
    if (expected[i] != tile::TileStatus::ok) { continue; }
    ASSERT_EQ(std::memcmp(threaded[i]->data(), outputs[i]->data(), tiles[i].size), 0) << "tile " << i;
  }
}

TEST(LaneThreads, InflateAsLanesInTurnDo) {
  auto const shared = std::make_unique<InflateShared>();
  expect_same_by_threads(tiles_of(test::deflated), [&](auto const& team, Tile const& tile, std::byte* out) {
    return inflate_zlib(team, *shared, tile.stream.data(), tile.stream.size(), out, tile.size);
  });
}

TEST(LaneThreads, DecodeZstdAsLanesInTurnDo) {
  auto const encode = [](Bytes const& bytes, int level) {
    Bytes frame(ZSTD_compressBound(bytes.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), level));
    return frame;
  };
  auto const shared = std::make_unique<ZstdShared>();
  auto const scratch = std::make_unique<std::byte[]>(kZstdScratchBytes);
  expect_same_by_threads(tiles_of(encode), [&](auto const& team, Tile const& tile, std::byte* out) {
    return zstd_decode(team, *shared, tile.stream.data(), tile.stream.size(), out, tile.size, scratch.get());
  });
}

}  // namespace
}  // namespace terrazzo::coding
