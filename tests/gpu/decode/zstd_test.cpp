// SPDX-License-Identifier: Apache-2.0
#include "gpu/decode/zstd.hpp"

#include "coding/deflate/scene.hpp"
#include "coding/zstd/decode.hpp"
#include "gpu/decode/decoder_batch.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <iterator>
#include <memory>
#include <random>
#include <utility>

namespace terrazzo::gpu {
namespace {

using coding::test::deflate_scene;
using coding::test::kDeflateScenes;
using test::BatchInput;
using test::Bytes;
using test::Decoded;
using tile::TileStatus;

class ZstdDecodeDevice : public test::OnDevice {};

Bytes zstd_frame(Bytes const& bytes, int level) {
  Bytes frame(ZSTD_compressBound(bytes.size()));
  frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), level));
  return frame;
}

// The host's team gives the same verdicts and bytes.
void expect_same_frames(BatchInput const& batch) {
  auto const count = static_cast<std::uint32_t>(batch.streams.size());
  test::DeviceCopy<std::byte> const scratch(Bytes(count == 0 ? 0 : zstd_decode_scratch_bytes(count)));
  Decoded const decoded = test::run_batch(batch, [&](tile::DeviceTiles const& tiles, cudaStream_t stream) {
    decode_zstd(tiles, scratch.get(), scratch.bytes(), stream);
  });
  auto const shared = std::make_unique<coding::ZstdShared>();
  auto const literals = std::make_unique<std::byte[]>(coding::kZstdScratchBytes);
  for (std::size_t i = 0; i < batch.streams.size(); ++i) {
    Bytes const& frame = batch.streams[i];
    Bytes out(batch.output_sizes[i]);
    TileStatus const status = coding::zstd_decode(coding::LanesInTurn{}, *shared, frame.data(), frame.size(),
                                                  out.data(), out.size(), literals.get());
    ASSERT_EQ(decoded.statuses[i], status) << "tile " << i;
    if (status == TileStatus::ok) { ASSERT_TRUE(decoded.outputs[i] == out) << "tile " << i; }
  }
}

TEST_F(ZstdDecodeDevice, TakesAnEmptyBatch) { expect_same_frames({}); }

TEST_F(ZstdDecodeDevice, DecodesAllKindsOfDataAtAnyAddress) {
  for (std::size_t const alignment : {std::size_t{1}, std::size_t{16}}) {
    BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = alignment};
    for (auto const scene : kDeflateScenes) {
      for (std::size_t const size : {0u, 1u, 255u, 8191u, 8193u, 70'000u, 1'000'000u}) {
        for (int const level : {-5, 1, 3, 9, 19}) { batch.add(zstd_frame(deflate_scene(scene, size), level), size); }
      }
    }
    expect_same_frames(batch);
  }
}

TEST_F(ZstdDecodeDevice, DecodesMoreTilesThanRunAtOnce) {
  BatchInput batch;
  for (std::uint32_t seed = 0; seed < 20'000; ++seed) {
    std::size_t const size = seed % 400;
    batch.add(zstd_frame(deflate_scene(kDeflateScenes[seed % std::size(kDeflateScenes)], size, seed), 3), size);
  }
  expect_same_frames(batch);
}

TEST_F(ZstdDecodeDevice, AgreesWithTheHostOnDamagedFrames) {
  BatchInput batch{.streams = {}, .output_sizes = {}, .input_alignment = 1};
  std::mt19937 random(3);
  auto const below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
  for (std::uint32_t seed = 0; seed < 20'000; ++seed) {
    std::size_t const size = 1 + below(seed % 100 == 0 ? 200'000 : 3'000);
    Bytes frame = zstd_frame(deflate_scene(kDeflateScenes[seed % std::size(kDeflateScenes)], size, seed),
                             1 + static_cast<int>(below(12)));
    std::size_t const changes = below(9);
    for (std::size_t i = 0; i < changes; ++i) { frame[below(frame.size())] = static_cast<std::byte>(below(256)); }
    if (seed % 5 == 0) { frame.resize(below(frame.size())); }
    batch.add(std::move(frame), size);
  }
  expect_same_frames(batch);
}

}  // namespace
}  // namespace terrazzo::gpu
