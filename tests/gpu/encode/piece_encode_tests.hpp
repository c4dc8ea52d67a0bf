// SPDX-License-Identifier: Apache-2.0
//
// Tests of the encoders that cut tiles into pieces (gpu/encode/piece_encoder.cuh), for each format in its own file. A
// Format is a class of static members: bound(), scratch_bytes() and encode() are what is tested, on_the_host(tile,
// level) is the twin, decoded(stream, size) another's decoder. kLevelsAtLimits are the first and last levels that look
// for matches alike, kLevelsThatDiffer one of each; kLeastOverhead is what a tile of one byte that is stored takes.
#pragma once

#include "coding/deflate/pieces.hpp"
#include "coding/deflate/scene.hpp"
#include "coding/only_literal.hpp"
#include "gpu/decode/decoder_batch.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace terrazzo::gpu::test {

using coding::test::deflate_scene;
using coding::test::DeflateScene;
using coding::test::kDeflateScenes;
using tile::TileStatus;

inline constexpr std::uint32_t kPiece = coding::kDeflatePieceBytes;

template <class Format>
class PieceEncodeSizes : public ::testing::Test {};
TYPED_TEST_SUITE_P(PieceEncodeSizes);

TYPED_TEST_P(PieceEncodeSizes, GrowWithTheBatch) {
  constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
  EXPECT_GE(TypeParam::bound(1), 1 + TypeParam::kLeastOverhead);
  EXPECT_LE(TypeParam::bound(kMebibyte), kMebibyte + 256);
  EXPECT_GT(TypeParam::scratch_bytes(2, kMebibyte), TypeParam::scratch_bytes(1, kMebibyte));
  EXPECT_GT(TypeParam::scratch_bytes(1, kMebibyte + 1), TypeParam::scratch_bytes(1, kMebibyte));
  EXPECT_LE(TypeParam::scratch_bytes(1024, kMebibyte), 1200 * kMebibyte);
  EXPECT_LE(TypeParam::scratch_bytes(1, kMebibyte), 9 * kMebibyte);  // small budgets have room for a tile
}

REGISTER_TYPED_TEST_SUITE_P(PieceEncodeSizes, GrowWithTheBatch);

struct EncodedPieces {
  std::vector<Bytes> streams;
  std::vector<TileStatus> statuses;
};

template <class Format>
class PieceEncode : public OnDevice {
 protected:
  // Outputs lie `phase` behind multiples of 16, between guard bytes.
  static EncodedPieces encode(std::vector<Bytes> const& tiles, int level, std::size_t phase = 0) {
    constexpr std::byte kPoison{0xA5};
    constexpr std::size_t kGuard = 32;
    Bytes input;
    std::vector<std::uint64_t> input_offsets, input_sizes, output_offsets;
    std::uint64_t longest = 0, output_bytes = kGuard;
    for (Bytes const& tile : tiles) {
      input.resize((input.size() + 15) / 16 * 16);
      input_offsets.push_back(input.size());
      input_sizes.push_back(tile.size());
      input.insert(input.end(), tile.begin(), tile.end());
      longest = std::max<std::uint64_t>(longest, tile.size());
      output_bytes = (output_bytes + 15) / 16 * 16 + phase;
      output_offsets.push_back(output_bytes);
      output_bytes += Format::bound(tile.size()) + kGuard;
    }
    auto const count = static_cast<std::uint32_t>(tiles.size());
    std::size_t const scratch_bytes = Format::scratch_bytes(count, longest);
    DeviceCopy const device_input(input), device_output(Bytes(output_bytes, kPoison));
    DeviceCopy const a(input_offsets), b(input_sizes), c(output_offsets);
    DeviceCopy const sizes(std::vector<std::uint64_t>(count, 77));
    DeviceCopy const statuses(std::vector<TileStatus>(count, TileStatus::corrupt));
    DeviceCopy const scratch(Bytes(scratch_bytes, std::byte{0x5A}));
    tile::EncodeBatch const batch{device_input.get(), a.get(), b.get(), device_output.get(), c.get(), sizes.get(),
                                  statuses.get(),     count,   longest};
    StreamHandle const stream = make_stream();
    Format::encode(batch, level, scratch.get(), scratch_bytes, stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "encoding");
    EncodedPieces encoded{{}, statuses.back()};
    Bytes output = device_output.back();
    std::vector<std::uint64_t> const lengths = sizes.back();
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_LE(lengths[i], Format::bound(tiles[i].size()));
      auto const begin = output.begin() + static_cast<std::ptrdiff_t>(output_offsets[i]);
      auto const end = begin + static_cast<std::ptrdiff_t>(lengths[i]);
      encoded.streams.emplace_back(begin, end);
      std::fill(begin, end, kPoison);
    }
    EXPECT_TRUE(std::ranges::all_of(output, [](std::byte value) { return value == kPoison; }))
        << "bytes outside the streams were written";
    return encoded;
  }

  // The host's bytes for every tile, which the format's own library decodes.
  static void expect_streams(std::vector<Bytes> const& tiles, int level, std::size_t phase = 0) {
    EncodedPieces const encoded = encode(tiles, level, phase);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      ASSERT_EQ(encoded.statuses[i], tiles[i].empty() ? TileStatus::sparse : TileStatus::ok) << "tile " << i;
      if (tiles[i].empty()) {
        EXPECT_TRUE(encoded.streams[i].empty());
        continue;
      }
      EXPECT_TRUE(Format::decoded(encoded.streams[i], tiles[i].size()) == tiles[i])
          << "tile " << i << " of " << tiles[i].size() << " bytes does not decode, level " << level;
      ASSERT_TRUE(encoded.streams[i] == Format::on_the_host(tiles[i], level))
          << "tile " << i << " of " << tiles[i].size() << " bytes is not as on the host, level " << level;
    }
  }
};

