// SPDX-License-Identifier: Apache-2.0
//
// What a device read has to do, as values: which tiles, each once, where they lie, where they go, and how they are cut
// into batches. Needs no GPU, so that it is tested anywhere.
#pragma once

#include "read/dataset.hpp"
#include "read/plan.hpp"
#include "tile/placement.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::reading {

// Who turns the tiles of a level into samples.
enum class DeviceMethod : std::uint8_t {
  raw,  // nothing to decode
  lzw,
  packbits,
  deflate,
  zstd,
  jpeg,
  jpeg2000,
  host,  // the host's threads: the device has no decoder for it
};
[[nodiscard]] std::string_view to_string(DeviceMethod method) noexcept;

// What the machine's device decoders can do.
struct DeviceAbilities {
  bool nvcomp = false, nvjpeg = false, nvjpeg2k = false;
};

struct MethodChoice {
  DeviceMethod method = DeviceMethod::host;
  std::string reason{};  // why it is the host
};
[[nodiscard]] MethodChoice choose_device_method(Level const& level, SourceTrust trust, ReadRequest const& request,
                                                DeviceAbilities const& abilities);

// One window on its way to one place. Jobs of one read have the same bands, dtype and strides.
struct DeviceJob {
  std::shared_ptr<ReadPlan::Impl const> plan;
  std::int64_t destination_offset_bytes = 0;
};

// A tile that is read once, whatever the number of windows that want a part of it.
struct WorkTile {
  Level const* level = nullptr;
  std::uint64_t block = 0;
  std::uint64_t offset_bytes = 0, size_bytes = 0;  // in the file
  std::uint64_t decoded_bytes = 0;
  std::uint64_t input_offset = 0, output_offset = 0;  // in the buffers of its batch; set by cut_batches
  std::size_t first_use = 0, use_count = 0;  // in DeviceWork::uses
};

// A part of a tile that a job wants.
struct TileUse {
  std::uint32_t job = 0;
  std::uint64_t index = 0;  // of the block in the job's plan
};

struct WorkBatch {
  std::size_t first_tile = 0, tile_count = 0;
  bool on_host = false;  // its tiles are decoded by the host's threads and go up finished
  std::uint64_t input_bytes = 0;  // as they lie in the batch's buffer, aligned
  std::uint64_t output_bytes = 0;
  std::size_t placement_count = 0;
};

struct DeviceWork {
  std::vector<WorkTile> tiles;         // in batches: those of the device, then those of the host's threads
  std::size_t device_tiles = 0;        // how many of them are the device's
  std::vector<TileUse> uses;
  std::vector<WorkTile> sparse_tiles;  // not in the file
  std::vector<WorkTile> host_tiles;    // ranges that no device decoder should see: outside the file, or too short
  std::uint64_t input_bytes = 0;       // of `tiles`
  std::uint64_t max_input_bytes = 0, max_decoded_bytes = 0;
  MemoryBudget::Reservation lists{};   // of the memory that they take
};

// What making the lists of a read may take.
struct WorkLimits {
  MemoryBudget* budget = nullptr;              // null: as much as there is
  std::atomic<bool> const* cancel = nullptr;   // ReadRequest::cancel
};

// Every tile of the jobs, sorted by where it lies. REQUIRES: the levels of all jobs have one format (same_format).
// A file of a few bytes may have a million tiles, and one of a gigabyte a thousand times as many: throws `limit` before
// the lists outgrow the budget, and `cancelled` while they are made.
[[nodiscard]] DeviceWork collect_work(std::span<DeviceJob const> jobs, DeviceMethod method, WorkLimits limits = {});

// Throws std::logic_error unless the tiles' uses make every pixel of every job, each once (result_coverage.hpp).
void check_coverage(std::span<DeviceJob const> jobs, DeviceWork const& work);

// True when tiles of both can share a batch.
[[nodiscard]] bool same_format(Level const& a, Level const& b);

// Jobs that can share batches next to each other, those of a level together. Otherwise their order does not matter:
// each knows its place.
void sort_by_format(std::span<DeviceJob> jobs);

// Of the parts of one allocation on the device: as cudaMalloc aligns, so that every type and vector load fits.
inline constexpr std::size_t kPartAlignmentBytes = 256;

// Free bytes before each JPEG tile, where its tables are put.
inline constexpr std::uint64_t kJpegHeadroomBytes = 1024;

// Where a tile starts in the batch's input: aligned to 16 bytes, for deflate so that its stream is (the zlib header
// takes two bytes).
[[nodiscard]] std::uint64_t input_offset(DeviceMethod method, std::uint64_t end_of_previous) noexcept;
[[nodiscard]] std::uint64_t output_offset(std::uint64_t end_of_previous) noexcept;

// Leaves the last `host_share` of the tiles (all, when the method is the host) to the host's threads. `row_bytes` is
// that of a finished row.
void share_with_host(DeviceWork& work, DeviceMethod method, double host_share, std::uint64_t finished_row_bytes);

// Cuts the tiles into batches of at most `tiles` tiles and `bytes` of input and output; one tile is always taken.
[[nodiscard]] std::vector<WorkBatch> cut_batches(DeviceWork& work, DeviceMethod method, std::uint64_t tiles,
                                                 std::uint64_t bytes);

// The rectangle that a use takes from its tile. `source_offset_bytes` and `tile` are the batch's to fill in.
[[nodiscard]] tile::Placement placement_of(std::span<DeviceJob const> jobs, TileUse const& use,
                                           tile::ResultFormat const& result);

// What the bands of a job's result need to know: `bands` entries.
[[nodiscard]] std::vector<tile::BandTarget> band_targets(ReadPlan::Impl const& plan);

}  // namespace terrazzo::reading
