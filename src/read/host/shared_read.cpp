// SPDX-License-Identifier: Apache-2.0
#include "read/host/shared_read.hpp"

#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "base/thread_pool.hpp"
#include "read/block_list.hpp"
#include "read/blocks/block_outcome.hpp"
#include "read/blocks/decoder.hpp"
#include "read/blocks/fetcher.hpp"
#include "read/blocks/thread_scratch.hpp"
#include "read/host/block_placer.hpp"
#include "read/host/engine.hpp"
#include "read/host/read_state.hpp"
#include "read/host/tile_cache.hpp"
#include "read/plan/decode_method.hpp"
#include "read/result_coverage.hpp"
#include "read/window_jobs.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

namespace terrazzo::reading {

namespace {

using tile::TileResult;
using tile::TileStatus;

// Upper bound on the blocks of a task (batch_bytes()), for tiny blocks.
constexpr std::size_t kMaxTaskBlocks = 64;
// Waking a thread pays off for this many bytes to decode or copy.
constexpr std::uint64_t kThreadBytes = 128 << 10;

std::uint64_t decoded_bytes_of(Level const& level) {
  tiff::Image const& image = level.image;
  return std::max<std::uint64_t>(1, image.block_bytes(image.block_height_px));
}

// Upper bound on the bytes of a whole finished block.
std::uint64_t finished_bytes_of(Level const& level) {
  tiff::Image const& image = level.image;
  std::uint64_t const samples = image.is_converted_to_rgb() ? level.bands : image.samples_per_block();
  return saturating_product(image.block_width_px, image.block_height_px, samples, size_bytes(level.dtype));
}

bool is_raw(ReadPlan::Impl const& plan) {
  return choose_method(*plan.level, plan.dataset->trusted).kind == DecodeMethod::Kind::raw;
}

Error naming_the_window(Error const& error, ReadPlan::Impl const& plan) {
  if (error.kind() == ErrorKind::cancelled) { return error; }
  return Error(error.kind(), window_prefix(plan.asked_window) + error.message(), error.where());
}

// Blocks of one level; or a whole job with uncompressed blocks, whose rows can be read independently.
struct SharedTask {
  std::size_t first_block = 0, block_count = 0;  // range in the list; 0 blocks: the task is a job
  std::size_t job = 0;
  std::uint64_t uses_done = 0;  // after this task and all previous ones
};

// The parameters that the workers share. They are constant while the workers run, except for the coverage.
struct SharedContext {
  SharedContext(std::span<ReadJob const> all, ReadRequest const& asked, HostView const& result, MemoryBudget& memory);

  ReadRequest const& request;
  MemoryBudget& budget;
  std::vector<ReadJob> jobs;           // compressed jobs first, then uncompressed ones
  std::vector<std::uint64_t> orders;   // order of each job's first block: failures are sorted by it
  std::vector<HostView> views;         // one per job
  std::deque<ResultCoverage> coverage; // one per job, if reads are checked
  BlockList list;                      // blocks of the compressed jobs
  std::vector<SharedTask> tasks;
  std::uint64_t blocks = 0;            // sum over all jobs; shared blocks count for each job
  std::uint64_t cache_limit_bytes;
  bool uses_cache;
  unsigned threads = 1;

  [[nodiscard]] std::uint64_t order_of(BlockUse const& use) const noexcept { return orders[use.job] + use.index; }
  [[nodiscard]] std::span<BlockUse const> uses_of(ListedBlock const& block) const noexcept {
    return std::span(list.uses).subspan(block.first_use, block.use_count);
  }
  [[nodiscard]] ResultCoverage* coverage_of(std::size_t job) { return coverage.empty() ? nullptr : &coverage[job]; }

 private:
  void cut_tasks(std::size_t decoded_jobs);
  void choose_threads();
};

SharedContext::SharedContext(std::span<ReadJob const> all, ReadRequest const& asked, HostView const& result,
                             MemoryBudget& memory)
    : request(asked), budget(memory), cache_limit_bytes(resolve_tile_cache()) {
  // A cached block does not record whether its data continued after the last pixel, which a strict read checks.
  uses_cache = cache_limit_bytes != 0 && !request.strict;
  std::vector<std::uint64_t> first_orders;
  for (ReadJob const& job : all) {
    first_orders.push_back(blocks);
    blocks = saturating_sum(blocks, job.plan->block_count());
  }
  std::size_t decoded_jobs = 0;
  for (bool const raw : {false, true}) {
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (is_raw(*all[j].plan) != raw) { continue; }
      jobs.push_back(all[j]);
      orders.push_back(first_orders[j]);
    }
    if (!raw) { decoded_jobs = jobs.size(); }
  }
  for (ReadJob const& job : jobs) { views.push_back(reading::part_of(result, job)); }
  if (checks_results()) {
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      poison(views[j]);
      coverage.emplace_back(*jobs[j].plan);
    }
  }
  list = list_blocks(std::span(jobs).first(decoded_jobs), {.budget = &budget, .cancel = request.cancel});
  cut_tasks(decoded_jobs);
  choose_threads();
}

