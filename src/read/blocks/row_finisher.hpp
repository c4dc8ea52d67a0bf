// SPDX-License-Identifier: Apache-2.0
//
// Converts a decoded TIFF row to samples of the band's type in native byte order: undoes the predictor, swaps bytes,
// unpacks bits, widens 24-bit floats. Works one row at a time and writes straight to the destination.
#pragma once

#include "codec/registry/codec.hpp"
#include "terrazzo/dtype.hpp"
#include "tiff/image.hpp"
#include "tile/row_format.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::reading {

class RowFinisher {
 public:
  // `decoded_order` is the byte order of the codec's output. Throws `unsupported` for a predictor that TIFF does not
  // define for the sample type.
  RowFinisher(tiff::Image const& image, codec::OutputOrder decoded_order);

  // True if a decoded row equals a finished row: then it can be read straight into its destination.
  [[nodiscard]] bool is_copy() const noexcept { return format_.step == tile::FinishStep::copy; }

  [[nodiscard]] std::size_t decoded_row_bytes() const noexcept { return format_.decoded_row_bytes; }
  [[nodiscard]] std::size_t finished_row_bytes() const noexcept { return format_.finished_row_bytes; }

  [[nodiscard]] tile::RowFormat const& format() const noexcept { return format_; }

  // `decoded` is one row of encoded width; finish() may overwrite it. `out` takes finished_row_bytes() and does not
  // overlap `decoded`.
  void finish(std::byte* decoded, std::byte* out) const noexcept;

  // Finishes `rows` rows, stored consecutively in `decoded`, with stores that bypass the caches: row i goes to `out` +
  // i * stride. `row` takes finished_row_bytes(). The caller issues a fence afterwards (tile/host/stream_copy.hpp).
  void stream(std::byte* decoded, std::size_t rows, std::byte* row, std::byte* out,
              std::ptrdiff_t stride_bytes) const noexcept;

 private:
  tile::RowFormat format_;
  std::uint32_t swap_bytes_;  // size of one part of a complex sample
  std::size_t swap_count_;
};

}  // namespace terrazzo::reading
