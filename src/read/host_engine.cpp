// SPDX-License-Identifier: Apache-2.0
#include "read/host_engine.hpp"

#include "base/checked.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "read/block_reader.hpp"
#include "read/placer.hpp"
#include "read/tile_cache.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace terrazzo::reading {

namespace {

using tile::TileResult;
using tile::TileStatus;

// Of a batch (kBatchBytes), however small its blocks.
constexpr std::uint64_t kMaxBatchBlocks = 64;

// Shorter rows than this are read a piece at a time and copied: the kernel's cost per row would be more than the copy.
// The first is for rows that one call reads, the second for rows that need a call each.
constexpr std::size_t kDirectRowBytes = 2048;
constexpr std::size_t kLoneRowBytes = 32768;

// Buffers live as long as their thread, so that a thousand small reads allocate once.
ThreadScratch& thread_scratch() {
  thread_local ThreadScratch scratch;
  return scratch;
}

// State that the workers of one read share.
class Job {
 public:
  Job(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination, MemoryBudget& budget,
      ReadReport& report)
      : plan_(plan),
        request_(request),
        destination_(destination),
        budget_(budget),
        report_(report),
        method_(choose_method(*plan.level, plan.dataset->trusted)),
        cache_limit_bytes_(resolve_tile_cache()) {
    tiff::Image const& image = plan.level->image;
    if (method_.kind == DecodeMethod::Kind::raw) {
      std::uint64_t const rows = std::clamp<std::uint64_t>(
          kRawPieceBytes / std::max<std::uint64_t>(1, image.row_bytes()), 1, image.block_height_px);
      rows_per_piece_ = static_cast<std::uint32_t>(rows);
      pieces_per_block_ = ceil_div(image.block_height_px, rows_per_piece_);
    }
    task_count_ = plan.block_count() * pieces_per_block_;
    std::uint64_t const block_bytes = std::max<std::uint64_t>(1, image.block_bytes(image.block_height_px));
    bool const one_by_one = method_.kind == DecodeMethod::Kind::raw || image.is_converted_to_rgb();
    batch_blocks_ = one_by_one ? 1 : std::clamp<std::uint64_t>(kBatchBytes / block_bytes, 1, kMaxBatchBlocks);
  }

  void run() {
    run_on_pool(plan_.threads, [this](unsigned) {
      try {
        Worker(*this).work();
      } catch (...) {
        stopped_ = true;  // the read is lost: the other workers need not finish it
        thread_scratch().trim();
        throw;
      }
    });
    if (failure_) { throw *failure_; }
    // The pieces of a block report it one by one.
    auto const number = [&](BadTileReport const& bad) { return plan_.block_number(bad.tile); };
    std::ranges::sort(bad_tiles_, {}, number);
    auto const repeated = std::ranges::unique(bad_tiles_, {}, number);
    report_.bad_tiles.insert(report_.bad_tiles.end(), std::make_move_iterator(bad_tiles_.begin()),
                             std::make_move_iterator(repeated.begin()));
    if (request_.progress) { request_.progress(plan_.block_count(), plan_.block_count()); }
  }

 private:
  class Worker {
   public:
    explicit Worker(Job& job)
        : job_(job),
          plan_(job.plan_),
          scratch_(thread_scratch()),
          reader_(*plan_.level, job.method_, job.budget_, scratch_),
          placer_(plan_, job.destination_, reader_.samples(), reader_.pixel_bytes()) {}

    void work() {
      while (true) {
        std::uint64_t const first = job_.next_task_.fetch_add(job_.batch_blocks_, std::memory_order_relaxed);
        if (first >= job_.task_count_ || first > job_.first_failure_.load(std::memory_order_relaxed) || job_.stopped_) {
          break;
        }
        std::uint64_t const count = std::min(job_.batch_blocks_, job_.task_count_ - first);
        try {
          if (job_.method_.kind == DecodeMethod::Kind::raw) {
            do_raw_piece(first);
          } else {
            do_batch(first, count);
          }
        } catch (Error const& error) {
          job_.fail(first, error.located({.source = plan_.level->source->name(), .ifd = plan_.level->image.ifd}));
        } catch (std::bad_alloc const&) {
          job_.fail(first, Error(ErrorKind::limit, "out of memory while reading",
                                 {.source = plan_.level->source->name(), .ifd = plan_.level->image.ifd}));
        }
        if (!job_.tell_progress(first + count)) { break; }
      }
      job_.add(counts_, reader_.bytes_read());
      scratch_.trim();
    }

