// SPDX-License-Identifier: Apache-2.0
#include "ops/stream_rows.hpp"

#include "base/saturating.hpp"
#include "read/read_report.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <future>
#include <optional>
#include <utility>

namespace terrazzo::ops {
namespace {

// Of streaming_buffer_bytes: the rest is for rows of overviews.
std::uint64_t bytes_for_blocks(WriteOptions const& options) { return options.streaming_buffer_bytes / 4 * 3; }

// Pixels that are read together: two such blocks fit.
std::uint64_t block_bytes(WriteOptions const& options) {
  constexpr std::uint64_t kMost = std::uint64_t{96} << 20;
  return std::clamp<std::uint64_t>(bytes_for_blocks(options) / 2, 1, kMost);
}

// Whether a block is read while the last one is written. Not where a row of tiles is so wide that two are too many.
bool reads_ahead(RowBlocks const& blocks, WriteOptions const& options) {
  if (blocks.count() < 2) { return false; }
  std::uint64_t const pixel_bytes = std::uint64_t{blocks.bands()} * size_bytes(blocks.dtype()) + (options.mask ? 1 : 0);
  std::uint64_t const row_bytes = blocks.width() * pixel_bytes;
  std::uint64_t const rows = std::max(blocks.window(0).height, blocks.window(1).height);
  return saturating_product(2, row_bytes, rows) <= bytes_for_blocks(options);
}

// Pixels and mask of one block.
struct Block {
  std::optional<HostArray> buffer{};
  std::optional<HostArray> mask{};
  HostView pixels{};
  ReadReport report{};
};

void read_block(RowBlocks const& blocks, std::uint64_t index, bool wants_mask, RowBlocks::Order order, Block& block) {
  block.report = {};
  block.pixels = blocks.read(index, block.buffer, &block.report, order);
  if (wants_mask) { block.mask.emplace(blocks.read_mask(index, &block.report)); }
}

}  // namespace

RowBlocks blocks_for(Dataset const& source, ReadRequest read, WriteOptions const& options) {
  read.threads = options.threads;
  read.cancel = options.cancel;
  read.progress = {};
  return {source, std::move(read), block_bytes(options)};
}

ReadReport stream_rows(RowBlocks const& blocks, WriteOptions const& options, Writer& writer) {
  bool const separate = options.planar == PlanarLayout::separate || options.bands == 1;
  RowBlocks::Order const order = separate ? RowBlocks::Order::band : RowBlocks::Order::pixel;
  ReadReport report;
  std::array<Block, 2> pair;
  auto const start = [&](std::uint64_t index) {
    return std::async(std::launch::async, [&blocks, &options, order, index, &block = pair[index % 2]] {
      read_block(blocks, index, options.mask, order, block);
    });
  };
  bool const ahead = reads_ahead(blocks, options);
  // Destroyed before the blocks: a read that is under way when writing fails is waited for.
  std::future<void> next;
  for (std::uint64_t i = 0; i < blocks.count(); ++i) {
    Block& block = pair[ahead ? i % 2 : 0];
    if (ahead && i > 0) {
      next.get();
    } else {
      read_block(blocks, i, options.mask, order, block);
    }
    if (ahead && i + 1 < blocks.count()) { next = start(i + 1); }
    reading::add_report(report, block.report);
    if (options.mask) {
      // One mask for all bands: that of the first.
      HostView mask = block.mask->view();
      mask.bands = 1;
      writer.write_rows(block.pixels, mask);
    } else {
      writer.write_rows(block.pixels);
    }
  }
  return report;
}

}  // namespace terrazzo::ops
