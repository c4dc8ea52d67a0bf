// SPDX-License-Identifier: Apache-2.0
//
// WebP (TIFF 50001): RGB or RGBA bytes. A blob without alpha in an RGBA image is opaque, as in libtiff.
#include "codec/registry/decoders.hpp"
#include "codec/registry/libraries.hpp"
#include "codec/registry/result.hpp"

#if TERRAZZO_HAVE_WEBP
#include <webp/decode.h>
#endif

#include <cstdint>
#include <limits>

namespace terrazzo::codec {

#if TERRAZZO_HAVE_WEBP

namespace {

constexpr std::uint32_t kMaxSidePx = 16383;  // 14 bits in the format

// The number of complete rows of a truncated stream. The plain decoder does not report it, so the stream is decoded
// again.
std::size_t rows_before_the_end(std::span<std::byte const> in, std::span<std::byte> out, WebPDecBuffer const& buffer) {
  WebPDecBuffer target = buffer;
  WebPIDecoder* const decoder = WebPINewDecoder(&target);
  if (decoder == nullptr) { return 0; }
  WebPIUpdate(decoder, reinterpret_cast<std::uint8_t const*>(in.data()), in.size());
  int last_row = 0;
  std::uint8_t const* const pixels = WebPIDecGetRGB(decoder, &last_row, nullptr, nullptr, nullptr);
  WebPIDelete(decoder);
  return pixels == reinterpret_cast<std::uint8_t*>(out.data()) && last_row > 0 ? static_cast<std::size_t>(last_row) : 0;
}

tile::TileResult decode(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                        std::span<std::byte> out, Workspace&) {
  std::uint32_t const samples = format.samples_per_pixel;
  if ((samples != 3 && samples != 4) || format.bits_per_sample != 8) {
    return unsupported("WebP holds three or four samples of 8 bits");
  }
  if (auto const refusal = refuse_shape(format, shape, out.size())) { return *refusal; }
  if (shape.width_px > kMaxSidePx || shape.height_px > kMaxSidePx) {
    return unsupported("a WebP image is at most 16383 pixels wide and high");
  }
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) { return failed("libwebp has another version than its header"); }
  auto const* const data = reinterpret_cast<std::uint8_t const*>(in.data());
  VP8StatusCode const header = WebPGetFeatures(data, in.size(), &config.input);
  if (header == VP8_STATUS_NOT_ENOUGH_DATA) { return truncated(0, "the WebP stream ends in its header"); }
  if (header != VP8_STATUS_OK) { return corrupt("this is not a WebP stream"); }
  if (static_cast<std::uint32_t>(config.input.width) != shape.width_px ||
      static_cast<std::uint32_t>(config.input.height) != shape.height_px) {
    return corrupt("the WebP image has another size");
  }
  if (config.input.has_animation != 0) { return unsupported("the WebP stream is an animation"); }
  if (config.input.has_alpha != 0 && samples == 3) { return corrupt("the WebP image has an alpha channel too many"); }

  std::size_t const pitch = std::size_t{shape.width_px} * samples;
  std::size_t const expected = pitch * shape.height_px;
  config.output.colorspace = samples == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.width = config.input.width;
  config.output.height = config.input.height;
  config.output.u.RGBA.rgba = reinterpret_cast<std::uint8_t*>(out.data());
  config.output.u.RGBA.stride = static_cast<int>(pitch);
  config.output.u.RGBA.size = expected;
  WebPDecBuffer const buffer = config.output;
  VP8StatusCode const code = WebPDecode(data, in.size(), &config);
  switch (code) {
    case VP8_STATUS_OK: return done_of(expected, out.size(), false);
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return truncated(rows_before_the_end(in, out, buffer) * pitch, "the WebP stream ends early");
    case VP8_STATUS_OUT_OF_MEMORY: return out_of_memory();
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return unsupported("the WebP stream uses a feature that libwebp does not know");
    default: return corrupt("the WebP stream is damaged");
  }
}

}  // namespace

Codec::Decode webp_decoder() noexcept { return &guarded<&decode>; }

#else

Codec::Decode webp_decoder() noexcept { return nullptr; }

#endif

}  // namespace terrazzo::codec
