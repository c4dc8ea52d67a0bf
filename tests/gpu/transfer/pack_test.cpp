// SPDX-License-Identifier: Apache-2.0
#include "gpu/transfer/pack.hpp"

#include "gpu/decode/decoder_batch.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;

class PackTiles : public test::OnDevice {
 protected:
  // Tiles of these sizes, each at a multiple of `input_step` plus `shift`; those chosen are packed at multiples of
  // `packed_step` and compared, the gaps between them too.
  static void expect_packed(std::vector<std::size_t> const& sizes, std::vector<std::uint32_t> const& chosen,
                            std::size_t input_step, std::size_t shift, std::size_t packed_step) {
    constexpr std::byte kPoison{0xA5};
    auto const up = [](std::size_t value, std::size_t to) { return (value + to - 1) / to * to; };
    std::mt19937 engine(7);
    Bytes input;
    std::vector<std::uint64_t> offsets, lengths;
    for (std::size_t const size : sizes) {
      input.resize(up(input.size(), input_step) + shift);
      offsets.push_back(input.size());
      lengths.push_back(size);
      for (std::size_t i = 0; i < size; ++i) { input.push_back(static_cast<std::byte>(engine())); }
    }
    std::vector<std::uint64_t> packed_offsets;
    std::size_t total = 0, longest = 0;
    for (std::uint32_t const tile : chosen) {
      total = up(total, packed_step);
      packed_offsets.push_back(total);
      total += sizes[tile];
      longest = std::max(longest, sizes[tile]);
    }
    Bytes expected(total + 32, kPoison);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      std::copy_n(input.begin() + static_cast<std::ptrdiff_t>(offsets[chosen[i]]), sizes[chosen[i]],
                  expected.begin() + static_cast<std::ptrdiff_t>(packed_offsets[i]));
    }
    DeviceCopy const device_input(input);
    DeviceCopy const device_offsets(offsets);
    DeviceCopy const device_lengths(lengths);
    DeviceCopy const device_chosen(chosen);
    DeviceCopy const device_packed_offsets(packed_offsets);
    DeviceCopy const device_packed(Bytes(total + 32, kPoison));
    tile::DeviceTiles tiles;
    tiles.input = device_input.get();
    tiles.input_offsets = device_offsets.get();
    tiles.input_sizes = device_lengths.get();
    tiles.count = static_cast<std::uint32_t>(sizes.size());
    PackList const list{.tiles = device_chosen.get(),
                        .packed_offsets = device_packed_offsets.get(),
                        .packed = device_packed.get(),
                        .count = static_cast<std::uint32_t>(chosen.size()),
                        .longest_bytes = longest};
    StreamHandle const stream = make_stream();
    pack_tiles(tiles, list, stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "packing");
    EXPECT_TRUE(device_packed.back() == expected) << sizes.size() << " tiles, " << chosen.size() << " chosen, steps "
                                                  << input_step << " + " << shift << " and " << packed_step;
  }
};

TEST_F(PackTiles, TakesNoTile) { expect_packed({10, 20}, {}, 16, 0, 16); }

TEST_F(PackTiles, TakesOneTileOfAnyLength) {
  for (std::size_t const size : {1, 2, 15, 16, 17, 4095, 32767, 32768, 32769, 65536, 1'000'003}) {
    expect_packed({size}, {0}, 16, 0, 16);
  }
}

TEST_F(PackTiles, LeavesEmptyTilesOut) {
  expect_packed({0, 100, 0, 3, 0}, {0, 1, 2, 3, 4}, 16, 0, 16);
  expect_packed({0, 0}, {0, 1}, 16, 0, 16);
}

TEST_F(PackTiles, CopiesBetweenAnyTwoAlignments) {
  std::vector<std::size_t> const sizes{5, 64, 33, 40'000, 1, 77};
  for (std::size_t const shift : {0, 1, 2, 3, 4, 8, 14}) {
    for (std::size_t const packed_step : {1, 2, 4, 8, 16}) {
      expect_packed(sizes, {5, 3, 1, 0, 2}, 16, shift, packed_step);
    }
  }
}

TEST_F(PackTiles, TakesMoreTilesThanAGridHasColumns) {
  std::vector<std::size_t> sizes(70'000);
  std::vector<std::uint32_t> chosen(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sizes[i] = i % 37;
    chosen[i] = static_cast<std::uint32_t>(sizes.size() - 1 - i);
  }
  expect_packed(sizes, chosen, 16, 0, 16);
}

}  // namespace
}  // namespace terrazzo::gpu
