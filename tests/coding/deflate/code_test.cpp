// SPDX-License-Identifier: Apache-2.0
#include "coding/deflate/code.hpp"

#include "coding/deflate/pieces_twin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <random>
#include <vector>

namespace terrazzo::coding {
namespace {

// The bits of the best code of any length.
std::uint64_t least_bits(std::vector<std::uint64_t> counts) {
  std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> heap(counts.begin(), counts.end());
  std::uint64_t bits = 0;
  while (heap.size() > 1) {
    std::uint64_t const first = heap.top();
    heap.pop();
    std::uint64_t const sum = first + heap.top();
    heap.pop();
    heap.push(sum);
    bits += sum;
  }
  return bits;
}

class DeflateCodeTest : public ::testing::Test {
 protected:
  // Complete, within the limit, codes that no other begins with; returns the bits of all symbols.
  template <std::uint32_t kSymbols>
  static std::uint64_t expect_code(DeflateCode<kSymbols> const& code, std::uint32_t limit) {
    std::uint64_t room = 0, bits = 0;
    for (std::uint32_t s = 0; s < kSymbols; ++s) {
      if (code.counts[s] != 0) { EXPECT_NE(code.lengths[s], 0) << "symbol " << s; }
      EXPECT_LE(code.lengths[s], limit);
      if (code.lengths[s] != 0) { room += std::uint64_t{1} << (limit - code.lengths[s]); }
      bits += std::uint64_t{code.counts[s]} * code.lengths[s];
      for (std::uint32_t other = 0; other < s; ++other) {
        std::uint32_t const shorter = std::min(code.lengths[s], code.lengths[other]);
        if (shorter == 0) { continue; }
        EXPECT_NE((code.codes[s] ^ code.codes[other]) & ((1U << shorter) - 1U), 0U) << s << " and " << other;
      }
    }
    EXPECT_EQ(room, std::uint64_t{1} << limit) << "a code that is not complete";
    return bits;
  }

  std::unique_ptr<DeflateCodeWork> work_ = std::make_unique<DeflateCodeWork>();
  std::unique_ptr<DeflateCodes> codes_ = std::make_unique<DeflateCodes>();
  test::ThreadsInTurn threads_;
};

TEST_F(DeflateCodeTest, IsTheBestWhereTheLimitDoesNotMatter) {
  std::mt19937 random(3);
  auto const engine = [&] { return static_cast<std::uint32_t>(random()); };
  for (std::uint32_t round = 0; round < 60; ++round) {
    *codes_ = {};
    std::vector<std::uint64_t> counts;
    for (std::uint32_t s = 0; s < kDeflateLiteralSymbols; ++s) {
      if (engine() % 60 < round) { codes_->literals.counts[s] = 1 + engine() % (round % 2 == 0 ? 50 : 5); }
      if (codes_->literals.counts[s] != 0) { counts.push_back(codes_->literals.counts[s]); }
    }
    if (counts.size() < 2) { continue; }
    make_deflate_codes(threads_, work_->trees, kDeflateMostBits, codes_->literals, &codes_->distances);
    EXPECT_EQ(expect_code(codes_->literals, kDeflateMostBits), least_bits(counts));
  }
}

TEST_F(DeflateCodeTest, KeepsToItsLimit) {
  // Counts like Fibonacci's numbers make the deepest tree.
  *codes_ = {};
  std::uint32_t before = 1, now = 1;
  for (std::uint32_t s = 0; s < 23; ++s) {
    codes_->literals.counts[s * 3] = now;
    if (s < 19) { codes_->runs.counts[s] = now; }
    now += before;
    before = now - before;
  }
  make_deflate_codes(threads_, work_->trees, kDeflateMostBits, codes_->literals, &codes_->distances);
  expect_code(codes_->literals, kDeflateMostBits);
  expect_code(codes_->distances, kDeflateMostBits);
  make_deflate_codes(threads_, work_->trees, kDeflateMostRunBits, codes_->runs,
                     static_cast<DeflateCode<kDeflateDistanceSymbols>*>(nullptr));
  expect_code(codes_->runs, kDeflateMostRunBits);
}

TEST_F(DeflateCodeTest, IsCompleteForFewSymbols) {
  for (std::uint32_t const symbol : {0u, 1u, 2u, 256u, 285u}) {
    *codes_ = {};
    codes_->literals.counts[symbol] = 7;
    codes_->distances.counts[symbol % 30] = 1;
    make_deflate_codes(threads_, work_->trees, kDeflateMostBits, codes_->literals, &codes_->distances);
    EXPECT_EQ(expect_code(codes_->literals, kDeflateMostBits), 7u);
    EXPECT_EQ(expect_code(codes_->distances, kDeflateMostBits), 1u);
  }
}

TEST_F(DeflateCodeTest, MeasuresWhatItPuts) {
  std::mt19937 random(8);
  auto const engine = [&] { return static_cast<std::uint32_t>(random()); };
  for (std::uint32_t round = 0; round < 200; ++round) {
    *codes_ = {};
    codes_->literals.counts[kDeflateEndOfBlock] = 1;
    for (std::uint32_t s = 0; s < kDeflateLiteralSymbols; ++s) {
      if (engine() % 200 < round) { codes_->literals.counts[s] += 1 + engine() % 500; }
    }
    for (std::uint32_t s = 0; s < kDeflateDistanceSymbols; ++s) {
      if (engine() % 250 < round) { codes_->distances.counts[s] = 1 + engine() % 20; }
    }
    make_block_codes(threads_, *work_, *codes_);
    // A bit behind the header shows where it ends.
    std::vector<std::uint32_t> words(200);
    threads_.each([&](std::uint32_t thread) { put_block_header(*work_, *codes_, true, thread, words.data()); });
    DeflateBits out(words.data(), codes_->header_bits);
    out.put(1, 1);
    out.finish();
    std::uint32_t end = 32 * 200;
    while ((words[(end - 1) / 32] >> ((end - 1) % 32) & 1U) == 0) { --end; }
    EXPECT_EQ(end, codes_->header_bits + 1);
  }
}

}  // namespace
}  // namespace terrazzo::coding
