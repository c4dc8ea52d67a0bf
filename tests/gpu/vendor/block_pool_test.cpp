// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/block_pool.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace terrazzo::gpu {
namespace {

// Host memory stands for the device's; streams are only names here.
struct Upstream {
  int live = 0;
  std::size_t live_bytes = 0;
  bool refuses = false;

  VendorAllocator hooks() {
    return {this,
            [](void* self, std::size_t bytes, cudaStream_t) -> void* {
              auto& upstream = *static_cast<Upstream*>(self);
              if (upstream.refuses) { return nullptr; }
              ++upstream.live;
              upstream.live_bytes += bytes;
              return std::malloc(bytes);
            },
            [](void* self, void* pointer, std::size_t bytes, cudaStream_t) {
              auto& upstream = *static_cast<Upstream*>(self);
              --upstream.live;
              upstream.live_bytes -= bytes;
              std::free(pointer);
            }};
  }
};

cudaStream_t stream_number(std::uintptr_t number) { return reinterpret_cast<cudaStream_t>(number); }

TEST(BlockPool, ReusesABlockOnItsStream) {
  Upstream upstream;
  BlockPool pool(upstream.hooks());
  void* const first = pool.take(100'000, stream_number(1));
  pool.give_back(first);
  EXPECT_EQ(pool.take(99'000, stream_number(1)), first);
  EXPECT_EQ(pool.upstream_allocations(), 1u);
}

TEST(BlockPool, KeepsABlockFromOtherStreams) {
  Upstream upstream;
  BlockPool pool(upstream.hooks());
  void* const first = pool.take(100'000, stream_number(1));
  pool.give_back(first);
  EXPECT_NE(pool.take(100'000, stream_number(2)), first);
}

TEST(BlockPool, DoesNotSpendALargeBlockOnASmallRequest) {
  Upstream upstream;
  BlockPool pool(upstream.hooks());
  void* const large = pool.take(1'000'000, stream_number(1));
  pool.give_back(large);
  EXPECT_NE(pool.take(10'000, stream_number(1)), large);
  EXPECT_EQ(pool.take(900'000, stream_number(1)), large);
}

TEST(BlockPool, NeverGivesOutABlockThatIsInUse) {
  Upstream upstream;
  BlockPool pool(upstream.hooks());
  void* const first = pool.take(5'000, nullptr);
  EXPECT_NE(pool.take(5'000, nullptr), first);
}

TEST(BlockPool, CountsWhatItHoldsAndGivesAllBack) {
  Upstream upstream;
  {
    BlockPool pool(upstream.hooks());
    void* const one = pool.take(5'000, nullptr);
    (void)pool.take(70'000, nullptr);
    pool.give_back(one);
    EXPECT_GE(pool.held_bytes(), 75'000u);
    EXPECT_EQ(pool.held_bytes(), upstream.live_bytes);
    EXPECT_EQ(upstream.live, 2);
  }
  EXPECT_EQ(upstream.live, 0);
  EXPECT_EQ(upstream.live_bytes, 0u);
}

TEST(BlockPool, PassesARefusalOn) {
  Upstream upstream;
  upstream.refuses = true;
  BlockPool pool(upstream.hooks());
  void* pointer = &pool;
  EXPECT_NE(BlockPool::allocate_hook(&pool, &pointer, 100, nullptr), 0);
  EXPECT_EQ(pointer, nullptr);
  PoolBuffer buffer(pool);
  EXPECT_THROW((void)buffer.reserve(100, "a test"), Error);
}

TEST(PoolBuffer, GrowsAndKeepsWhatIsLargeEnough) {
  Upstream upstream;
  BlockPool pool(upstream.hooks());
  PoolBuffer buffer(pool);
  std::byte* const small = buffer.reserve(10'000, "a test");
  EXPECT_EQ(buffer.reserve(9'000, "a test"), small);
  EXPECT_NE(buffer.reserve(1'000'000, "a test"), small);
  EXPECT_EQ(pool.upstream_allocations(), 2u);
}

}  // namespace
}  // namespace terrazzo::gpu
