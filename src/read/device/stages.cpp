// SPDX-License-Identifier: Apache-2.0
#include "read/device/stages.hpp"

#include "base/carver.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/place/place.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/transfer/upload.hpp"
#include "read/blocks/row_finisher.hpp"
#include "read/device/decoders.hpp"
#include "read/device/fallback/host_tiles.hpp"
#include "read/plan/engine_choice.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace terrazzo::reading {

namespace {

using tile::TileStatus;

constexpr std::size_t kChunkBytes = gpu::PinnedPool::kChunkBytes;

}  // namespace

DeviceStages::DeviceStages(DeviceParameters const& parameters, DeviceWork& work, ReadReport& report)
    : parameters_(parameters),
      work_(work),
      report_(report),
      host_input_(takes_host_input(parameters.method)),
      trusted_(parameters.jobs.front().plan->dataset->trusted),
      finished_(finished_format(*parameters.jobs.front().plan->level, trusted_)) {
  if (parameters.method != DeviceMethod::host) {
    auto const order = host_input_ ? codec::OutputOrder::native : codec::OutputOrder::stored;
    decoded_ = RowFinisher(parameters.jobs.front().plan->level->image, order).format();
  }
  share_with_host(work_, parameters.method, host_share(), finished_.finished_row_bytes);
  plan_within_memory();
  slots_.emplace(parameters_.context, plan_.slots(), parameters_.allocator);
  reserve_slots();
  fetcher_.emplace(work_, parameters.method, host_input_, parameters.request.device_fetch);
  for (std::size_t s = 0; s < slots_->size(); ++s) { fetcher_->prepare((*slots_)[s]); }
  upload_constants();
  fill_sparse();
}

// The share of all tiles that the host's threads decode.
double DeviceStages::host_share() const {
  if (parameters_.profile != nullptr) { return 0; }
  EngineLoad load{.method = parameters_.method,
                  .tiles = work_.tiles.size(),
                  .threads = resolve_threads(parameters_.request.threads),
                  .speed = parameters_.context.speed()};
  for (WorkTile const& tile : work_.tiles) { load.decoded_bytes += tile.decoded_bytes; }
  return best_host_share(load, work_.input_bytes);
}

// Plans within the budget, or within the free memory if that is less.
void DeviceStages::plan_within_memory() {
  auto const plan_within = [this](std::uint64_t budget_bytes) {
    plan_ = plan_batches(
        work_,
        {.method = parameters_.method,
         .host_input = host_input_,
         .one_at_a_time = parameters_.profile != nullptr,
         .budget_bytes = budget_bytes,
         .host_input_limit_bytes = parameters_.host_budget.limit_bytes() - parameters_.host_budget.used_bytes(),
         .chunk_bytes = kChunkBytes,
         .scratch_bytes = [&](DecodeLoad const& load) { return decode_scratch_bytes(parameters_.method, load); }});
  };
  plan_within(parameters_.budget_bytes);
  std::uint64_t const needed = std::accumulate(plan_.slot_bytes.begin(), plan_.slot_bytes.end(), std::uint64_t{0});
  if (needed <= idle_slot_bytes(parameters_.context, *parameters_.allocator)) {
    return;
  }  // idle slots already hold enough memory
  if (std::uint64_t const room = gpu::scratch_room(needed, *parameters_.allocator); room < needed) {
    plan_within(room);
  }
}

void DeviceStages::reserve_slots() {
  if (plan_.batches.empty()) { return; }
  host_input_bytes_ = parameters_.host_budget.reserve(plan_.host_input_bytes(), "compressed tiles in pinned memory");
  slots_->reserve_memory(plan_.slot_bytes, parameters_.budget_bytes);
  for (std::size_t s = 0; s < slots_->size(); ++s) {
    DeviceSlot& slot = (*slots_)[s];
    slot.reserve_control(std::max(plan_.layout.control_bytes, plan_.host_layout.control_bytes));
    if (host_input_) {
      slot.reserve_input(plan_.layout.host_input_bytes);
      slot.reserve_decoders(parameters_.allocator);
    }
  }
}

// ---- data shared by all batches

