// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/row_finisher.hpp"

#include "base/text.hpp"
#include "read/plan/decode_method.hpp"
#include "terrazzo/error.hpp"
#include "tile/bit_unpack.hpp"
#include "tile/byte_swap.hpp"
#include "tile/float_convert.hpp"
#include "tile/host/prefetch.hpp"
#include "tile/host/stream_copy.hpp"
#include "tile/undo_predictor.hpp"

#include <cstring>

namespace terrazzo::reading {

namespace {

using tile::FinishStep;

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

RowFinisher::RowFinisher(tiff::Image const& image, codec::OutputOrder decoded_order) {
  format_.width_px = image.block_width_px;
  format_.samples = image.samples_per_block();
  format_.bits = image.bits;
  format_.dtype = image.dtype();
  format_.sample_bytes = static_cast<std::uint32_t>(size_bytes(format_.dtype));
  format_.swapped = decoded_order == codec::OutputOrder::stored && image.byte_order != std::endian::native;
  std::size_t const sample_count = std::size_t{format_.width_px} * format_.samples;
  std::uint32_t const parts = is_complex(format_.dtype) ? 2 : 1;
  swap_bytes_ = format_.bits / 8 / parts;
  swap_count_ = sample_count * parts;
  format_.decoded_row_bytes = image.row_bytes();
  format_.finished_row_bytes = sample_count * format_.sample_bytes;

  bool const float24 = image.sample_format == tiff::SampleFormat::ieee_float && image.bits == 24;
  switch (tiff::Predictor const predictor = effective_predictor(image); predictor) {
    case tiff::Predictor::floating_point:
      if (image.sample_format != tiff::SampleFormat::ieee_float) { refuse_predictor(image, 3); }
      format_.step = float24 ? FinishStep::floating_then_widen : FinishStep::floating;
      return;
    case tiff::Predictor::horizontal:
      if (image.bits != 8 && image.bits != 16 && image.bits != 32 && image.bits != 64) { refuse_predictor(image, 2); }
      format_.step = format_.swapped && image.bits > 8 ? FinishStep::horizontal_swapped : FinishStep::horizontal;
      return;
    case tiff::Predictor::none: break;
    default: refuse_predictor(image, static_cast<std::uint32_t>(predictor));
  }
  if (float24) {
    format_.step = FinishStep::widen_float24;
  } else if (!is_whole_bytes(image.bits)) {
    format_.step = FinishStep::unpack_bits;
  } else if (format_.swapped && swap_bytes_ > 1) {
    format_.step = FinishStep::swap;
  }
}

void RowFinisher::finish(std::byte* decoded, std::byte* out) const noexcept {
  std::uint32_t const width = format_.width_px, samples = format_.samples, bits = format_.bits;
  std::size_t const sample_count = std::size_t{width} * samples;
  switch (format_.step) {
    case FinishStep::copy: std::memcpy(out, decoded, format_.finished_row_bytes); return;
    case FinishStep::swap: tile::swap_samples(decoded, out, swap_count_, swap_bytes_); return;
    case FinishStep::horizontal: tile::undo_horizontal_row(decoded, out, width, samples, bits); return;
    case FinishStep::horizontal_swapped: tile::undo_horizontal_row_swapped(decoded, out, width, samples, bits); return;
    case FinishStep::floating: tile::undo_float_row(decoded, out, width, samples, bits / 8); return;
    case FinishStep::unpack_bits: tile::unpack_bits_row(decoded, out, sample_count, bits, format_.swapped); return;
    case FinishStep::widen_float24: tile::widen_float24_row(decoded, out, sample_count, format_.swapped); return;
    case FinishStep::floating_then_widen: {
      // The narrow samples lie at the end of the wide samples' buffer: widening runs forward and never overwrites a
      // sample that it has not read.
      std::byte* const narrow = out + sample_count;
      tile::undo_float_row(decoded, narrow, width, samples, 3);
      tile::widen_float24_row(narrow, out, sample_count, false);
      return;
    }
  }
}

void RowFinisher::stream(std::byte* decoded, std::size_t rows, std::byte* row, std::byte* out,
                         std::ptrdiff_t stride_bytes) const noexcept {
  std::size_t const decoded_bytes = format_.decoded_row_bytes, finished_bytes = format_.finished_row_bytes;
  if (is_copy()) {
    tile::copy_rows_streaming(
        out, stride_bytes,
        {.first = decoded, .stride_bytes = decoded_bytes, .row_bytes = finished_bytes, .rows = rows});
    return;
  }
  if (format_.step == FinishStep::floating && format_.samples == 1 && finished_bytes <= tile::kMaxStreamedRowBytes) {
    tile::stream_float_rows(decoded, format_.width_px, format_.bits / 8, rows, out, stride_bytes);
    return;
  }
  for (std::size_t r = 0; r < rows; ++r, decoded += decoded_bytes, out += stride_bytes) {
    if (r + tile::kPrefetchedRows < rows) {
      tile::prefetch_partial_lines(out + std::ptrdiff_t{tile::kPrefetchedRows} * stride_bytes, finished_bytes);
    }
    finish(decoded, row);
    tile::copy_streaming(out, row, finished_bytes);
  }
}

}  // namespace terrazzo::reading
