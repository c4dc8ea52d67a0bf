// SPDX-License-Identifier: Apache-2.0
#include "write/host/engine.hpp"

#include "base/parallel.hpp"
#include "base/saturating.hpp"
#include "base/scratch.hpp"
#include "base/settings.hpp"
#include "tile/copy_samples.hpp"
#include "tile/view_strides.hpp"
#include "write/device/engine.hpp"
#include "write/host/block_encoder.hpp"
#include "write/host/encoder_slots.hpp"
#include "write/overviews/cascade.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace terrazzo::writing {

namespace {

// A call to the pool should have this many blocks per thread; otherwise threads wait for the last block of each call.
constexpr std::uint64_t kBlocksPerThread = 8;

std::uint64_t row_bytes_of(FilePlan const& plan) {
  return std::uint64_t{plan.levels.front().width} * plan.options.bands * plan.sample_bytes();
}

// The number of rows to gather in memory before work starts: whole block rows.
std::uint32_t rows_to_gather(FilePlan const& plan, unsigned threads) {
  LevelPlan const& level = plan.levels.front();
  std::uint64_t const block_row_bytes = row_bytes_of(plan) * level.block_height;
  std::uint64_t const blocks = std::uint64_t{level.blocks_across} * plan.planes;
  std::uint64_t const wanted = (kBlocksPerThread * threads + blocks - 1) / blocks;
  std::uint64_t const allowed = plan.options.streaming_buffer_bytes / std::max<std::uint64_t>(block_row_bytes, 1);
  std::uint64_t const block_rows = std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(allowed, 1));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(level.height, block_rows * level.block_height));
}

// The number of rows that can be processed at once if the caller has all of them in memory: only their overviews, at
// most a third of their size, take memory.
std::uint32_t rows_at_once(FilePlan const& plan, std::uint32_t gathered) {
  LevelPlan const& level = plan.levels.front();
  if (plan.levels.size() == 1) { return level.height; }
  std::uint64_t const block_rows = 2 * plan.options.streaming_buffer_bytes / (row_bytes_of(plan) * level.block_height);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(block_rows * level.block_height, gathered, std::max(level.height, gathered)));
}

// The number of threads that encode. Each holds a block as it is cut and a few encoded ones. Blocks of many bands are
// large, also those of a tiny raster. Throws `limit` if the memory does not suffice for one thread.
unsigned encoding_threads(FilePlan const& plan, unsigned threads, MemoryBudget& budget) {
  std::uint64_t block = 0;
  for (std::size_t i = plan.first_level; i < plan.levels.size(); ++i) {
    block = std::max(block, plan.block_bytes(plan.shape_of(plan.levels[i], 0)));
  }
  std::uint64_t const encoded = std::min<std::uint64_t>(kSlotsPerThread, plan.tile_count());
  std::uint64_t const bytes = saturating_product(block, 1 + encoded);
  static_cast<void>(budget.reserve(bytes, "tiles of the new file (choose smaller tiles, or store bands apart)"));
  std::uint64_t const fit = budget.limit_bytes() / 2 / std::max<std::uint64_t>(bytes, 1);
  return static_cast<unsigned>(std::clamp<std::uint64_t>(fit, 1, threads));
}

class HostEngine final : public RowEngine<MemoryKind::host> {
 public:
  HostEngine(FilePlan const& plan, unsigned threads, EmitBlocks emit, WaitingBlocks const* encoded)
      : plan_(plan),
        threads_(threads),
        budget_(encoded != nullptr ? encoded->budget() : own_budget_),
        memory_(threads, &budget_),
        encoder_(plan, encoding_threads(plan, threads, budget_), encoded),
        emit_(std::move(emit)) {}

  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override { return memory_.allocate(bytes); }
  void copy(ConstHostRows const& from, HostRows const& to) override { memory_.copy(from, to); }
  void copy(ConstDeviceRows const& from, HostRows const& to) override { memory_.copy(from, to); }
  void move(std::byte* to, std::byte const* from, std::size_t bytes) override { memory_.move(to, from, bytes); }

