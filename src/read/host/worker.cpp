// SPDX-License-Identifier: Apache-2.0
#include "read/host/worker.hpp"

#include "read/blocks/block_outcome.hpp"
#include "read/host/tile_cache.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace terrazzo::reading {

namespace {

using tile::TileResult;
using tile::TileStatus;

// Shorter rows are read a piece at a time and copied: the kernel's cost per row would exceed the copy. The first limit
// is for rows that one call reads, the second for rows that need a call each.
constexpr std::size_t kDirectRowBytes = 2048;
constexpr std::size_t kLoneRowBytes = 32768;

}  // namespace

HostWorker::HostWorker(ReadContext const& read, TaskQueue& job)
    : read_(read),
      job_(job),
      plan_(read.plan),
      image_(plan_.level->image),
      scratch_(thread_scratch()),
      placer_(read, finished_layout(*plan_.level, read.method), scratch_),
      ahead_(read, scratch_) {
  if (read.raw_pieces) {
    raw_.emplace(*plan_.level, read.method, read.budget, scratch_);
  } else {
    decoder_.emplace(*plan_.level, read.method, read.budget, scratch_);
    fetcher_.emplace(*plan_.level, read.method, read.budget, scratch_);
  }
}

HostWorker::~HostWorker() { scratch_.trim(); }

void HostWorker::work() {
  while (true) {
    while (ahead_.wants_more()) {
      std::optional<TaskQueue::Tasks> const tasks = job_.take();
      if (!tasks) { break; }
      ahead_.add(prepare(*tasks));
    }
    if (ahead_.is_empty()) { break; }
    FetchAhead::Batch batch = ahead_.take();
    try {
      if (batch.failure) { std::rethrow_exception(batch.failure); }
      do_batch(batch);
    } catch (Error const& error) {
      job_.fail(batch.tasks.first, error.located({.source = plan_.level->source->name(), .ifd = image_.ifd}));
    } catch (std::bad_alloc const&) {
      job_.fail(batch.tasks.first, Error(ErrorKind::limit, "out of memory while reading",
                                         {.source = plan_.level->source->name(), .ifd = image_.ifd}));
    }
    if (!job_.tell_progress(batch.tasks.first + batch.tasks.count)) { break; }
  }
  found_.bytes_read = raw_ ? raw_->bytes_read() : fetcher_->bytes_read() + decoder_->bytes_read() + bytes_ahead_;
  job_.add(std::move(found_));
}

BlockPart HostWorker::part_of(std::uint64_t block) const noexcept {
  TileId const id = plan_.block_id(block);
  return {id, plan_.covered(id)};
}

// ---------------------------------------------------------------------------------------------------------------
// Compressed blocks

FetchAhead::Batch HostWorker::prepare(TaskQueue::Tasks const& tasks) {
  FetchAhead::Batch batch{.tasks = tasks};
  if (read_.raw_pieces) { return batch; }
  try {
    find_blocks(batch);
  } catch (...) { batch.failure = std::current_exception(); }
  return batch;
}

void HostWorker::find_blocks(FetchAhead::Batch& batch) {
  for (std::uint64_t task = batch.tasks.first; task < batch.tasks.first + batch.tasks.count; ++task) {
    if (read_.cached_piece(task) != nullptr) { break; }  // no block follows a piece
    BlockPart const part = part_of_task(task);
    if (!placer_.is_wanted(part) || place_cached(part)) { continue; }
    batch.blocks.push_back(plan_.block_number(part.id));
    batch.to_decode.push_back(task);
  }
}

void HostWorker::do_batch(FetchAhead::Batch& batch) {
  auto const& [first, count] = batch.tasks;
  if (read_.raw_pieces) { return do_raw_piece(first, (*read_.raw_pieces)[first]); }
  if (!batch.blocks.empty()) { do_blocks(batch); }
  for (std::uint64_t task = first; task < first + count; ++task) {
    if (CachedPiece const* const piece = read_.cached_piece(task)) { place_kept(*piece); }
  }
}