   private:
    using Target = ReadPlan::Impl::Target;

    [[nodiscard]] std::uint32_t source_row(std::uint32_t result_row) const {
      return plan_.window.row + (plan_.resampled() ? plan_.source_rows[result_row] : result_row);
    }

    void do_batch(std::uint64_t first, std::uint64_t count) {
      std::vector<std::uint64_t> wanted;
      std::vector<std::uint64_t> indices;
      for (std::uint64_t i = first; i < first + count; ++i) {
        TileId const id = plan_.block_id(i);
        Target const target = plan_.target_of(plan_.covered(id));
        if (target.rows == 0 || target.columns == 0) { continue; }  // resampling skips this block
        if (auto const block = cached(id)) {
          place_block(id, *block);
          ++counts_.tiles;
          continue;
        }
        wanted.push_back(plan_.block_number(id));
        indices.push_back(i);
      }
      if (wanted.empty()) { return; }
      reader_.fetch(wanted);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        tile::BatchItem const item = scratch_.batch.items[i];  // a copy: colours in planes are fetched while decoding
        do_block(indices[i], item);
      }
    }

    void do_block(std::uint64_t index, tile::BatchItem const& item) {
      TileId const id = plan_.block_id(index);
      Window const covered = plan_.covered(id);
      tiff::Image const& image = plan_.level->image;
      // Of a tile at the edge, only the part inside the image can be used.
      bool const partial =
          covered.width < std::min(image.block_width_px, image.width_px - id.column * image.block_width_px) ||
          covered.height < std::min(image.block_height_px, image.height_px - id.row * image.block_height_px);
      bool const planes_will_do = placer_.takes_planes() && !partial && !plan_.resampled();
      TileResult const result =
          reader_.decode(item, planes_will_do ? BlockReader::Form::rows_or_planes : BlockReader::Form::rows);
      std::uint32_t const good_rows = settle(index, id, covered, result);
      if (good_rows == 0) { return; }
      if (reader_.is_in_planes()) {
        place_plane_rows(plan_.target_of(covered));
        return;
      }
      if (partial && result.status == TileStatus::ok && keep_in_cache(id)) { return; }
      place_rows(id, covered, 0, good_rows);
    }

    // Finishes the whole block into a cache entry and places from there. False when the block is too large to keep.
    bool keep_in_cache(TileId const& id) {
      tiff::Image const& image = plan_.level->image;
      std::uint32_t const rows = image.block_rows(id.row);
      std::size_t const bytes = reader_.row_bytes() * rows;
      if (bytes > job_.cache_limit_bytes_ / 8) { return false; }
      auto const block = std::make_shared<CachedBlock>(bytes);
      for (std::uint32_t r = 0; r < rows; ++r) { reader_.finish_row(r, block->data() + r * reader_.row_bytes()); }
      place_block(id, *block);
      tile_cache().insert({plan_.level->id, plan_.block_number(id)}, block, job_.cache_limit_bytes_);
      return true;
    }

    [[nodiscard]] std::shared_ptr<CachedBlock const> cached(TileId const& id) const {
      // A cached block has forgotten whether its data went on after the last pixel, which a strict read wants to know.
      if (job_.cache_limit_bytes_ == 0 || job_.request_.strict) { return nullptr; }
      return tile_cache().find({plan_.level->id, plan_.block_number(id)});
    }