void DeviceStages::upload_constants() {
  std::vector<tile::BandTarget> bands;
  for (ReadJob const& job : parameters_.jobs) {
    auto const own = band_targets(*job.plan);
    bands.insert(bands.end(), own.begin(), own.end());
  }
  ReadPlan::Impl const& plan = *parameters_.jobs.front().plan;
  std::vector<tile::Placement> fills;
  for (WorkTile const& tile : work_.sparse_tiles) {
    for (std::size_t u = 0; u < tile.use_count; ++u) {
      fills.push_back(placement_of(parameters_.jobs, work_.uses[tile.first_use + u], parameters_.result));
      fill_rows_ = std::max(fill_rows_, fills.back().rows);
    }
  }
  fill_count_ = static_cast<std::uint32_t>(fills.size());
  Carver parts;
  std::size_t const bands_at = parts.place(std::span(bands).size_bytes());
  std::size_t const columns_at = parts.place(std::span(plan.source_columns).size_bytes());
  std::size_t const rows_at = parts.place(std::span(plan.source_rows).size_bytes());
  std::size_t const fills_at = parts.place(std::span(fills).size_bytes());
  DeviceSlot& slot = (*slots_)[0];
  slot.reserve_constants(parameters_.allocator, parts.used());
  std::byte* const constants = slot.constants.data();
  auto const copy = [&](std::size_t at, auto const& list) {
    std::size_t const bytes = std::span(list).size_bytes();
    // A copy from pageable memory returns when the bytes are staged: the vectors may be destroyed.
    if (bytes > 0) {
      gpu::check_cuda(cudaMemcpyAsync(constants + at, list.data(), bytes, cudaMemcpyHostToDevice, slot.stream.get()),
                      "uploading the plan");
    }
  };
  if (parameters_.caller != nullptr) { gpu::wait_for(slot.stream.get(), parameters_.caller, slot.done.get()); }
  copy(bands_at, bands);
  copy(columns_at, plan.source_columns);
  copy(rows_at, plan.source_rows);
  copy(fills_at, fills);
  bands_ = reinterpret_cast<tile::BandTarget const*>(constants + bands_at);
  if (plan.resampled()) {
    source_columns_ = reinterpret_cast<std::uint32_t const*>(constants + columns_at);
    source_rows_ = reinterpret_cast<std::uint32_t const*>(constants + rows_at);
  }
  fills_ = reinterpret_cast<tile::Placement const*>(constants + fills_at);
  // All other slots wait for this event, and so for the caller's stream and the constants.
  gpu::check_cuda(cudaEventRecord(slot.done.get(), slot.stream.get()), "recording an event");
  for (std::size_t s = 1; s < slots_->size(); ++s) {
    gpu::check_cuda(cudaStreamWaitEvent((*slots_)[s].stream.get(), slot.done.get()), "waiting for an event");
  }
}

void DeviceStages::fill_sparse() {
  gpu::fill_rectangles(fills_, fill_count_, fill_rows_, bands_, parameters_.result, (*slots_)[0].stream.get());
  report_.sparse_tiles += work_.sparse_tiles.size();
}

// ---- one batch

void DeviceStages::use_device() const {
  gpu::check_cuda(cudaSetDevice(parameters_.context.device()), "choosing the device");
}

// Writes offsets, sizes and placements of a batch to the slot's pinned memory.
void DeviceStages::prepare(std::size_t b) {
  WorkBatch const& batch = plan_.batches[b];
  write_control({slot_of(b).control.get(), plan_.layout_of(batch)}, batch, work_, parameters_.jobs, parameters_.result);
}

void DeviceStages::bring(Piece const& piece) {
  if (plan_.batches[piece.batch].on_host) { return decode_here(piece); }
  DeviceSlot& slot = slot_of(piece.batch);
  fetcher_->fetch(piece, slot, input_of(slot));
}

void DeviceStages::read(Piece const& piece, std::byte* chunk) {
  fetcher_->read(piece, host_input_ ? slot_of(piece.batch).input.get() + piece.begin : chunk);
}

void DeviceStages::upload(Piece const& piece, std::byte const* chunk) {
  if (host_input_) { return; }
  DeviceSlot& slot = slot_of(piece.batch);
  fetcher_->upload(piece, chunk, slot, input_of(slot));
}

