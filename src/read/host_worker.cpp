// SPDX-License-Identifier: Apache-2.0
#include "read/host_worker.hpp"

#include "base/text.hpp"
#include "codec/result.hpp"
#include "read/tile_cache.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

namespace terrazzo::reading {

namespace {

using tile::TileResult;
using tile::TileStatus;

// Shorter rows than this are read a piece at a time and copied: the kernel's cost per row would be more than the copy.
// The first is for rows that one call reads, the second for rows that need a call each.
constexpr std::size_t kDirectRowBytes = 2048;
constexpr std::size_t kLoneRowBytes = 32768;

}  // namespace

HostWorker::HostWorker(HostRead const& read, HostJob& job)
    : read_(read),
      job_(job),
      plan_(read.plan),
      image_(plan_.level->image),
      scratch_(thread_scratch()),
      reader_(*plan_.level, read.method, read.budget, scratch_),
      placer_(read, reader_, scratch_),
      takes_two_(read.takes_two) {}

HostWorker::~HostWorker() { scratch_.trim(); }

void HostWorker::work() {
  while (std::optional<HostJob::Tasks> const tasks = job_.take()) {
    try {
      if (read_.raw_pieces) {
        do_raw_piece(tasks->first, (*read_.raw_pieces)[tasks->first]);
      } else {
        do_batch(*tasks);
      }
    } catch (Error const& error) {
      job_.fail(tasks->first, error.located({.source = plan_.level->source->name(), .ifd = image_.ifd}));
    } catch (std::bad_alloc const&) {
      job_.fail(tasks->first, Error(ErrorKind::limit, "out of memory while reading",
                                    {.source = plan_.level->source->name(), .ifd = image_.ifd}));
    }
    if (!job_.tell_progress(tasks->first + tasks->count)) { break; }
  }
  found_.bytes_read = reader_.bytes_read();
  job_.add(std::move(found_));
}

BlockPart HostWorker::part_of(std::uint64_t block) const noexcept {
  TileId const id = plan_.block_id(block);
  return {id, plan_.covered(id)};
}

// ---------------------------------------------------------------------------------------------------------------
// Blocks that are decoded

void HostWorker::do_batch(HostJob::Tasks const& tasks) {
  do_blocks(tasks);
  for (std::uint64_t task = tasks.first; task < tasks.first + tasks.count; ++task) {
    if (KeptPiece const* const piece = read_.kept_piece(task)) { place_kept(*piece); }
  }
}

void HostWorker::do_blocks(HostJob::Tasks const& tasks) {
  std::vector<std::uint64_t> blocks, to_decode;
  for (std::uint64_t task = tasks.first; task < tasks.first + tasks.count; ++task) {
    if (read_.kept_piece(task) != nullptr) { break; }  // no block comes after a piece
    BlockPart const part = part_of_task(task);
    if (!placer_.is_wanted(part) || place_cached(part)) { continue; }
    blocks.push_back(plan_.block_number(part.id));
    to_decode.push_back(task);
  }
  if (blocks.empty()) { return; }
  try {
    reader_.fetch(blocks);
  } catch (Error const&) {
    // A source that fails at a later block, or memory that does for one of them, must not hide what is wrong with one
    // before it: what is told would depend on how many blocks are taken at a time.
    if (blocks.size() == 1) { throw; }
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      reader_.fetch({&blocks[i], 1});
      do_fetched({&to_decode[i], 1});
    }
    return;
  }
  do_fetched(to_decode);
}

bool HostWorker::place_cached(BlockPart const& part) {
  if (!read_.uses_cache) { return false; }
  auto const block = tile_cache().find({plan_.level->id, plan_.block_number(part.id)});
  if (block == nullptr) { return false; }
  placer_.place_cached(part, *block, 0, plan_.target_of(part.covered).rows);
  ++found_.tiles;
  return true;
}

void HostWorker::place_kept(KeptPiece const& piece) {
  placer_.place_cached(part_of(piece.block), *piece.pixels, piece.first_row, piece.rows);
  found_.tiles += piece.is_last ? 1 : 0;
}

