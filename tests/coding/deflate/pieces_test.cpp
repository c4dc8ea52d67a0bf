// SPDX-License-Identifier: Apache-2.0
#include "coding/deflate/pieces.hpp"

#include "coding/deflate/inflated.hpp"
#include "coding/deflate/pieces_twin.hpp"
#include "coding/deflate/scene.hpp"

#include <gtest/gtest.h>
#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace terrazzo::coding {
namespace {

using test::deflate_in_pieces;
using test::deflate_scene;
using test::DeflateScene;
using test::inflated;
using test::kDeflateScenes;

constexpr int kLevels[] = {1, 4, 7};  // those that differ

std::size_t fastest_bytes(std::vector<std::byte> const& tile) {
  std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> const state(libdeflate_alloc_compressor(1),
                                                                                       libdeflate_free_compressor);
  std::vector<std::byte> out(libdeflate_zlib_compress_bound(state.get(), tile.size()));
  return libdeflate_zlib_compress(state.get(), tile.data(), tile.size(), out.data(), out.size());
}

void expect_round_trip(std::vector<std::byte> const& tile) {
  for (int const level : kLevels) {
    std::vector<std::byte> const stream = deflate_in_pieces(tile, level);
    ASSERT_LE(stream.size(), deflate_pieces_bound(tile.size()));
    ASSERT_TRUE(inflated(stream, tile.size()) == tile) << tile.size() << " bytes, level " << level;
  }
}

TEST(DeflatePieces, GiveBackTilesOfAnySmallSize) {
  for (DeflateScene const scene : {DeflateScene::constant, DeflateScene::noise, DeflateScene::words}) {
    for (std::size_t size = 1; size <= 600; size += scene == DeflateScene::words ? 1 : 7) {
      expect_round_trip(deflate_scene(scene, size));
    }
  }
}

TEST(DeflatePieces, GiveBackTilesThatEndNearTheEndOfAPiece) {
  for (DeflateScene const scene : kDeflateScenes) {
    for (std::size_t const pieces : {1u, 2u}) {
      for (std::size_t const more : {0u, 1u, 2u, 3u, 4u, 31u, 8191u, 8192u, 8193u}) {
        expect_round_trip(deflate_scene(scene, pieces * kDeflatePieceBytes - 1 + more));
      }
    }
  }
}

TEST(DeflatePieces, GiveBackTilesOfManyPieces) {
  for (DeflateScene const scene : kDeflateScenes) { expect_round_trip(deflate_scene(scene, 300'007)); }
}

// Stored pieces begin at bytes wherever the piece before ended.
TEST(DeflatePieces, GiveBackTilesWithNoiseBetween) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    std::vector<std::byte> tile;
    for (std::uint32_t piece = 0; piece < 6; ++piece) {
      DeflateScene const scene =
          (seed >> (piece % 3) & 1U) != 0 ? DeflateScene::noise : kDeflateScenes[(seed + piece) % 9];
      std::vector<std::byte> const bytes = deflate_scene(scene, kDeflatePieceBytes, seed * 7 + piece);
      tile.insert(tile.end(), bytes.begin(), bytes.end());
    }
    tile.erase(tile.end() - static_cast<std::ptrdiff_t>(seed * seed), tile.end());
    expect_round_trip(tile);
  }
}

TEST(DeflatePieces, HardlyGrowNoise) {
  std::vector<std::byte> const tile = deflate_scene(DeflateScene::noise, std::size_t{1} << 20);
  for (int const level : kLevels) {
    EXPECT_LE(deflate_in_pieces(tile, level).size(), tile.size() + tile.size() / 1000);
  }
}

TEST(DeflatePieces, FindTheMatchesOfOthers) {
  // Sizes against libdeflate's fastest level; runs and rows that repeat are what class maps and masks are made of.
  for (DeflateScene const scene : {DeflateScene::runs, DeflateScene::words, DeflateScene::elevations,
                                   DeflateScene::skewed, DeflateScene::two_values}) {
    std::vector<std::byte> const tile = deflate_scene(scene, 400'000);
    for (int const level : kLevels) {
      EXPECT_LE(static_cast<double>(deflate_in_pieces(tile, level).size()),
                1.15 * static_cast<double>(fastest_bytes(tile)))
          << static_cast<int>(scene) << ", level " << level;
    }
  }
}

TEST(DeflatePieces, MakeNextToNothingOfAConstantTile) {
  std::vector<std::byte> const tile = deflate_scene(DeflateScene::constant, 400'000);
  for (int const level : kLevels) { EXPECT_LT(deflate_in_pieces(tile, level).size(), tile.size() / 500); }
}

TEST(DeflatePieces, ReachIntoThePieceBefore) {
  std::vector<std::byte> tile = deflate_scene(DeflateScene::noise, 2 * kDeflatePieceBytes);
  for (std::size_t i = 0; i < 8000; ++i) { tile[kDeflatePieceBytes + i] = tile[kDeflatePieceBytes - 8000 + i]; }
  EXPECT_LT(deflate_in_pieces(tile, 6).size(), tile.size() - 7000);
}

TEST(DeflatePieces, AreShorterAtHigherLevels) {
  std::vector<std::byte> const tile = deflate_scene(DeflateScene::words, 200'000);
  EXPECT_GT(deflate_in_pieces(tile, 3).size(), deflate_in_pieces(tile, 4).size());
  EXPECT_GT(deflate_in_pieces(tile, 6).size(), deflate_in_pieces(tile, 7).size());
  EXPECT_EQ(deflate_in_pieces(tile, 7).size(), deflate_in_pieces(tile, 9).size());
}

TEST(DeflatePieces, DoNotMakeATileOfNothing) { EXPECT_TRUE(deflate_in_pieces({}, 6).empty()); }

TEST(DeflatePieces, KeepBoundsAroundTheirSizes) {
  EXPECT_EQ(deflate_piece_count(0), 0u);
  EXPECT_EQ(deflate_piece_count(1), 1u);
  EXPECT_EQ(deflate_piece_count(kDeflatePieceBytes), 1u);
  EXPECT_EQ(deflate_piece_count(kDeflatePieceBytes + 1), 2u);
  EXPECT_EQ(deflate_piece_bytes(kDeflatePieceBytes + 1, 0), kDeflatePieceBytes);
  EXPECT_EQ(deflate_piece_bytes(kDeflatePieceBytes + 1, 1), 1u);
  EXPECT_EQ(deflate_piece_bytes(kDeflatePieceBytes + 1, 2), 0u);
  for (std::uint64_t start = 0; start < 16; ++start) {
    std::uint64_t const end = deflate_piece_end(start, kDeflateStored, 5);
    EXPECT_EQ(end % 8, 0u);
    EXPECT_GE(end, start + 3 + 8 * 9);
    EXPECT_LT(end, start + 3 + 8 * 9 + 8);
    EXPECT_EQ(deflate_piece_end(start, 77, 5), start + 77);
  }
}

}  // namespace
}  // namespace terrazzo::coding
