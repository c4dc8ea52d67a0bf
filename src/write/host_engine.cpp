// SPDX-License-Identifier: Apache-2.0
#include "write/host_engine.hpp"

#include "base/scratch.hpp"
#include "base/thread_pool.hpp"
#include "tile/copy_samples.hpp"
#include "tile/view_strides.hpp"
#include "write/cascade.hpp"
#include "write/device_engine.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace terrazzo::writing {

namespace {

// A call to the pool should have this many blocks for every thread, or threads wait for the last block of each call.
constexpr std::uint64_t kBlocksPerThread = 8;

std::uint64_t row_bytes_of(FilePlan const& plan) {
  return std::uint64_t{plan.levels.front().width} * plan.options.bands * plan.sample_bytes();
}

// Rows that wait in memory until there are enough of them: whole block rows.
std::uint32_t rows_to_gather(FilePlan const& plan, unsigned threads) {
  LevelPlan const& level = plan.levels.front();
  std::uint64_t const block_row_bytes = row_bytes_of(plan) * level.block_height;
  std::uint64_t const blocks = std::uint64_t{level.blocks_across} * plan.planes;
  std::uint64_t const wanted = (kBlocksPerThread * threads + blocks - 1) / blocks;
  std::uint64_t const allowed = plan.options.streaming_buffer_bytes / std::max<std::uint64_t>(block_row_bytes, 1);
  std::uint64_t const block_rows = std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(allowed, 1));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(level.height, block_rows * level.block_height));
}

// Rows that may be worked on at once when the caller has them all in memory: overviews of them, a third of their size
// at most, take memory.
std::uint32_t rows_at_once(FilePlan const& plan, std::uint32_t gathered) {
  LevelPlan const& level = plan.levels.front();
  if (plan.levels.size() == 1) { return level.height; }
  std::uint64_t const block_rows = 2 * plan.options.streaming_buffer_bytes / (row_bytes_of(plan) * level.block_height);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(block_rows * level.block_height, gathered, std::max(level.height, gathered)));
}

class HostEngine final : public RowEngine {
 public:
  HostEngine(FilePlan const& plan, unsigned threads, Emit emit)
      : plan_(plan), threads_(threads), memory_(threads), encoder_(plan, threads), emit_(std::move(emit)) {}

  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override { return memory_.allocate(bytes); }
  void copy(LevelRows const& from, LevelRows const& to) override { memory_.copy(from, to); }
  void move(std::byte* to, std::byte const* from, std::size_t bytes) override { memory_.move(to, from, bytes); }

  [[nodiscard]] RowShare row_share() const override {
    std::uint32_t const gathered = rows_to_gather(plan_, threads_);
    return {gathered, rows_at_once(plan_, gathered), gathered};
  }
  [[nodiscard]] Memory memory() const noexcept override { return Memory::host; }
  void wait_for(void* stream) override {
    if (stream != nullptr) { wait_for_stream(stream); }
  }

  void reduce(std::size_t, Reduction const& reduction, LevelRows const& source, LevelRows const& result) override {
    // Pieces of about 256 KiB: a thread's share stays in its cache, and there are enough of them.
    constexpr std::uint64_t kPieceBytes = std::uint64_t{256} << 10;
    std::uint64_t const row_bytes = std::uint64_t{result.pixels.width} * plan_.options.bands * plan_.sample_bytes();
    auto const step =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kPieceBytes / row_bytes, 1, result.pixels.height));
    std::uint32_t const pieces = result.pixels.height / step + (result.pixels.height % step != 0 ? 1 : 0);
    std::uint32_t const end = result.first + result.pixels.height;
    std::atomic<std::uint32_t> next{0};
    run_on_pool(std::min(threads_, pieces), [&](unsigned) {
      for (std::uint32_t piece = next++; piece < pieces; piece = next++) {
        std::uint32_t const first = result.first + piece * step;
        reduction.reduce(source, rows_between(result, first, std::min(end, first + step)));
      }
    });
  }

  void encode(std::span<BlockJob const> jobs) override {
    encoder_.run(jobs, plan_.options.cancel, [this](BlockJob const& job, BlockResult const& result) {
      FinishedBlock const block{job.level, job.id, result};
      emit_({&block, 1});
    });
  }
  void rows_are_free() override {}
  void finish() override {}

 private:
  FilePlan const& plan_;
  unsigned threads_;
  HostRowMemory memory_;
  BlockEncoder encoder_;
  Emit emit_;
};

std::byte* at_row(HostView const& view, std::uint32_t row) noexcept {
  return static_cast<std::byte*>(view.data) + std::int64_t{row} * view.row_stride_bytes;
}

}  // namespace

void copy_row(HostView const& from, std::uint32_t from_row, HostView const& to, std::uint32_t to_row) noexcept {
  std::size_t const sample = size_bytes(to.dtype);
  std::byte const* const source = at_row(from, from_row);
  std::byte* const target = at_row(to, to_row);
  if (tile::has_pixels_together(from, to.bands, sample) && tile::has_pixels_together(to, to.bands, sample)) {
    std::memcpy(target, source, sample * to.bands * to.width);
    return;
  }
  for (std::uint32_t band = 0; band < to.bands; ++band) {
    tile::copy_samples(source + std::int64_t{band} * from.band_stride_bytes, from.pixel_stride_bytes,
                       target + std::int64_t{band} * to.band_stride_bytes, to.pixel_stride_bytes, to.width, sample);
  }
}

std::shared_ptr<std::byte> HostRowMemory::allocate(std::size_t bytes) {
  auto const memory = std::make_shared<Scratch>();
  return {memory, memory->get(bytes).data()};
}

void HostRowMemory::copy(LevelRows const& from, LevelRows const& to) {
  if (from.memory == Memory::device) { return download_rows(from, to); }
  // A thread for every few MiB: a copy of less is done before another thread has begun.
  constexpr std::size_t kGrainBytes = std::size_t{4} << 20;
  std::uint32_t const rows = to.pixels.height;
  std::size_t const bytes = size_bytes(to.pixels.dtype) * to.pixels.bands * to.pixels.width * rows;
  auto const workers = static_cast<unsigned>(std::clamp<std::size_t>(bytes / kGrainBytes, 1, threads_));
  std::atomic<std::uint32_t> next{0};
  run_on_pool(workers, [&](unsigned) {
    for (std::uint32_t row = next++; row < rows; row = next++) {
      copy_row(from.pixels, row, to.pixels, row);
      if (to.mask.data != nullptr) { copy_row(from.mask, row, to.mask, row); }
    }
  });
}

void HostRowMemory::move(std::byte* to, std::byte const* from, std::size_t bytes) { std::memmove(to, from, bytes); }

std::unique_ptr<RowEngine> make_host_engine(FilePlan const& plan, unsigned threads, RowEngine::Emit emit) {
  return std::make_unique<HostEngine>(plan, threads, std::move(emit));
}

}  // namespace terrazzo::writing