void HostWorker::do_fetched(std::span<std::uint64_t const> tasks) {
  std::vector<tile::BatchItem> const& items = scratch_.batch.items;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (takes_two_ && i + 1 < tasks.size()) {
      codec::TwoBlocks const two = reader_.decode_two(items[i], items[i + 1]);
      takes_two_ = two != codec::TwoBlocks::failed;  // what is odd about a tile is so of all, as a rule
      if (two == codec::TwoBlocks::done) {
        place_block(tasks[i], {});
        reader_.turn_to_second();
        place_block(tasks[++i], {});
        continue;
      }
    }
    tile::BatchItem const item = items[i];  // a copy: colours in planes are fetched while decoding
    do_block(tasks[i], item);
  }
}

void HostWorker::do_block(std::uint64_t task, tile::BatchItem const& item) {
  bool const planes_will_do = placer_.takes_planes() && !is_partial(part_of_task(task));
  place_block(task, reader_.decode(item, planes_will_do ? BlockReader::Form::rows_or_planes : BlockReader::Form::rows));
}

// Of a tile at the edge, only the part inside the image can be used.
bool HostWorker::is_partial(BlockPart const& part) const noexcept {
  auto const& [id, covered] = part;
  return covered.width < std::min(image_.block_width_px, image_.width_px - id.column * image_.block_width_px) ||
         covered.height < std::min(image_.block_height_px, image_.height_px - id.row * image_.block_height_px);
}

void HostWorker::place_block(std::uint64_t task, TileResult const& result) {
  BlockPart const part = part_of_task(task);
  std::uint32_t const good_rows = settle(task, part, result);
  if (good_rows == 0) { return; }
  if (reader_.is_in_planes()) {
    placer_.place_planes(part);
    return;
  }
  if (result.status == TileStatus::ok && is_partial(part) && keep_in_cache(part)) { return; }
  placer_.place_rows(part, 0, good_rows);
}

bool HostWorker::keep_in_cache(BlockPart const& part) {
  std::uint32_t const rows = image_.block_rows(part.id.row);
  std::size_t const bytes = reader_.row_bytes() * rows;
  if (bytes > read_.cache_limit_bytes / 8) { return false; }
  std::shared_ptr<CachedBlock> const block = tile_cache().make_block(bytes);
  placer_.place_and_keep(part, rows, *block);
  tile_cache().insert({plan_.level->id, plan_.block_number(part.id)}, block, read_.cache_limit_bytes);
  return true;
}

// ---------------------------------------------------------------------------------------------------------------
// Blocks that are not compressed

