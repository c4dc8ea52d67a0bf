// SPDX-License-Identifier: Apache-2.0
//
// Rows of one block in the memory of the thread that decoded or read them. A row is finished when it is requested.
#pragma once

#include "read/blocks/row_finisher.hpp"
#include "read/open/level.hpp"
#include "read/plan/decode_method.hpp"
#include "tile/host/jpeg_rows.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace terrazzo::reading {

// The layout of a finished row: native samples, interleaved.
struct RowLayout {
  std::uint32_t samples = 0;
  std::size_t pixel_bytes = 0, row_bytes = 0;
};
[[nodiscard]] RowLayout finished_layout(Level const& level, DecodeMethod const& method) noexcept;

// A view: the decoder or RawRows owns the memory and the finisher.
class DecodedRows {
 public:
  DecodedRows() = default;
  // Rows that are not finished yet.
  DecodedRows(std::byte* rows, RowFinisher const& finisher) noexcept
      : rows_(rows), stride_bytes_(finisher.decoded_row_bytes()), finisher_(&finisher) {}
  // Rows that are already finished.
  DecodedRows(std::byte* rows, std::size_t row_bytes) noexcept : rows_(rows), stride_bytes_(row_bytes) {}
  // Planes of a JPEG instead of rows: call only make_plane_row().
  explicit DecodedRows(tile::JpegPlanes const& planes) noexcept : planes_(planes) {}

  [[nodiscard]] bool is_in_planes() const noexcept { return planes_.has_value(); }

  // Prefetches a row that will be finished next.
  void prefetch_row(std::uint32_t row) const noexcept;
  // Finishes a row into `out`, which has room for one finished row. Each row can be finished only once.
  void finish_row(std::uint32_t row, std::byte* out) const noexcept;
  // Returns a finished row. If decoded rows need no finishing, returns the decoded row and leaves `out` unchanged.
  [[nodiscard]] std::byte const* finished_row(std::uint32_t row, std::byte* out) const noexcept;
  // Finishes rows [first_row, first_row + rows) with stores that bypass the caches: row i goes to `out` + i *
  // stride_bytes. `row_buffer` has room for a finished row. The caller issues a fence afterwards
  // (tile/host/stream_copy.hpp).
  void stream_rows(std::uint32_t first_row, std::uint32_t rows, std::byte* row_buffer, std::byte* out,
                   std::ptrdiff_t stride_bytes) const noexcept;
  // Writes the first `count` pixels of a row, each sample to its plane. REQUIRES: is_in_planes().
  void make_plane_row(std::uint32_t row, std::size_t count, std::span<std::byte* const> out) const noexcept;

 private:
  [[nodiscard]] std::byte* at(std::uint32_t row) const noexcept { return rows_ + std::size_t{row} * stride_bytes_; }

  std::byte* rows_ = nullptr;
  std::size_t stride_bytes_ = 0;
  RowFinisher const* finisher_ = nullptr;  // null: the rows are finished
  std::optional<tile::JpegPlanes> planes_{};
};

// A block and its decoding result. In a truncated block, the rows up to result.bytes_written are valid.
struct DecodedBlock {
  tile::TileResult result{};
  DecodedRows rows{};
};

}  // namespace terrazzo::reading
