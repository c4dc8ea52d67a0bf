// SPDX-License-Identifier: Apache-2.0
#include "read/device/fallback/packed_return.hpp"

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/stream.hpp"
#include "support/counting_allocator.hpp"
#include "support/failure.hpp"
#include "support/sources.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <string>

namespace terrazzo::reading {
namespace {

using terrazzo::testing::kind_of_failure;
using Numbers = std::vector<std::uint64_t>;
using Tiles = std::vector<std::uint32_t>;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(PackedLayout, NoTileTakesNoByte) {
  PackedLayout const layout = packed_layout(Numbers{0, 16}, Numbers{10, 10}, {});
  EXPECT_TRUE(layout.offsets.empty());
  EXPECT_EQ(layout.packed_bytes, 0u);
  EXPECT_EQ(layout.total_bytes, 0u);
}

TEST(PackedLayout, OneTileIsPackedFromTheStart) {
  PackedLayout const layout = packed_layout(Numbers{0, 160, 320}, Numbers{99, 100, 99}, Tiles{1});
  EXPECT_EQ(layout.offsets, (Numbers{0}));
  EXPECT_EQ(layout.packed_bytes, 100u);
  EXPECT_EQ(layout.longest_bytes, 100u);
  EXPECT_EQ(layout.list_offset, 112u);
  EXPECT_EQ(layout.list_bytes, 12u);
  EXPECT_EQ(layout.total_bytes, 124u);
}

TEST(PackedLayout, EmptyTilesTakeNoByteAmongFullOnes) {
  PackedLayout const layout = packed_layout(Numbers{0, 0, 32, 32, 48}, Numbers{0, 20, 0, 16, 0}, Tiles{0, 1, 2, 3, 4});
  EXPECT_EQ(layout.offsets, (Numbers{0, 0, 20, 32, 48}));
  EXPECT_EQ(layout.packed_bytes, 48u);
}

TEST(PackedLayout, KeepsTheAlignmentOfEachTile) {
  // As deflate tiles lie: two bytes before an aligned stream.
  Numbers const offsets{14, 62, 110, 7};
  PackedLayout const layout = packed_layout(offsets, Numbers{33, 40, 1, 100}, Tiles{3, 0, 2, 1});
  Tiles const order{3, 0, 2, 1};
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(layout.offsets[i] % 16, offsets[order[i]] % 16);
    EXPECT_GE(layout.offsets[i], end);
    EXPECT_LT(layout.offsets[i], end + 16);
    end = layout.offsets[i] + Numbers{33, 40, 1, 100}[order[i]];
  }
  EXPECT_EQ(layout.packed_bytes, end);
  EXPECT_EQ(layout.list_offset % 16, 0u);
}

TEST(PackedLayout, ManySmallTilesDoNotOverlap) {
  Numbers offsets(100'000), sizes(offsets.size());
  Tiles chosen(offsets.size());
  std::iota(chosen.begin(), chosen.end(), 0u);
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    offsets[i] = (end + 15) / 16 * 16;
    sizes[i] = i % 50;
    end = offsets[i] + sizes[i];
  }
  PackedLayout const layout = packed_layout(offsets, sizes, chosen);
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    ASSERT_GE(layout.offsets[i], layout.offsets[i - 1] + sizes[i - 1]) << "tile " << i;
  }
  EXPECT_EQ(layout.longest_bytes, 49u);
  EXPECT_LE(layout.packed_bytes, end);
}

TEST(PackedLayout, RefusesSizesWithoutASum) {
  EXPECT_EQ(kind_of_failure([] {
              return packed_layout(Numbers{0, 0}, Numbers{kMost - 5, 10}, Tiles{0, 1});
            }),
            ErrorKind::limit);
  EXPECT_EQ(kind_of_failure([] { return packed_layout(Numbers{0}, Numbers{kMost}, Tiles{0}); }), ErrorKind::limit);
  EXPECT_EQ(kind_of_failure([] {
              return packed_layout(Numbers{0, 15}, Numbers{kMost - 30, 1}, Tiles{0, 1});
            }),
            ErrorKind::limit);
  EXPECT_EQ(kind_of_failure([] {
              return packed_layout(Numbers{0}, Numbers{kMost - 30}, Tiles{0, 0});
            }),
            ErrorKind::limit);
}

