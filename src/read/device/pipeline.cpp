// SPDX-License-Identifier: Apache-2.0
#include "read/device/pipeline.hpp"

#include "base/condition.hpp"
#include "base/settings.hpp"
#include "base/thread_pool.hpp"
#include "read/device/profile.hpp"
#include "read/device/stages.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

namespace terrazzo::reading {

namespace {

// Runs several batches at once. Threads take the pieces of batches in order; a slot is reused from batch to batch.
class Pipeline {
 public:
  Pipeline(DeviceParameters const& parameters, std::size_t tile_count, DeviceStages& stages)
      : parameters_(parameters),
        tile_count_(tile_count),
        stages_(stages),
        pieces_(stages.plan().pieces),
        states_(stages.slot_count()) {
    for (std::size_t s = 0; s < states_.size(); ++s) { states_[s].turn = s; }
  }

  void run() {
    if (pieces_.empty()) { return; }
    unsigned const threads =
        static_cast<unsigned>(std::min<std::size_t>(resolve_threads(parameters_.request.threads), pieces_.size()));
    run_on_pool(threads, [this](unsigned) { work_on_pieces(); });
    if (failure_) { std::rethrow_exception(failure_); }
    for (SlotState& state : states_) { retire(state); }
  }

 private:
  struct SlotState {
    std::mutex mutex;
    std::condition_variable changed;
    std::size_t turn = kNone;  // the next batch that may take the slot; without it, batches could overtake each other
    std::size_t batch = kNone;  // the batch in the slot
    bool launched = false;  // true when the batch's kernels are on the stream
    std::atomic<std::size_t> pieces_left{0};
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  void work_on_pieces() {
    try {
      stages_.use_device();
      while (!stopped_.load(std::memory_order_relaxed)) {
        std::size_t const index = next_piece_.fetch_add(1, std::memory_order_relaxed);
        if (index >= pieces_.size()) { return; }
        if (parameters_.request.cancel != nullptr && parameters_.request.cancel->load(std::memory_order_relaxed)) {
          cancel();
        }
        Piece const& piece = pieces_[index];
        SlotState& state = states_[stages_.slot_index(piece.batch)];
        if (!take_slot(state, piece)) { return; }
        stages_.bring(piece);
        if (state.pieces_left.fetch_sub(1, std::memory_order_acq_rel) == 1) { finish_batch(state, piece.batch); }
      }
    } catch (...) { stop(std::current_exception()); }
  }

  [[noreturn]] void cancel() const {
    throw Error(ErrorKind::cancelled, "the read was cancelled",
                {.source = parameters_.jobs.front().plan->level->source->name()});
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

  // Reserves the slot for the batch from its first piece on. Returns false if the read has stopped.
  bool take_slot(SlotState& state, Piece const& piece) {
    std::unique_lock lock(state.mutex);
    if (piece.first_of_batch) {
      wait_until(state.changed, lock,
                 [&] { return stopped_ || (state.turn == piece.batch && (state.batch == kNone || state.launched)); });
      if (stopped_) { return false; }
      lock.unlock();
      retire(state);
      stages_.prepare(piece.batch);
      lock.lock();
      state.batch = piece.batch;
      state.turn = piece.batch + states_.size();
      state.pieces_left = stages_.plan().pieces_of_batch[piece.batch];
      lock.unlock();
      state.changed.notify_all();
      return true;
    }
    wait_until(state.changed, lock, [&] { return stopped_ || state.batch == piece.batch; });
    return !stopped_;
  }

  // All pieces have been copied: the stream does the rest.
  void finish_batch(SlotState& state, std::size_t batch) {
    stages_.complete(batch);
    stages_.launch_decode(batch);
    stages_.launch_place(batch);
    {
      std::lock_guard const lock(state.mutex);
      state.launched = true;
    }
    state.changed.notify_all();
    tell_progress(stages_.plan().batches[batch].tile_count);
  }

  // Settles the slot's batch if it has been launched.
  void retire(SlotState& state) {
    std::size_t finished = kNone;
    {
      std::lock_guard const lock(state.mutex);
      if (state.launched) { finished = std::exchange(state.batch, kNone); }
      state.launched = false;
    }
    if (finished != kNone) { stages_.settle(finished); }
  }

  void tell_progress(std::uint64_t tiles) {
    if (!parameters_.request.progress) { return; }
    std::lock_guard const lock(progress_mutex_);
    tiles_done_ += tiles;
    if (!parameters_.request.progress(tiles_done_, tile_count_)) { cancel(); }
  }

  DeviceParameters const& parameters_;
  std::size_t tile_count_;
  DeviceStages& stages_;
  std::vector<Piece> const& pieces_;
  std::vector<SlotState> states_;

  std::atomic<std::size_t> next_piece_{0};
  std::atomic<bool> stopped_{false};
  std::mutex failure_mutex_;
  std::exception_ptr failure_;  // guarded by failure_mutex_
  std::mutex progress_mutex_;
  std::uint64_t tiles_done_ = 0;  // guarded by progress_mutex_
};

}  // namespace

std::vector<WorkTile> run_pipeline(DeviceParameters const& parameters, DeviceWork& work, ReadReport& report) {
  DeviceStages stages(parameters, work, report);
  if (parameters.profile != nullptr) {
    run_in_turn(parameters, work, stages);
  } else {
    Pipeline(parameters, work.tiles.size(), stages).run();
  }
  return stages.finish();
}

}  // namespace terrazzo::reading
