// SPDX-License-Identifier: Apache-2.0
#include "read/device_pipeline.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "gpu/kernels/place.hpp"
#include "gpu/runtime/check.hpp"
#include "read/device_decoders.hpp"
#include "read/device_slots.hpp"
#include "read/engine_choice.hpp"
#include "read/host_tiles.hpp"
#include "read/row_finisher.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <utility>

namespace terrazzo::reading {

namespace {

using tile::TileStatus;

constexpr std::size_t kChunkBytes = gpu::PinnedPool::kChunkBytes;
// The first and the last pieces of a read are small: the link waits for the first, and the decoder for the last.
constexpr std::uint64_t kEdgeBytes = 16u << 20;
constexpr std::uint64_t kEdgePieceBytes = 512u << 10;

// Batches on their way at once: enough that disk, link and decoder overlap. The vendors' decoders take as long for few
// tiles as for many and slow each other down (1 GiB of zstd, all tiles in flight: 16 ms in one batch, 25 in eight), so
// their batches are large and few. Our own kernels like to start early.
std::size_t slots_for(DeviceMethod method, std::uint64_t tiles) {
  constexpr std::uint64_t kLargeBatchTiles = 1024;
  switch (method) {
    case DeviceMethod::deflate:
    case DeviceMethod::zstd:
    case DeviceMethod::jpeg:
    case DeviceMethod::jpeg2000:
      return static_cast<std::size_t>(std::clamp<std::uint64_t>(tiles / kLargeBatchTiles, 1, 2));
    default: return 8;
  }
}
// A decoder that gives a tile to a warp or a block wants many; below this, fewer slots with larger batches are better.
constexpr std::uint64_t kMinBatchTiles = 32;
// However small the tiles: control data of a batch stays small, and grids within their limits.
constexpr std::uint64_t kMaxBatchTiles = 32768;

std::size_t align_up(std::size_t value) { return (value + 255) / 256 * 256; }

// Where the parts of a batch lie in a slot's device memory, and the control data in its pinned memory.
struct Layout {
  std::size_t input = 0, output = 0, scratch = 0, control = 0, total = 0;
  std::size_t scratch_bytes = 0;
  std::size_t control_bytes = 0;
  std::size_t tiles = 0, placements = 0;  // room for

  [[nodiscard]] std::size_t input_offsets() const { return 0; }
  [[nodiscard]] std::size_t input_sizes() const { return tiles * 8; }
  [[nodiscard]] std::size_t output_offsets() const { return tiles * 16; }
  [[nodiscard]] std::size_t output_sizes() const { return tiles * 24; }
  [[nodiscard]] std::size_t placement_list() const { return tiles * 32; }
  [[nodiscard]] std::size_t statuses() const { return tiles * 32 + placements * sizeof(tile::Placement); }
};

// A run of whole tiles, or a part of one that is larger than a chunk.
struct Piece {
  std::size_t batch = 0;
  std::size_t first_tile = 0, tile_count = 0;  // in the work
  std::uint64_t begin = 0, bytes = 0;          // in the batch's input
  std::uint64_t skip_bytes = 0;                // of the tile, when it is a part
  bool first_of_batch = false;
};

class Pipeline {
 public:
  Pipeline(DeviceTask const& task, DeviceWork& work, ReadReport& report)
      : task_(task),
        work_(work),
        report_(report),
        host_input_(takes_host_input(task.method)),
        trusted_(task.jobs.front().plan->dataset->trusted),
        host_budget_(resolve_memory_limit(task.request.memory_limit_bytes)),
        finished_(finished_format(*task.jobs.front().plan->level, trusted_)) {
    gpu::check_cuda(cudaGetDevice(&device_), "asking for the current device");
    if (task.method != DeviceMethod::host) {
      auto const order = host_input_ ? codec::OutputOrder::native : codec::OutputOrder::stored;
      decoded_ = RowFinisher(task.jobs.front().plan->level->image, order).format();
    }
    share_with_host(work_, task.method, host_share(), finished_.finished_row_bytes);
    choose_batches();
    cut_pieces();
  }

