// SPDX-License-Identifier: Apache-2.0
//
// Batches of blocks on the device: cut, predicted, compressed and packed, and brought back in one copy. The stages of
// one batch follow each other on one stream; memory between cut and packed is there once, what comes back has two
// slots, so that a batch is compressed while the one before it travels and is written.
#pragma once

#include "gpu/kernels/cut.hpp"
#include "gpu/kernels/pack_encoded.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/pinned_buffer.hpp"
#include "gpu/runtime/stream.hpp"
#include "write/block_encoder.hpp"
#include "write/device_encoder.hpp"
#include "write/device_share.hpp"
#include "write/file_plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::writing {

// What a batch holds of one kind: images, or masks. Lists of groups have them in this order.
inline constexpr std::size_t kImages = 0, kMasks = 1;
struct BlockGroup {
  explicit BlockGroup(EncodeTask const& task);

  DeviceEncoder encoder;
  std::uint64_t longest_bytes;  // of a block before compression
  std::uint64_t stride_bytes;   // the same, rounded up: distance of blocks that are cut
  [[nodiscard]] std::uint64_t packed_bytes(std::uint32_t blocks) const noexcept;

  // Where the lists of a batch lie, in the slot's lists and results.
  std::size_t cut_at = 0, input_offsets_at = 0, output_offsets_at = 0;
  std::size_t sizes_at = 0, places_at = 0;
};

// A batch from launch() until its blocks are on their way to the host.
struct BatchSlot {
  std::vector<BlockJob> jobs{};
  std::array<std::vector<std::uint32_t>, 2> blocks{};  // of images and masks: which jobs they are of
  gpu::PinnedBuffer lists{}, results{};
  gpu::DeviceBuffer device_lists{}, device_results{};
  std::array<gpu::DeviceBuffer, 2> packed{};
  gpu::EventHandle sized = gpu::make_event();  // sizes and statistics are on the host, and all is packed
};

// The blocks of one group of a batch: images (0) or masks (1).
struct PackedGroup {
  std::byte const* device_bytes = nullptr;
  std::vector<std::uint32_t> jobs{};  // of which job each is
  std::vector<gpu::PackedTile> places{};
};

struct PackedBatch {
  std::vector<BlockJob> jobs{};
  std::vector<PackedGroup> groups{};
  std::vector<Moments> moments{};  // for every job, its bands; empty without statistics
};

class DeviceBatches {
 public:
  // The plan outlives this; memory is taken for `most_blocks` at a time, which fit the budget. `stream`: of all work
  // but the copies back.
  DeviceBatches(FilePlan const& plan, std::uint64_t budget_bytes, std::uint32_t most_blocks, DeviceAllocator& allocator,
                cudaStream_t stream);

  // What batches of such a file cost.
  [[nodiscard]] static BatchCost cost(FilePlan const& plan, std::uint64_t budget_bytes);

  // Queues a batch of at most most_blocks. Nobody uses the slot. `rows_read` is recorded when the rows are not needed
  // any more.
  void launch(std::span<BlockJob const> jobs, BatchSlot& slot, cudaEvent_t rows_read);

  // Whether no block is left to the host's encoders, but by accident.
  [[nodiscard]] bool encodes_all() const noexcept;

  // Waits until the batch is packed and says where its blocks lie: in the slot, but for device_bytes nothing is.
  [[nodiscard]] PackedBatch packed(BatchSlot const& slot) const;

 private:
  [[nodiscard]] gpu::CutBatch make_lists(BatchSlot& slot, std::size_t group);
  void encode_group(BatchSlot& slot, std::size_t group, gpu::CutBatch const& cut);

  FilePlan const& plan_;
  std::uint32_t most_blocks_;
  DeviceAllocator& allocator_;
  cudaStream_t stream_;
  std::vector<BlockGroup> groups_;  // images, and masks where there are some
  gpu::CutFormat cut_format_{};
  std::optional<std::array<std::byte, 16>> marker_{};  // nodata, for statistics
  std::size_t rows_at_ = 0, lists_bytes_ = 0, moments_at_ = 0, results_bytes_ = 0;
  gpu::DeviceBuffer cut_{}, encoded_{}, scratch_{}, statuses_{};
};

}  // namespace terrazzo::writing