void HostWorker::do_blocks(FetchAhead::Batch& batch) {
  tile::TileBatch const* fetched = nullptr;
  try {
    if (batch.fetcher != nullptr) {
      fetched = &batch.fetcher->wait();
      bytes_ahead_ += batch.fetcher->bytes_read();
    } else {
      fetched = &fetcher_->fetch(batch.blocks);
    }
  } catch (Error const&) {
    // A later block whose source or memory fails must not hide the error of an earlier block; otherwise the reported
    // error would depend on the number of blocks per batch.
    if (batch.blocks.size() == 1) { throw; }
    batch.fetcher.reset();
    for (std::size_t i = 0; i < batch.blocks.size(); ++i) {
      do_fetched({&batch.to_decode[i], 1}, fetcher_->fetch({&batch.blocks[i], 1}));
    }
    return;
  }
  do_fetched(batch.to_decode, *fetched);
}

bool HostWorker::place_cached(BlockPart const& part) {
  if (!read_.uses_cache) { return false; }
  auto const block = tile_cache().find({plan_.level->id, plan_.block_number(part.id)});
  if (block == nullptr) { return false; }
  placer_.place_cached(part, *block, 0, plan_.target_of(part.covered).rows);
  ++found_.tiles;
  return true;
}

void HostWorker::place_kept(CachedPiece const& piece) {
  placer_.place_cached(part_of(piece.block), *piece.pixels, piece.first_row, piece.rows);
  found_.tiles += piece.is_last ? 1 : 0;
}

void HostWorker::do_fetched(std::span<std::uint64_t const> tasks, tile::TileBatch const& batch) {
  for (std::size_t i = 0; i < tasks.size();) {
    bool const planes_will_do = placer_.takes_planes() && !placer_.is_partial(part_of_task(tasks[i]));
    auto const form = planes_will_do ? BlockDecoder::Form::rows_or_planes : BlockDecoder::Form::rows;
    for (DecodedBlock const& block : decoder_->decode(batch, i, read_.blocks_at_once, form)) {
      place_block(tasks[i++], block);
    }
  }
}

void HostWorker::place_block(std::uint64_t task, DecodedBlock const& block) {
  BlockPart const part = part_of_task(task);
  std::uint32_t const good_rows = settle(task, part, block.result);
  if (good_rows == 0) { return; }
  if (block.rows.is_in_planes()) {
    placer_.place_planes(part, block.rows);
    return;
  }
  bool const may_be_kept = block.result.status == TileStatus::ok && placer_.is_partial(part);
  if (may_be_kept && keep_in_cache(part, block.rows)) { return; }
  placer_.place_rows(part, block.rows, 0, good_rows);
}

