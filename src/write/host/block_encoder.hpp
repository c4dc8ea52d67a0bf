// SPDX-License-Identifier: Apache-2.0
//
// Cuts and encodes a list of blocks on the pool and emits the results in the list's order, independent of the threads.
// Encoding continues while a result is emitted; the number of waiting results is bounded.
#pragma once

#include "codec/registry/encoder.hpp"
#include "write/block_job.hpp"
#include "write/host/block_cutter.hpp"
#include "write/host/waiting_blocks.hpp"
#include "write/plan/file_plan.hpp"

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace terrazzo::writing {

class BlockEncoder {
 public:
  // `encoded`: the raster's blocks, if they come compressed; only their statistics are computed.
  BlockEncoder(FilePlan const& plan, unsigned threads, WaitingBlocks const* encoded = nullptr);
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
  void pass_on(HostBlockJob const& job, Worker& worker, Slot& slot) const;
  void count_samples(HostBlockJob const& job, std::span<std::byte const> samples, Slot& slot) const;
  void encode_image(HostBlockJob const& job, std::span<std::byte const> input, Worker& worker, Slot& slot) const;
  void encode_mask(HostBlockJob const& job, std::span<std::byte const> bits, Worker& worker, Slot& slot) const;

  FilePlan const& plan_;
  codec::EncodeFormat exact_format_;  // for blocks whose nodata must not change
  BlockCutter cutter_;
  WaitingBlocks const* encoded_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace terrazzo::writing
