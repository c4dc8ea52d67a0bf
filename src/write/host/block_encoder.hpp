// SPDX-License-Identifier: Apache-2.0
//
// Cuts and encodes a list of blocks on the pool and emits the results in the list's order, independent of the threads.
// Encoding continues while a result is emitted; the number of waiting results is bounded.
#pragma once

#include "base/moments.hpp"
#include "codec/registry/encoder.hpp"
#include "write/host/block_cutter.hpp"
#include "write/plan/file_plan.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace terrazzo::writing {

// Parts of a block that were cut elsewhere, each ready for its encoder; an empty part needs no encoding.
struct CutParts {
  std::span<std::byte const> image{}, mask{};
};

template <MemoryKind kind>
struct BlockJob {
  std::size_t level = 0;
  TileId id{};
  ConstRows<kind> const* rows = nullptr;  // rows of the level that contain the block's
  CutParts const* parts = nullptr;  // replaces rows; then statistics and sparseness are skipped
};

using HostBlockJob = BlockJob<MemoryKind::host>;
using DeviceBlockJob = BlockJob<MemoryKind::device>;

// One finished block. Empty bytes: sparse.
struct BlockResult {
  std::span<std::byte const> image{};
  std::span<std::byte const> mask{};
  bool has_mask = false;
  std::span<Moments const> moments{};  // one per band, if statistics are requested and the level is the raster
  std::uint32_t device_tiles = 0;  // how many of image and mask a device encoded
};

class BlockEncoder {
 public:
  BlockEncoder(FilePlan const& plan, unsigned threads);
  ~BlockEncoder();

  // Called in the order of the jobs, from one thread of the pool at a time.
  using Emit = std::function<void(HostBlockJob const&, BlockResult const&)>;
  // Throws the error of a codec or of `emit`; throws `cancelled` if the flag is set.
  void run(std::span<HostBlockJob const> jobs, std::atomic<bool> const* cancel, Emit const& emit);

 private:
  struct Worker;
  struct Slot;
  void encode(HostBlockJob const& job, Worker& worker, Slot& slot) const;
  void encode_parts(HostBlockJob const& job, Worker& worker, Slot& slot) const;
  void encode_image(HostBlockJob const& job, std::span<std::byte const> input, Worker& worker, Slot& slot) const;
  void encode_mask(HostBlockJob const& job, std::span<std::byte const> bits, Worker& worker, Slot& slot) const;

  FilePlan const& plan_;
  codec::EncodeFormat exact_format_;  // for blocks whose nodata must not change
  BlockCutter cutter_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace terrazzo::writing