bool HostWorker::keep_in_cache(BlockPart const& part, DecodedRows const& decoded) {
  std::uint32_t const rows = image_.block_rows(part.id.row);
  std::size_t const bytes = decoder_->layout().row_bytes * rows;
  if (!TileCache::keeps(bytes, read_.cache_limit_bytes)) { return false; }
  std::shared_ptr<CachedBlock> const block = tile_cache().make_block(bytes);
  placer_.place_and_keep(part, decoded, rows, *block);
  tile_cache().insert({plan_.level->id, plan_.block_number(part.id)}, block, read_.cache_limit_bytes);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------
// Uncompressed blocks

void HostWorker::do_raw_piece(std::uint64_t task, RawPiece const& piece) {
  raw_parts_.clear();
  for (std::uint32_t i = 0; i < piece.blocks; ++i) {
    BlockPart const part = part_of(piece.first_block + i);
    if (!placer_.is_wanted(part)) { return; }  // resampled: a piece has one block
    std::uint64_t const block_top = std::uint64_t{part.id.row} * image_.block_height_px;
    std::uint64_t const piece_top = block_top + piece.first_row, piece_end = piece_top + piece.rows;
    // Cut the covered rows down to this piece.
    std::uint64_t const from = std::max<std::uint64_t>(part.covered.row, piece_top);
    std::uint64_t const to = std::min(part.covered.row + std::uint64_t{part.covered.height}, piece_end);
    if (from >= to) { return; }  // all blocks of the piece have the same rows
    std::uint32_t const end_row = placer_.last_row(part) + 1;
    RawPart cut{part, end_row, end_row > piece.first_row && end_row <= piece.first_row + piece.rows};
    cut.covered.row = static_cast<std::uint32_t>(from);
    cut.covered.height = static_cast<std::uint32_t>(to - from);
    if (!placer_.is_wanted(cut)) { return; }
    raw_parts_.push_back(cut);
  }
  if (reads_into_result(raw_parts_.front())) {
    read_into_result(task, raw_parts_.front());
  } else {
    read_and_place(task);
  }
}

RawRows::Piece HostWorker::rows_of(RawPart const& part) const noexcept {
  return {part.covered.row - part.id.row * image_.block_height_px, part.covered.height, part.end_row};
}

// Rows of full width are consecutive in the file and take one call; other rows take one call each. The kernel reads the
// cache lines that it overwrites, so large results are streamed from the cache instead: 1.3 times as fast as reads
// straight into the result (2 cores). Only large results have joined blocks, and their rows are short: a part that is
// read into the result is the only one of its piece.
static_assert(kLoneRowBytes > kJoinedRowBytes);
bool HostWorker::reads_into_result(BlockPart const& part) const {
  if (!placer_.is_direct() || !raw_->are_finished()) { return false; }
  std::size_t const row_bytes = part.covered.width * raw_->layout().pixel_bytes;
  if (!placer_.has_whole_rows(part)) { return plan_.level->source->hints().local && row_bytes >= kLoneRowBytes; }
  return !placer_.is_streaming() && row_bytes >= kDirectRowBytes;
}

void HostWorker::read_into_result(std::uint64_t task, RawPart const& part) {
  auto const& [id, covered] = static_cast<BlockPart const&>(part);
  std::size_t const skip = (covered.column - id.column * image_.block_width_px) * raw_->layout().pixel_bytes;
  TileResult const result =
      raw_->read_into(plan_.block_number(id), rows_of(part), skip, covered.width * raw_->layout().pixel_bytes,
                      placer_.first_row(part), read_.destination.row_stride_bytes);
  std::uint32_t const good = settle(task, part, result, part.is_last), first = rows_of(part).first_row;
  placer_.count_direct_rows(part, std::min(part.covered.height, good - std::min(good, first)));
}

void HostWorker::read_and_place(std::uint64_t task) {
  RawPart const& first = raw_parts_.front();
  RawRows::Piece const piece = rows_of(first);
  raw_results_.resize(raw_parts_.size());
  good_rows_.resize(raw_parts_.size());
  raw_->find(plan_.block_number(first.id), piece, raw_results_);
  // Settle all blocks before reading: a bad block is reported before a source that fails at the next one.
  for (std::size_t i = 0; i < raw_parts_.size(); ++i) {
    std::uint32_t const good = settle(task, raw_parts_[i], raw_results_[i], raw_parts_[i].is_last);
    good_rows_[i] = good - std::min(good, piece.first_row);
  }
  raw_->read_found();
  bool const joins = placer_.is_direct() && placer_.is_streaming() && raw_->are_finished();
  auto const is_joined = [&](std::size_t i) {
    return joins && placer_.has_whole_rows(raw_parts_[i]) && good_rows_[i] >= piece.rows;
  };
  for (std::size_t i = 0, end = 0; i < raw_parts_.size(); i = end) {
    for (end = i; end < raw_parts_.size() && is_joined(end);) { ++end; }
    if (end == i) {
      end = i + 1;
      if (good_rows_[i] == 0) { continue; }
      placer_.place_rows(raw_parts_[i], raw_->rows_of(i), piece.first_row, good_rows_[i]);
    } else {
      placer_.place_side_by_side(raw_parts_[i], *raw_, i, end - i);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// Outcome of a block

std::uint32_t HostWorker::settle(std::uint64_t task, BlockPart const& part, TileResult const& result,
                                 bool is_last_piece) {
  BlockOutcome outcome = judge_block(*plan_.level, part.id, result, read_.request);
  if (is_last_piece) {
    found_.tiles += result.status == TileStatus::ok ? 1 : 0;
    found_.sparse_tiles += result.status == TileStatus::sparse ? 1 : 0;
    found_.surplus_tiles += result.status == TileStatus::ok && result.surplus_input ? 1 : 0;
    if (outcome.bad) {
      outcome.bad->message.insert(0, plan_.bad_tile_prefix);
      found_.bad_tiles.push_back(*std::move(outcome.bad));
    }
  }
  if (outcome.error) {
    job_.fail(task, *outcome.error);
  } else if (outcome.good_rows < image_.block_rows(part.id.row)) {
    placer_.fill(part, outcome.good_rows);
  }
  return outcome.good_rows;
}

}  // namespace terrazzo::reading
