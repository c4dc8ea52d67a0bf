// SPDX-License-Identifier: Apache-2.0
#include "read/device_pipeline.hpp"

#include "base/checked.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "gpu/kernels/place.hpp"
#include "gpu/runtime/check.hpp"
#include "read/device_batches.hpp"
#include "read/device_decoders.hpp"
#include "read/device_slots.hpp"
#include "read/engine_choice.hpp"
#include "read/host_tiles.hpp"
#include "read/row_finisher.hpp"
#include "read/tile_fetcher.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <numeric>
#include <utility>

namespace terrazzo::reading {

namespace {

using tile::TileStatus;

constexpr std::size_t kChunkBytes = gpu::PinnedPool::kChunkBytes;

class Pipeline {
 public:
  Pipeline(DeviceTask const& task, DeviceWork& work, ReadReport& report)
      : task_(task),
        work_(work),
        report_(report),
        host_input_(takes_host_input(task.method)),
        trusted_(task.jobs.front().plan->dataset->trusted),
        finished_(finished_format(*task.jobs.front().plan->level, trusted_)) {
    gpu::check_cuda(cudaGetDevice(&device_), "asking for the current device");
    if (task.method != DeviceMethod::host) {
      auto const order = host_input_ ? codec::OutputOrder::native : codec::OutputOrder::stored;
      decoded_ = RowFinisher(task.jobs.front().plan->level->image, order).format();
    }
    share_with_host(work_, task.method, host_share(), finished_.finished_row_bytes);
    plan_ = plan_batches(
        work_, {.method = task.method,
                .host_input = host_input_,
                .one_at_a_time = task.profile != nullptr,
                .budget_bytes = task.budget_bytes,
                .chunk_bytes = kChunkBytes,
                .scratch_bytes = [&](DecodeLoad const& load) { return decode_scratch_bytes(task.method, load); }});
    take_slots();
    fetcher_.emplace(work_, task.method, host_input_, task.request.device_fetch);
    for (std::size_t slot = 0; slot < slots_->size(); ++slot) { fetcher_->prepare((*slots_)[slot]); }
  }

