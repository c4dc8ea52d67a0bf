// SPDX-License-Identifier: Apache-2.0
#include "coding/zstd/pieces.hpp"

#include "coding/deflate/pieces_twin.hpp"
#include "coding/deflate/scene.hpp"
#include "coding/zstd/frame.hpp"
#include "coding/zstd/pieces_twin.hpp"
#include "coding/zstd/unzstd.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

using test::deflate_scene;
using test::DeflateScene;
using test::kDeflateScenes;
using test::unzstd;
using test::zstd_in_pieces;

constexpr int kLevels[] = {1, 4, 10};  // those that differ

std::size_t libzstd_bytes(std::vector<std::byte> const& tile, int level) {
  std::vector<std::byte> out(ZSTD_compressBound(tile.size()));
  return ZSTD_compress(out.data(), out.size(), tile.data(), tile.size(), level);
}

void expect_round_trip(std::vector<std::byte> const& tile) {
  for (int const level : kLevels) {
    std::vector<std::byte> const frame = zstd_in_pieces(tile, level);
    ASSERT_LE(frame.size(), zstd_pieces_bound(tile.size()));
    ASSERT_TRUE(unzstd(frame, tile.size()) == tile) << tile.size() << " bytes, level " << level;
    ASSERT_TRUE(zstd_frame_is_plausible(frame, tile.size()));
  }
}

// Elevations of a smooth surface with some noise, rounded to centimetres, as predictor 3 leaves them: rows of 512.
std::vector<std::byte> predicted_elevations() {
  constexpr std::size_t kSide = 512;
  std::mt19937 engine(11);
  std::vector<std::byte> out(kSide * kSide * 4);
  for (std::size_t y = 0; y < kSide; ++y) {
    std::byte* const row = out.data() + y * kSide * 4;
    for (std::size_t x = 0; x < kSide; ++x) {
      double const height = 900 + 120 * std::sin(static_cast<double>(x) / 70) * std::cos(static_cast<double>(y) / 55) +
                            static_cast<double>(engine() % 100) / 60;
      auto const sample = static_cast<float>(std::round(height * 100) / 100);
      std::uint32_t bits;
      std::memcpy(&bits, &sample, sizeof bits);
      for (std::size_t plane = 0; plane < 4; ++plane) {
        row[plane * kSide + x] = static_cast<std::byte>(bits >> (24 - 8 * plane) & 0xFFU);
      }
    }
    for (std::size_t x = kSide * 4 - 1; x > 0; --x) {
      row[x] = static_cast<std::byte>((static_cast<unsigned>(row[x]) - static_cast<unsigned>(row[x - 1])) & 0xFFU);
    }
  }
  return out;
}

// Differences of four bands of 16 bits, pixel by pixel.
std::vector<std::byte> predicted_bands() {
  std::mt19937 engine(12);
  std::normal_distribution<double> step(0, 40);
  std::vector<std::byte> out;
  while (out.size() < 1'000'000) {
    auto const difference = static_cast<std::uint32_t>(static_cast<int>(step(engine)));
    out.push_back(static_cast<std::byte>(difference & 0xFFU));
    out.push_back(static_cast<std::byte>(difference >> 8 & 0xFFU));
  }
  return out;
}

TEST(ZstdPieces, GiveBackTilesOfAnySmallSize) {
  for (DeflateScene const scene :
       {DeflateScene::constant, DeflateScene::noise, DeflateScene::words, DeflateScene::two_values}) {
    for (std::size_t size = 1; size <= 600; size += scene == DeflateScene::words ? 1 : 3) {
      expect_round_trip(deflate_scene(scene, size));
    }
  }
}

TEST(ZstdPieces, GiveBackTilesThatEndNearTheEndOfAPiece) {
  for (DeflateScene const scene : kDeflateScenes) {
    for (std::size_t const pieces : {1u, 4u}) {
      for (std::size_t const more : {0u, 1u, 2u, 3u, 4u, 31u, 8192u}) {
        expect_round_trip(deflate_scene(scene, pieces * kZstdPieceBytes - 1 + more));
      }
    }
  }
}

