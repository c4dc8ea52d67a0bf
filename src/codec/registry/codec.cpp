// SPDX-License-Identifier: Apache-2.0
//
// The table of codecs. Code outside src/codec and src/tiff names no codec: it uses the codec's row.
#include "codec/registry/codec.hpp"

#include "codec/jpeg/planes.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/encoders.hpp"

#include <array>

namespace terrazzo::codec {

namespace {

using Number = tiff::Compression;

constexpr std::array kNone = {Choice{Compression::none, "none"}};
constexpr std::array kPackBits = {Choice{Compression::packbits, "packbits"}};
constexpr std::array kLzw = {Choice{Compression::lzw, "lzw"}};
constexpr std::array kDeflate = {Choice{Compression::deflate, "deflate", {"zip"}}};
constexpr std::array kZstd = {Choice{Compression::zstd, "zstd"}};
constexpr std::array kLerc = {Choice{Compression::lerc, "lerc"},
                              Choice{Compression::lerc_deflate, "lerc-deflate", {}, Number::deflate, 1},
                              Choice{Compression::lerc_zstd, "lerc-zstd", {}, Number::zstd, 2}};
constexpr std::array kJpeg = {Choice{Compression::jpeg, "jpeg"}};
constexpr std::array kJpeg2000 = {Choice{Compression::jpeg2000, "jpeg2000", {"jp2000", "j2k"}}};
constexpr std::array kWebp = {Choice{Compression::webp, "webp"}};
constexpr std::array kLzma = {Choice{Compression::lzma, "lzma"}};
constexpr std::array kLz4 = {Choice{Compression::lz4, "lz4"}};

Codec deflate_row(Number number) {
  return {.compression = number,
          .library = "libdeflate",
          .decode = deflate_decoder(),
          .predictor = PredictorUse::read_write,
          .blocks_at_once = deflate_blocks_at_once(),
          .at_once_from_bytes = kLeastPairBytes,
          .device_decoder = DeviceMethod::deflate,
          .device_trust = DeviceTrust::assumed};
}

Codec jpeg2000_row(Number number) {
  return {.compression = number,
          .library = "OpenJPEG",
          .decode = jpeg2000_decoder(),
          .output_order = OutputOrder::native,
          .lossy = true,
          .bit_order = BitOrder::own,
          .scratch_bytes = &jpeg2000_scratch_bytes};
}

Codec jxl_row(Number number) {
  return {.compression = number,
          .library = "libjxl",
          .decode = jxl_decoder(),
          .is_loaded = jxl_is_loaded(),
          .lossy = true,
          .scratch_bytes = &jxl_scratch_bytes};
}

Codec pkzip_deflate_row() {
  Codec row = deflate_row(Number::pkzip_deflate);
  row.written_as = Number::deflate;
  return row;
}

Codec written_deflate_row() {
  Codec row = deflate_row(Number::deflate);
  row.choices = kDeflate;
  row.encoder = deflate_encoder();
  row.device_encoder = DeviceMethod::deflate;
  return row;
}

Codec written_jpeg2000_row() {
  Codec row = jpeg2000_row(Number::jpeg2000);
  row.device_decoder = row.device_encoder = DeviceMethod::jpeg2000;
  row.device_trust = DeviceTrust::assumed;
  row.choices = kJpeg2000;
  row.encoder = jpeg2000_encoder();
  row.padding = Padding::last_row;
  row.alpha = Alpha::blurred;
  return row;
}

}  // namespace

// In a big-endian file, libtiff swaps the samples of LERC and JPEG XL after decoding and before encoding: so their
// order is `stored`, there and here. It does not swap JPEG's samples.
std::span<Codec const> all_codecs() noexcept {
  static std::array const kTable = {
      Codec{.compression = Number::none,
            .decode = none_decoder(),
            .device_decoder = DeviceMethod::raw,
            .choices = kNone,
            .encoder = none_encoder(),
            .device_encoder = DeviceMethod::raw},
      Codec{.compression = Number::lzw,
            .decode = lzw_decoder(),
            .predictor = PredictorUse::read_write,
            .device_decoder = DeviceMethod::lzw,
            .choices = kLzw,
            .encoder = lzw_encoder(),
            .device_encoder = DeviceMethod::lzw},
      Codec{.compression = Number::jpeg,
            .library = "libjpeg-turbo",
            .decode = jpeg_decoder(),
            .output_order = OutputOrder::native,
            .lossy = true,
            .bit_order = BitOrder::own,
            .scratch_bytes = &jpeg_scratch_bytes,
            .decode_planes = &decode_jpeg_planes,
            .device_decoder = DeviceMethod::jpeg,
            .device_trust = DeviceTrust::assumed,
            .choices = kJpeg,
            .encoder = jpeg_encoder(),
            .device_encoder = DeviceMethod::jpeg,
            .padding = Padding::last_row,
            .alpha = Alpha::mask},
      written_deflate_row(),
      Codec{.compression = Number::packbits,
            .decode = packbits_decoder(),
            .device_decoder = DeviceMethod::packbits,
            .choices = kPackBits,
            .encoder = packbits_encoder(),
            .device_encoder = DeviceMethod::packbits},
      pkzip_deflate_row(),
      jpeg2000_row(Number::aperio_jp2_ycbcr),
      jpeg2000_row(Number::aperio_jp2_rgb),
      written_jpeg2000_row(),
      Codec{.compression = Number::lerc,
            .library = "liblerc",
            .decode = lerc_decoder(),
            .scratch_bytes = &lerc_scratch_bytes,
            .choices = kLerc,
            .encoder = lerc_encoder(),
            .padding = Padding::last_row},
      Codec{.compression = Number::lzma,
            .library = "liblzma",
            .decode = lzma_decoder(),
            .predictor = PredictorUse::read_write,
            .choices = kLzma,
            .encoder = lzma_encoder()},
      Codec{.compression = Number::zstd,
            .library = "libzstd",
            .decode = zstd_decoder(),
            .predictor = PredictorUse::read_write,
            .device_decoder = DeviceMethod::zstd,
            .device_trust = DeviceTrust::stated,  // nvCOMP's ZSTD hangs or corrupts pixels on damaged files
            .choices = kZstd,
            .encoder = zstd_encoder(),
            .device_encoder = DeviceMethod::zstd},
      Codec{.compression = Number::webp,
            .library = "libwebp",
            .decode = webp_decoder(),
            .output_order = OutputOrder::native,
            .lossy = true,
            .scratch_bytes = &webp_scratch_bytes,
            .choices = kWebp,
            .encoder = webp_encoder(),
            .padding = Padding::last_row},
      jxl_row(Number::jxl),
      // libtiff and GDAL have no LZ4. Other LZ4 writers apply predictors, as for any byte stream; ours does not.
      Codec{.compression = Number::lz4,
            .library = "liblz4",
            .decode = lz4_frame_decoder(),
            .predictor = PredictorUse::read,
            .choices = kLz4,
            .encoder = lz4_frame_encoder()},
      jxl_row(Number::jxl_dng_1_7),
  };
  return kTable;
}

Codec const* find_codec(tiff::Compression compression) noexcept {
  for (Codec const& codec : all_codecs()) {
    if (codec.compression == compression) { return &codec; }
  }
  return nullptr;
}

ChosenCodec find_choice(Compression value) noexcept {
  for (Codec const& codec : all_codecs()) {
    for (Choice const& choice : codec.choices) {
      if (choice.value == value) { return {&codec, &choice}; }
    }
  }
  return {};
}

}  // namespace terrazzo::codec