void SharedContext::cut_tasks(std::size_t decoded_jobs) {
  std::uint64_t uses = 0;
  for (std::size_t b = 0; b < list.blocks.size(); ++b) {
    ListedBlock const& block = list.blocks[b];
    bool const is_next = !tasks.empty() && list.blocks[b - 1].level == block.level &&
                         tasks.back().block_count < kMaxTaskBlocks && !block.level->image.is_converted_to_rgb() &&
                         (tasks.back().block_count + 1) * decoded_bytes_of(*block.level) <= batch_bytes(*block.level);
    if (!is_next) { tasks.push_back({.first_block = b}); }
    uses += block.use_count;
    ++tasks.back().block_count;
    tasks.back().uses_done = uses;
  }
  for (std::size_t j = decoded_jobs; j < jobs.size(); ++j) {
    uses += jobs[j].plan->block_count();
    tasks.push_back({.job = j, .uses_done = uses});
  }
}

// Uses the requested number of threads, limited by the tasks and bytes to decode and by the memory limit.
void SharedContext::choose_threads() {
  std::uint64_t scratch_bytes = 1, work_bytes = 0;
  for (ReadJob const& job : jobs) {
    scratch_bytes = std::max(scratch_bytes,
                             saturating_sum(job.plan->scratch_bytes_per_thread, finished_bytes_of(*job.plan->level)));
  }
  for (SharedTask const& task : tasks) {
    work_bytes = saturating_sum(
        work_bytes, task.block_count == 0
                        ? jobs[task.job].plan->window_bytes()
                        : saturating_product(task.block_count, decoded_bytes_of(*list.blocks[task.first_block].level)));
  }
  std::uint64_t const limit = budget.limit_bytes();
  std::uint64_t const free = std::min(limit / 2, limit - std::min(limit, budget.used_bytes()));
  threads = static_cast<unsigned>(std::min<std::uint64_t>(
      {resolve_threads(request.threads), std::max<std::uint64_t>(1, free / scratch_bytes),
       std::max<std::uint64_t>(1, tasks.size()), std::max<std::uint64_t>(1, work_bytes / kThreadBytes)}));
}

// The mutable state that the workers share.
class SharedState : public ReadState {
 public:
  explicit SharedState(SharedContext const& read)
      : ReadState(read.request, read.jobs.front().plan->level->source->name(), read.blocks), read_(read) {}

  // Returns null if no task is left.
  [[nodiscard]] SharedTask const* take() noexcept {
    std::size_t const next = next_task_.fetch_add(1, std::memory_order_relaxed);
    return next >= read_.tasks.size() || is_stopped() ? nullptr : &read_.tasks[next];
  }

  void add_bad(std::uint64_t order, BadTileReport bad) {
    std::lock_guard const lock(bad_mutex_);
    bad_.emplace_back(order, std::move(bad));
  }

  // Reports bad tiles in the order of the jobs.
  void finish(ReadReport& report) {
    std::ranges::stable_sort(bad_, {}, [](auto const& bad) { return bad.first; });
    for (auto& [order, bad] : bad_) { found().bad_tiles.push_back(std::move(bad)); }
    ReadState::finish(report);
  }

 private:
  SharedContext const& read_;
  std::atomic<std::size_t> next_task_{0};
  std::mutex bad_mutex_;
  std::vector<std::pair<std::uint64_t, BadTileReport>> bad_;  // guarded by bad_mutex_
};

class SharedWorker {
 public:
  SharedWorker(SharedContext& read, SharedState& state) : read_(read), state_(state), scratch_(thread_scratch()) {}
  ~SharedWorker() { scratch_.trim(); }
  SharedWorker(SharedWorker const&) = delete;
  SharedWorker& operator=(SharedWorker const&) = delete;

  // Runs until no task is left. Passes on exceptions of the progress function; the state collects errors of files.
  void work() {
    while (SharedTask const* const task = state_.take()) {
      if (task->block_count == 0) {
        do_job(task->job);
      } else {
        do_blocks(std::span(read_.list.blocks).subspan(task->first_block, task->block_count));
      }
      if (!state_.tell_blocks(task->uses_done)) { break; }
    }
    close_level();
    state_.add(std::move(found_));
  }