TYPED_TEST_SUITE_P(PieceEncode);

TYPED_TEST_P(PieceEncode, TakesNoTile) { TestFixture::expect_streams({}, 6); }

TYPED_TEST_P(PieceEncode, TakesABatchOfSparseTilesOnly) { TestFixture::expect_streams(std::vector<Bytes>(40), 6); }

TYPED_TEST_P(PieceEncode, MakesTheHostsBytesOfEverySceneAndLevel) {
  for (int const level : TypeParam::kLevelsAtLimits) {
    std::vector<Bytes> tiles;
    for (DeflateScene const scene : kDeflateScenes) { tiles.push_back(deflate_scene(scene, 5 * kPiece + 1234)); }
    TestFixture::expect_streams(tiles, level);
  }
}

TYPED_TEST_P(PieceEncode, TakesTilesOfAnySmallSize) {
  std::vector<Bytes> tiles;
  for (std::size_t size = 0; size <= 600; ++size) {
    tiles.push_back(deflate_scene(kDeflateScenes[size % std::size(kDeflateScenes)], size));
  }
  for (int const level : TypeParam::kLevelsThatDiffer) { TestFixture::expect_streams(tiles, level); }
}

TYPED_TEST_P(PieceEncode, TakesTilesThatEndNearTheEndOfAPiece) {
  std::vector<Bytes> tiles;
  for (DeflateScene const scene : {DeflateScene::words, DeflateScene::noise, DeflateScene::constant}) {
    for (std::size_t const size : {kPiece - 1, kPiece, kPiece + 1, kPiece + 2, kPiece + 4095, kPiece + 4096,
                                   kPiece + 4097, 2 * kPiece - 31, 2 * kPiece, 2 * kPiece + 3}) {
      tiles.push_back(deflate_scene(scene, size));
    }
  }
  TestFixture::expect_streams(tiles, 6);
}

TYPED_TEST_P(PieceEncode, TakesOutputsOfAnyAlignment) {
  std::vector<Bytes> tiles;
  for (DeflateScene const scene : kDeflateScenes) { tiles.push_back(deflate_scene(scene, 2 * kPiece + 77)); }
  tiles.push_back(deflate_scene(DeflateScene::noise, 1));
  tiles.push_back(deflate_scene(DeflateScene::words, kPiece + 1));
  for (std::size_t phase = 0; phase < 16; ++phase) { TestFixture::expect_streams(tiles, 6, phase); }
}

TYPED_TEST_P(PieceEncode, StoresNoiseBetweenOtherPieces) {
  std::vector<Bytes> tiles;
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    Bytes tile;
    for (std::uint32_t piece = 0; piece < 7; ++piece) {
      DeflateScene const scene =
          (seed * 37 >> piece & 1U) != 0 ? DeflateScene::noise : kDeflateScenes[(seed + piece) % 9];
      Bytes const bytes = deflate_scene(scene, kPiece, seed * 7 + piece);
      tile.insert(tile.end(), bytes.begin(), bytes.end());
    }
    tile.erase(tile.end() - static_cast<std::ptrdiff_t>(seed * seed), tile.end());
    tiles.push_back(std::move(tile));
  }
  TestFixture::expect_streams(tiles, 6, 14);
}

