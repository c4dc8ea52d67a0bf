// SPDX-License-Identifier: Apache-2.0
//
// The lanes with an encoder of the test's own, which needs a GPU but no library: a tile's stream is its samples, then
// something that accept() cuts off.
#include "gpu/vendor/encode_lanes.hpp"

#include "gpu/decode/decoder_batch.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;
using tile::TileStatus;

constexpr std::size_t kTileBytes = 1000;
constexpr std::size_t kSurplusBytes = 24;
constexpr std::size_t kSlotBytes = 1024;  // 1000 and no more than 24 others

// What becomes of a tile is said by its first sample.
constexpr std::byte kFine{0}, kDoesNotStart{1}, kHasNoSize{2}, kCannotBeFetched{3}, kIsNotAccepted{4}, kIsTooLarge{5};

class CopyingEncoder final : public LaneEncoder {
 public:
  CopyingEncoder(std::size_t lanes, Bytes const& input, std::byte const* device_input)
      : input_(&input), device_input_(device_input), tiles_(lanes) {}

  bool start(std::size_t lane, std::byte const* samples, cudaStream_t) override {
    tiles_[lane] = samples;
    ++starts_;
    return kind(lane) != kDoesNotStart;
  }
  std::size_t encoded_bytes(std::size_t lane, cudaStream_t) override {
    if (kind(lane) == kHasNoSize) { return 0; }
    return kind(lane) == kIsTooLarge ? 10 * 1024 * 1024 : kTileBytes + kSurplusBytes;
  }
  bool fetch(std::size_t lane, std::span<std::byte> to, cudaStream_t stream) override {
    if (kind(lane) == kCannotBeFetched) { return false; }
    return cudaMemcpyAsync(to.data(), tiles_[lane], kTileBytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess;
  }
  std::span<std::byte const> accept(std::span<std::byte> stream) const override {
    return stream[0] == kIsNotAccepted ? std::span<std::byte>() : stream.first(kTileBytes);
  }
  [[nodiscard]] int starts() const { return starts_; }

 private:
  [[nodiscard]] std::byte kind(std::size_t lane) const {
    return (*input_)[static_cast<std::size_t>(tiles_[lane] - device_input_)];
  }
  Bytes const* input_;  // the same on the host
  std::byte const* device_input_;
  std::vector<std::byte const*> tiles_;
  std::atomic<int> starts_{0};
};

class EncodeLanesOnDevice : public test::OnDevice {};

struct Wanted {
  std::byte kind = kFine;
  std::uint64_t input_bytes = kTileBytes;
  TileStatus status = TileStatus::ok;
};

void expect_batch(EncodeLanes& lanes, std::vector<Wanted> const& wanted, std::uint64_t slot_bytes = kSlotBytes) {
  constexpr std::byte kPoison{0xA5};
  std::size_t const count = wanted.size();
  Bytes input(count * kSlotBytes);
  std::vector<std::uint64_t> input_offsets, input_sizes, output_offsets;
  for (std::size_t i = 0; i < count; ++i) {
    // Tiles come in another order than their slots.
    input_offsets.push_back((count - 1 - i) * kSlotBytes);
    input_sizes.push_back(wanted[i].input_bytes);
    output_offsets.push_back(i * kSlotBytes);
    for (std::size_t k = 0; k < kTileBytes; ++k) { input[input_offsets[i] + k] = static_cast<std::byte>(i * 7 + k); }
    input[input_offsets[i]] = wanted[i].kind;
  }
  DeviceCopy const device_input(input), device_output(Bytes(count * kSlotBytes, kPoison));
  DeviceCopy const device_input_offsets(input_offsets), device_input_sizes(input_sizes),
      device_output_offsets(output_offsets), device_sizes(std::vector<std::uint64_t>(count, 77));
  DeviceCopy const device_statuses(std::vector<TileStatus>(count, TileStatus::corrupt));
  StreamHandle const stream = make_stream();
  CopyingEncoder encoder(lanes.count(), input, device_input.get());
  lanes.encode(encoder,
               {.input = device_input.get(),
                .input_offsets = device_input_offsets.get(),
                .input_sizes = device_input_sizes.get(),
                .output = device_output.get(),
                .output_offsets = device_output_offsets.get(),
                .output_sizes = device_sizes.get(),
                .statuses = device_statuses.get(),
                .count = static_cast<std::uint32_t>(count),
                .longest_input_bytes = kTileBytes},
               kTileBytes, slot_bytes, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "encoding");

  auto const statuses = device_statuses.back();
  auto const sizes = device_sizes.back();
  Bytes const output = device_output.back();
  int full = 0;
  for (std::size_t i = 0; i < count; ++i) {
    SCOPED_TRACE(::testing::Message() << "tile " << i);
    bool const is_ok = wanted[i].status == TileStatus::ok;
    full += wanted[i].input_bytes == kTileBytes ? 1 : 0;
    EXPECT_EQ(statuses[i], wanted[i].status);
    EXPECT_EQ(sizes[i], is_ok ? kTileBytes : 0u);
    auto const slot = output.begin() + static_cast<std::ptrdiff_t>(i * kSlotBytes);
    if (is_ok) {
      auto const from = input.begin() + static_cast<std::ptrdiff_t>(input_offsets[i]);
      EXPECT_TRUE(std::equal(from, from + kTileBytes, slot));
    }
    auto const is_poison = [&](std::byte b) { return b == kPoison; };
    EXPECT_TRUE(std::all_of(slot + (is_ok ? kTileBytes : 0), slot + kSlotBytes, is_poison)) << "more was written";
  }
  EXPECT_EQ(encoder.starts(), full) << "sparse tiles and tiles of other sizes are not looked at";
}

TEST_F(EncodeLanesOnDevice, BringEveryTileToItsSlot) {
  BlockPool pool(plain_pinned_allocator());
  for (unsigned const lane_count : {1u, 2u, 5u, 16u}) {
    EncodeLanes lanes(lane_count, 4, pool);
    for (std::size_t const tiles : {std::size_t{1}, std::size_t{3}, std::size_t{16}, std::size_t{200}}) {
      expect_batch(lanes, std::vector<Wanted>(tiles));
    }
  }
}

TEST_F(EncodeLanesOnDevice, SayWhatBecameOfEachTile) {
  BlockPool pool(plain_pinned_allocator());
  EncodeLanes lanes(3, 2, pool);
  std::vector<Wanted> wanted(40);
  wanted[0] = {kFine, 0, TileStatus::sparse};
  wanted[1] = {kFine, kTileBytes - 1, TileStatus::unsupported};
  wanted[5] = {kDoesNotStart, kTileBytes, TileStatus::failed};
  wanted[6] = {kHasNoSize, kTileBytes, TileStatus::failed};
  wanted[7] = {kCannotBeFetched, kTileBytes, TileStatus::failed};
  wanted[8] = {kIsNotAccepted, kTileBytes, TileStatus::failed};
  wanted[9] = {kIsTooLarge, kTileBytes, TileStatus::failed};
  wanted[39] = {kFine, 0, TileStatus::sparse};
  expect_batch(lanes, wanted);
  expect_batch(lanes, std::vector<Wanted>(10));  // and go on
}

TEST_F(EncodeLanesOnDevice, NeverWriteMoreThanASlotHolds) {
  BlockPool pool(plain_pinned_allocator());
  EncodeLanes lanes(2, 1, pool);
  expect_batch(lanes, std::vector<Wanted>(5, {kFine, kTileBytes, TileStatus::failed}), kTileBytes - 1);
  expect_batch(lanes, std::vector<Wanted>(5), kTileBytes);
}

TEST_F(EncodeLanesOnDevice, AllocateNothingAfterTheFirstBatches) {
  BlockPool pool(plain_pinned_allocator());
  EncodeLanes lanes(4, 1, pool);
  expect_batch(lanes, std::vector<Wanted>(64));
  std::uint64_t const before = pool.upstream_allocations();
  for (int i = 0; i < 3; ++i) { expect_batch(lanes, std::vector<Wanted>(64)); }
  EXPECT_EQ(pool.upstream_allocations(), before);
}

TEST_F(EncodeLanesOnDevice, TakeAnEmptyBatch) {
  BlockPool pool(plain_pinned_allocator());
  EncodeLanes lanes(2, 1, pool);
  Bytes const none;
  CopyingEncoder encoder(2, none, nullptr);
  StreamHandle const stream = make_stream();
  lanes.encode(encoder, {}, kTileBytes, kSlotBytes, stream.get());
  EXPECT_EQ(cudaStreamSynchronize(stream.get()), cudaSuccess);
  EXPECT_EQ(encoder.starts(), 0);
}

}  // namespace
}  // namespace terrazzo::gpu