    void place_block(TileId const& id, CachedBlock const& block) {
      Window const covered = plan_.covered(id);
      Target const target = plan_.target_of(covered);
      for (std::uint32_t r = 0; r < target.rows; ++r) {
        std::uint32_t const row = target.first_row + r;
        std::uint32_t const in_block = source_row(row) - id.row * plan_.level->image.block_height_px;
        place_row(id, covered, target, row, block.data() + in_block * reader_.row_bytes());
      }
      placer_.fence();
    }

    // Places rows [first_row, first_row + rows) of the block, as far as the result has them. `decoded_from` is the row
    // that reader_.finish_row counts from.
    void place_rows(TileId const& id, Window const& covered, std::uint32_t decoded_from, std::uint32_t good_rows) {
      tiff::Image const& image = plan_.level->image;
      Target const target = plan_.target_of(covered);
      bool const straight = placer_.is_direct() && covered.width == image.block_width_px;
      if (straight && placer_.is_streaming()) {
        std::uint32_t const first = covered.row - id.row * image.block_height_px - decoded_from;
        std::uint32_t const rows = std::min(target.rows, good_rows - std::min(good_rows, first));
        reader_.stream_rows(first, rows, placer_.direct_row(id.plane, target.first_row, target.first_column),
                            job_.destination_.row_stride_bytes);
        placer_.fence();
        return;
      }
      // `row` is free by now: only decoding used it.
      std::byte* const row_buffer = straight ? nullptr : scratch_.row.get(reader_.row_bytes()).data();
      std::byte const* row_pixels = nullptr;
      std::uint32_t finished = std::numeric_limits<std::uint32_t>::max();
      for (std::uint32_t r = 0; r < target.rows; ++r) {
        std::uint32_t const row = target.first_row + r;
        std::uint32_t const in_block = source_row(row) - id.row * image.block_height_px;
        if (in_block - decoded_from >= good_rows) { break; }
        if (straight) {
          reader_.finish_row(in_block - decoded_from, placer_.direct_row(id.plane, row, target.first_column));
          continue;
        }
        if (in_block != finished) { row_pixels = reader_.finished_row(in_block - decoded_from, row_buffer); }
        finished = in_block;  // upsampling asks for a row more than once, and a row can be finished once
        place_row(id, covered, target, row, row_pixels);
      }
      placer_.fence();
    }

    // A whole block, from its first pixel on.
    void place_plane_rows(Target const& target) {
      for (std::uint32_t r = 0; r < target.rows; ++r) {
        std::uint32_t const row = target.first_row + r;
        reader_.make_plane_row(r, target.columns, placer_.plane_rows(row, target.first_column, target.columns));
        placer_.flush_plane_rows(row, target.first_column, target.columns);
      }
      placer_.fence();
    }

    void place_row(TileId const& id, Window const& covered, Target const& target, std::uint32_t row,
                   std::byte const* finished_row) {
      std::uint32_t const block_column = id.column * plan_.level->image.block_width_px;
      std::size_t const pixel_bytes = reader_.pixel_bytes();
      if (!plan_.resampled()) {
        placer_.place(id.plane, row, target.first_column, finished_row + (covered.column - block_column) * pixel_bytes,
                      target.columns);
        return;
      }
      gathered_.resize(target.columns * pixel_bytes);
      for (std::uint32_t c = 0; c < target.columns; ++c) {
        std::uint32_t const column = plan_.window.column + plan_.source_columns[target.first_column + c] - block_column;
        std::memcpy(gathered_.data() + c * pixel_bytes, finished_row + column * pixel_bytes, pixel_bytes);
      }
      placer_.place(id.plane, row, target.first_column, gathered_.data(), target.columns);
    }

