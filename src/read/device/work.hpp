// SPDX-License-Identifier: Apache-2.0
//
// The work of a device read, as values: its tiles, each once, with source, destination and batch. Needs no GPU, so that
// tests run anywhere.
#pragma once

#include "read/block_list.hpp"
#include "read/plan/device_method.hpp"
#include "read/plan/plan.hpp"
#include "read/read_job.hpp"
#include "tile/placement.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::reading {

// A tile that is read once, whatever the number of windows that want a part of it.
struct WorkTile {
  Level const* level = nullptr;
  std::uint64_t block = 0;
  std::uint64_t offset_bytes = 0, size_bytes = 0;  // range in the file
  std::uint64_t decoded_bytes = 0;
  std::uint64_t input_offset = 0, output_offset = 0;  // offsets in the buffers of its batch; set by cut_batches
  std::size_t first_use = 0, use_count = 0;  // range in DeviceWork::uses
};

struct WorkBatch {
  std::size_t first_tile = 0, tile_count = 0;
  bool on_host = false;  // the host's threads decode its tiles and upload them finished
  std::uint64_t input_bytes = 0;  // size in the batch's buffer, with alignment
  std::uint64_t output_bytes = 0;
  std::size_t placement_count = 0;
};

struct DeviceWork {
  std::vector<WorkTile> tiles;  // in the order of batches: those of the device, then those of the host's threads
  std::size_t device_tiles = 0;  // number of leading tiles that the device decodes
  std::vector<BlockUse> uses;
  std::vector<WorkTile> sparse_tiles;  // tiles that the file does not store
  std::vector<WorkTile> host_tiles;  // tiles that device decoders must not see: outside the file, or too short
  std::uint64_t input_bytes = 0;  // sum over `tiles`
  std::uint64_t max_input_bytes = 0, max_decoded_bytes = 0;
  MemoryBudget::Reservation list_bytes{}, tile_bytes{};  // memory of the lists
};

// Every tile of the jobs, sorted by its offset in the file. REQUIRES: the levels of all jobs have one format
// (same_format). Throws the errors of list_blocks().
[[nodiscard]] DeviceWork collect_work(std::span<ReadJob const> jobs, DeviceMethod method,
                                      ListLimits const& limits = {});

// Throws std::logic_error unless the tiles' uses write every pixel of every job exactly once (result_coverage.hpp).
void check_coverage(std::span<ReadJob const> jobs, DeviceWork const& work);

// True if tiles of both levels can share a batch.
[[nodiscard]] bool same_format(Level const& a, Level const& b);

// Sorts jobs so that those that can share batches are neighbours, and the jobs of a level too. The order is otherwise
// irrelevant: each job stores its destination.
void sort_by_format(std::span<ReadJob> jobs);

// Free bytes before each JPEG tile, where its tables are put.
inline constexpr std::uint64_t kJpegHeadroomBytes = 1024;

// The offset of a tile in the batch's input, aligned to 16 bytes. For deflate, the stream after the two-byte zlib
// header is aligned.
[[nodiscard]] std::uint64_t input_offset(DeviceMethod method, std::uint64_t end_of_previous) noexcept;
[[nodiscard]] std::uint64_t output_offset(std::uint64_t end_of_previous) noexcept;

// Assigns the last `host_share` of the tiles (all, if the method is the host) to the host's threads. `row_bytes` is the
// size of a finished row.
void share_with_host(DeviceWork& work, DeviceMethod method, double host_share, std::uint64_t finished_row_bytes);

// Divides the tiles into batches of at most `tiles` tiles and `bytes` of input and output; each batch has at least one
// tile.
[[nodiscard]] std::vector<WorkBatch> cut_batches(DeviceWork& work, DeviceMethod method, std::uint64_t tiles,
                                                 std::uint64_t bytes);

// The rectangle that a use takes from its tile. The batch fills in `source_offset_bytes` and `tile`.
[[nodiscard]] tile::Placement placement_of(std::span<ReadJob const> jobs, BlockUse const& use,
                                           tile::ResultFormat const& result);

// The targets of the bands of a job's result: one entry per band.
[[nodiscard]] std::vector<tile::BandTarget> band_targets(ReadPlan::Impl const& plan);

}  // namespace terrazzo::reading
