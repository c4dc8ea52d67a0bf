// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/zstd_encode.hpp"

#include "gpu/kernels/decoder_batch.hpp"
#include "terrazzo/error.hpp"
#include "tile/deflate_scene.hpp"
#include "tile/unzstd.hpp"
#include "tile/zstd_pieces_twin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;
using tile::TileStatus;
using tile::test::deflate_scene;
using tile::test::DeflateScene;
using tile::test::kDeflateScenes;
using tile::test::zstd_in_pieces;

constexpr std::uint32_t kPiece = tile::kZstdPieceBytes;

TEST(ZstdEncodeSizes, GrowWithTheBatch) {
  EXPECT_GE(zstd_encode_bound(1), 1u + 6 + 3);
  EXPECT_LE(zstd_encode_bound(std::uint64_t{1} << 20), (std::uint64_t{1} << 20) + 256);
  EXPECT_GT(zstd_encode_scratch_bytes(2, 1 << 20), zstd_encode_scratch_bytes(1, 1 << 20));
  EXPECT_GT(zstd_encode_scratch_bytes(1, (1 << 20) + 1), zstd_encode_scratch_bytes(1, 1 << 20));
  EXPECT_LE(zstd_encode_scratch_bytes(1024, 1 << 20), std::size_t{1200} << 20);
  EXPECT_LE(zstd_encode_scratch_bytes(1, 1 << 20), std::size_t{9} << 20);  // small budgets have room for a tile
}

struct Encoded {
  std::vector<Bytes> streams;
  std::vector<TileStatus> statuses;
};

class ZstdEncode : public test::OnDevice {
 protected:
  // Outputs lie `phase` behind multiples of 16, between guard bytes.
  static Encoded encode(std::vector<Bytes> const& tiles, int level, std::size_t phase = 0) {
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
      output_bytes += zstd_encode_bound(tile.size()) + kGuard;
    }
    auto const count = static_cast<std::uint32_t>(tiles.size());
    std::size_t const scratch_bytes = zstd_encode_scratch_bytes(count, longest);
    DeviceCopy const device_input(input), device_output(Bytes(output_bytes, kPoison));
    DeviceCopy const a(input_offsets), b(input_sizes), c(output_offsets);
    DeviceCopy const sizes(std::vector<std::uint64_t>(count, 77));
    DeviceCopy const statuses(std::vector<TileStatus>(count, TileStatus::corrupt));
    DeviceCopy const scratch(Bytes(scratch_bytes, std::byte{0x5A}));
    tile::EncodeBatch const batch{device_input.get(), a.get(), b.get(), device_output.get(), c.get(), sizes.get(),
                                  statuses.get(),     count,   longest};
    StreamHandle const stream = make_stream();
    zstd_encode_tiles(batch, level, scratch.get(), scratch_bytes, stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "encoding");
    Encoded encoded{{}, statuses.back()};
    Bytes output = device_output.back();
    std::vector<std::uint64_t> const lengths = sizes.back();
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_LE(lengths[i], zstd_encode_bound(tiles[i].size()));
      auto const begin = output.begin() + static_cast<std::ptrdiff_t>(output_offsets[i]);
      auto const end = begin + static_cast<std::ptrdiff_t>(lengths[i]);
      encoded.streams.emplace_back(begin, end);
      std::fill(begin, end, kPoison);
    }
    EXPECT_TRUE(std::ranges::all_of(output, [](std::byte value) { return value == kPoison; }))
        << "bytes outside the streams were written";
    return encoded;
  }

  // The host's bytes for every tile, which libzstd decodes.
  static void expect_streams(std::vector<Bytes> const& tiles, int level, std::size_t phase = 0) {
    Encoded const encoded = encode(tiles, level, phase);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      ASSERT_EQ(encoded.statuses[i], tiles[i].empty() ? TileStatus::sparse : TileStatus::ok) << "tile " << i;
      if (tiles[i].empty()) {
        EXPECT_TRUE(encoded.streams[i].empty());
        continue;
      }
      EXPECT_TRUE(tile::test::unzstd(encoded.streams[i], tiles[i].size()) == tiles[i])
          << "tile " << i << " of " << tiles[i].size() << " bytes does not decode, level " << level;
      ASSERT_TRUE(encoded.streams[i] == zstd_in_pieces(tiles[i], level))
          << "tile " << i << " of " << tiles[i].size() << " bytes is not as on the host, level " << level;
    }
  }
};

TEST_F(ZstdEncode, TakesNoTile) { expect_streams({}, 6); }

TEST_F(ZstdEncode, TakesABatchOfSparseTilesOnly) { expect_streams(std::vector<Bytes>(40), 6); }

TEST_F(ZstdEncode, MakesTheHostsBytesOfEverySceneAndLevel) {
  for (int const level : {1, 3, 4, 9, 10, 22}) {
    std::vector<Bytes> tiles;
    for (DeflateScene const scene : kDeflateScenes) { tiles.push_back(deflate_scene(scene, 5 * kPiece + 1234)); }
    expect_streams(tiles, level);
  }
}