    void do_raw_piece(std::uint64_t task) {
      std::uint64_t const index = task / job_.pieces_per_block_;
      auto const piece = static_cast<std::uint32_t>(task % job_.pieces_per_block_);
      TileId const id = plan_.block_id(index);
      tiff::Image const& image = plan_.level->image;
      Window covered = plan_.covered(id);
      // Cut the covered rows down to this piece.
      std::uint64_t const block_top = std::uint64_t{id.row} * image.block_height_px;
      std::uint64_t const from =
          std::max<std::uint64_t>(covered.row, block_top + std::uint64_t{piece} * job_.rows_per_piece_);
      std::uint64_t const to = std::min<std::uint64_t>(covered.row + std::uint64_t{covered.height},
                                                       block_top + std::uint64_t{piece + 1} * job_.rows_per_piece_);
      if (from >= to) { return; }
      bool const first_piece = from == covered.row;
      covered.row = static_cast<std::uint32_t>(from);
      covered.height = static_cast<std::uint32_t>(to - from);
      Target const target = plan_.target_of(covered);
      if (target.rows == 0 || target.columns == 0) { return; }
      auto const first_row = static_cast<std::uint32_t>(from - block_top);
      std::uint64_t const number = plan_.block_number(id);
      std::size_t const row_bytes = covered.width * reader_.pixel_bytes();
      // Rows of a whole width follow one another in the file and take one call; others take one each. The kernel reads
      // what it writes over, so large results are streamed from the cache instead: 1.3 times as fast as reads straight
      // into the result (2 cores).
      bool const is_whole = covered.width == image.block_width_px;
      bool const worth_it =
          is_whole ? !placer_.is_streaming() && row_bytes >= kDirectRowBytes : row_bytes >= kLoneRowBytes;
      if (placer_.is_direct() && reader_.stored_is_finished() && worth_it) {
        std::size_t const skip = (covered.column - id.column * image.block_width_px) * reader_.pixel_bytes();
        TileResult const result = reader_.read_rows_into(
            number, first_row, covered.height, skip, row_bytes,
            placer_.direct_row(id.plane, target.first_row, target.first_column), job_.destination_.row_stride_bytes);
        settle(task, id, covered, result, first_piece);
        return;
      }
      TileResult const result = reader_.read_rows(number, first_row, covered.height);
      std::uint32_t const good_rows = settle(task, id, covered, result, first_piece);
      if (good_rows > first_row) { place_rows(id, covered, first_row, good_rows - first_row); }
    }