  std::vector<WorkTile> run() {
    upload_constants();
    fill_sparse();
    if (!batches_.empty()) {
      if (task_.profile != nullptr) {
        run_in_turn();
      } else {
        unsigned const threads =
            static_cast<unsigned>(std::min<std::size_t>(resolve_threads(task_.request.threads), pieces_.size()));
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
    std::size_t turn = kNone;  // the batch that takes it next: first come, first served would let batches overtake
    std::size_t batch = kNone;  // what it works on
    bool launched = false;  // and whether its kernels are on the stream
    std::atomic<std::size_t> pieces_left{0};
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // ---- planning

  // Of all tiles, for the host's threads.
  double host_share() const {
    if (task_.profile != nullptr) { return 0; }
    EngineLoad load{
        .method = task_.method, .tiles = work_.tiles.size(), .threads = resolve_threads(task_.request.threads)};
    for (WorkTile const& tile : work_.tiles) { load.decoded_bytes += tile.decoded_bytes; }
    return best_host_share(load, work_.input_bytes);
  }

  [[nodiscard]] bool is_raw() const noexcept { return task_.method == DeviceMethod::raw; }

  void take_slots() {
    slots_.emplace(plan_.slots(), task_.allocator);
    states_ = std::vector<SlotState>(slots_->size());
    for (std::size_t s = 0; s < states_.size(); ++s) { states_[s].turn = s; }
    if (batches_.empty()) { return; }
    std::uint64_t const needed = std::accumulate(plan_.slot_bytes.begin(), plan_.slot_bytes.end(), std::uint64_t{0});
    std::uint64_t const spare = (task_.budget_bytes - needed) / slots_->size();  // a slot may have more from before
    for (std::size_t s = 0; s < slots_->size(); ++s) {
      DeviceSlot& slot = (*slots_)[s];
      slot.reserve_memory(task_.allocator, plan_.slot_bytes[s], plan_.slot_bytes[s] + spare);
      slot.reserve_control(std::max(plan_.layout.control_bytes, plan_.host_layout.control_bytes));
      if (host_input_) {
        slot.reserve_input(plan_.layout.host_input_bytes);
        slot.reserve_decoders(task_.allocator);
      }
    }
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
    std::size_t const bands_bytes = round_up(bands.size() * sizeof(tile::BandTarget), kPartAlignmentBytes);
    std::size_t const columns_bytes = round_up(plan.source_columns.size() * 4, kPartAlignmentBytes);
    std::size_t const rows_bytes = round_up(plan.source_rows.size() * 4, kPartAlignmentBytes);
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
      state.changed.wait(
          lock, [&] { return stopped_ || (state.turn == piece.batch && (state.batch == kNone || state.launched)); });
      if (stopped_) { return false; }
      lock.unlock();
      retire(s);
      prepare(s, piece.batch);
      lock.lock();
      state.batch = piece.batch;
      state.turn = piece.batch + slots_->size();
      state.pieces_left = plan_.pieces_of_batch[piece.batch];
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
    BatchLayout const& layout = plan_.layout_of(batch);
    std::byte* const control = (*slots_)[s].control.get();
    auto const numbers = [&](std::size_t at) { return reinterpret_cast<std::uint64_t*>(control + at); };
    auto* const placements = reinterpret_cast<tile::Placement*>(control + layout.placement_list());
    std::size_t placed = 0;
    for (std::size_t i = 0; i < batch.tile_count; ++i) {
      WorkTile const& tile = work_.tiles[batch.first_tile + i];
      numbers(layout.input_offsets())[i] = tile.input_offset;
      numbers(layout.input_sizes())[i] = tile.size_bytes;
      numbers(layout.output_offsets())[i] = tile.output_offset;
      numbers(layout.output_sizes())[i] = tile.decoded_bytes;
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
    BatchLayout const& layout = plan_.layout_of(batches_[piece.batch]);
    cudaStream_t const stream = slot.stream.get();
    std::byte* const output = slot.memory.data() + layout.output;
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
    auto* const statuses = reinterpret_cast<TileStatus*>(slot.control.get() + layout.statuses()) + in_batch;
    HostTileCounts const counts =
        decode_host_tiles(std::span(work_.tiles).subspan(piece.first_tile, piece.tile_count), trusted_,
                          task_.request.strict, task_.host_budget, {statuses, piece.tile_count}, append);
    flush();
    std::lock_guard const lock(failure_mutex_);
    report_.bytes_read += counts.bytes_read;
    report_.surplus_tiles += counts.surplus_tiles;
  }

  void fetch(std::size_t s, Piece const& piece) {
    DeviceSlot& slot = (*slots_)[s];
    if (batches_[piece.batch].on_host) { return decode_here(s, piece); }
    fetcher_->fetch(piece, slot, input_of(slot));
  }

  // Where the compressed bytes of the slot's batch go.
  [[nodiscard]] std::byte* input_of(DeviceSlot& slot) const noexcept {
    if (host_input_) { return slot.input.get(); }
    return slot.memory.data() + (is_raw() ? plan_.layout.output : plan_.layout.input);
  }

  // All bytes are on their way: the rest happens on the stream.
  void finish_batch(std::size_t s) {
    SlotState& state = states_[s];
    WorkBatch const& batch = batches_[state.batch];  // once it is launched, the slot may go to another
    if (!batch.on_host) { fetcher_->complete((*slots_)[s]); }
    launch_decode(s);
    launch_place(s);
    gpu::check_cuda(cudaEventRecord((*slots_)[s].done.get(), (*slots_)[s].stream.get()), "recording a batch");
    {
      std::lock_guard const lock(state.mutex);
      state.launched = true;
    }
    state.changed.notify_all();
    tell_progress(batch.tile_count);
  }

  void launch_decode(std::size_t s) {
    DeviceSlot& slot = (*slots_)[s];
    WorkBatch const& batch = batches_[states_[s].batch];
    BatchLayout const& layout = plan_.layout_of(batch);
    cudaStream_t const stream = slot.stream.get();
    std::byte* const control = slot.memory.data() + layout.control;
    bool const host_knows = host_input_ || batch.on_host;
    if (host_input_ && !batch.on_host) {
      auto* const statuses = reinterpret_cast<TileStatus*>(slot.control.get() + layout.statuses());
      slot.decoders->decode(task_.method, task_.jobs.front().plan->level->image, slot.input.get(),
                            std::span(work_.tiles).subspan(batch.first_tile, batch.tile_count),
                            slot.memory.data() + layout.output, {statuses, batch.tile_count}, stream);
    }
    // With the statuses, where the host knows them already.
    std::size_t const control_bytes = host_knows ? layout.control_bytes : layout.statuses();
    gpu::check_cuda(cudaMemcpyAsync(control, slot.control.get(), control_bytes, cudaMemcpyHostToDevice, stream),
                    "uploading a batch's plan");
    if (is_raw() || host_knows) { return; }
    tile::DeviceTiles const tiles = device_tiles(s, batch);
    decode_on_device(task_.method, tiles, load_of(batch, work_), slot.memory.data() + layout.scratch,
                     layout.scratch_bytes, stream);
    gpu::check_cuda(cudaMemcpyAsync(slot.control.get() + layout.statuses(), tiles.statuses, batch.tile_count,
                                    cudaMemcpyDeviceToHost, stream),
                    "fetching statuses");
  }

  [[nodiscard]] tile::DeviceTiles device_tiles(std::size_t s, WorkBatch const& batch) {
    BatchLayout const& layout = plan_.layout_of(batch);
    std::byte* const memory = (*slots_)[s].memory.data();
    std::byte* const control = memory + layout.control;
    auto const numbers = [&](std::size_t at) { return reinterpret_cast<std::uint64_t const*>(control + at); };
    tile::DeviceTiles tiles;
    tiles.input = memory + layout.input;
    tiles.input_offsets = numbers(layout.input_offsets());
    tiles.input_sizes = numbers(layout.input_sizes());
    tiles.output = memory + layout.output;
    tiles.output_offsets = numbers(layout.output_offsets());
    tiles.output_sizes = numbers(layout.output_sizes());
    tiles.statuses = reinterpret_cast<TileStatus*>(control + layout.statuses());
    tiles.count = static_cast<std::uint32_t>(batch.tile_count);
    return tiles;
  }

  void launch_place(std::size_t s) {
    DeviceSlot& slot = (*slots_)[s];
    WorkBatch const& batch = batches_[states_[s].batch];
    BatchLayout const& layout = plan_.layout_of(batch);
    tile::DeviceTiles const tiles = device_tiles(s, batch);
    tiff::Image const& image = task_.jobs.front().plan->level->image;
    gpu::PlaceBatch place;
    place.decoded = tiles.output;
    place.format = batch.on_host ? finished_ : decoded_;
    place.placements =
        reinterpret_cast<tile::Placement const*>(slot.memory.data() + layout.control + layout.placement_list());
    place.placement_count = static_cast<std::uint32_t>(batch.placement_count);
    auto const* const planned = reinterpret_cast<tile::Placement const*>(slot.control.get() + layout.placement_list());
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
    auto const* const statuses =
        reinterpret_cast<TileStatus const*>((*slots_)[s].control.get() + plan_.layout_of(batch).statuses());
    std::vector<std::uint32_t> failed;
    for (std::size_t i = 0; i < batch.tile_count; ++i) {
      if (statuses[i] != TileStatus::ok) { failed.push_back(static_cast<std::uint32_t>(i)); }
    }
    if (failed.empty()) { return; }
    std::lock_guard const lock(failure_mutex_);
    for (std::uint32_t const i : failed) { failed_tiles_.push_back(batch.first_tile + i); }
    if (!host_input_ && !batch.on_host) { return_inputs(s, batch, failed); }
  }

  // The compressed bytes of tiles that the host will decode come back in one copy; placing is done, so the room of
  // decoded tiles is free for packing them.
  void return_inputs(std::size_t s, WorkBatch const& batch, std::span<std::uint32_t const> chosen) {
    DeviceSlot& slot = (*slots_)[s];
    BatchLayout const& layout = plan_.layout_of(batch);
    auto const numbers = [&](std::size_t at) {
      return std::span(reinterpret_cast<std::uint64_t const*>(slot.control.get() + at), batch.tile_count);
    };
    TilesToReturn wanted;
    wanted.tiles = device_tiles(s, batch);
    wanted.input_offsets = numbers(layout.input_offsets());
    wanted.input_sizes = numbers(layout.input_sizes());
    wanted.chosen = chosen;
    wanted.scratch = slot.memory.data() + layout.output;
    wanted.scratch_bytes = layout.control - layout.output;
    MemoryBudget room(task_.budget_bytes);
    tile::TileBatch const back = bring_back(wanted, room, task_.allocator, slot.returned, slot.stream.get());
    for (tile::BatchItem const& item : back.items) {
      WorkTile const& tile = work_.tiles[batch.first_tile + item.tile];
      task_.returned.keep(*tile.level, tile.offset_bytes, back.bytes_of(item));
    }
  }

  void tell_progress(std::uint64_t tiles) {
    if (!task_.request.progress) { return; }
    std::lock_guard const lock(progress_mutex_);
    tiles_done_ += tiles;
    if (!task_.request.progress(tiles_done_, work_.tiles.size())) { cancel(); }
  }

  // ---- one stage after the other, for the clock

  void run_in_turn() {
    // It takes all pinned chunks at once: two of these would wait for each other.
    static std::mutex one_at_a_time;
    std::lock_guard const alone(one_at_a_time);
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
      std::size_t const end = piece + plan_.pieces_of_batch[b];
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
            fetcher_->read(pieces_[p], host_input_ ? slot.input.get() + pieces_[p].begin : chunks[p - piece].data());
          }
        });
        times.fetch_s += seconds_since(start);
        start = Clock::now();
        for (std::size_t p = piece; p < round_end && !host_input_; ++p) {
          fetcher_->upload(pieces_[p], chunks[p - piece].data(), slot, input_of(slot));
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
    times.device_tiles += work_.device_tiles;
    times.host_tiles += work_.tiles.size() - work_.device_tiles;
  }

  DeviceTask const& task_;
  DeviceWork& work_;
  ReadReport& report_;
  bool host_input_;
  bool trusted_;
  tile::RowFormat finished_;  // of tiles that the host decodes
  tile::RowFormat decoded_;  // of the others
  int device_ = 0;
  BatchPlan plan_;
  std::vector<WorkBatch> const& batches_ = plan_.batches;
  std::vector<Piece> const& pieces_ = plan_.pieces;
  std::optional<SlotLease> slots_;
  std::optional<TileFetcher> fetcher_;  // behind the slots: its reads end before their memory goes
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
