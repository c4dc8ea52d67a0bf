// SPDX-License-Identifier: Apache-2.0
//
// Memory that a thread keeps between blocks and between reads, so that a thousand small reads allocate once.
#pragma once

#include "base/scratch.hpp"
#include "codec/registry/codec.hpp"
#include "terrazzo/source.hpp"
#include "tile/tile_batch.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::reading {

// The memory of one BlockFetcher.
struct FetchBuffers {
  // A run of neighbouring blocks: one range of the source, one part of the buffer.
  struct Run {
    std::uint64_t source_offset_bytes, buffer_offset_bytes, size_bytes;
  };
  Scratch compressed;
  std::vector<Run> runs;
  std::vector<RangeRead> ranges;
  tile::TileBatch batch;
};

struct ThreadScratch {
  Scratch decoded, converted, row;
  std::vector<RangeRead> ranges;  // ranges of uncompressed rows
  codec::Workspace workspace;
  std::vector<FetchBuffers> spare_buffers;  // buffers of destroyed fetchers

  [[nodiscard]] FetchBuffers take_buffers();
  void give_back(FetchBuffers buffers) noexcept;

  void trim() noexcept;  // called after a read: frees buffers that are too large to keep
};

// The scratch of the calling thread. It lives as long as the thread.
[[nodiscard]] ThreadScratch& thread_scratch();

}  // namespace terrazzo::reading