    // Counts the block (once, whatever its pieces), fills what is missing or bad, tells the job of a failure. Returns
    // how many rows are good, from the block's first on.
    std::uint32_t settle(std::uint64_t task, TileId const& id, Window const& covered, TileResult const& result,
                         bool first_piece = true) {
      std::uint32_t const rows = plan_.level->image.block_rows(id.row);
      if (result.status == TileStatus::ok) {
        counts_.tiles += first_piece ? 1 : 0;
        counts_.surplus_tiles += result.surplus_input && first_piece ? 1 : 0;
        if (result.surplus_input && job_.request_.strict) {
          job_.fail(task, error_of(id, ErrorKind::malformed, "the block holds more data than its pixels"));
        }
        return rows;
      }
      if (result.status == TileStatus::sparse) {
        counts_.sparse_tiles += first_piece ? 1 : 0;
        fill(id, covered, 0);
        return 0;
      }
      std::string message(tiff::compression_name(plan_.level->image.compression));
      message += text(": ", result.reason == nullptr ? "the block cannot be decoded" : result.reason);
      if (job_.request_.bad_tile == BadTile::error) {
        job_.fail(task, error_of(id, kind_of(result), message));
        return 0;
      }
      job_.add_bad({id, kind_of(result), message});
      bool const rows_count = result.status == TileStatus::truncated && !plan_.level->image.is_converted_to_rgb();
      std::uint64_t const row_bytes = std::max<std::uint64_t>(1, plan_.level->image.row_bytes());
      auto const good =
          rows_count ? static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, result.bytes_written / row_bytes)) : 0;
      fill(id, covered, good);
      return good;
    }

    [[nodiscard]] Error error_of(TileId const& id, ErrorKind kind, std::string message) const {
      tiff::BlockRange const range = plan_.level->index.range(plan_.block_number(id));
      return Error(kind, std::move(message),
                   {.source = plan_.level->source->name(),
                    .ifd = plan_.level->image.ifd,
                    .tile = id,
                    .offset = range.offset_bytes});
    }

    // Fills the block's part of the result from its row `from_row` on.
    void fill(TileId const& id, Window const& covered, std::uint32_t from_row) {
      Target const target = plan_.target_of(covered);
      for (std::uint32_t r = 0; r < target.rows; ++r) {
        std::uint32_t const row = target.first_row + r;
        if (source_row(row) - id.row * plan_.level->image.block_height_px < from_row) { continue; }
        placer_.fill(id.plane, row, target.first_column, target.columns);
      }
    }

    Job& job_;
    ReadPlan::Impl const& plan_;
    ThreadScratch& scratch_;
    BlockReader reader_;
    Placer placer_;
    std::vector<std::byte> gathered_;
    ReadReport counts_;
  };

  void fail(std::uint64_t task, Error const& error) {
    std::lock_guard const lock(mutex_);
    if (failure_ && failed_task_ <= task) { return; }
    failure_ = error;
    failed_task_ = task;
    first_failure_.store(task, std::memory_order_relaxed);
  }

  void add_bad(BadTileReport bad) {
    std::lock_guard const lock(mutex_);
    bad_tiles_.push_back(std::move(bad));
  }

  void add(ReadReport const& counts, std::uint64_t bytes_read) {
    std::lock_guard const lock(mutex_);
    report_.tiles += counts.tiles;
    report_.sparse_tiles += counts.sparse_tiles;
    report_.surplus_tiles += counts.surplus_tiles;
    report_.bytes_read += bytes_read;
  }

  // False when the read was cancelled.
  bool tell_progress(std::uint64_t tasks_done) {
    if (request_.cancel != nullptr && request_.cancel->load(std::memory_order_relaxed)) { return cancel(); }
    if (!request_.progress) { return true; }
    std::unique_lock const lock(progress_mutex_, std::try_to_lock);
    if (!lock.owns_lock() || stopped_) { return !stopped_; }
    told_ = std::max(told_, tasks_done / pieces_per_block_);
    try {
      return request_.progress(told_, plan_.block_count()) || cancel();
    } catch (...) {
      stopped_ = true;  // while the lock is held: nobody calls the function after it threw
      throw;
    }
  }

  bool cancel() {
    stopped_ = true;
    fail(0, Error(ErrorKind::cancelled, "the read was cancelled", {.source = plan_.level->source->name()}));
    return false;
  }

  ReadPlan::Impl const& plan_;
  ReadRequest const& request_;
  HostView const& destination_;
  MemoryBudget& budget_;
  ReadReport& report_;
  DecodeMethod method_;
  std::uint64_t cache_limit_bytes_;
  std::uint32_t rows_per_piece_ = 0;  // raw blocks only
  std::uint32_t pieces_per_block_ = 1;
  std::uint64_t task_count_ = 0;  // blocks, or pieces of raw blocks
  std::uint64_t batch_blocks_ = 1;

  std::atomic<std::uint64_t> next_task_{0};
  std::atomic<std::uint64_t> first_failure_{std::numeric_limits<std::uint64_t>::max()};
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // guards failure_, failed_task_, report_, bad_tiles_
  std::optional<Error> failure_;
  std::uint64_t failed_task_ = 0;
  std::vector<BadTileReport> bad_tiles_;  // of this plan: the report may hold others' already
  std::mutex progress_mutex_;
  std::uint64_t told_ = 0;  // guarded by progress_mutex_
};

}  // namespace

ErrorKind kind_of(TileResult const& result) noexcept {
  // Codecs that fail for want of memory say so in these words, all of them. Any other failure is a library that gave
  // up on the block, which more memory does not mend.
  constexpr std::string_view kOutOfMemory = "out of memory";
  switch (result.status) {
    case TileStatus::unsupported: return ErrorKind::unsupported;
    case TileStatus::failed:
      return result.reason != nullptr && result.reason == kOutOfMemory ? ErrorKind::limit : ErrorKind::malformed;
    default: return ErrorKind::malformed;
  }
}

void execute_on_host(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                     MemoryBudget& budget, ReadReport& report) {
  Job(plan, request, destination, budget, report).run();
}

}  // namespace terrazzo::reading
