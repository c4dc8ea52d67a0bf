// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/fetcher.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace terrazzo::reading {

namespace {

using tile::TileStatus;

}  // namespace

std::size_t items_per_block(Level const& level, DecodeMethod const& method) noexcept {
  bool const needs_all_planes = method.kind == DecodeMethod::Kind::codec && level.image.is_converted_to_rgb();
  return needs_all_planes ? level.image.planes() : 1;
}

BlockFetcher::BlockFetcher(Level const& level, DecodeMethod const& method, MemoryBudget& budget, ThreadScratch& scratch)
    : level_(level),
      scratch_(scratch),
      buffers_(scratch.take_buffers()),
      reservation_(budget, "compressed blocks"),
      items_per_block_(items_per_block(level, method)),
      merge_gap_bytes_(level.source->hints().merge_gap_bytes),
      is_borrowed_(method.uses_libtiff() || !level.source->in_memory().empty()) {}

BlockFetcher::~BlockFetcher() {
  ticket_ = {};  // waits for the reads in flight
  scratch_.give_back(std::move(buffers_));
}

std::size_t BlockFetcher::place(std::uint64_t offset_bytes, std::uint64_t size_bytes) {
  if (!buffers_.runs.empty()) {
    FetchBuffers::Run& run = buffers_.runs.back();
    std::uint64_t const end = run.source_offset_bytes + run.size_bytes;
    if (offset_bytes >= end && offset_bytes - end <= merge_gap_bytes_) {
      std::uint64_t const at = buffer_bytes_ + offset_bytes - end;
      run.size_bytes += offset_bytes - end + size_bytes;
      buffer_bytes_ = at + size_bytes;
      return static_cast<std::size_t>(at);
    }
  }
  std::uint64_t const at = buffer_bytes_;
  buffers_.runs.push_back({offset_bytes, at, size_bytes});
  buffer_bytes_ += size_bytes;
  return static_cast<std::size_t>(at);
}

void BlockFetcher::add_block(std::uint64_t block) {
  tile::BatchItem item{.tile = block};
  tiff::BlockRange const range = level_.index.range(block);
  std::uint64_t const source_bytes = level_.source->size_bytes();
  if (range.size_bytes == 0) {
    item.status = TileStatus::sparse;
  } else if (range.offset_bytes >= source_bytes) {
    item.status = TileStatus::truncated;
    item.reason = "the block lies outside the file";
  } else {
    std::uint64_t const bytes = std::min(range.size_bytes, source_bytes - range.offset_bytes);
    item.size_bytes = static_cast<std::size_t>(bytes);
    item.offset_bytes = is_borrowed_ ? static_cast<std::size_t>(range.offset_bytes) : place(range.offset_bytes, bytes);
  }
  buffers_.batch.items.push_back(item);
}

void BlockFetcher::submit(std::span<std::uint64_t const> blocks) {
  static_cast<void>(try_submit(blocks, std::numeric_limits<std::uint64_t>::max()));
}

bool BlockFetcher::try_submit(std::span<std::uint64_t const> blocks, std::uint64_t most_bytes) {
  ticket_ = {};  // waits for the reads in flight, which write to the buffers
  buffers_.batch.items.clear();
  buffers_.batch.buffer = {};
  buffers_.runs.clear();
  buffers_.ranges.clear();
  buffer_bytes_ = 0;
  for (std::uint64_t const block : blocks) {
    std::uint64_t const in_plane = items_per_block_ > 1 ? block % level_.image.blocks_per_plane() : block;
    for (std::size_t plane = 0; plane < items_per_block_; ++plane) {
      add_block(in_plane + plane * level_.image.blocks_per_plane());
    }
  }
  if (is_borrowed_) {
    buffers_.batch.buffer = level_.source->in_memory();
    return true;
  }
  if (buffer_bytes_ > most_bytes) {
    buffer_bytes_ = 0;
    return false;
  }
  reservation_.grow(buffer_bytes_);
  std::span<std::byte> const buffer = buffers_.compressed.get(static_cast<std::size_t>(buffer_bytes_));
  for (FetchBuffers::Run const& run : buffers_.runs) {
    buffers_.ranges.push_back(
        {run.source_offset_bytes,
         buffer.subspan(static_cast<std::size_t>(run.buffer_offset_bytes), static_cast<std::size_t>(run.size_bytes))});
  }
  buffers_.batch.buffer = buffer;
  ticket_ = level_.source->submit(buffers_.ranges);
  return true;
}

tile::TileBatch const& BlockFetcher::wait() {
  ticket_.wait();
  bytes_read_ += std::exchange(buffer_bytes_, 0);
  return buffers_.batch;
}

}  // namespace terrazzo::reading
