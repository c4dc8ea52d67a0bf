// SPDX-License-Identifier: Apache-2.0
//
// From a decoded row, as TIFF defines it, to samples of the band's type in the machine's byte order: undoes the
// predictor, swaps bytes, unpacks bits, widens 24-bit floats. One row at a time, straight to where it is wanted.
#pragma once

#include "codec/codec.hpp"
#include "terrazzo/dtype.hpp"
#include "tiff/image.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::reading {

class RowFinisher {
 public:
  // `decoded_order` is the byte order of what the codec gives. Throws `unsupported` for a predictor that TIFF does not
  // define for such samples.
  RowFinisher(tiff::Image const& image, codec::OutputOrder decoded_order);

  // True when a decoded row already is what finish() would give: then it may be read straight into its place.
  [[nodiscard]] bool is_copy() const noexcept { return step_ == Step::copy; }

  [[nodiscard]] std::size_t decoded_row_bytes() const noexcept { return decoded_row_bytes_; }
  [[nodiscard]] std::size_t finished_row_bytes() const noexcept { return finished_row_bytes_; }

  // `decoded` is one encoded-width row and may be destroyed; `out` takes finished_row_bytes() and does not overlap it.
  void finish(std::byte* decoded, std::byte* out) const noexcept;

 private:
  enum class Step : std::uint8_t {
    copy,
    swap,
    horizontal,
    horizontal_swapped,
    floating,
    unpack_bits,
    widen_float24,
    floating_then_widen,
  };
  Step step_ = Step::copy;
  std::uint32_t width_px_, samples_, bits_;
  std::uint32_t swap_bytes_;  // of one part of a complex sample
  std::size_t swap_count_;
  std::size_t decoded_row_bytes_, finished_row_bytes_;
  DType dtype_;
  bool swapped_;  // the row is not in the machine's byte order
};

// The predictor that is in force: TIFF defines it for some codecs only, the others ignore the tag.
[[nodiscard]] tiff::Predictor effective_predictor(tiff::Image const& image) noexcept;

}  // namespace terrazzo::reading