  std::vector<WorkTile> run() {
    upload_constants();
    fill_sparse();
    if (!batches_.empty()) {
      if (task_.profile != nullptr) {
        run_in_turn();
      } else {
        unsigned const threads = static_cast<unsigned>(
            std::min<std::size_t>(resolve_threads(task_.request.threads), pieces_.size()));
        run_on_pool(threads, [this](unsigned) { work_on_pieces(); });
      }
    }
    if (failure_) { std::rethrow_exception(failure_); }
    for (std::size_t s = 0; s < states_.size(); ++s) { retire(s); }
    gpu::check_cuda(cudaStreamSynchronize((*slots_)[0].stream.get()), "waiting for the fill");
    std::ranges::sort(failed_tiles_);
    std::vector<WorkTile> failed;
    for (std::size_t const tile : failed_tiles_) { failed.push_back(work_.tiles[tile]); }
    report_.tiles += work_.tiles.size() - failed.size();
    report_.bytes_read += work_.input_bytes;
    return failed;
  }

 private:
  struct SlotState {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t turn = kNone;      // the batch that takes it next: first come, first served would let batches overtake
    std::size_t batch = kNone;     // what it works on
    bool launched = false;         // and whether its kernels are on the stream
    std::atomic<std::size_t> pieces_left{0};
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // ---- planning

  // Of all tiles, for the host's threads.
  double host_share() const {
    if (task_.profile != nullptr) { return 0; }
    EngineLoad load{.method = task_.method, .tiles = work_.tiles.size(), .threads = resolve_threads(task_.request.threads)};
    for (WorkTile const& tile : work_.tiles) { load.decoded_bytes += tile.decoded_bytes; }
    return best_host_share(load, work_.input_bytes);
  }

  DecodeLoad load_of(WorkBatch const& batch) const {
    return {static_cast<std::uint32_t>(batch.tile_count), batch.input_bytes, work_.max_input_bytes, batch.output_bytes,
            work_.max_decoded_bytes};
  }

  [[nodiscard]] bool is_raw() const noexcept { return task_.method == DeviceMethod::raw; }

  Layout layout_of(WorkBatch const& largest) const {
    Layout layout;
    layout.tiles = largest.tile_count;
    layout.placements = largest.placement_count;
    layout.control_bytes = layout.statuses() + layout.tiles;
    // Tiles that are not compressed go straight where decoded ones would be.
    bool const device_input = !host_input_ && !is_raw() && task_.method != DeviceMethod::host;
    layout.output = device_input ? align_up(largest.input_bytes + 16) : 0;
    layout.scratch = layout.output + align_up(largest.output_bytes + 16);
    layout.scratch_bytes = is_raw() || task_.method == DeviceMethod::host ? 0 : decode_scratch_bytes(task_.method, load_of(largest));
    layout.control = layout.scratch + align_up(layout.scratch_bytes);
    layout.total = layout.control + align_up(layout.control_bytes);
    return layout;
  }

  static WorkBatch largest_of(std::vector<WorkBatch> const& batches) {
    WorkBatch largest;
    for (WorkBatch const& batch : batches) {
      largest.tile_count = std::max(largest.tile_count, batch.tile_count);
      largest.input_bytes = std::max(largest.input_bytes, batch.input_bytes);
      largest.output_bytes = std::max(largest.output_bytes, batch.output_bytes);
      largest.placement_count = std::max(largest.placement_count, batch.placement_count);
    }
    return largest;
  }

  // As many tiles in flight as the budget allows, in as many batches as there are slots; fewer slots before batches
  // become too small to feed the device.
  void choose_batches() {
    std::uint64_t const tiles = std::max<std::size_t>(work_.device_tiles, 1);
    std::size_t slots = slots_for(task_.method, tiles);
    if (task_.profile != nullptr) { slots = 1; }  // nothing overlaps: the largest batch is the best one
    if (task_.method == DeviceMethod::host) { return choose_host_batches(); }
    std::uint64_t per_batch =
        std::clamp<std::uint64_t>((tiles + slots - 1) / slots, std::min(tiles, kMinBatchTiles), kMaxBatchTiles);
    while (!work_.tiles.empty()) {
      batches_ = cut_batches(work_, task_.method, per_batch, task_.budget_bytes);
      layout_ = layout_of(largest_of(batches_));
      slots = std::min(slots, batches_.size());
      std::size_t const own_slot = work_.device_tiles < work_.tiles.size() ? 1 : 0;
      if (layout_.total * (slots + own_slot) <= task_.budget_bytes) { break; }
      if (slots > 2 && per_batch <= kMinBatchTiles) {
        slots = std::max<std::size_t>(2, slots / 2);
      } else if (per_batch > 1) {
        per_batch = std::max<std::uint64_t>(1, per_batch * 3 / 4);
      } else if (slots > 1) {
        --slots;
      } else {
        refuse_budget();
      }
    }
    // The host's share has a slot of its own: it must not wait for the device.
    take_slots(work_.device_tiles < work_.tiles.size() ? std::min(slots + 1, batches_.size()) : slots);
  }

