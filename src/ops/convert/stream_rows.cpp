// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/stream_rows.hpp"

#include "base/saturating.hpp"
#include "ops/convert/framed_rows.hpp"
#include "read/read_report.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <future>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace terrazzo::ops {
namespace {

// The part of streaming_buffer_bytes for blocks; the rest is for rows of overviews.
std::uint64_t bytes_for_blocks(WriteOptions const& options) { return options.streaming_buffer_bytes / 4 * 3; }

// Size of the pixels that are read together: two such blocks fit.
std::uint64_t block_bytes(WriteOptions const& options) {
  constexpr std::uint64_t kMost = std::uint64_t{96} << 20;
  return std::clamp<std::uint64_t>(bytes_for_blocks(options) / 2, 1, kMost);
}

// True if a block is read while the previous one is written. False if a row of tiles is so wide that two do not fit.
bool reads_ahead(RowBlocks const& blocks, WriteOptions const& options) {
  if (blocks.count() < 2) { return false; }
  std::uint64_t const pixel_bytes = std::uint64_t{blocks.bands()} * size_bytes(blocks.dtype()) + (options.mask ? 1 : 0);
  std::uint64_t const row_bytes = blocks.width() * pixel_bytes;
  std::uint64_t const rows = std::max(blocks.rows_of(0), blocks.rows_of(1));
  return saturating_product(2, row_bytes, rows) <= bytes_for_blocks(options);
}

// Pixels and mask of one block.
struct Block {
  std::optional<HostArray> buffer{};
  std::optional<HostArray> mask{};
  HostView pixels{};
  ReadReport report{};
};

// The index of a requested band whose mask is the alpha band, which masks all other bands.
std::optional<std::size_t> find_masked_by_alpha(RowBlocks const& blocks) {
  std::vector<BandInfo> const& bands = blocks.dataset().info().bands;
  std::vector<std::uint32_t> const& asked = blocks.request().bands;
  for (std::size_t i = 0; i < blocks.bands(); ++i) {
    std::size_t const band = asked.empty() ? i : asked[i] - 1;
    if (bands[band].mask == MaskKind::alpha) { return i; }
  }
  return std::nullopt;
}

// One mask for all bands: alpha, or the union of the bands' masks, as in rasterio's dataset_mask().
HostView joint_mask(HostArray& masks, RowBlocks const& blocks) {
  HostView joint = masks.view();
  joint.bands = 1;
  if (auto const band = find_masked_by_alpha(blocks)) {
    joint.data = static_cast<std::byte*>(joint.data) + static_cast<std::int64_t>(*band) * joint.band_stride_bytes;
    return joint;
  }
  std::size_t const plane_bytes = std::size_t{joint.height} * joint.width;
  std::span<std::byte> const all = masks.bytes().first(plane_bytes);
  for (std::uint32_t band = 1; band < masks.bands(); ++band) {
    std::span<std::byte const> const other = masks.bytes().subspan(band * plane_bytes, plane_bytes);
    for (std::size_t i = 0; i < plane_bytes; ++i) { all[i] = std::max(all[i], other[i]); }
  }
  return joint;
}

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

ReadReport stream_rows(RowBlocks const& blocks, WriteOptions const& options, Writer& writer, Margins const& margins) {
  bool const separate = options.planar == PlanarLayout::separate || options.bands == 1;
  RowBlocks::Order const order = separate ? RowBlocks::Order::band : RowBlocks::Order::pixel;
  FramedRows frame(margins, blocks.width(), order, options, writer);
  ReadReport report;
  std::array<Block, 2> pair;
  auto const start = [&](std::uint64_t index) {
    return std::async(std::launch::async, [&blocks, &options, order, index, &block = pair[index % 2]] {
      read_block(blocks, index, options.mask, order, block);
    });
  };
  bool const ahead = reads_ahead(blocks, options);
  // Destroyed before the blocks: waits for a read in progress if writing fails.
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
    frame.write(block.pixels, options.mask ? joint_mask(*block.mask, blocks) : HostView{});
  }
  frame.finish();
  return report;
}

}  // namespace terrazzo::ops