 private:
  // The fetcher and the decoder for blocks of the current level.
  struct OpenLevel {
    OpenLevel(Level const& of, bool trusted, MemoryBudget& budget, ThreadScratch& scratch)
        : level(&of),
          method(choose_method(of, trusted)),
          decoder(of, method, budget, scratch),
          fetcher(of, method, budget, scratch) {}
    Level const* level;
    DecodeMethod method;
    BlockDecoder decoder;
    BlockFetcher fetcher;
  };

  OpenLevel& level_of(ListedBlock const& block) {
    if (!open_ || open_->level != block.level) {
      close_level();
      ReadPlan::Impl const& plan = *read_.jobs[read_.uses_of(block).front().job].plan;
      open_.emplace(*block.level, plan.dataset->trusted, read_.budget, scratch_);
    }
    return *open_;
  }

  void close_level() {
    if (open_) { found_.bytes_read += open_->fetcher.bytes_read() + open_->decoder.bytes_read(); }
    open_.reset();
  }

  // The order of a block is the order of its first use.
  [[nodiscard]] std::uint64_t order_of(ListedBlock const& block) const noexcept {
    return read_.order_of(read_.uses_of(block).front());
  }

  void fail(ListedBlock const& block, Error const& error) {
    ReadPlan::Impl const& plan = *read_.jobs[read_.uses_of(block).front().job].plan;
    state_.fail(
        order_of(block),
        naming_the_window(error.located({.source = block.level->source->name(), .ifd = block.level->image.ifd}), plan));
  }

  void do_job(std::size_t j) {
    if (!state_.is_wanted(read_.orders[j])) { return; }
    ReadPlan::Impl const& plan = *read_.jobs[j].plan;
    close_level();  // the job's worker uses the same scratch
    try {
      ReadRequest quiet = read_.request;
      quiet.progress = {};
      execute_on_this_thread(plan, quiet, read_.views[j], read_.budget, read_.coverage_of(j), found_);
    } catch (Error const& error) { state_.fail(read_.orders[j], naming_the_window(error, plan)); }
  }

  void do_blocks(std::span<ListedBlock const> blocks) {
    std::vector<std::uint64_t> numbers;
    std::vector<ListedBlock const*> to_decode;
    for (ListedBlock const& block : blocks) {
      attempt(block, [&] {
        if (!state_.is_wanted(order_of(block)) || place_cached(block)) { return; }
        numbers.push_back(block.block);
        to_decode.push_back(&block);
      });
    }
    tile::TileBatch const* const all = to_decode.size() > 1 ? fetch_all(*to_decode.front(), numbers) : nullptr;
    for (std::size_t i = 0; i < to_decode.size(); ++i) {
      attempt(*to_decode[i], [&] {
        // Decode one by one: a source that fails at one block must not hide the error of another block.
        if (all != nullptr) { return decode(*to_decode[i], *all, i); }
        decode(*to_decode[i], level_of(*to_decode[i]).fetcher.fetch({&numbers[i], 1}), 0);
      });
    }
  }

  template <class Work>
  void attempt(ListedBlock const& block, Work const& work) {
    try {
      work();
    } catch (Error const& error) { fail(block, error); } catch (std::bad_alloc const&) {
      fail(block, Error(ErrorKind::limit, "out of memory while reading"));
    }
  }

  // Returns null if the source or an allocation fails.
  tile::TileBatch const* fetch_all(ListedBlock const& first, std::span<std::uint64_t const> numbers) {
    try {
      return &level_of(first).fetcher.fetch(numbers);
    } catch (Error const&) { return nullptr; }
  }

  [[nodiscard]] BlockPlacer placer_of(BlockUse const& use) {
    return BlockPlacer(*read_.jobs[use.job].plan, read_.views[use.job], read_.budget, read_.coverage_of(use.job),
                       open_->decoder.layout(), scratch_);
  }

  [[nodiscard]] BlockPart part_of(BlockUse const& use) const noexcept {
    ReadPlan::Impl const& plan = *read_.jobs[use.job].plan;
    TileId const id = plan.block_id(use.index);
    return {id, plan.covered(id)};
  }

  // Returns false if the block is not in the cache.
  bool place_cached(ListedBlock const& block) {
    if (!read_.uses_cache) { return false; }
    auto const pixels = tile_cache().find({block.level->id, block.block});
    if (pixels == nullptr) { return false; }
    static_cast<void>(level_of(block));
    for (BlockUse const& use : read_.uses_of(block)) {
      BlockPart const part = part_of(use);
      placer_of(use).place_finished(part, *pixels, block.level->image.block_rows(part.id.row));
    }
    ++found_.tiles;
    return true;
  }