  // Finished tiles on their way up: a few batches, each large enough that a copy is worth its launch.
  void choose_host_batches() {
    constexpr std::size_t kHostSlots = 4;
    constexpr std::uint64_t kHostBatchBytes = 64u << 20;
    batches_ = cut_batches(work_, task_.method, kMaxBatchTiles, std::min(kHostBatchBytes, task_.budget_bytes / 8));
    layout_ = layout_of(largest_of(batches_));
    std::size_t const slots = std::min({kHostSlots, batches_.size(), task_.budget_bytes / std::max<std::size_t>(1, layout_.total)});
    if (slots == 0 && !batches_.empty()) { refuse_budget(); }
    take_slots(slots);
  }

  [[noreturn]] void refuse_budget() const {
    throw Error(ErrorKind::limit,
                text("one tile needs ", layout_.total, " bytes of device memory to be decoded, the budget is ",
                     task_.budget_bytes, " (device_budget_bytes, TERRAZZO_DEVICE_BUDGET)"));
  }

  void take_slots(std::size_t slots) {
    slots_.emplace(std::max<std::size_t>(1, slots), task_.allocator);
    states_ = std::vector<SlotState>(slots_->size());
    for (std::size_t s = 0; s < states_.size(); ++s) { states_[s].turn = s; }
    if (batches_.empty()) { return; }
    for (std::size_t s = 0; s < slots_->size(); ++s) {
      DeviceSlot& slot = (*slots_)[s];
      slot.reserve_memory(task_.allocator, layout_.total, task_.budget_bytes / slots_->size());
      slot.reserve_control(layout_.control_bytes);
      if (host_input_) {
        slot.reserve_input(static_cast<std::size_t>(largest_of(batches_).input_bytes));
        slot.reserve_decoders(task_.allocator);
      }
    }
  }

  void cut_pieces() {
    std::uint64_t planned = 0;
    for (std::size_t b = 0; b < batches_.size(); ++b) {
      bool first = true;
      auto const add = [&](Piece piece) {
        piece.batch = b;
        piece.first_of_batch = std::exchange(first, false);
        pieces_.push_back(piece);
      };
      std::size_t const end = batches_[b].first_tile + batches_[b].tile_count;
      if (batches_[b].on_host) {
        cut_host_pieces(batches_[b], add);
        continue;
      }
      for (std::size_t t = batches_[b].first_tile; t < end;) {
        std::uint64_t const begin = place_in_input(work_.tiles[t]);
        if (work_.tiles[t].size_bytes > kChunkBytes) {
          for (std::uint64_t at = 0; at < work_.tiles[t].size_bytes; at += kChunkBytes) {
            std::uint64_t const bytes = std::min<std::uint64_t>(kChunkBytes, work_.tiles[t].size_bytes - at);
            add({.first_tile = t, .tile_count = 1, .begin = begin + at, .bytes = bytes, .skip_bytes = at});
          }
          planned += work_.tiles[t].size_bytes;
          ++t;
          continue;
        }
        std::size_t const from = t;
        std::uint64_t reached = begin;
        bool const edge = planned < kEdgeBytes || work_.input_bytes - planned < kEdgeBytes;
        std::uint64_t const most = edge ? kEdgePieceBytes : kChunkBytes;
        do {
          reached = place_in_input(work_.tiles[t]) + work_.tiles[t].size_bytes;
          planned += work_.tiles[t].size_bytes;
          ++t;
        } while (t < end && place_in_input(work_.tiles[t]) + work_.tiles[t].size_bytes - begin <= most);
        add({.first_tile = from, .tile_count = t - from, .begin = begin, .bytes = reached - begin});
      }
    }
    pieces_of_batch_.assign(batches_.size(), 0);
    for (Piece const& piece : pieces_) { ++pieces_of_batch_[piece.batch]; }
  }