TEST_F(ZstdEncode, TakesTilesOfAnySmallSize) {
  std::vector<Bytes> tiles;
  for (std::size_t size = 0; size <= 600; ++size) {
    tiles.push_back(deflate_scene(kDeflateScenes[size % std::size(kDeflateScenes)], size));
  }
  for (int const level : {1, 4, 10}) { expect_streams(tiles, level); }
}

TEST_F(ZstdEncode, TakesTilesThatEndNearTheEndOfAPiece) {
  std::vector<Bytes> tiles;
  for (DeflateScene const scene : {DeflateScene::words, DeflateScene::noise, DeflateScene::constant}) {
    for (std::size_t const size : {kPiece - 1, kPiece, kPiece + 1, kPiece + 2, kPiece + 4095, kPiece + 4096,
                                   kPiece + 4097, 2 * kPiece - 31, 2 * kPiece, 2 * kPiece + 3}) {
      tiles.push_back(deflate_scene(scene, size));
    }
  }
  expect_streams(tiles, 6);
}

TEST_F(ZstdEncode, TakesOutputsOfAnyAlignment) {
  std::vector<Bytes> tiles;
  for (DeflateScene const scene : kDeflateScenes) { tiles.push_back(deflate_scene(scene, 2 * kPiece + 77)); }
  tiles.push_back(deflate_scene(DeflateScene::noise, 1));
  tiles.push_back(deflate_scene(DeflateScene::words, kPiece + 1));
  for (std::size_t phase = 0; phase < 16; ++phase) { expect_streams(tiles, 6, phase); }
}

TEST_F(ZstdEncode, StoresNoiseBetweenOtherPieces) {
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
  expect_streams(tiles, 6, 14);
}

// Streams do not depend on the other tiles of a batch, nor on the run.
TEST_F(ZstdEncode, MakesTheSameBytesInEveryBatch) {
  std::vector<Bytes> tiles;
  for (std::uint32_t i = 0; i < 60; ++i) {
    tiles.push_back(deflate_scene(kDeflateScenes[i % std::size(kDeflateScenes)], 20'000 + i * 3000, i));
  }
  for (int const level : {1, 4, 10}) {
    Encoded const together = encode(tiles, level);
    for (int run = 0; run < 3; ++run) { EXPECT_TRUE(encode(tiles, level).streams == together.streams); }
    for (std::size_t i = 0; i < tiles.size(); i += 7) {
      EXPECT_TRUE(encode({tiles[i]}, level).streams[0] == together.streams[i]) << "tile " << i;
    }
  }
}

// More pieces than blocks are launched, some of tiles that are sparse or short.
TEST_F(ZstdEncode, TakesMorePiecesThanBlocks) {
  std::vector<Bytes> tiles;
  for (std::uint32_t i = 0; i < 500; ++i) {
    std::size_t const size = i % 9 == 0 ? 0 : i % 5 == 0 ? 100 + i : 3 * kPiece - i;
    tiles.push_back(deflate_scene(kDeflateScenes[i % std::size(kDeflateScenes)], size, i));
  }
  expect_streams(tiles, 6);
}

TEST_F(ZstdEncode, TakesAHugeTile) {
  Bytes tile;
  for (std::uint32_t i = 0; i < 9; ++i) {
    Bytes const bytes = deflate_scene(kDeflateScenes[i], std::size_t{1} << 20, i);
    tile.insert(tile.end(), bytes.begin(), bytes.end());
  }
  expect_streams({tile}, 6);
}

TEST_F(ZstdEncode, SeesThatAPieceIsNotConstant) {
  std::vector<Bytes> tiles;
  for (std::size_t const at : {0u, 1u, 3u, 4u, 1023u, 1027u, 9999u, 32'766u, 32'770u}) {
    tiles.push_back(deflate_scene(DeflateScene::constant, kPiece + 3));
    tiles.back()[at] = std::byte{0};
  }
  expect_streams(tiles, 6);
}

TEST_F(ZstdEncode, TakesManySmallTilesOfManyShapes) {
  std::vector<Bytes> tiles;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    std::uint32_t const period = 1 + seed * 7 % 300;
    Bytes tile = deflate_scene(kDeflateScenes[seed % std::size(kDeflateScenes)], 100 + seed * 17, seed);
    for (std::size_t i = period; i < tile.size(); ++i) {
      if (i / period % 3 != 0) { tile[i] = tile[i - period]; }
    }
    tiles.push_back(std::move(tile));
  }
  for (int const level : {1, 4, 10}) { expect_streams(tiles, level, 5); }
}

TEST_F(ZstdEncode, RefusesTooLittleScratch) {
  tile::EncodeBatch batch;
  batch.count = 1;
  batch.longest_input_bytes = 1000;
  StreamHandle const stream = make_stream();
  EXPECT_THROW(zstd_encode_tiles(batch, 6, nullptr, zstd_encode_scratch_bytes(1, 1000) - 1, stream.get()), Error);
}

}  // namespace
}  // namespace terrazzo::gpu
