// SPDX-License-Identifier: Apache-2.0
#include "gpu/encode/pack_encoded.hpp"

#include "gpu/decode/decoder_batch.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;
using tile::TileStatus;

TEST(PackSource, TakesCompressedBytesRawBytesOrNone) {
  alignas(16) std::byte input[64], output[64];
  std::uint64_t const input_offset = 16, input_size = 40, output_offset = 14;
  std::uint64_t output_size = 9;
  TileStatus status = TileStatus::ok;
  tile::EncodeBatch const batch{input,        &input_offset, &input_size, output, &output_offset,
                                &output_size, &status,       1,           40};
  PackSource const compressed = pack_source(batch, 0);
  EXPECT_EQ(compressed.from, output + 14);
  EXPECT_EQ(compressed.size, 9u);
  EXPECT_EQ(compressed.status, TileStatus::ok);
  EXPECT_EQ(compressed.phase(), 14u);
  EXPECT_EQ(compressed.room(), 32u);
  status = TileStatus::sparse;
  EXPECT_EQ(pack_source(batch, 0).size, 0u);
  EXPECT_EQ(pack_source(batch, 0).room(), 0u);
  for (TileStatus const bad : {TileStatus::failed, TileStatus::unsupported}) {
    status = bad;
    PackSource const raw = pack_source(batch, 0);
    EXPECT_EQ(raw.from, input + 16);
    EXPECT_EQ(raw.size, 40u);
    EXPECT_EQ(raw.status, bad);
    EXPECT_EQ(raw.room(), 48u);
  }
}

TEST(PackSource, DoesNotTakeNothingForSuccess) {
  std::byte input[64], output[64];
  std::uint64_t const offset = 0, input_size = 40;
  std::uint64_t output_size = 0;
  TileStatus status = TileStatus::ok;
  tile::EncodeBatch const batch{input, &offset, &input_size, output, &offset, &output_size, &status, 1, 40};
  EXPECT_EQ(pack_source(batch, 0).status, TileStatus::failed);
  EXPECT_EQ(pack_source(batch, 0).size, 40u);
}

TEST(PackSource, ItsRoomsFitTheBound) {
  alignas(16) std::byte memory[16];
  for (std::uint64_t phase = 0; phase < 16; ++phase) {
    for (std::uint64_t const size : {1u, 2u, 15u, 16u, 17u, 1000u}) {
      PackSource const source{memory + phase, size, TileStatus::ok};
      EXPECT_LE(source.room(), packed_bound(1, size));
      EXPECT_GE(source.room(), phase + size);
      EXPECT_EQ(source.room() % 16, 0u);
    }
  }
}

struct Tile {
  std::size_t raw = 0;
  std::size_t encoded = 0;
  TileStatus status = TileStatus::ok;
};

