// SPDX-License-Identifier: Apache-2.0
//
// WebP (TIFF 50001): three or four samples of 8 bits. Lossless is exact: colours of transparent pixels are kept.
#include "codec/registry/encode_sink.hpp"
#include "codec/registry/encoders.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_WEBP
#include <webp/encode.h>
#endif

#include <cstdint>

namespace terrazzo::codec {
namespace {

constexpr std::uint32_t kMaxSidePx = 16383;  // 14 bits in the format

#if TERRAZZO_HAVE_WEBP

// For lossless pictures `quality` means effort; this is the default of libwebp, libtiff and GDAL.
constexpr float kLosslessEffort = 75;

extern "C" {
static int webp_write(std::uint8_t const* data, std::size_t bytes, WebPPicture const* picture) {
  auto& sink = *static_cast<EncodeSink*>(picture->custom_ptr);
  return sink.append({reinterpret_cast<std::byte const*>(data), bytes}) ? 1 : 0;
}
}

tile::TileResult encode(EncodeFormat const& format, BlockShape shape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace&) {
  std::uint32_t const samples = format.block.samples_per_pixel;
  if ((samples != 3 && samples != 4) || format.block.bits_per_sample != 8) {
    return unsupported("WebP holds three or four samples of 8 bits");
  }
  if (shape.width_px > kMaxSidePx || shape.height_px > kMaxSidePx) {
    return unsupported("a WebP image is at most 16383 pixels wide and high");
  }
  WebPConfig config;
  WebPPicture picture;
  float const quality = format.lossless ? kLosslessEffort : static_cast<float>(format.quality);
  if (WebPConfigPreset(&config, WEBP_PRESET_DEFAULT, quality) == 0 || WebPPictureInit(&picture) == 0) {
    return failed("libwebp has another version than its header");
  }
  config.lossless = format.lossless ? 1 : 0;
  config.exact = 1;
  config.thread_level = 0;
  EncodeSink sink(out, in.size() / 2 + 4096);
  picture.use_argb = format.lossless ? 1 : 0;
  picture.width = static_cast<int>(shape.width_px);
  picture.height = static_cast<int>(shape.height_px);
  picture.writer = &webp_write;
  picture.custom_ptr = &sink;
  auto const* const pixels = reinterpret_cast<std::uint8_t const*>(in.data());
  int const pitch = static_cast<int>(shape.width_px * samples);
  bool const imported = (samples == 4 ? WebPPictureImportRGBA(&picture, pixels, pitch)
                                      : WebPPictureImportRGB(&picture, pixels, pitch)) != 0;
  bool const written = imported && WebPEncode(&config, &picture) != 0;
  WebPEncodingError const error = picture.error_code;
  WebPPictureFree(&picture);
  if (!written) {
    bool const memory = !imported || error == VP8_ENC_ERROR_OUT_OF_MEMORY ||
                        error == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY || error == VP8_ENC_ERROR_BAD_WRITE;
    return memory ? out_of_memory() : failed("libwebp failed");
  }
  sink.finish();
  return done(sink.size());
}

#endif

std::string refuse(EncodeFormat const& format) {
  if (format.block.bits_per_sample != 8 || format.block.sample_format != tiff::SampleFormat::uint) {
    return "WebP holds unsigned 8-bit samples";
  }
  if (format.block.samples_per_pixel != 3 && format.block.samples_per_pixel != 4) {
    return "WebP holds three or four samples a pixel, stored together";
  }
  if (!format.lossless && (format.quality < 1 || format.quality > 100)) { return "WebP quality is 1 to 100"; }
  return {};
}

// Noise takes slightly more than its samples in either mode.
std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  std::uint64_t const bytes = raw_bytes(format, shape);
  return bytes + bytes / 2 + 4096;
}

}  // namespace

Encoder webp_encoder() noexcept {
  return {
    .compression = tiff::Compression::webp, .library = "libwebp",
#if TERRAZZO_HAVE_WEBP
    .encode = &guarded_encode<&encode>,
#endif
    .refuse = &refuse, .bound = &bound, .settings = {
      .quality = true,
      .lossless = true
    }
  };
}

}  // namespace terrazzo::codec
