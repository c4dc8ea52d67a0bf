// SPDX-License-Identifier: Apache-2.0
//
// Batches of blocks on the device: cut, predicted, compressed, packed and copied back. The stages of one batch follow
// each other on one stream. Memory between cut and packed exists once; the packed output has several slots
// (memory_split.hpp), so that a batch is compressed while the previous one is copied back and written.
#pragma once

#include "gpu/encode/cut.hpp"
#include "gpu/encode/pack_encoded.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/pinned_buffer.hpp"
#include "gpu/runtime/stream.hpp"
#include "write/block_job.hpp"
#include "write/device/encoder.hpp"
#include "write/device/memory_split.hpp"
#include "write/plan/file_plan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::writing {

// The groups of a batch: images or masks. Lists of groups use these indices.
inline constexpr std::size_t kImages = 0, kMasks = 1;
struct BlockGroup {
  explicit BlockGroup(EncodeTask const& task);

  DeviceEncoder encoder;
  std::uint64_t longest_bytes;  // largest block before compression
  std::uint64_t stride_bytes;   // the same, rounded up: distance of blocks after the cut
  [[nodiscard]] std::uint64_t packed_bytes(std::uint32_t blocks) const noexcept;

  // Offsets of the batch's lists in the slot's lists and results.
  std::size_t cut_at = 0, input_offsets_at = 0, output_offsets_at = 0;
  std::size_t sizes_at = 0, places_at = 0;
};

// A batch from launch() until its blocks are being copied to the host.
struct BatchSlot {
  std::vector<DeviceBlockJob> jobs{};
  std::array<std::vector<std::uint32_t>, 2> blocks{};  // job indices of images and of masks
  gpu::PinnedBuffer lists{}, results{};
  gpu::DeviceBuffer device_lists{}, device_results{};
  std::array<gpu::DeviceBuffer, 2> packed{};
  gpu::EventHandle sized = gpu::make_event();  // sizes and statistics are on the host, and all blocks are packed
};

// The blocks of one group of a batch: images (0) or masks (1).
struct PackedGroup {
  std::byte const* device_bytes = nullptr;
  std::vector<std::uint32_t> jobs{};  // the job of each block
  std::vector<gpu::PackedTile> places{};
};

struct PackedBatch {
  std::vector<DeviceBlockJob> jobs{};
  std::vector<PackedGroup> groups{};
  std::vector<Moments> moments{};  // for every job, its bands; empty without statistics
};

class BlockBatches {
 public:
  // The plan outlives this object. Allocates memory for batches of `most_blocks`, which fit the budget. `stream`: for
  // all work except the copies back.
  BlockBatches(FilePlan const& plan, std::uint64_t budget_bytes, std::uint32_t most_blocks,
               std::shared_ptr<DeviceAllocator> const& allocator, cudaStream_t stream);

  // The memory that batches of such a file need.
  [[nodiscard]] static BatchCost cost(FilePlan const& plan, std::uint64_t budget_bytes);

  // Queues a batch of at most most_blocks. REQUIRES: the slot is free. Records `rows_read` when the rows are no longer
  // needed.
  void launch(std::span<DeviceBlockJob const> jobs, BatchSlot& slot, cudaEvent_t rows_read);

  // True if the device encodes all blocks, unless one of them fails.
  [[nodiscard]] bool encodes_all() const noexcept;

  // Waits until the batch is packed and returns the offsets of its blocks. Of the result, only device_bytes points into
  // the slot.
  [[nodiscard]] PackedBatch packed(BatchSlot const& slot) const;

 private:
  [[nodiscard]] gpu::CutBatch make_lists(BatchSlot& slot, std::size_t group);
  void encode_group(BatchSlot& slot, std::size_t group, gpu::CutBatch const& cut);

  FilePlan const& plan_;
  std::uint32_t most_blocks_;
  std::shared_ptr<DeviceAllocator> allocator_;
  cudaStream_t stream_;
  std::vector<BlockGroup> groups_;  // images, and masks if there are any
  gpu::CutFormat cut_format_{};
  std::optional<std::array<std::byte, 16>> marker_{};  // nodata, for statistics
  std::size_t rows_at_ = 0, lists_bytes_ = 0, moments_at_ = 0, results_bytes_ = 0;
  gpu::DeviceBuffer cut_{}, encoded_{}, scratch_{}, statuses_{};
};

}  // namespace terrazzo::writing