  // Small, so that no thread is left with much at the end.
  template <class Add>
  void cut_host_pieces(WorkBatch const& batch, Add const& add) const {
    constexpr std::uint64_t kPieceBytes = 1u << 20;
    std::size_t const end = batch.first_tile + batch.tile_count;
    for (std::size_t t = batch.first_tile; t < end;) {
      Piece piece{.first_tile = t};
      do { piece.bytes += work_.tiles[t++].decoded_bytes; } while (t < end && piece.bytes < kPieceBytes);
      piece.tile_count = t - piece.first_tile;
      add(piece);
    }
  }

  [[nodiscard]] std::uint64_t place_in_input(WorkTile const& tile) const noexcept {
    return is_raw() ? tile.output_offset : tile.input_offset;
  }

  // ---- what all batches share

  void upload_constants() {
    std::vector<tile::BandTarget> bands;
    for (DeviceJob const& job : task_.jobs) {
      auto const own = band_targets(*job.plan);
      bands.insert(bands.end(), own.begin(), own.end());
    }
    ReadPlan::Impl const& plan = *task_.jobs.front().plan;
    std::vector<tile::Placement> fills;
    for (WorkTile const& tile : work_.sparse_tiles) {
      for (std::size_t u = 0; u < tile.use_count; ++u) {
        fills.push_back(placement_of(task_.jobs, work_.uses[tile.first_use + u], task_.result));
        fill_rows_ = std::max(fill_rows_, fills.back().rows);
      }
    }
    fill_count_ = static_cast<std::uint32_t>(fills.size());
    std::size_t const bands_bytes = align_up(bands.size() * sizeof(tile::BandTarget));
    std::size_t const columns_bytes = align_up(plan.source_columns.size() * 4);
    std::size_t const rows_bytes = align_up(plan.source_rows.size() * 4);
    std::size_t const total = bands_bytes + columns_bytes + rows_bytes + fills.size() * sizeof(tile::Placement);
    DeviceSlot& slot = (*slots_)[0];
    slot.reserve_constants(task_.allocator, total);
    std::byte* const at = slot.constants.data();
    auto const copy = [&](std::byte* to, void const* from, std::size_t bytes) {
      // From pageable memory the call returns when the bytes are staged: the vectors may go.
      if (bytes > 0) {
        gpu::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, slot.stream.get()),
                        "uploading the plan");
      }
    };
    if (task_.caller != nullptr) { gpu::wait_for(slot.stream.get(), task_.caller, slot.done.get()); }
    copy(at, bands.data(), bands.size() * sizeof(tile::BandTarget));
    copy(at + bands_bytes, plan.source_columns.data(), plan.source_columns.size() * 4);
    copy(at + bands_bytes + columns_bytes, plan.source_rows.data(), plan.source_rows.size() * 4);
    copy(at + bands_bytes + columns_bytes + rows_bytes, fills.data(), fills.size() * sizeof(tile::Placement));
    bands_ = reinterpret_cast<tile::BandTarget const*>(at);
    if (plan.resampled()) {
      source_columns_ = reinterpret_cast<std::uint32_t const*>(at + bands_bytes);
      source_rows_ = reinterpret_cast<std::uint32_t const*>(at + bands_bytes + columns_bytes);
    }
    fills_ = reinterpret_cast<tile::Placement const*>(at + bands_bytes + columns_bytes + rows_bytes);
    // Every other slot starts behind this one: the caller's stream and the constants are waited for with it.
    gpu::check_cuda(cudaEventRecord(slot.done.get(), slot.stream.get()), "recording an event");
    for (std::size_t s = 1; s < slots_->size(); ++s) {
      gpu::check_cuda(cudaStreamWaitEvent((*slots_)[s].stream.get(), slot.done.get()), "waiting for an event");
    }
  }

  void fill_sparse() {
    gpu::fill_rectangles(fills_, fill_count_, fill_rows_, bands_, task_.result, (*slots_)[0].stream.get());
    report_.sparse_tiles += work_.sparse_tiles.size();
  }

  // ---- working