// Streams do not depend on the other tiles of a batch, nor on the run.
TYPED_TEST_P(PieceEncode, MakesTheSameBytesInEveryBatch) {
  std::vector<Bytes> tiles;
  for (std::uint32_t i = 0; i < 60; ++i) {
    tiles.push_back(deflate_scene(kDeflateScenes[i % std::size(kDeflateScenes)], 20'000 + i * 3000, i));
  }
  for (int const level : TypeParam::kLevelsThatDiffer) {
    EncodedPieces const together = TestFixture::encode(tiles, level);
    for (int run = 0; run < 3; ++run) { EXPECT_TRUE(TestFixture::encode(tiles, level).streams == together.streams); }
    for (std::size_t i = 0; i < tiles.size(); i += 7) {
      EXPECT_TRUE(TestFixture::encode({tiles[i]}, level).streams[0] == together.streams[i]) << "tile " << i;
    }
  }
}

// More pieces than blocks are launched, some of tiles that are sparse or short.
TYPED_TEST_P(PieceEncode, TakesMorePiecesThanBlocks) {
  std::vector<Bytes> tiles;
  for (std::uint32_t i = 0; i < 500; ++i) {
    std::size_t const size = i % 9 == 0 ? 0 : i % 5 == 0 ? 100 + i : 3 * kPiece - i;
    tiles.push_back(deflate_scene(kDeflateScenes[i % std::size(kDeflateScenes)], size, i));
  }
  TestFixture::expect_streams(tiles, 6);
}

TYPED_TEST_P(PieceEncode, TakesAHugeTile) {
  Bytes tile;
  for (std::uint32_t i = 0; i < 9; ++i) {
    Bytes const bytes = deflate_scene(kDeflateScenes[i], std::size_t{1} << 20, i);
    tile.insert(tile.end(), bytes.begin(), bytes.end());
  }
  TestFixture::expect_streams({tile}, 6);
}

TYPED_TEST_P(PieceEncode, SeesThatAPieceIsNotConstant) {
  std::vector<Bytes> tiles;
  for (std::size_t const at : {0u, 1u, 3u, 4u, 1023u, 1027u, 9999u, 32'766u, 32'770u}) {
    tiles.push_back(deflate_scene(DeflateScene::constant, kPiece + 3));
    tiles.back()[at] = std::byte{0};
  }
  TestFixture::expect_streams(tiles, 6);
}

TYPED_TEST_P(PieceEncode, TakesPiecesOfOneLiteralOnly) {
  std::vector<Bytes> tiles;
  for (std::uint32_t const literal : {0u, 1u, 128u, 255u}) {
    tiles.push_back(coding::test::only_literal_tile(literal));
  }
  for (int const level : TypeParam::kLevelsThatDiffer) { TestFixture::expect_streams(tiles, level); }
}

TYPED_TEST_P(PieceEncode, TakesManySmallTilesOfManyShapes) {
  std::vector<Bytes> tiles;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    std::uint32_t const period = 1 + seed * 7 % 300;
    Bytes tile = deflate_scene(kDeflateScenes[seed % std::size(kDeflateScenes)], 100 + seed * 17, seed);
    for (std::size_t i = period; i < tile.size(); ++i) {
      if (i / period % 3 != 0) { tile[i] = tile[i - period]; }
    }
    tiles.push_back(std::move(tile));
  }
  for (int const level : TypeParam::kLevelsThatDiffer) { TestFixture::expect_streams(tiles, level, 5); }
}

TYPED_TEST_P(PieceEncode, RefusesTooLittleScratch) {
  tile::EncodeBatch batch;
  batch.count = 1;
  batch.longest_input_bytes = 1000;
  StreamHandle const stream = make_stream();
  EXPECT_THROW(TypeParam::encode(batch, 6, nullptr, TypeParam::scratch_bytes(1, 1000) - 1, stream.get()), Error);
}

REGISTER_TYPED_TEST_SUITE_P(PieceEncode, TakesNoTile, TakesABatchOfSparseTilesOnly,
                            MakesTheHostsBytesOfEverySceneAndLevel, TakesTilesOfAnySmallSize,
                            TakesTilesThatEndNearTheEndOfAPiece, TakesOutputsOfAnyAlignment,
                            StoresNoiseBetweenOtherPieces, MakesTheSameBytesInEveryBatch, TakesMorePiecesThanBlocks,
                            TakesAHugeTile, SeesThatAPieceIsNotConstant, TakesPiecesOfOneLiteralOnly,
                            TakesManySmallTilesOfManyShapes, RefusesTooLittleScratch);

}  // namespace terrazzo::gpu::test
