// SPDX-License-Identifier: Apache-2.0
//
// From a decoded row, as TIFF defines it, to samples of the band's type in the machine's byte order: undoes the
// predictor, swaps bytes, unpacks bits, widens 24-bit floats. One row at a time, straight to where it is wanted.
#pragma once

#include "codec/codec.hpp"
#include "terrazzo/dtype.hpp"
#include "tiff/image.hpp"
#include "tile/row_format.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::reading {

class RowFinisher {
 public:
  // `decoded_order` is the byte order of what the codec gives. Throws `unsupported` for a predictor that TIFF does not
  // define for such samples.
  RowFinisher(tiff::Image const& image, codec::OutputOrder decoded_order);

  // True when a decoded row already is what finish() would give: then it may be read straight into its place.
  [[nodiscard]] bool is_copy() const noexcept { return format_.step == tile::FinishStep::copy; }

  [[nodiscard]] std::size_t decoded_row_bytes() const noexcept { return format_.decoded_row_bytes; }
  [[nodiscard]] std::size_t finished_row_bytes() const noexcept { return format_.finished_row_bytes; }

  [[nodiscard]] tile::RowFormat const& format() const noexcept { return format_; }

  // `decoded` is one encoded-width row and may be destroyed; `out` takes finished_row_bytes() and does not overlap it.
  void finish(std::byte* decoded, std::byte* out) const noexcept;

  // The same for many rows, one after the other in `decoded`, written past the caches: row i goes to `out` + i *
  // stride. `row` takes finished_row_bytes(). A fence must follow (tile/stream_copy.hpp).
  void stream(std::byte* decoded, std::size_t rows, std::byte* row, std::byte* out,
              std::ptrdiff_t stride_bytes) const noexcept;

 private:
  tile::RowFormat format_;
  std::uint32_t swap_bytes_;  // of one part of a complex sample
  std::size_t swap_count_;
};

// The predictor that is in force: TIFF defines it for some codecs only, the others ignore the tag.
[[nodiscard]] tiff::Predictor effective_predictor(tiff::Image const& image) noexcept;

}  // namespace terrazzo::reading