  void work_on_pieces() {
    try {
      gpu::check_cuda(cudaSetDevice(device_), "choosing the device");
      while (!stopped_.load(std::memory_order_relaxed)) {
        std::size_t const index = next_piece_.fetch_add(1, std::memory_order_relaxed);
        if (index >= pieces_.size()) { return; }
        if (task_.request.cancel != nullptr && task_.request.cancel->load(std::memory_order_relaxed)) { cancel(); }
        Piece const& piece = pieces_[index];
        std::size_t const s = piece.batch % slots_->size();
        if (!take_slot(s, piece)) { return; }
        fetch(s, piece);
        if (states_[s].pieces_left.fetch_sub(1, std::memory_order_acq_rel) == 1) { finish_batch(s); }
      }
    } catch (...) { stop(std::current_exception()); }
  }

  [[noreturn]] void cancel() const {
    throw Error(ErrorKind::cancelled, "the read was cancelled",
                {.source = task_.jobs.front().plan->level->source->name()});
  }

  void stop(std::exception_ptr failure) {
    {
      std::lock_guard const lock(failure_mutex_);
      if (!failure_) { failure_ = std::move(failure); }
    }
    stopped_ = true;
    for (SlotState& state : states_) {
      std::lock_guard const lock(state.mutex);
      state.changed.notify_all();
    }
  }

  // The slot is this batch's from the first piece on. False when the read has stopped.
  bool take_slot(std::size_t s, Piece const& piece) {
    SlotState& state = states_[s];
    std::unique_lock lock(state.mutex);
    if (piece.first_of_batch) {
      state.changed.wait(lock, [&] {
        return stopped_ || (state.turn == piece.batch && (state.batch == kNone || state.launched));
      });
      if (stopped_) { return false; }
      lock.unlock();
      retire(s);
      prepare(s, piece.batch);
      lock.lock();
      state.batch = piece.batch;
      state.turn = piece.batch + slots_->size();
      state.pieces_left = pieces_of_batch_[piece.batch];
      lock.unlock();
      state.changed.notify_all();
      return true;
    }
    state.changed.wait(lock, [&] { return stopped_ || state.batch == piece.batch; });
    return !stopped_;
  }

  // Offsets, sizes and placements of a batch, in the slot's pinned memory.
  void prepare(std::size_t s, std::size_t b) {
    WorkBatch const& batch = batches_[b];
    std::byte* const control = (*slots_)[s].control.get();
    auto const numbers = [&](std::size_t at) { return reinterpret_cast<std::uint64_t*>(control + at); };
    auto* const placements = reinterpret_cast<tile::Placement*>(control + layout_.placement_list());
    std::size_t placed = 0;
    for (std::size_t i = 0; i < batch.tile_count; ++i) {
      WorkTile const& tile = work_.tiles[batch.first_tile + i];
      numbers(layout_.input_offsets())[i] = tile.input_offset;
      numbers(layout_.input_sizes())[i] = tile.size_bytes;
      numbers(layout_.output_offsets())[i] = tile.output_offset;
      numbers(layout_.output_sizes())[i] = tile.decoded_bytes;
      for (std::size_t u = 0; u < tile.use_count; ++u) {
        tile::Placement placement = placement_of(task_.jobs, work_.uses[tile.first_use + u], task_.result);
        placement.source_offset_bytes = tile.output_offset;
        placement.tile = static_cast<std::uint32_t>(i);
        placements[placed++] = placement;
      }
    }
  }

  // Decodes on this thread and sends finished rows up, a chunk at a time.
  void decode_here(std::size_t s, Piece const& piece) {
    DeviceSlot& slot = (*slots_)[s];
    cudaStream_t const stream = slot.stream.get();
    std::byte* const output = slot.memory.data() + layout_.output;
    std::optional<gpu::PinnedPool::Chunk> chunk;
    std::uint64_t begin = 0, used = 0;
    auto const flush = [&] {
      if (!chunk) { return; }
      gpu::check_cuda(cudaMemcpyAsync(output + begin, chunk->data(), static_cast<std::size_t>(used),
                                      cudaMemcpyHostToDevice, stream),
                      "uploading decoded tiles");
      chunk->release_after(stream);
      chunk.reset();
    };
    auto const append = [&](std::uint64_t offset, std::span<std::byte const> bytes) {
      while (!bytes.empty()) {
        if (chunk && (offset != begin + used || used == kChunkBytes)) { flush(); }
        if (!chunk) {
          chunk = gpu::PinnedPool::instance().acquire();
          begin = offset;
          used = 0;
        }
        std::size_t const part = std::min<std::size_t>(bytes.size(), kChunkBytes - used);
        std::memcpy(chunk->data() + used, bytes.data(), part);
        used += part;
        offset += part;
        bytes = bytes.subspan(part);
      }
    };
    std::size_t const in_batch = piece.first_tile - batches_[piece.batch].first_tile;
    auto* const statuses = reinterpret_cast<TileStatus*>(slot.control.get() + layout_.statuses()) + in_batch;
    HostTileCounts const counts =
        decode_host_tiles(std::span(work_.tiles).subspan(piece.first_tile, piece.tile_count), trusted_,
                          task_.request.strict, host_budget_, {statuses, piece.tile_count}, append);
    flush();
    std::lock_guard const lock(failure_mutex_);
    report_.bytes_read += counts.bytes_read;
    report_.surplus_tiles += counts.surplus_tiles;
  }

