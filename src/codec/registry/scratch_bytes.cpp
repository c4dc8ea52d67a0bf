// SPDX-License-Identifier: Apache-2.0
//
// Memory of decoders in addition to their input and output, computed from the format. Coefficients of 8-bit JPEG
// streams are charged if the stream has several scans (memory_charge.hpp).
#include "base/checked.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/memory_charge.hpp"
#include "codec/registry/result.hpp"

namespace terrazzo::codec {

namespace {

std::uint64_t pixels_of(BlockShape shape) noexcept { return std::uint64_t{shape.width_px} * shape.height_px; }

std::uint64_t bytes_of(BlockFormat const& format, BlockShape shape) noexcept {
  return block_bytes(format, shape).value_or(std::numeric_limits<std::uint32_t>::max());
}

}  // namespace

// Separate bands, a mask for each, and the blob inside deflate or zstd, which may be a third larger than its pixels.
std::uint64_t lerc_scratch_bytes(BlockFormat const& format, BlockShape shape) noexcept {
  std::uint64_t const block = bytes_of(format, shape);
  return block + pixels_of(shape) * format.samples_per_pixel +
         (format.lerc_additional_compression != 0 ? block + block / 3 + 256 : 0);
}

// Planes of 16-bit samples in whole MCUs, of at most 32 pixels per side.
std::uint64_t jpeg_scratch_bytes(BlockFormat const& format, BlockShape shape) noexcept {
  if (format.bits_per_sample == 8) { return 0; }
  return 2 * round_up<std::uint64_t>(shape.width_px, 32) * round_up<std::uint64_t>(shape.height_px, 32) *
         format.samples_per_pixel;
}

// OpenJPEG decodes whole blocks of 32-bit samples.
std::uint64_t jpeg2000_scratch_bytes(BlockFormat const& format, BlockShape shape) noexcept {
  return 4 * pixels_of(shape) * format.samples_per_pixel;
}

// For lossless streams.
std::uint64_t webp_scratch_bytes(BlockFormat const&, BlockShape shape) noexcept {
  return 4 * (pixels_of(shape) + 17 * std::uint64_t{shape.width_px});
}

// Channels that come in separate planes, and libjxl's own memory.
std::uint64_t jxl_scratch_bytes(BlockFormat const& format, BlockShape shape) noexcept {
  return bytes_of(format, shape) + jxl_working_bytes(shape, format.samples_per_pixel);
}

}  // namespace terrazzo::codec
