// SPDX-License-Identifier: Apache-2.0
//
// A fetcher and a decoder of one level, with memory of their own.
#pragma once

#include "base/memory_budget.hpp"
#include "read/blocks/decoder.hpp"
#include "read/blocks/fetcher.hpp"
#include "read/blocks/thread_scratch.hpp"
#include "read/plan/decode_method.hpp"

#include <cstdint>
#include <span>

namespace terrazzo::reading::test {

struct Blocks {
  explicit Blocks(Level const& of, std::uint64_t limit = 1 << 24, bool trusted = false)
      : level(of),
        method(choose_method(of, trusted)),
        budget(limit),
        decoder(of, method, budget, scratch),
        fetcher(of, method, budget, scratch) {}

  // One block, fetched and decoded.
  DecodedBlock const& load(std::uint64_t block) { return decoder.decode(fetcher.fetch({&block, 1}), 0).front(); }

  Level const& level;
  DecodeMethod method;
  MemoryBudget budget;
  ThreadScratch scratch;
  BlockDecoder decoder;
  BlockFetcher fetcher;
};

}  // namespace terrazzo::reading::test
