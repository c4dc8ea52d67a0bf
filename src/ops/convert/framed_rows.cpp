// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/framed_rows.hpp"

#include "base/saturating.hpp"
#include "read/plan/value_transforms.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

namespace terrazzo::ops {
namespace {

constexpr std::uint64_t kSlabBytes = std::uint64_t{32} << 20;
constexpr std::uint32_t kMostSlabRows = 1024;

bool is_empty(Margins const& margins) noexcept { return margins == Margins{}; }

// Repeats the first `bytes` bytes of a buffer over all of it. Each copy doubles the filled part.
void repeat(std::span<std::byte> buffer, std::size_t bytes) {
  for (std::size_t filled = bytes; filled < buffer.size();) {
    std::size_t const more = std::min(filled, buffer.size() - filled);
    std::memcpy(buffer.data() + filled, buffer.data(), more);
    filled += more;
  }
}

std::byte* at(HostView const& view, std::uint32_t band, std::uint32_t row, std::uint32_t column) {
  return static_cast<std::byte*>(view.data) + band * view.band_stride_bytes + row * view.row_stride_bytes +
         column * view.pixel_stride_bytes;
}

}  // namespace

bool marks_missing_pixels(WriteOptions const& options) noexcept {
  bool const has_alpha = !options.band_info.empty() && options.band_info.back().color == ColorInterpretation::alpha;
  return options.nodata || options.mask || has_alpha;
}

FramedRows::FramedRows(Margins const& margins, std::uint32_t width, RowBlocks::Order order, WriteOptions const& options,
                       Writer& writer)
    : margins_(margins), inner_width_(width), order_(order), options_(options), writer_(writer) {
  if (!is_empty(margins_)) { make_slab(); }
}

void FramedRows::make_slab() {
  std::uint32_t const width = margins_.left + inner_width_ + margins_.right;
  std::uint64_t const pixel_bytes = std::uint64_t{options_.bands} * size_bytes(options_.dtype) + 1;
  slab_rows_ = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kSlabBytes / saturating_product(pixel_bytes, width), 1, kMostSlabRows));
  slab_.emplace(Slab{HostArray(options_.dtype, options_.bands, slab_rows_, width),
                     HostArray(DType::u8, 1, slab_rows_, options_.mask ? width : 1)});
  std::span<std::byte> const bytes = slab_->pixels.bytes();
  std::size_t const sample_bytes = size_bytes(options_.dtype);
  std::memset(bytes.data(), 0, sample_bytes);
  if (options_.nodata) { reading::store_nodata(*options_.nodata, options_.dtype, bytes.data()); }
  repeat(bytes, sample_bytes);
  std::ranges::fill(slab_->mask.bytes(), std::byte{0});
}

HostView FramedRows::pixel_rows(std::uint32_t rows) {
  HostView view = slab_->pixels.view();
  view.height = rows;
  if (order_ == RowBlocks::Order::pixel) {
    view.band_stride_bytes = static_cast<std::int64_t>(size_bytes(view.dtype));
    view.pixel_stride_bytes = view.band_stride_bytes * view.bands;
    view.row_stride_bytes = view.pixel_stride_bytes * view.width;
  }
  return view;
}

void FramedRows::write_slab(std::uint32_t rows) {
  if (!options_.mask) { return writer_.write_rows(pixel_rows(rows)); }
  HostView mask = slab_->mask.view();
  mask.height = rows;
  writer_.write_rows(pixel_rows(rows), mask);
}

// Rows of the margins only; the slab has none of the read's pixels then.
void FramedRows::write_empty(std::uint32_t rows) {
  while (rows > 0) {
    std::uint32_t const count = std::min(rows, slab_rows_);
    write_slab(count);
    rows -= count;
  }
}

void FramedRows::write(HostView const& pixels, HostView const& mask) {
  if (!slab_) { return options_.mask ? writer_.write_rows(pixels, mask) : writer_.write_rows(pixels); }
  if (!has_begun_) { write_empty(margins_.top); }
  has_begun_ = true;
  bool const is_interleaved = order_ == RowBlocks::Order::pixel;
  std::uint32_t const runs = is_interleaved ? 1 : pixels.bands;  // of one row, without a gap
  std::size_t const run_bytes =
      std::size_t{pixels.width} * size_bytes(pixels.dtype) * (is_interleaved ? pixels.bands : 1);
  for (std::uint32_t first = 0; first < pixels.height;) {
    std::uint32_t const rows = std::min(slab_rows_, pixels.height - first);
    HostView const slab = pixel_rows(rows);
    for (std::uint32_t run = 0; run < runs; ++run) {
      for (std::uint32_t row = 0; row < rows; ++row) {
        std::memcpy(at(slab, run, row, margins_.left), at(pixels, run, first + row, 0), run_bytes);
      }
    }
    for (std::uint32_t row = 0; options_.mask && row < rows; ++row) {
      std::memcpy(at(slab_->mask.view(), 0, row, margins_.left), at(mask, 0, first + row, 0), mask.width);
    }
    write_slab(rows);
    first += rows;
  }
}

void FramedRows::finish() {
  if (!slab_ || margins_.bottom == 0) { return; }
  make_slab();
  write_empty(margins_.bottom);
}

}  // namespace terrazzo::ops
