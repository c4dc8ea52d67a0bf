// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/decoded_rows.hpp"

#include "tile/host/prefetch.hpp"
#include "tile/host/stream_copy.hpp"

#include <cstring>

namespace terrazzo::reading {

RowLayout finished_layout(Level const& level, DecodeMethod const& method) noexcept {
  bool const rgb = level.image.is_converted_to_rgb() || method.kind == DecodeMethod::Kind::libtiff_rgba;
  std::uint32_t const samples = rgb ? level.bands : level.image.samples_per_block();
  std::size_t const pixel_bytes = samples * size_bytes(level.dtype);
  return {samples, pixel_bytes, pixel_bytes * level.image.block_width_px};
}

void DecodedRows::prefetch_row(std::uint32_t row) const noexcept {
  constexpr std::size_t kMostBytes = 4096;  // two decoded rows and two finished rows fit in the L1 cache
  if (stride_bytes_ > kMostBytes) { return; }
  tile::prefetch(at(row), stride_bytes_);
}

void DecodedRows::finish_row(std::uint32_t row, std::byte* out) const noexcept {
  if (finisher_ == nullptr) {
    std::memcpy(out, at(row), stride_bytes_);
  } else {
    finisher_->finish(at(row), out);
  }
}

std::byte const* DecodedRows::finished_row(std::uint32_t row, std::byte* out) const noexcept {
  if (finisher_ == nullptr || finisher_->is_copy()) { return at(row); }
  finish_row(row, out);
  return out;
}

void DecodedRows::stream_rows(std::uint32_t first_row, std::uint32_t rows, std::byte* row_buffer, std::byte* out,
                              std::ptrdiff_t stride_bytes) const noexcept {
  if (finisher_ != nullptr) {
    finisher_->stream(at(first_row), rows, row_buffer, out, stride_bytes);
    return;
  }
  tile::copy_rows_streaming(
      out, stride_bytes,
      {.first = at(first_row), .stride_bytes = stride_bytes_, .row_bytes = stride_bytes_, .rows = rows});
}

void DecodedRows::make_plane_row(std::uint32_t row, std::size_t count, std::span<std::byte* const> out) const noexcept {
  tile::make_rgb_row(*planes_, row, count, {out[0], out[1], out[2]});
}

}  // namespace terrazzo::reading
