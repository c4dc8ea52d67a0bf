// SPDX-License-Identifier: Apache-2.0
#include "write/host/row_decoder.hpp"

#include "base/parallel.hpp"
#include "base/saturating.hpp"
#include "base/text.hpp"
#include "codec/registry/memory_charge.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory_writer.hpp"
#include "tile/copy_samples.hpp"
#include "tile/undo_predictor.hpp"

#include <algorithm>
#include <cstring>

namespace terrazzo::writing {

struct RowDecoder::Worker {
  codec::Workspace workspace{};
  Scratch block{}, row{};
};

namespace {

// The part of JPEG streams that all tiles share.
std::vector<std::byte> shared_tables(FilePlan const& plan) {
  if (plan.encoder->set_tags == nullptr) { return {}; }
  tiff::TagSet tags;
  plan.encoder->set_tags(plan.format, tags);
  tiff::TagValue const* const tables = tags.find(tiff::tag::JPEGTables);
  return tables != nullptr ? tables->bytes : std::vector<std::byte>();
}

codec::Codec const* codec_of(FilePlan const& plan) {
  codec::Codec const* const codec = codec::find_codec(plan.format.block.compression);
  if (codec == nullptr || !codec->is_available()) {
    throw Error(ErrorKind::unsupported, text("overviews and statistics of compressed tiles need a decoder of ",
                                             to_string(plan.options.compression), ", which this build lacks"));
  }
  return codec;
}

}  // namespace

RowDecoder::RowDecoder(FilePlan const& plan, unsigned threads, MemoryBudget& budget)
    : plan_(plan),
      cutter_(plan),
      codec_(codec_of(plan)),
      jpeg_tables_(shared_tables(plan)),
      format_(plan.format.block),
      pixel_bytes_(plan.samples_per_block * plan.sample_bytes()),
      block_row_bytes_(plan.levels.front().block_width * pixel_bytes_),
      budget_(budget) {
  format_.jpeg_tables = jpeg_tables_;
  codec::BlockShape const shape = plan.shape_of(plan.levels.front(), 0);
  std::uint64_t bytes = saturating_sum(plan.block_bytes(shape), block_row_bytes_);
  if (codec_->scratch_bytes != nullptr) { bytes = saturating_sum(bytes, codec_->scratch_bytes(format_, shape)); }
  // Fewer threads where memory is short.
  std::uint64_t const fit =
      std::clamp<std::uint64_t>(budget.limit_bytes() / 4 / std::max<std::uint64_t>(bytes, 1), 1, threads);
  scratch_ = budget.reserve(saturating_product(bytes, fit), "decoded tiles");
  for (std::uint64_t i = 0; i < fit; ++i) { workers_.push_back(std::make_unique<Worker>()); }
}

RowDecoder::~RowDecoder() = default;

void RowDecoder::decode(WaitingBlocks const& blocks, HostRows const& rows, std::atomic<bool> const* cancel) {
  LevelPlan const& raster = plan_.levels.front();
  std::uint32_t const first_block_row = rows.first / raster.block_height;
  std::uint64_t const block_rows = (std::uint64_t{rows.pixels.height} + raster.block_height - 1) / raster.block_height;
  std::uint64_t const per_row = std::uint64_t{raster.blocks_across} * plan_.planes;
  auto const threads = static_cast<unsigned>(workers_.size());
  parallel_ranges(block_rows * per_row, 1, threads, [&](std::uint64_t index, std::uint64_t, unsigned worker) {
    if (cancel != nullptr && cancel->load(std::memory_order_relaxed)) {
      throw Error(ErrorKind::cancelled, "the write was cancelled");
    }
    auto const in_row = static_cast<std::uint32_t>(index % per_row);
    TileId const id{in_row % raster.blocks_across, first_block_row + static_cast<std::uint32_t>(index / per_row),
                    in_row / raster.blocks_across};
    std::span<std::byte const> const bytes = blocks.bytes_of(id);
    if (bytes.empty()) {
      fill_block(id, rows);
    } else {
      decode_block(id, bytes, rows, *workers_[worker]);
    }
  });
}

std::byte* RowDecoder::place_of(TileId id, HostRows const& rows) const noexcept {
  LevelPlan const& raster = plan_.levels.front();
  HostView const& to = rows.pixels;
  return static_cast<std::byte*>(to.data) + std::int64_t{raster.first_row(id.row) - rows.first} * to.row_stride_bytes +
         std::int64_t{id.column} * raster.block_width * to.pixel_stride_bytes +
         std::int64_t{id.plane} * to.band_stride_bytes;
}

void RowDecoder::decode_block(TileId id, std::span<std::byte const> bytes, HostRows const& rows, Worker& worker) const {
  LevelPlan const& raster = plan_.levels.front();
  codec::BlockShape const shape = plan_.shape_of(raster, id.row);
  std::uint32_t const height = raster.rows_of(id.row);
  std::uint32_t const width = std::min(raster.block_width, raster.width - id.column * raster.block_width);
  std::span<std::byte> const decoded = worker.block.get(block_row_bytes_ * shape.height_px);
  codec::MemoryCharge const charge(worker.workspace, budget_);
  tile::TileResult const result = codec_->decode_block(format_, shape, bytes, decoded, worker.workspace);
  // A stream may end in the padding below the raster.
  bool const whole = result.status == tile::TileStatus::ok || (result.status == tile::TileStatus::truncated &&
                                                               result.bytes_written >= block_row_bytes_ * height);
  if (!whole) {
    ErrorKind const kind = result.status == tile::TileStatus::out_of_memory ? ErrorKind::limit : ErrorKind::malformed;
    throw Error(kind, text("a compressed tile does not decode: ", result.reason != nullptr ? result.reason : "damaged"),
                {.ifd = 0, .tile = id});
  }
  std::byte* to = place_of(id, rows);
  for (std::uint32_t row = 0; row < height; ++row, to += rows.pixels.row_stride_bytes) {
    std::byte* const from = decoded.data() + row * block_row_bytes_;
    if (width == raster.block_width) {
      finish_row(from, to);
    } else {
      std::span<std::byte> const finished = worker.row.get(block_row_bytes_);
      finish_row(from, finished.data());
      std::memcpy(to, finished.data(), width * pixel_bytes_);
    }
  }
}

void RowDecoder::finish_row(std::byte* decoded, std::byte* out) const noexcept {
  std::uint32_t const width = plan_.levels.front().block_width;
  auto const sample_bytes = static_cast<std::uint32_t>(plan_.sample_bytes());
  switch (plan_.predictor) {
    case tiff::Predictor::horizontal:
      return tile::undo_horizontal_row(decoded, out, width, plan_.samples_per_block, sample_bytes * 8);
    case tiff::Predictor::floating_point:
      return tile::undo_float_row(decoded, out, width, plan_.samples_per_block, sample_bytes);
    default: std::memcpy(out, decoded, block_row_bytes_);
  }
}

void RowDecoder::fill_block(TileId id, HostRows const& rows) const noexcept {
  LevelPlan const& raster = plan_.levels.front();
  std::uint32_t const width = std::min(raster.block_width, raster.width - id.column * raster.block_width);
  auto const sample_bytes = plan_.sample_bytes();
  std::byte* to = place_of(id, rows);
  for (std::uint32_t row = 0; row < raster.rows_of(id.row); ++row, to += rows.pixels.row_stride_bytes) {
    tile::copy_samples(cutter_.empty_sample().data(), 0, to, static_cast<std::ptrdiff_t>(sample_bytes),
                       std::size_t{width} * plan_.samples_per_block, sample_bytes);
  }
}

}  // namespace terrazzo::writing