  void fetch(std::size_t s, Piece const& piece) {
    DeviceSlot& slot = (*slots_)[s];
    if (batches_[piece.batch].on_host) { return decode_here(s, piece); }
    if (host_input_) { return read_piece(piece, slot.input.get() + piece.begin); }
    gpu::PinnedPool::Chunk chunk = gpu::PinnedPool::instance().acquire();
    read_piece(piece, chunk.data());
    upload_piece(slot, piece, chunk.data());
    chunk.release_after(slot.stream.get());
  }

  void read_piece(Piece const& piece, std::byte* to) const {
    thread_local std::vector<RangeRead> ranges;
    ByteSource const* source = nullptr;
    ranges.clear();
    auto const flush = [&] {
      if (!ranges.empty()) { source->submit(ranges).wait(); }
      ranges.clear();
    };
    for (std::size_t t = piece.first_tile; t < piece.first_tile + piece.tile_count; ++t) {
      WorkTile const& tile = work_.tiles[t];
      if (tile.level->source.get() != source) {
        flush();
        source = tile.level->source.get();
      }
      std::uint64_t const bytes = piece.tile_count == 1 ? piece.bytes : tile.size_bytes;
      std::uint64_t const into = place_in_input(tile) + piece.skip_bytes - piece.begin;
      ranges.push_back({tile.offset_bytes + piece.skip_bytes, {to + into, static_cast<std::size_t>(bytes)}});
    }
    flush();
  }