// Decodes on this thread and uploads finished rows.
void DeviceStages::decode_here(Piece const& piece) {
  DeviceSlot& slot = slot_of(piece.batch);
  WorkBatch const& batch = plan_.batches[piece.batch];
  BatchLayout const& layout = plan_.layout_of(batch);
  gpu::RunUpload rows(slot.memory.data() + layout.output, slot.stream.get());
  TileStatus* const statuses =
      BatchControl(slot.control.get(), layout).statuses() + (piece.first_tile - batch.first_tile);
  auto const sink = [&](std::uint64_t offset, std::span<std::byte const> bytes) { rows.append(offset, bytes); };
  std::span<WorkTile const> const tiles = std::span(work_.tiles).subspan(piece.first_tile, piece.tile_count);
  HostTileCounts const counts = parameters_.verdicts != nullptr
                                    ? settle_host_tiles(tiles, trusted_, parameters_.host_budget, *parameters_.verdicts,
                                                        {statuses, piece.tile_count}, sink)
                                    : decode_host_tiles(tiles, trusted_, parameters_.request.strict,
                                                        parameters_.host_budget, {statuses, piece.tile_count}, sink);
  rows.flush();
  std::lock_guard const lock(results_mutex_);
  report_.bytes_read += counts.bytes_read;
  report_.surplus_tiles += counts.surplus_tiles;
}

// The destination of the compressed bytes of the slot's batch.
std::byte* DeviceStages::input_of(DeviceSlot& slot) const noexcept {
  if (host_input_) { return slot.input.get(); }
  return slot.memory.data() + (is_raw() ? plan_.layout.output : plan_.layout.input);
}

// All bytes have been sent: the stream does the rest.
void DeviceStages::complete(std::size_t b) {
  if (!plan_.batches[b].on_host) { fetcher_->complete(slot_of(b)); }
}

void DeviceStages::launch_decode(std::size_t b) {
  DeviceSlot& slot = slot_of(b);
  WorkBatch const& batch = plan_.batches[b];
  BatchLayout const& layout = plan_.layout_of(batch);
  BatchControl const control(slot.control.get(), layout);
  cudaStream_t const stream = slot.stream.get();
  bool const host_knows = host_input_ || batch.on_host;
  if (host_input_ && !batch.on_host) {
    slot.decoders->decode(parameters_.method, parameters_.jobs.front().plan->level->image, slot.input.get(),
                          std::span(work_.tiles).subspan(batch.first_tile, batch.tile_count),
                          slot.memory.data() + layout.output, {control.statuses(), batch.tile_count}, stream);
  }
  // Includes the statuses if the host already knows them.
  std::size_t const control_bytes = host_knows ? layout.control_bytes : layout.statuses();
  gpu::check_cuda(cudaMemcpyAsync(slot.memory.data() + layout.control, slot.control.get(), control_bytes,
                                  cudaMemcpyHostToDevice, stream),
                  "uploading a batch's plan");
  if (is_raw() || host_knows) { return; }
  tile::DeviceTiles const tiles = device_tiles(b);
  decode_on_device(parameters_.method, tiles, load_of(batch, work_), slot.memory.data() + layout.scratch,
                   layout.scratch_bytes, stream);
  gpu::check_cuda(cudaMemcpyAsync(control.statuses(), tiles.statuses, batch.tile_count, cudaMemcpyDeviceToHost, stream),
                  "fetching statuses");
}

tile::DeviceTiles DeviceStages::device_tiles(std::size_t b) {
  WorkBatch const& batch = plan_.batches[b];
  BatchLayout const& layout = plan_.layout_of(batch);
  std::byte* const memory = slot_of(b).memory.data();
  BatchControl const control(memory + layout.control, layout);
  tile::DeviceTiles tiles;
  tiles.input = memory + layout.input;
  tiles.input_offsets = control.input_offsets();
  tiles.input_sizes = control.input_sizes();
  tiles.output = memory + layout.output;
  tiles.output_offsets = control.output_offsets();
  tiles.output_sizes = control.output_sizes();
  tiles.statuses = control.statuses();
  tiles.count = static_cast<std::uint32_t>(batch.tile_count);
  return tiles;
}