TEST(ZstdPieces, GiveBackTilesOfManyPieces) {
  for (DeflateScene const scene : kDeflateScenes) { expect_round_trip(deflate_scene(scene, 300'007)); }
}

TEST(ZstdPieces, GiveBackTilesOfFourMebibytes) {
  std::vector<std::byte> tile;
  for (std::uint32_t i = 0; i < 8; ++i) {
    std::vector<std::byte> const part = deflate_scene(kDeflateScenes[i], std::size_t{1} << 19, i);
    tile.insert(tile.end(), part.begin(), part.end());
  }
  expect_round_trip(tile);
}

TEST(ZstdPieces, GiveBackTilesWithNoiseBetween) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    std::vector<std::byte> tile;
    for (std::uint32_t piece = 0; piece < 6; ++piece) {
      DeflateScene const scene =
          (seed >> (piece % 3) & 1U) != 0 ? DeflateScene::noise : kDeflateScenes[(seed + piece) % 9];
      std::vector<std::byte> const bytes = deflate_scene(scene, kZstdPieceBytes, seed * 7 + piece);
      tile.insert(tile.end(), bytes.begin(), bytes.end());
    }
    tile.erase(tile.end() - static_cast<std::ptrdiff_t>(seed * seed), tile.end());
    expect_round_trip(tile);
  }
}

TEST(ZstdPieces, HardlyGrowNoise) {
  std::vector<std::byte> const tile = deflate_scene(DeflateScene::noise, std::size_t{1} << 20);
  for (int const level : kLevels) {
    EXPECT_EQ(zstd_in_pieces(tile, level).size(), tile.size() + 9 + 3 * zstd_piece_count(tile.size()));
  }
}

TEST(ZstdPieces, MakeFourBytesOfAConstantPiece) {
  std::vector<std::byte> const tile = deflate_scene(DeflateScene::constant, 400'000);
  for (int const level : kLevels) {
    EXPECT_EQ(zstd_in_pieces(tile, level).size(), 9 + 4 * zstd_piece_count(tile.size()));
  }
}

// One byte that differs, wherever it lies in the share of a thread.
TEST(ZstdPieces, SeeThatAPieceIsNotConstant) {
  for (std::size_t const at : {0u, 1u, 3u, 4u, 1023u, 1027u, 9999u, 32'766u, 32'770u}) {
    std::vector<std::byte> tile = deflate_scene(DeflateScene::constant, 32'771);
    tile[at] = std::byte{0};
    expect_round_trip(tile);
  }
}

TEST(ZstdPieces, AreAboutAsShortAsLibzstds) {
  struct Case {
    std::vector<std::byte> tile;
    double most;  // of libzstd's level 3, which looks for matches in the whole tile
  };
  for (Case const& each : {Case{predicted_elevations(), 1.02}, Case{predicted_bands(), 1.09},
                           Case{deflate_scene(DeflateScene::runs, 400'000), 1.0},
                           Case{deflate_scene(DeflateScene::elevations, 400'000), 1.02},
                           Case{deflate_scene(DeflateScene::skewed, 400'000), 1.06}}) {
    expect_round_trip(each.tile);
    EXPECT_LE(static_cast<double>(zstd_in_pieces(each.tile, 6).size()),
              each.most * static_cast<double>(libzstd_bytes(each.tile, 3)));
  }
}

TEST(ZstdPieces, AreNoLongerThanDeflatesForElevations) {
  std::vector<std::byte> const tile = predicted_elevations();
  for (int const level : kLevels) {
    EXPECT_LT(zstd_in_pieces(tile, level).size(), test::deflate_in_pieces(tile, level).size());
  }
}

TEST(ZstdPieces, ReachIntoThePieceBefore) {
  std::vector<std::byte> tile = deflate_scene(DeflateScene::noise, 2 * kZstdPieceBytes);
  for (std::size_t i = 0; i < 8000; ++i) { tile[kZstdPieceBytes + i] = tile[kZstdPieceBytes - 8000 + i]; }
  EXPECT_LT(zstd_in_pieces(tile, 6).size(), tile.size() - 7000);
}

TEST(ZstdPieces, AreShorterAtHigherLevels) {
  std::vector<std::byte> const tile = deflate_scene(DeflateScene::words, 200'000);
  EXPECT_GT(zstd_in_pieces(tile, 3).size(), zstd_in_pieces(tile, 4).size());
  EXPECT_EQ(zstd_in_pieces(tile, 4).size(), zstd_in_pieces(tile, 9).size());
  EXPECT_GT(zstd_in_pieces(tile, 9).size(), zstd_in_pieces(tile, 10).size());
  EXPECT_EQ(zstd_in_pieces(tile, 10).size(), zstd_in_pieces(tile, 22).size());
}

TEST(ZstdPieces, DoNotMakeATileOfNothing) { EXPECT_TRUE(zstd_in_pieces({}, 6).empty()); }

TEST(ZstdPieces, KeepBoundsAroundTheirSizes) {
  EXPECT_EQ(zstd_piece_count(0), 0u);
  EXPECT_EQ(zstd_piece_count(1), 1u);
  EXPECT_EQ(zstd_piece_count(kZstdPieceBytes), 1u);
  EXPECT_EQ(zstd_piece_count(kZstdPieceBytes + 1), 2u);
  EXPECT_EQ(zstd_block_bytes(kZstdRaw, 10), 13u);
  EXPECT_EQ(zstd_block_bytes(10, 999), 10u);
}

}  // namespace
}  // namespace terrazzo::coding
