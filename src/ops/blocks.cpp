// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/blocks.hpp"

#include "base/checked.hpp"
#include "base/memory_budget.hpp"
#include "base/settings.hpp"
#include "read/plan/decode_method.hpp"
#include "read/plan/plan.hpp"
#include "read/read_report.hpp"
#include "read/row_pieces.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace terrazzo {
namespace {

// Rows that are decoded together at this level.
std::uint32_t rows_of_a_tile(Info const& info, std::uint32_t level) {
  std::uint32_t const rows =
      level == 0 || level > info.overviews.size() ? info.layout.tile_height : info.overviews[level - 1].tile_height;
  return std::max<std::uint32_t>(rows, 1);
}

// Uncompressed: any rows of a tile can be read by themselves.
bool is_raw(ReadPlan::Impl const& plan) {
  return reading::choose_method(*plan.level, plan.dataset->trusted).kind == reading::DecodeMethod::Kind::raw;
}

HostView view_of(HostArray& buffer, std::uint32_t rows, RowBlocks::Order order) {
  HostView view = buffer.view();
  view.height = rows;
  auto const sample = static_cast<std::int64_t>(size_bytes(view.dtype));
  auto const samples_in_row = std::int64_t{view.width} * sample;
  if (order == RowBlocks::Order::pixel) {
    view.band_stride_bytes = sample;
    view.pixel_stride_bytes = sample * view.bands;
    view.row_stride_bytes = samples_in_row * view.bands;
  } else {
    view.pixel_stride_bytes = sample;
    view.row_stride_bytes = samples_in_row;
    view.band_stride_bytes = samples_in_row * rows;
  }
  return view;
}

}  // namespace

RowBlocks::RowBlocks(Dataset dataset, ReadRequest request, std::uint64_t block_bytes)
    : dataset_(std::move(dataset)), request_(std::move(request)) {
  ReadPlan const whole = plan(dataset_, request_);
  window_ = whole.window();
  width_ = whole.width();
  height_ = whole.height();
  bands_ = static_cast<std::uint32_t>(whole.bands().size());
  dtype_ = whole.dtype();
  threads_ = std::max(whole.threads(), 1U);
  tile_count_ = whole.tile_count();
  if (request_.has_target() && !request_.target_grid) {
    count_ = 1;
    return;
  }
  std::uint64_t const row_bytes = std::max<std::uint64_t>(std::uint64_t{width_} * bands_ * size_bytes(dtype_), 1);
  // Half of the memory is for the block, the other half for decoding. A request for one block gets all rows or an
  // error.
  bool const wants_all = block_bytes == std::numeric_limits<std::uint64_t>::max();
  std::uint64_t const limit = resolve_memory_limit(request_.memory_limit_bytes);
  std::uint64_t const affordable_bytes = wants_all ? block_bytes : std::min(block_bytes, limit / 2);
  // A raster has at most 2^32 - 1 rows; sums with larger numbers would overflow.
  std::uint64_t const affordable_rows =
      std::clamp<std::uint64_t>(affordable_bytes / row_bytes, 1, std::numeric_limits<std::uint32_t>::max());
  if (request_.target_grid) {
    block_rows_ = affordable_rows;
    count_ = ceil_div(std::uint64_t{height_}, block_rows_);
    return;
  }
  std::uint64_t const tile_rows = rows_of_a_tile(dataset_.info(), whole.level());
  if (affordable_rows >= tile_rows) {
    block_rows_ = affordable_rows / tile_rows * tile_rows;
  } else {
    // Rows of an uncompressed tile can be read independently; a compressed tile would be decoded again for each block.
    bool const divisible = is_raw(whole.impl());
    block_rows_ = divisible ? affordable_rows : tile_rows;
  }
  tile_rows_ = tile_rows;
  count_ = reading::RowPieces(window_, tile_rows_, block_rows_).count();
}

Window RowBlocks::window(std::uint64_t index) const noexcept {
  return request_.has_target() ? window_ : reading::RowPieces(window_, tile_rows_, block_rows_).window(index);
}

std::uint32_t RowBlocks::first_row(std::uint64_t index) const noexcept {
  if (request_.target_grid) { return static_cast<std::uint32_t>(index * block_rows_); }
  return request_.has_target() ? 0 : window(index).row - window_.row;
}

std::uint32_t RowBlocks::rows_of(std::uint64_t index) const noexcept {
  if (!request_.has_target()) { return window(index).height; }
  return count_ == 1 ? height_
                     : static_cast<std::uint32_t>(std::min<std::uint64_t>(block_rows_, height_ - first_row(index)));
}

ReadRequest RowBlocks::request_of(std::uint64_t index) const {
  ReadRequest part = request_;
  if (!request_.has_target()) { part.window = window(index); }
  if (count_ > 1) {
    std::uint32_t const first = first_row(index), rows = rows_of(index);
    if (part.target_grid) {
      part.target_grid->first_row += first;
      part.target_grid->height = rows;
    }
    part.progress =
        reading::PieceProgress(request_.progress, tile_count_, height_).of_rows(first, std::uint64_t{first} + rows);
  }
  return part;
}

HostView RowBlocks::read(std::uint64_t index, std::optional<HostArray>& buffer, ReadReport* report, Order order) const {
  if (request_.cancel != nullptr && *request_.cancel) { throw Error(ErrorKind::cancelled, "the read was cancelled"); }
  ReadRequest const part = request_of(index);
  std::uint32_t const rows = rows_of(index);
  ReadReport part_report;
  bool const fits = buffer && buffer->dtype() == dtype_ && buffer->bands() == bands_ && buffer->width() == width_ &&
                    buffer->height() >= rows;
  if (!fits) {
    buffer.reset();
    if (order == Order::band) {
      buffer.emplace(terrazzo::read(dataset_, part, &part_report));  // checks the memory budget
    } else {
      MemoryBudget budget(resolve_memory_limit(request_.memory_limit_bytes));
      auto const bytes = checked_product(rows, width_, bands_, size_bytes(dtype_));
      auto const held = budget.reserve(bytes.value_or(std::numeric_limits<std::uint64_t>::max()), "a block of rows");
      buffer.emplace(dtype_, bands_, rows, width_);
    }
  }
  HostView const view = view_of(*buffer, rows, order);
  if (fits || order == Order::pixel) { read_into(dataset_, part, view, &part_report); }
  if (report != nullptr) { reading::add_report(*report, std::move(part_report)); }
  return view;
}

HostArray RowBlocks::read_mask(std::uint64_t index, ReadReport* report) const {
  ReadReport part_report;
  HostArray mask = terrazzo::read_mask(dataset_, request_of(index), &part_report);
  if (report != nullptr) { reading::add_report(*report, std::move(part_report)); }
  return mask;
}

}  // namespace terrazzo