class PackEncoded : public test::OnDevice {
 protected:
  // Every place, every byte and every gap against what the host makes of the same batch. `packed_shift` moves the
  // packed buffer off its alignment.
  static void expect_packed(std::vector<Tile> const& tiles, std::size_t output_phase, std::size_t packed_shift = 0) {
    constexpr std::byte kPoison{0xA5};
    std::mt19937 engine(5);
    Bytes input, output;
    std::vector<std::uint64_t> input_offsets, input_sizes, output_offsets, output_sizes;
    std::vector<TileStatus> statuses;
    std::uint64_t longest = 0, largest = 0;
    auto const append = [&](Bytes& to, std::size_t phase, std::size_t size, std::vector<std::uint64_t>& offsets) {
      to.resize((to.size() + 15) / 16 * 16 + phase);
      offsets.push_back(to.size());
      for (std::size_t i = 0; i < size; ++i) { to.push_back(static_cast<std::byte>(engine())); }
    };
    for (Tile const& tile : tiles) {
      append(input, 0, tile.raw, input_offsets);
      append(output, output_phase, tile.encoded, output_offsets);
      input_sizes.push_back(tile.raw);
      output_sizes.push_back(tile.encoded);
      statuses.push_back(tile.status);
      longest = std::max<std::uint64_t>(longest, tile.raw);
      largest = std::max<std::uint64_t>({largest, tile.raw, tile.encoded});
    }
    auto const count = static_cast<std::uint32_t>(tiles.size());
    std::uint64_t const room = packed_bound(count, largest);
    Bytes expected(packed_shift + room + 32, kPoison);
    std::vector<PackedTile> expected_places;
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (tiles[i].status == TileStatus::sparse) {
        expected_places.push_back({0, 0, TileStatus::sparse});
        continue;
      }
      bool const encoded = tiles[i].status == TileStatus::ok;
      std::uint64_t const offset = at + (encoded ? output_phase : 0);
      std::uint64_t const size = encoded ? tiles[i].encoded : tiles[i].raw;
      auto const from = encoded ? output.begin() + static_cast<std::ptrdiff_t>(output_offsets[i])
                                : input.begin() + static_cast<std::ptrdiff_t>(input_offsets[i]);
      std::copy_n(from, size, expected.begin() + static_cast<std::ptrdiff_t>(packed_shift + offset));
      expected_places.push_back({offset, size, tiles[i].status});
      at = (offset + size + 15) / 16 * 16;
    }
    DeviceCopy const device_input(input), device_output(output);
    DeviceCopy const a(input_offsets), b(input_sizes), c(output_offsets), d(output_sizes);
    DeviceCopy const device_statuses(statuses);
    DeviceCopy const packed(Bytes(expected.size(), kPoison));
    DeviceCopy const places(std::vector<PackedTile>(count, PackedTile{99, 99, TileStatus::corrupt}));
    tile::EncodeBatch const batch{device_input.get(),    a.get(), b.get(), device_output.get(), c.get(), d.get(),
                                  device_statuses.get(), count,   longest};
    StreamHandle const stream = make_stream();
    pack_encoded(batch, packed.get() + packed_shift, places.get(), stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "packing");
    std::vector<PackedTile> const got = places.back();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      PackedTile const& want = expected_places[i];
      wrong += got[i].offset == want.offset && got[i].size == want.size && got[i].status == want.status ? 0 : 1;
    }
    EXPECT_EQ(wrong, 0u) << "places of " << count << " tiles";
    EXPECT_TRUE(packed.back() == expected) << count << " tiles, phase " << output_phase << ", shift " << packed_shift;
  }
};

TEST_F(PackEncoded, TakesNoTile) { expect_packed({}, 0); }

TEST_F(PackEncoded, TakesOneTileOfAnyLength) {
  for (std::size_t const size : {1u, 2u, 15u, 16u, 17u, 4095u, 32'767u, 32'768u, 32'769u, 65'536u, 1'000'003u}) {
    for (std::size_t const phase : {0u, 14u}) {
      expect_packed({{size + 5, size, TileStatus::ok}}, phase);
      expect_packed({{size, 0, TileStatus::failed}}, phase);
    }
  }
}

TEST_F(PackEncoded, MixesEncodedRawAndSparseTiles) {
  std::vector<Tile> const tiles{{0, 0, TileStatus::sparse},   {100, 70, TileStatus::ok},
                                {0, 0, TileStatus::sparse},   {100, 0, TileStatus::failed},
                                {100'000, 1, TileStatus::ok}, {77, 0, TileStatus::unsupported},
                                {64, 64, TileStatus::ok},     {0, 0, TileStatus::sparse}};
  for (std::size_t const phase : {0u, 1u, 2u, 7u, 14u, 15u}) {
    expect_packed(tiles, phase);
    expect_packed(tiles, phase, 3);
    expect_packed(tiles, phase, 8);
  }
}

TEST_F(PackEncoded, TakesABatchOfSparseTilesOnly) {
  expect_packed(std::vector<Tile>(5000, {0, 0, TileStatus::sparse}), 14);
}

TEST_F(PackEncoded, TakesTilesThatGrew) {
  expect_packed({{1000, 90'000, TileStatus::ok}, {10, 11, TileStatus::ok}}, 14);
}

TEST_F(PackEncoded, TakesCountsAroundItsStep) {
  for (std::size_t const count : {511u, 512u, 513u, 2047u, 2048u, 2049u, 4096u, 10'000u}) {
    std::vector<Tile> tiles;
    for (std::size_t i = 0; i < count; ++i) {
      TileStatus const status = i % 7 == 3 ? TileStatus::sparse : i % 11 == 4 ? TileStatus::failed : TileStatus::ok;
      tiles.push_back(
          {status == TileStatus::sparse ? 0 : 1 + i % 61, status == TileStatus::ok ? 1 + i % 53 : 0, status});
    }
    expect_packed(tiles, 14);
  }
}

TEST_F(PackEncoded, TakesMoreTilesThanAGridHasColumns) {
  std::vector<Tile> tiles;
  for (std::size_t i = 0; i < 150'000; ++i) { tiles.push_back({40, 1 + i % 37, TileStatus::ok}); }
  expect_packed(tiles, 14);
  expect_packed(tiles, 0);
}

}  // namespace
}  // namespace terrazzo::gpu
