// SPDX-License-Identifier: Apache-2.0
#include "read/row_finisher.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "tile/bit_unpack.hpp"
#include "tile/byte_swap.hpp"
#include "tile/float_convert.hpp"
#include "tile/predictor.hpp"

#include <cstring>

namespace terrazzo::reading {

namespace {

bool is_whole_bytes(std::uint32_t bits) noexcept {
  return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128;
}

[[noreturn]] void refuse_predictor(tiff::Image const& image, std::uint32_t predictor) {
  throw Error(ErrorKind::unsupported,
              text("predictor ", predictor, " with samples of ", image.bits, " bits in format ",
                   static_cast<unsigned>(image.sample_format)),
              {.ifd = image.ifd, .tag = tiff::tag::Predictor});
}

}  // namespace

tiff::Predictor effective_predictor(tiff::Image const& image) noexcept {
  switch (image.compression) {
    case tiff::Compression::lzw:
    case tiff::Compression::deflate:
    case tiff::Compression::pkzip_deflate:
    case tiff::Compression::zstd:
    case tiff::Compression::lzma:
    case tiff::Compression::lz4: return image.predictor;
    default: return tiff::Predictor::none;
  }
}

RowFinisher::RowFinisher(tiff::Image const& image, codec::OutputOrder decoded_order)
    : width_px_(image.block_width_px), samples_(image.samples_per_block()), bits_(image.bits), dtype_(image.dtype()) {
  swapped_ = decoded_order == codec::OutputOrder::stored && image.byte_order != std::endian::native;
  std::size_t const sample_count = std::size_t{width_px_} * samples_;
  std::uint32_t const parts = is_complex(dtype_) ? 2 : 1;
  swap_bytes_ = bits_ / 8 / parts;
  swap_count_ = sample_count * parts;
  decoded_row_bytes_ = static_cast<std::size_t>(image.row_bytes());
  finished_row_bytes_ = sample_count * size_bytes(dtype_);

  bool const float24 = image.sample_format == tiff::SampleFormat::ieee_float && bits_ == 24;
  switch (tiff::Predictor const predictor = effective_predictor(image); predictor) {
    case tiff::Predictor::floating_point:
      if (image.sample_format != tiff::SampleFormat::ieee_float) { refuse_predictor(image, 3); }
      step_ = float24 ? Step::floating_then_widen : Step::floating;
      return;
    case tiff::Predictor::horizontal:
      if (bits_ != 8 && bits_ != 16 && bits_ != 32 && bits_ != 64) { refuse_predictor(image, 2); }
      step_ = swapped_ && bits_ > 8 ? Step::horizontal_swapped : Step::horizontal;
      return;
    case tiff::Predictor::none: break;
    default: refuse_predictor(image, static_cast<std::uint32_t>(predictor));
  }
  if (float24) {
    step_ = Step::widen_float24;
  } else if (!is_whole_bytes(bits_)) {
    step_ = Step::unpack_bits;
  } else if (swapped_ && swap_bytes_ > 1) {
    step_ = Step::swap;
  }
}

void RowFinisher::finish(std::byte* decoded, std::byte* out) const noexcept {
  std::size_t const sample_count = std::size_t{width_px_} * samples_;
  switch (step_) {
    case Step::copy: std::memcpy(out, decoded, finished_row_bytes_); return;
    case Step::swap: tile::swap_samples(decoded, out, swap_count_, swap_bytes_); return;
    case Step::horizontal: tile::undo_horizontal_row(decoded, out, width_px_, samples_, bits_); return;
    case Step::horizontal_swapped: tile::undo_horizontal_row_swapped(decoded, out, width_px_, samples_, bits_); return;
    case Step::floating: tile::undo_float_row(decoded, out, width_px_, samples_, bits_ / 8); return;
    case Step::unpack_bits: tile::unpack_bits_row(decoded, out, sample_count, bits_, swapped_); return;
    case Step::widen_float24: tile::widen_float24_row(decoded, out, sample_count, swapped_); return;
    case Step::floating_then_widen: {
      // The narrow samples lie at the end of the room of the wide ones: widening runs from the front and never writes
      // over what it has not read.
      std::byte* const narrow = out + sample_count;
      tile::undo_float_row(decoded, narrow, width_px_, samples_, 3);
      tile::widen_float24_row(narrow, out, sample_count, false);
      return;
    }
  }
}

}  // namespace terrazzo::reading