TEST(PackedLayout, RefusesTilesThatAreNotThere) {
  EXPECT_EQ(kind_of_failure([] { return packed_layout(Numbers{0}, Numbers{5}, Tiles{1}); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([] { return packed_layout(Numbers{0}, Numbers{5, 6}, Tiles{0}); }), ErrorKind::usage);
}

// Never asked: for what must not get as far as the device.
class NoAllocator final : public DeviceAllocator {
 public:
  void* allocate(std::size_t, StreamView) override {
    ADD_FAILURE() << "device memory was allocated";
    return nullptr;
  }
  void deallocate(void*, std::size_t, StreamView) noexcept override {}
};

TEST(BringBack, NeedsNoDeviceForTilesWithoutBytes) {
  Numbers const zeros(4);
  Tiles const chosen{0, 1, 3};
  MemoryBudget budget(0);
  auto const allocator = std::make_shared<NoAllocator>();
  ReturnBuffer into;
  TilesToReturn wanted{.input_offsets = zeros, .input_sizes = zeros, .chosen = chosen};
  tile::TileBatch const batch = copy_back_packed(wanted, budget, allocator, into, nullptr);
  ASSERT_EQ(batch.items.size(), 3u);
  EXPECT_EQ(batch.items[2].tile, 3u);
  EXPECT_TRUE(batch.bytes_of(batch.items[2]).empty());
  wanted.chosen = {};
  EXPECT_TRUE(copy_back_packed(wanted, budget, allocator, into, nullptr).items.empty());
  EXPECT_EQ(into.size_bytes(), 0u);
}

TEST(BringBack, RefusedReservationAllocatesNothing) {
  Numbers const offsets{0, 1024}, sizes{1000, 1000};
  Tiles const chosen{0, 1};
  MemoryBudget budget(1999);
  auto const allocator = std::make_shared<NoAllocator>();
  ReturnBuffer into;
  std::byte none{};
  TilesToReturn const wanted{
      .input_offsets = offsets, .input_sizes = sizes, .chosen = chosen, .scratch = &none, .scratch_bytes = 1};
  EXPECT_EQ(kind_of_failure([&] { return copy_back_packed(wanted, budget, allocator, into, nullptr); }),
            ErrorKind::limit);
  EXPECT_EQ(into.size_bytes(), 0u);
  EXPECT_EQ(budget.used_bytes(), 0u);
}

class ReturnedSourceTest : public ::testing::Test {
 protected:
  void keep(std::uint64_t offset, std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) { bytes[i] = static_cast<std::byte>(offset + i); }
    source_.keep(offset, bytes, budget_);
  }
  // Reads a range and returns how much of it came from the file.
  std::uint64_t from_file(std::uint64_t offset, std::size_t count) {
    std::uint64_t const before = file_->bytes;
    std::vector<std::byte> bytes(count, std::byte{0xFF});
    source_.read(offset, bytes);
    for (std::size_t i = 0; i < count; ++i) { EXPECT_EQ(bytes[i], static_cast<std::byte>(offset + i)) << "at " << i; }
    return file_->bytes - before;
  }

  // 200 bytes, byte i is i.
  std::shared_ptr<terrazzo::testing::CountingSource> file_ =
      std::make_shared<terrazzo::testing::CountingSource>(std::make_shared<terrazzo::testing::SyntheticSource>(
          std::vector<std::byte>{}, 200, [](std::uint64_t offset) { return static_cast<std::byte>(offset); }));
  MemoryBudget budget_{100};
  ReturnedSource source_{file_};
};

TEST_F(ReturnedSourceTest, ReadsTheFileWhereNothingCameBack) {
  EXPECT_EQ(source_.size_bytes(), 200u);
  EXPECT_EQ(source_.name(), file_->name());
  EXPECT_EQ(from_file(0, 200), 200u);
}

TEST_F(ReturnedSourceTest, ReadsWhatCameBackWithoutTheFile) {
  keep(50, 20);
  EXPECT_EQ(from_file(50, 20), 0u);
  EXPECT_EQ(from_file(55, 3), 0u);
  EXPECT_EQ(from_file(69, 1), 0u);
  EXPECT_EQ(from_file(70, 1), 1u);
  EXPECT_EQ(from_file(49, 1), 1u);
}

TEST_F(ReturnedSourceTest, PutsARangeTogetherFromPiecesAndFile) {
  keep(10, 10);
  keep(20, 10);
  keep(40, 5);
  EXPECT_EQ(from_file(10, 20), 0u);
  EXPECT_EQ(from_file(5, 50), 25u);  // 5 before, 10 between, 10 behind
}

TEST_F(ReturnedSourceTest, TakesPiecesThatOverlap) {
  keep(10, 30);
  keep(20, 5);
  keep(10, 8);  // shorter than what is there
  EXPECT_EQ(from_file(10, 15), 0u);
  (void)from_file(0, 60);
}

TEST_F(ReturnedSourceTest, PassesOnThatTheFileEnds) {
  keep(190, 10);
  std::vector<std::byte> bytes(20);
  EXPECT_EQ(kind_of_failure([&] { return source_.read(190, bytes), 0; }), ErrorKind::io);
}

TEST_F(ReturnedSourceTest, KeepsNoMoreThanItsBudget) {
  keep(0, 60);
  EXPECT_EQ(budget_.used_bytes(), 60u);
  EXPECT_EQ(kind_of_failure([&] { keep(100, 50); }), ErrorKind::limit);
  EXPECT_EQ(from_file(100, 50), 50u);
}

class BringBackDevice : public gpu::test::OnDevice {
 protected:
  // Tiles of these sizes, `shift` bytes from a multiple of 16; those chosen come back and are compared.
  static void expect_back(std::vector<std::size_t> const& tile_sizes, Tiles const& chosen, std::size_t shift,
                          std::size_t scratch_bytes = 0) {
    gpu::StreamHandle const stream = gpu::make_stream();
    std::mt19937 engine(11);
    std::vector<std::byte> input;
    Numbers numbers(tile_sizes.size() * 2);
    for (std::size_t i = 0; i < tile_sizes.size(); ++i) {
      input.resize((input.size() + 15) / 16 * 16 + shift);
      numbers[i] = input.size();
      numbers[tile_sizes.size() + i] = tile_sizes[i];
      for (std::size_t b = 0; b < tile_sizes[i]; ++b) { input.push_back(static_cast<std::byte>(engine())); }
    }
    std::size_t const numbers_bytes = numbers.size() * sizeof(std::uint64_t);
    gpu::DeviceBuffer const device(gpu::pool_allocator(), numbers_bytes + input.size() + 16 + scratch_bytes + 16,
                                   stream.get());
    std::byte* const device_input = device.data() + (numbers_bytes + 15) / 16 * 16;
    gpu::check_cuda(cudaMemcpyAsync(device.data(), numbers.data(), numbers_bytes, cudaMemcpyHostToDevice, stream.get()),
                    "test upload");
    gpu::check_cuda(cudaMemcpyAsync(device_input, input.data(), input.size(), cudaMemcpyHostToDevice, stream.get()),
                    "test upload");
    TilesToReturn wanted;
    wanted.tiles.input = device_input;
    wanted.tiles.input_offsets = reinterpret_cast<std::uint64_t const*>(device.data());
    wanted.tiles.input_sizes = wanted.tiles.input_offsets + tile_sizes.size();
    wanted.tiles.count = static_cast<std::uint32_t>(tile_sizes.size());
    wanted.input_offsets = std::span(numbers).first(tile_sizes.size());
    wanted.input_sizes = std::span(numbers).last(tile_sizes.size());
    wanted.chosen = chosen;
    wanted.scratch = scratch_bytes == 0 ? nullptr : device_input + (input.size() + 15) / 16 * 16;
    wanted.scratch_bytes = scratch_bytes;
    MemoryBudget budget(std::uint64_t{1} << 30);
    auto const allocator = std::make_shared<testing::CountingAllocator>();
    ReturnBuffer into;
    tile::TileBatch const batch = copy_back_packed(wanted, budget, allocator, into, stream.get());
    EXPECT_EQ(allocator->allocations, batch.buffer.empty() || scratch_bytes != 0 ? 0 : 1);
    EXPECT_EQ(budget.used_bytes(), 0u);
    ASSERT_EQ(batch.items.size(), chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      EXPECT_EQ(batch.items[i].tile, chosen[i]);
      auto const bytes = batch.bytes_of(batch.items[i]);
      EXPECT_TRUE(std::ranges::equal(
          bytes, std::span(input).subspan(static_cast<std::size_t>(numbers[chosen[i]]), tile_sizes[chosen[i]])))
          << "tile " << chosen[i] << " of " << tile_sizes.size();
    }
  }
};

TEST_F(BringBackDevice, BringsOneTile) { expect_back({100'000}, {0}, 0); }

TEST_F(BringBackDevice, BringsFullTilesAmongEmptyOnes) { expect_back({0, 700, 0, 31, 0}, {4, 3, 2, 1, 0}, 0); }

TEST_F(BringBackDevice, BringsSomeOfTheTiles) { expect_back({10, 20'000, 30, 40'000, 50}, {3, 0}, 14); }

TEST_F(BringBackDevice, BringsManySmallTilesOfAnyAlignment) {
  std::vector<std::size_t> sizes(5000);
  Tiles chosen(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) { sizes[i] = i * 7 % 113; }
  std::iota(chosen.begin(), chosen.end(), 0u);
  for (std::size_t const shift : {0, 1, 14}) { expect_back(sizes, chosen, shift); }
}

TEST_F(BringBackDevice, AllocatesNothingWhereTheScratchIsEnough) { expect_back({5000, 6000}, {0, 1}, 0, 16 * 1024); }

}  // namespace
}  // namespace terrazzo::reading