  void decode(ListedBlock const& block, tile::TileBatch const& batch, std::size_t place_in_batch) {
    std::span<BlockUse const> const uses = read_.uses_of(block);
    bool planes_will_do = false;
    if (uses.size() == 1) {
      BlockPlacer const placer = placer_of(uses.front());
      planes_will_do = placer.takes_planes() && !placer.is_partial(part_of(uses.front()));
    }
    auto const form = planes_will_do ? BlockDecoder::Form::rows_or_planes : BlockDecoder::Form::rows;
    place(block, uses, open_->decoder.decode(batch, place_in_batch, 1, form).front());
  }

  void place(ListedBlock const& block, std::span<BlockUse const> uses, DecodedBlock const& decoded) {
    TileResult const& result = decoded.result;
    BlockPart const first = part_of(uses.front());
    std::uint32_t const rows = block.level->image.block_rows(first.id.row);
    BlockOutcome outcome = judge_block(*block.level, first.id, result, read_.request);
    found_.tiles += result.status == TileStatus::ok ? 1 : 0;
    found_.sparse_tiles += result.status == TileStatus::sparse ? 1 : 0;
    found_.surplus_tiles += result.status == TileStatus::ok && result.surplus_input ? 1 : 0;
    if (outcome.error) { return fail(block, *outcome.error); }
    if (outcome.bad) {
      outcome.bad->message.insert(0, read_.jobs[uses.front().job].plan->bad_tile_prefix);
      state_.add_bad(order_of(block), *std::move(outcome.bad));
    }
    std::uint32_t const good = outcome.good_rows;
    if (good > 0) { place_good(block, uses, decoded, good); }
    if (good == rows) { return; }
    for (BlockUse const& use : uses) { placer_of(use).fill(part_of(use), good); }
  }

  void place_good(ListedBlock const& block, std::span<BlockUse const> uses, DecodedBlock const& decoded,
                  std::uint32_t good) {
    DecodedRows const& decoded_rows = decoded.rows;
    std::size_t const row_bytes = open_->decoder.layout().row_bytes;
    bool const is_whole = decoded.result.status == TileStatus::ok;
    BlockPart const first = part_of(uses.front());
    BlockPlacer placer = placer_of(uses.front());
    if (decoded_rows.is_in_planes()) { return placer.place_planes(first, decoded_rows); }
    std::size_t const bytes = row_bytes * good;
    bool const is_kept =
        read_.uses_cache && is_whole && TileCache::keeps(bytes, read_.cache_limit_bytes) &&
        std::ranges::any_of(uses, [&](BlockUse const& use) { return placer_of(use).is_partial(part_of(use)); });
    if (uses.size() == 1 && !is_kept) { return placer.place_rows(first, decoded_rows, 0, good); }
    auto const held = read_.budget.reserve(bytes, "a finished block");
    std::shared_ptr<CachedBlock> const finished = is_kept ? tile_cache().make_block(bytes) : room_for(bytes);
    if (uses.size() == 1) {
      placer.place_and_keep(first, decoded_rows, good, *finished);
    } else {
      // A row can be finished only once, and several uses may need it.
      for (std::uint32_t row = 0; row < good; ++row) {
        if (row + 1 < good) { decoded_rows.prefetch_row(row + 1); }
        decoded_rows.finish_row(row, finished->data() + row * row_bytes);
      }
      for (BlockUse const& use : uses) { placer_of(use).place_finished(part_of(use), *finished, good); }
    }
    if (is_kept) { tile_cache().insert({block.level->id, block.block}, finished, read_.cache_limit_bytes); }
  }

  // Memory for a block that the cache does not keep.
  [[nodiscard]] std::shared_ptr<CachedBlock> const& room_for(std::size_t bytes) {
    if (room_ == nullptr || room_->size_bytes() < bytes) { room_ = std::make_shared<CachedBlock>(bytes); }
    return room_;
  }

  SharedContext& read_;
  SharedState& state_;
  ThreadScratch& scratch_;
  std::optional<OpenLevel> open_;
  std::shared_ptr<CachedBlock> room_;
  ReadReport found_;
};

}  // namespace

void execute_shared(std::span<ReadJob const> jobs, ReadRequest const& request, HostView const& result,
                    MemoryBudget& budget, ReadReport& report) {
  SharedContext read(jobs, request, result, budget);
  SharedState state(read);
  run_on_pool(read.threads, [&](unsigned) {
    try {
      SharedWorker(read, state).work();
    } catch (...) {
      state.stop();
      throw;
    }
  });
  state.finish(report);
  for (ResultCoverage const& coverage : read.coverage) { coverage.check(); }
}

}  // namespace terrazzo::reading