  void upload_piece(DeviceSlot& slot, Piece const& piece, std::byte const* from) const {
    std::byte* const to = slot.memory.data() + (is_raw() ? layout_.output : layout_.input) + piece.begin;
    gpu::check_cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(piece.bytes), cudaMemcpyHostToDevice,
                                    slot.stream.get()),
                    "uploading tiles");
  }

  // All bytes are on their way: the rest happens on the stream.
  void finish_batch(std::size_t s) {
    SlotState& state = states_[s];
    launch_decode(s);
    launch_place(s);
    gpu::check_cuda(cudaEventRecord((*slots_)[s].done.get(), (*slots_)[s].stream.get()), "recording a batch");
    {
      std::lock_guard const lock(state.mutex);
      state.launched = true;
    }
    state.changed.notify_all();
    tell_progress(batches_[state.batch].tile_count);
  }

  void launch_decode(std::size_t s) {
    DeviceSlot& slot = (*slots_)[s];
    WorkBatch const& batch = batches_[states_[s].batch];
    cudaStream_t const stream = slot.stream.get();
    std::byte* const control = slot.memory.data() + layout_.control;
    bool const host_knows = host_input_ || batch.on_host;
    if (host_input_ && !batch.on_host) {
      auto* const statuses = reinterpret_cast<TileStatus*>(slot.control.get() + layout_.statuses());
      slot.decoders->decode(task_.method, task_.jobs.front().plan->level->image, slot.input.get(),
                            std::span(work_.tiles).subspan(batch.first_tile, batch.tile_count),
                            slot.memory.data() + layout_.output, {statuses, batch.tile_count}, stream);
    }
    // With the statuses, where the host knows them already.
    std::size_t const control_bytes = host_knows ? layout_.control_bytes : layout_.statuses();
    gpu::check_cuda(cudaMemcpyAsync(control, slot.control.get(), control_bytes, cudaMemcpyHostToDevice, stream),
                    "uploading a batch's plan");
    if (is_raw() || host_knows) { return; }
    tile::DeviceTiles const tiles = device_tiles(s);
    decode_on_device(task_.method, tiles, load_of(batch), slot.memory.data() + layout_.scratch, layout_.scratch_bytes,
                     stream);
    gpu::check_cuda(cudaMemcpyAsync(slot.control.get() + layout_.statuses(), tiles.statuses, batch.tile_count,
                                    cudaMemcpyDeviceToHost, stream),
                    "fetching statuses");
  }

  [[nodiscard]] tile::DeviceTiles device_tiles(std::size_t s) {
    std::byte* const memory = (*slots_)[s].memory.data();
    std::byte* const control = memory + layout_.control;
    auto const numbers = [&](std::size_t at) { return reinterpret_cast<std::uint64_t const*>(control + at); };
    tile::DeviceTiles tiles;
    tiles.input = memory + layout_.input;
    tiles.input_offsets = numbers(layout_.input_offsets());
    tiles.input_sizes = numbers(layout_.input_sizes());
    tiles.output = memory + layout_.output;
    tiles.output_offsets = numbers(layout_.output_offsets());
    tiles.output_sizes = numbers(layout_.output_sizes());
    tiles.statuses = reinterpret_cast<TileStatus*>(control + layout_.statuses());
    tiles.count = static_cast<std::uint32_t>(batches_[states_[s].batch].tile_count);
    return tiles;
  }

  void launch_place(std::size_t s) {
    DeviceSlot& slot = (*slots_)[s];
    WorkBatch const& batch = batches_[states_[s].batch];
    tile::DeviceTiles const tiles = device_tiles(s);
    tiff::Image const& image = task_.jobs.front().plan->level->image;
    gpu::PlaceBatch place;
    place.decoded = tiles.output;
    place.format = batch.on_host ? finished_ : decoded_;
    place.placements = reinterpret_cast<tile::Placement const*>(slot.memory.data() + layout_.control +
                                                                layout_.placement_list());
    place.placement_count = static_cast<std::uint32_t>(batch.placement_count);
    auto const* const planned =
        reinterpret_cast<tile::Placement const*>(slot.control.get() + layout_.placement_list());
    for (std::size_t i = 0; i < batch.placement_count; ++i) {
      place.max_rows = std::max(place.max_rows, planned[i].rows);
    }
    place.bands = bands_;
    place.result = task_.result;
    place.statuses = is_raw() && !batch.on_host ? nullptr : tiles.statuses;
    place.source_columns = source_columns_;
    place.source_rows = source_rows_;
    place.tile_offsets = tiles.output_offsets;
    place.tile_sizes = tiles.output_sizes;
    place.tile_count = tiles.count;
    place.tile_rows = image.block_height_px;
    gpu::place_tiles(place, slot.stream.get());
  }

  // Waits for the slot's batch and looks at its statuses.
  void retire(std::size_t s) {
    SlotState& state = states_[s];
    std::size_t finished = kNone;
    {
      std::lock_guard const lock(state.mutex);
      if (state.launched) { finished = std::exchange(state.batch, kNone); }
      state.launched = false;
    }
    if (finished == kNone) { return; }
    gpu::check_cuda(cudaEventSynchronize((*slots_)[s].done.get()), "decoding a batch");
    WorkBatch const& batch = batches_[finished];
    if (is_raw() && !batch.on_host) { return; }
    auto const* const statuses = reinterpret_cast<TileStatus const*>((*slots_)[s].control.get() + layout_.statuses());
    std::lock_guard const lock(failure_mutex_);
    for (std::size_t i = 0; i < batch.tile_count; ++i) {
      if (statuses[i] != TileStatus::ok) { failed_tiles_.push_back(batch.first_tile + i); }
    }
  }

  void tell_progress(std::uint64_t tiles) {
    if (!task_.request.progress) { return; }
    std::lock_guard const lock(progress_mutex_);
    tiles_done_ += tiles;
    if (!task_.request.progress(tiles_done_, work_.tiles.size() + work_.host_tiles.size())) { cancel(); }
  }

  // ---- one stage after the other, for the clock

  void run_in_turn() {
    using Clock = std::chrono::steady_clock;
    auto const seconds_since = [](Clock::time_point start) {
      return std::chrono::duration<double>(Clock::now() - start).count();
    };
    StageTimes& times = *task_.profile;
    DeviceSlot& slot = (*slots_)[0];
    cudaStream_t const stream = slot.stream.get();
    unsigned const threads = resolve_threads(task_.request.threads);
    std::size_t piece = 0;
    for (std::size_t b = 0; b < batches_.size(); ++b) {
      states_[0].batch = b;
      prepare(0, b);
      std::size_t const end = piece + pieces_of_batch_[b];
      if (batches_[b].on_host) {
        auto const start = Clock::now();
        std::atomic<std::size_t> next{piece};
        run_on_pool(threads, [&](unsigned) {
          gpu::check_cuda(cudaSetDevice(device_), "choosing the device");
          for (std::size_t p = next++; p < end; p = next++) { decode_here(0, pieces_[p]); }
        });
        gpu::check_cuda(cudaStreamSynchronize(stream), "uploading decoded tiles");
        times.decode_s += seconds_since(start);
        piece = end;
      }
      // Read what fits the pinned chunks, then send it: each alone.
      while (piece < end) {
        std::size_t const round_end = std::min(end, piece + gpu::PinnedPool::kMaxChunks);
        std::vector<gpu::PinnedPool::Chunk> chunks(round_end - piece);
        for (auto& chunk : chunks) { chunk = gpu::PinnedPool::instance().acquire(); }
        auto start = Clock::now();
        std::atomic<std::size_t> next{piece};
        run_on_pool(threads, [&](unsigned) {
          for (std::size_t p = next++; p < round_end; p = next++) {
            read_piece(pieces_[p], host_input_ ? slot.input.get() + pieces_[p].begin : chunks[p - piece].data());
          }
        });
        times.fetch_s += seconds_since(start);
        start = Clock::now();
        for (std::size_t p = piece; p < round_end && !host_input_; ++p) {
          upload_piece(slot, pieces_[p], chunks[p - piece].data());
        }
        gpu::check_cuda(cudaStreamSynchronize(stream), "uploading tiles");
        times.upload_s += seconds_since(start);
        piece = round_end;
      }
      auto start = Clock::now();
      launch_decode(0);
      gpu::check_cuda(cudaStreamSynchronize(stream), "decoding a batch");
      times.decode_s += seconds_since(start);
      start = Clock::now();
      launch_place(0);
      gpu::check_cuda(cudaEventRecord(slot.done.get(), stream), "recording a batch");
      gpu::check_cuda(cudaStreamSynchronize(stream), "placing tiles");
      times.place_s += seconds_since(start);
      states_[0].launched = true;
      retire(0);
      ++times.batches;
    }
    times.fetched_bytes += work_.input_bytes;
    for (WorkTile const& tile : work_.tiles) { times.decoded_bytes += tile.decoded_bytes; }
    times.device_tiles += work_.tiles.size();
  }

  DeviceTask const& task_;
  DeviceWork& work_;
  ReadReport& report_;
  bool host_input_;
  bool trusted_;
  MemoryBudget host_budget_;
  tile::RowFormat finished_;  // of tiles that the host decodes
  tile::RowFormat decoded_;   // of the others
  int device_ = 0;
  std::vector<WorkBatch> batches_;
  Layout layout_;
  std::vector<Piece> pieces_;
  std::vector<std::size_t> pieces_of_batch_;
  std::optional<SlotLease> slots_;
  std::vector<SlotState> states_;

  tile::BandTarget const* bands_ = nullptr;
  std::uint32_t const* source_columns_ = nullptr;
  std::uint32_t const* source_rows_ = nullptr;
  tile::Placement const* fills_ = nullptr;
  std::uint32_t fill_count_ = 0, fill_rows_ = 0;

  std::atomic<std::size_t> next_piece_{0};
  std::atomic<bool> stopped_{false};
  std::mutex failure_mutex_;  // guards failure_, failed_tiles_
  std::exception_ptr failure_;
  std::vector<std::size_t> failed_tiles_;
  std::mutex progress_mutex_;
  std::uint64_t tiles_done_ = 0;  // guarded by progress_mutex_
};

}  // namespace

std::vector<WorkTile> run_pipeline(DeviceTask const& task, DeviceWork& work, ReadReport& report) {
  return Pipeline(task, work, report).run();
}

}  // namespace terrazzo::reading