void DeviceStages::launch_place(std::size_t b) {
  DeviceSlot& slot = slot_of(b);
  WorkBatch const& batch = plan_.batches[b];
  BatchLayout const& layout = plan_.layout_of(batch);
  tile::DeviceTiles const tiles = device_tiles(b);
  gpu::PlaceBatch place;
  place.decoded = tiles.output;
  place.format = batch.on_host ? finished_ : decoded_;
  place.placements = BatchControl(slot.memory.data() + layout.control, layout).placements();
  place.placement_count = static_cast<std::uint32_t>(batch.placement_count);
  place.max_rows = max_placed_rows({slot.control.get(), layout}, batch);
  place.bands = bands_;
  place.result = parameters_.result;
  place.statuses = is_raw() && !batch.on_host ? nullptr : tiles.statuses;
  place.source_columns = source_columns_;
  place.source_rows = source_rows_;
  place.tile_offsets = tiles.output_offsets;
  place.tile_sizes = tiles.output_sizes;
  place.tile_count = tiles.count;
  place.tile_rows = parameters_.jobs.front().plan->level->image.block_height_px;
  gpu::place_tiles(place, slot.stream.get());
  gpu::check_cuda(cudaEventRecord(slot.done.get(), slot.stream.get()), "recording a batch");
}

// The error names the file: the next read of the file will fail in the same way.
void DeviceStages::wait_for(WorkBatch const& batch, DeviceSlot const& slot) const {
  DeviceMethod const method = batch.on_host ? DeviceMethod::host : parameters_.method;
  std::string const doing = text("decoding ", batch.tile_count, " tiles (", to_string(method), ")");
  try {
    gpu::sync_event(slot.done.get(), doing.c_str());
  } catch (Error const& error) { throw error.located({.source = work_.tiles[batch.first_tile].level->source->name()}); }
}

// Waits for the batch and checks its statuses.
void DeviceStages::settle(std::size_t b) {
  DeviceSlot& slot = slot_of(b);
  WorkBatch const& batch = plan_.batches[b];
  wait_for(batch, slot);
  if (is_raw() && !batch.on_host) { return; }
  std::vector<std::uint32_t> const failed = failed_tiles({slot.control.get(), plan_.layout_of(batch)}, batch);
  if (failed.empty()) { return; }
  std::lock_guard const lock(results_mutex_);
  for (std::uint32_t const i : failed) { failed_tiles_.push_back(batch.first_tile + i); }
  if (!host_input_ && !batch.on_host) { return_inputs(b, failed); }
}

// Returns the compressed bytes of tiles that the host will decode, in one copy. Placing is done, so the output buffer
// is free for packing.
void DeviceStages::return_inputs(std::size_t b, std::span<std::uint32_t const> chosen) {
  DeviceSlot& slot = slot_of(b);
  WorkBatch const& batch = plan_.batches[b];
  BatchLayout const& layout = plan_.layout_of(batch);
  BatchControl const control(slot.control.get(), layout);
  TilesToReturn wanted;
  wanted.tiles = device_tiles(b);
  wanted.input_offsets = {control.input_offsets(), batch.tile_count};
  wanted.input_sizes = {control.input_sizes(), batch.tile_count};
  wanted.chosen = chosen;
  wanted.scratch = slot.memory.data() + layout.output;
  wanted.scratch_bytes = layout.control - layout.output;
  MemoryBudget room(parameters_.budget_bytes);
  tile::TileBatch const back = copy_back_packed(wanted, room, parameters_.allocator, slot.returned, slot.stream.get());
  for (tile::BatchItem const& item : back.items) {
    WorkTile const& tile = work_.tiles[batch.first_tile + item.tile];
    parameters_.returned.keep(*tile.level, tile.offset_bytes, back.bytes_of(item));
  }
}

std::vector<WorkTile> DeviceStages::finish() {
  gpu::sync_stream((*slots_)[0].stream.get(), "waiting for the fill");
  std::ranges::sort(failed_tiles_);
  std::vector<WorkTile> failed;
  for (std::size_t const tile : failed_tiles_) { failed.push_back(work_.tiles[tile]); }
  report_.tiles += work_.tiles.size() - failed.size();
  report_.bytes_read += work_.input_bytes;
  return failed;
}

}  // namespace terrazzo::reading
