// SPDX-License-Identifier: Apache-2.0
#include "read/device/profile.hpp"

#include "base/settings.hpp"
#include "base/thread_pool.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "read/device/decoders.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <vector>

namespace terrazzo::reading {

namespace {

// Adds the duration of `work` to `seconds`.
template <class Work>
void timed(double& seconds, Work const& work) {
  auto const start = std::chrono::steady_clock::now();
  work();
  seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Adds the duration of `work` and of all work on the stream to `seconds`.
template <class Work>
void timed(double& seconds, cudaStream_t stream, char const* doing, Work const& work) {
  timed(seconds, [&] {
    work();
    gpu::sync_stream(stream, doing);
  });
}

class Profile {
 public:
  Profile(DeviceParameters const& parameters, DeviceStages& stages)
      : stages_(stages),
        times_(*parameters.profile),
        threads_(resolve_threads(parameters.request.threads)),
        by_kvikio_(parameters.request.device_fetch == DeviceFetch::kvikio && !takes_host_input(parameters.method)) {}

  void run_batch(std::size_t batch) {
    stages_.prepare(batch);
    cudaStream_t const stream = stages_.slot_of(batch).stream.get();
    std::size_t const end = next_piece_ + stages_.plan().pieces_of_batch[batch];
    if (stages_.plan().batches[batch].on_host) {
      timed(times_.decode_s, stream, "uploading decoded tiles",
            [&] { on_every_piece(next_piece_, end, [&](Piece const& piece, std::size_t) { stages_.bring(piece); }); });
      next_piece_ = end;
    } else if (by_kvikio_) {
      on_every_piece(next_piece_, end, [&](Piece const& piece, std::size_t) { stages_.bring(piece); });
      stages_.complete(batch);
      next_piece_ = end;
    }
    while (next_piece_ < end) { bring_a_round(stream, end); }
    timed(times_.decode_s, stream, "decoding a batch", [&] { stages_.launch_decode(batch); });
    timed(times_.place_s, stream, "placing tiles", [&] { stages_.launch_place(batch); });
    stages_.settle(batch);
    ++times_.batches;
  }

 private:
  template <class Work>
  void on_every_piece(std::size_t begin, std::size_t end, Work const& work) {
    std::atomic<std::size_t> next{begin};
    run_on_pool(threads_, [&](unsigned) {
      stages_.use_device();
      for (std::size_t p = next++; p < end; p = next++) { work(stages_.plan().pieces[p], p - begin); }
    });
  }

  // Reads as many pieces as fit in the pinned chunks, then sends them.
  void bring_a_round(cudaStream_t stream, std::size_t end) {
    std::size_t const round_end = std::min(end, next_piece_ + gpu::PinnedPool::kMaxChunks);
    std::vector<gpu::PinnedPool::Chunk> chunks(round_end - next_piece_);
    for (auto& chunk : chunks) { chunk = gpu::PinnedPool::instance().acquire(); }
    timed(times_.fetch_s, [&] {
      on_every_piece(next_piece_, round_end,
                     [&](Piece const& piece, std::size_t i) { stages_.read(piece, chunks[i].data()); });
    });
    timed(times_.upload_s, stream, "uploading tiles", [&] {
      for (std::size_t i = 0; i < chunks.size(); ++i) {
        stages_.upload(stages_.plan().pieces[next_piece_ + i], chunks[i].data());
      }
    });
    next_piece_ = round_end;
  }

  DeviceStages& stages_;
  StageTimes& times_;
  unsigned threads_;
  bool by_kvikio_;  // file to device in one step: there are no halves to time
  std::size_t next_piece_ = 0;
};

}  // namespace

void run_in_turn(DeviceParameters const& parameters, DeviceWork const& work, DeviceStages& stages) {
  // A profiled read takes all pinned chunks: two such reads would deadlock.
  static std::mutex one_at_a_time;
  std::lock_guard const alone(one_at_a_time);
  Profile profile(parameters, stages);
  for (std::size_t b = 0; b < stages.plan().batches.size(); ++b) { profile.run_batch(b); }
  StageTimes& times = *parameters.profile;
  times.fetched_bytes += work.input_bytes;
  for (WorkTile const& tile : work.tiles) { times.decoded_bytes += tile.decoded_bytes; }
  times.device_tiles += work.device_tiles;
  times.host_tiles += work.tiles.size() - work.device_tiles;
}

}  // namespace terrazzo::reading