  [[nodiscard]] RowShare row_share() const override {
    std::uint32_t const gathered = rows_to_gather(plan_, threads_);
    return {gathered, rows_at_once(plan_, gathered), gathered};
  }
  void wait_for(StreamView stream) override {
    if (stream) { wait_for_stream(stream); }
  }

  void reduce(std::size_t, Reduction const& reduction, ConstHostRows const& source, HostRows const& result) override {
    // Pieces of about 256 KiB: a thread's piece stays in its cache, and there are enough pieces for all threads.
    constexpr std::uint64_t kPieceBytes = std::uint64_t{256} << 10;
    std::uint64_t const row_bytes = std::uint64_t{result.pixels.width} * plan_.options.bands * plan_.sample_bytes();
    auto const step =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kPieceBytes / row_bytes, 1, result.pixels.height));
    parallel_ranges(result.pixels.height, step, threads_, [&](std::uint64_t first, std::uint64_t last, unsigned) {
      reduction.reduce(source, rows_between(result, result.first + static_cast<std::uint32_t>(first),
                                            result.first + static_cast<std::uint32_t>(last)));
    });
  }

  void encode(std::span<HostBlockJob const> jobs) override {
    encoder_.run(jobs, plan_.options.cancel, [this](HostBlockJob const& job, BlockResult const& result) {
      FinishedBlock const block{job.level, job.id, result};
      emit_({&block, 1});
    });
  }
  void rows_are_free() override {}
  void finish() override {}

 private:
  FilePlan const& plan_;
  unsigned threads_;
  MemoryBudget own_budget_{resolve_memory_limit(0)};
  MemoryBudget& budget_;  // of rows; must precede memory_
  HostRowMemory memory_;
  BlockEncoder encoder_;
  EmitBlocks emit_;
};

}  // namespace

void copy_row(ConstHostView const& from, std::uint32_t from_row, HostView const& to, std::uint32_t to_row) noexcept {
  std::size_t const sample = size_bytes(to.dtype);
  std::byte const* const source =
      static_cast<std::byte const*>(from.data) + std::int64_t{from_row} * from.row_stride_bytes;
  std::byte* const target = static_cast<std::byte*>(to.data) + std::int64_t{to_row} * to.row_stride_bytes;
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
  struct Held {
    MemoryBudget::Reservation reservation{};
    Scratch scratch{};
  };
  auto const memory = std::make_shared<Held>();
  if (budget_ != nullptr) { memory->reservation = budget_->reserve(bytes, "rows of the new file"); }
  return {memory, memory->scratch.get(bytes).data()};
}

void HostRowMemory::copy(ConstDeviceRows const& from, HostRows const& to) { download_rows(from, to); }

void HostRowMemory::copy(ConstHostRows const& from, HostRows const& to) {
  // One thread per 4 MiB: a smaller copy is done before another thread has started.
  constexpr std::size_t kGrainBytes = std::size_t{4} << 20;
  std::uint32_t const rows = to.pixels.height;
  std::size_t const bytes = size_bytes(to.pixels.dtype) * to.pixels.bands * to.pixels.width * rows;
  auto const workers = static_cast<unsigned>(std::clamp<std::size_t>(bytes / kGrainBytes, 1, threads_));
  parallel_for(rows, workers, [&](std::uint64_t index) {
    auto const row = static_cast<std::uint32_t>(index);
    copy_row(from.pixels, row, to.pixels, row);
    if (to.mask.data != nullptr) { copy_row(from.mask, row, to.mask, row); }
  });
}

void HostRowMemory::move(std::byte* to, std::byte const* from, std::size_t bytes) { std::memmove(to, from, bytes); }

std::unique_ptr<RowEngine<MemoryKind::host>> make_host_engine(FilePlan const& plan, unsigned threads, EmitBlocks emit,
                                                              WaitingBlocks const* encoded) {
  return std::make_unique<HostEngine>(plan, threads, std::move(emit), encoded);
}

}  // namespace terrazzo::writing
