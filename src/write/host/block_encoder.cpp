// SPDX-License-Identifier: Apache-2.0
#include "write/host/block_encoder.hpp"

#include "base/condition.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "terrazzo/error.hpp"
#include "write/host/block_moments.hpp"
#include "write/host/encoder_slots.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>

namespace terrazzo::writing {

struct BlockEncoder::Worker {
  codec::Workspace workspace{};
  CutScratch scratch{};
};

// The result of a block until it is emitted.
struct BlockEncoder::Slot {
  codec::EncodedBlock image{}, mask{};
  std::vector<Moments> moments{};
  BlockResult result{};
  bool ready = false;
};

namespace {

void check(tile::TileResult const& result, HostBlockJob const& job) {
  if (result.status == tile::TileStatus::ok) { return; }
  ErrorKind const kind = result.status == tile::TileStatus::unsupported ? ErrorKind::unsupported : ErrorKind::limit;
  throw Error(kind, text("a tile cannot be encoded: ", result.reason != nullptr ? result.reason : "unknown reason"),
              {.ifd = static_cast<std::uint32_t>(job.level), .tile = job.id});
}

}  // namespace

BlockEncoder::BlockEncoder(FilePlan const& plan, unsigned threads, WaitingBlocks const* encoded)
    : plan_(plan), exact_format_(plan.format), cutter_(plan), encoded_(encoded) {
  exact_format_.lerc_max_error = 0;
  for (unsigned i = 0; i < threads; ++i) { workers_.push_back(std::make_unique<Worker>()); }
  for (std::size_t i = 0; i < threads * kSlotsPerThread; ++i) { slots_.push_back(std::make_unique<Slot>()); }
}

BlockEncoder::~BlockEncoder() = default;

void BlockEncoder::encode(HostBlockJob const& job, Worker& worker, Slot& slot) const {
  slot.result = {};
  if (job.parts != nullptr) { return encode_parts(job, worker, slot); }
  if (encoded_ != nullptr && job.level == 0) { return pass_on(job, worker, slot); }
  LevelPlan const& level = plan_.levels[job.level];
  bool const counts = plan_.options.statistics && job.level == 0;
  CutBlock const cut = cutter_.cut(level, *job.rows, job.id, counts || plan_.options.sparse, worker.scratch);
  if (counts) { count_samples(job, cut.samples, slot); }
  if (!plan_.options.sparse || !cutter_.is_empty(cut.samples)) { encode_image(job, cut.encoded_input, worker, slot); }
  if (!plan_.options.mask || job.id.plane != 0) { return; }
  std::span<std::byte const> const bits = cutter_.cut_mask(level, *job.rows, job.id, worker.scratch);
  slot.result.has_mask = true;
  // A missing mask block reads as invalid.
  if (plan_.options.sparse && std::ranges::all_of(bits, [](std::byte b) { return b == std::byte{0}; })) { return; }
  encode_mask(job, bits, worker, slot);
}

void BlockEncoder::pass_on(HostBlockJob const& job, Worker& worker, Slot& slot) const {
  slot.result.image = encoded_->bytes_of(job.id);
  if (!plan_.options.statistics) { return; }
  CutBlock const cut = cutter_.cut(plan_.levels[job.level], *job.rows, job.id, true, worker.scratch);
  count_samples(job, cut.samples, slot);
}

void BlockEncoder::count_samples(HostBlockJob const& job, std::span<std::byte const> samples, Slot& slot) const {
  slot.moments = block_moments(plan_, plan_.levels[job.level], *job.rows, job.id, samples);
  slot.result.moments = slot.moments;
}

void BlockEncoder::encode_parts(HostBlockJob const& job, Worker& worker, Slot& slot) const {
  if (!job.parts->image.empty()) { encode_image(job, job.parts->image, worker, slot); }
  if (!job.parts->mask.empty()) { encode_mask(job, job.parts->mask, worker, slot); }
}

void BlockEncoder::encode_image(HostBlockJob const& job, std::span<std::byte const> input, Worker& worker,
                                Slot& slot) const {
  bool const exact = plan_.format.lerc_max_error > 0 && cutter_.would_blur_nodata(input);
  codec::EncodeFormat const& format = exact ? exact_format_ : plan_.format;
  check(plan_.encoder->encode(format, plan_.shape_of(plan_.levels[job.level], job.id.row), input, slot.image,
                              worker.workspace),
        job);
  slot.result.image = slot.image.bytes;
}

void BlockEncoder::encode_mask(HostBlockJob const& job, std::span<std::byte const> bits, Worker& worker,
                               Slot& slot) const {
  check(plan_.mask_encoder->encode(plan_.mask_format, plan_.shape_of(plan_.levels[job.level], job.id.row), bits,
                                   slot.mask, worker.workspace),
        job);
  slot.result.mask = slot.mask.bytes;
}

void BlockEncoder::run(std::span<HostBlockJob const> jobs, std::atomic<bool> const* cancel, Emit const& emit) {
  std::mutex mutex;
  std::condition_variable moved;
  std::size_t next_job = 0, next_emit = 0;
  bool emitting = false, stopped = false;
  for (auto const& slot : slots_) { slot->ready = false; }

  auto const slot_of = [&](std::size_t job) -> Slot& { return *slots_[job % slots_.size()]; };
  // The thread that finds the next result ready emits it and its ready successors, while the others continue encoding.
  auto const hand_over = [&](std::unique_lock<std::mutex>& lock) {
    if (emitting) { return; }
    emitting = true;
    while (!stopped && next_emit < next_job && slot_of(next_emit).ready) {
      Slot& slot = slot_of(next_emit);
      lock.unlock();
      emit(jobs[next_emit], slot.result);
      lock.lock();
      slot.ready = false;
      ++next_emit;
      moved.notify_all();
    }
    emitting = false;
  };
  run_on_pool(static_cast<unsigned>(std::min(workers_.size(), jobs.size())), [&](unsigned worker) {
    try {
      std::unique_lock lock(mutex);
      while (true) {
        wait_until(moved, lock,
                   [&] { return stopped || next_job == jobs.size() || next_job < next_emit + slots_.size(); });
        if (stopped || next_job == jobs.size()) { return; }
        std::size_t const index = next_job++;
        lock.unlock();
        if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
          throw Error(ErrorKind::cancelled, "the write was cancelled");
        }
        encode(jobs[index], *workers_[worker], slot_of(index));
        lock.lock();
        slot_of(index).ready = true;
        hand_over(lock);
      }
    } catch (...) {
      {
        std::lock_guard const lock(mutex);
        stopped = true;
      }
      moved.notify_all();
      throw;
    }
  });
}

}  // namespace terrazzo::writing