void HostWorker::do_raw_piece(std::uint64_t task, RawPiece const& piece) {
  raw_parts_.clear();
  for (std::uint32_t i = 0; i < piece.blocks; ++i) {
    BlockPart const part = part_of(piece.first_block + i);
    if (!placer_.is_wanted(part)) { return; }  // resampling: there are no others
    std::uint64_t const block_top = std::uint64_t{part.id.row} * image_.block_height_px;
    std::uint64_t const piece_top = block_top + piece.first_row, piece_end = piece_top + piece.rows;
    // Cut the covered rows down to this piece.
    std::uint64_t const from = std::max<std::uint64_t>(part.covered.row, piece_top);
    std::uint64_t const to = std::min(part.covered.row + std::uint64_t{part.covered.height}, piece_end);
    if (from >= to) { return; }  // nor of the others: they have the same rows
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

BlockReader::RowPiece HostWorker::rows_of(RawPart const& part) const noexcept {
  return {part.covered.row - part.id.row * image_.block_height_px, part.covered.height, part.end_row};
}

// Rows of a whole width follow one another in the file and take one call; others take one each. The kernel reads what
// it writes over, so large results are streamed from the cache instead: 1.3 times as fast as reads straight into the
// result (2 cores). Only those have blocks that are joined, whose rows are short: a part that is read into the result
// is the only one of its piece.
static_assert(kLoneRowBytes > kJoinedRowBytes);
bool HostWorker::reads_into_result(BlockPart const& part) const {
  if (!placer_.is_direct() || !reader_.stored_is_finished()) { return false; }
  std::size_t const row_bytes = part.covered.width * reader_.pixel_bytes();
  if (!placer_.has_whole_rows(part)) { return row_bytes >= kLoneRowBytes; }
  return !placer_.is_streaming() && row_bytes >= kDirectRowBytes;
}

void HostWorker::read_into_result(std::uint64_t task, RawPart const& part) {
  auto const& [id, covered] = static_cast<BlockPart const&>(part);
  std::size_t const skip = (covered.column - id.column * image_.block_width_px) * reader_.pixel_bytes();
  TileResult const result =
      reader_.read_rows_into(plan_.block_number(id), rows_of(part), skip, covered.width * reader_.pixel_bytes(),
                             placer_.first_row(part), read_.destination.row_stride_bytes);
  std::uint32_t const good = settle(task, part, result, part.is_last), first = rows_of(part).first_row;
  placer_.count_direct_rows(part, std::min(part.covered.height, good - std::min(good, first)));
}

void HostWorker::read_and_place(std::uint64_t task) {
  RawPart const& first = raw_parts_.front();
  BlockReader::RowPiece const piece = rows_of(first);
  raw_results_.resize(raw_parts_.size());
  good_rows_.resize(raw_parts_.size());
  reader_.find_rows(plan_.block_number(first.id), piece, raw_results_);
  // Before anything is read: a bad block comes before a source that fails at the next one.
  for (std::size_t i = 0; i < raw_parts_.size(); ++i) {
    std::uint32_t const good = settle(task, raw_parts_[i], raw_results_[i], raw_parts_[i].is_last);
    good_rows_[i] = good - std::min(good, piece.first_row);
  }
  reader_.read_found_rows();
  bool const joins = placer_.is_direct() && placer_.is_streaming() && reader_.stored_is_finished();
  auto const is_joined = [&](std::size_t i) {
    return joins && placer_.has_whole_rows(raw_parts_[i]) && good_rows_[i] >= piece.rows;
  };
  for (std::size_t i = 0, end = 0; i < raw_parts_.size(); i = end) {
    for (end = i; end < raw_parts_.size() && is_joined(end);) { ++end; }
    if (end == i) {
      end = i + 1;
      if (good_rows_[i] == 0) { continue; }
      reader_.turn_to_block(i);
      placer_.place_rows(raw_parts_[i], piece.first_row, good_rows_[i]);
    } else {
      reader_.turn_to_block(i);
      placer_.place_side_by_side(raw_parts_[i], end - i);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------
// What became of a block

ErrorKind kind_of(TileResult const& result) noexcept {
  // Any other failure is a library that gave up on the block, which more memory does not mend.
  bool const wants_memory =
      result.reason != nullptr && std::string_view(result.reason).starts_with(codec::kOutOfMemory);
  switch (result.status) {
    case TileStatus::unsupported: return ErrorKind::unsupported;
    case TileStatus::failed: return wants_memory ? ErrorKind::limit : ErrorKind::malformed;
    default: return ErrorKind::malformed;
  }
}

std::uint32_t HostWorker::settle(std::uint64_t task, BlockPart const& part, TileResult const& result,
                                 bool is_last_piece) {
  std::uint32_t const rows = image_.block_rows(part.id.row);
  if (result.status == TileStatus::ok) {
    found_.tiles += is_last_piece ? 1 : 0;
    found_.surplus_tiles += result.surplus_input && is_last_piece ? 1 : 0;
    if (result.surplus_input && read_.request.strict) {
      job_.fail(task, error_of(part.id, ErrorKind::malformed, "the block holds more data than its pixels"));
    }
    return rows;
  }
  if (result.status == TileStatus::sparse) {
    found_.sparse_tiles += is_last_piece ? 1 : 0;
    placer_.fill(part, 0);
    return 0;
  }
  std::string message(tiff::compression_name(image_.compression));
  message += text(": ", result.reason == nullptr ? "the block cannot be decoded" : result.reason);
  // A limit is the caller's, and no fault of the tile: what it kept from being decoded is not filled.
  if (read_.request.bad_tile == BadTile::error || kind_of(result) == ErrorKind::limit) {
    job_.fail(task, error_of(part.id, kind_of(result), message));
    return 0;
  }
  if (is_last_piece) { found_.bad_tiles.push_back({part.id, kind_of(result), message}); }
  bool const rows_count = result.status == TileStatus::truncated && !image_.is_converted_to_rgb();
  std::uint64_t const row_bytes = std::max<std::uint64_t>(1, image_.row_bytes());
  auto const good =
      rows_count ? static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, result.bytes_written / row_bytes)) : 0;
  placer_.fill(part, good);
  return good;
}

Error HostWorker::error_of(TileId const& id, ErrorKind kind, std::string message) const {
  tiff::BlockRange const range = plan_.level->index.range(plan_.block_number(id));
  return Error(kind, std::move(message),
               {.source = plan_.level->source->name(), .ifd = image_.ifd, .tile = id, .offset = range.offset_bytes});
}

}  // namespace terrazzo::reading
