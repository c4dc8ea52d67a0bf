// SPDX-License-Identifier: Apache-2.0
#include "read/decode_method.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "codec/libtiff_decoder.hpp"
#include "codec/memory_charge.hpp"
#include "terrazzo/error.hpp"

#include <string_view>
#include <utility>

namespace terrazzo::reading {

DecodeMethod choose_method(Level const& level, bool trusted) {
  using Kind = DecodeMethod::Kind;
  tiff::Image const& image = level.image;
  std::string const name(tiff::compression_name(image.compression));
  auto const refuse = [&](std::string message) -> void {
    throw Error(ErrorKind::unsupported, std::move(message),
                {.source = level.source->name(), .ifd = image.ifd, .tag = tiff::tag::Compression});
  };
  DecodeMethod method;
  method.codec = codec::find_codec(image.compression);
  if (method.codec != nullptr) {
    if (method.codec->decode == nullptr) {
      refuse(text("compression ", name, ": this build lacks ", method.codec->library));
    }
    bool const raw =
        image.compression == tiff::Compression::none && !image.is_converted_to_rgb() && !image.has_packed_chroma();
    method.kind = raw ? Kind::raw : Kind::codec;
    if (raw) { method.codec = nullptr; }
    std::string_view const library = raw ? std::string_view{} : method.codec->library;
    method.name = library.empty() ? name : text(name, " (", library, ")");
    return method;
  }
  if (name == "unknown") {
    refuse(text("compression ", static_cast<std::uint32_t>(image.compression), " is not known"));
  }
  if (!codec::LibtiffDecoder::decodes(image.compression)) {
    refuse(codec::LibtiffDecoder::available()
               ? text("compression ", name, " is not supported")
               : text("compression ", name, " is decoded by libtiff, which is not found"));
  }
  if (!trusted) { refuse(text("compression ", name, " is decoded by libtiff, which is off for untrusted sources")); }
  bool const rgba = image.compression == tiff::Compression::ojpeg || image.is_converted_to_rgb();
  // libtiff gives four bytes a pixel then; other bands have no place in them.
  if (rgba && (level.dtype != DType::u8 || (level.bands != 3 && level.bands != 4))) {
    refuse(text("compression ", name, " with ", level.bands, " bands of ", to_string(level.dtype)));
  }
  method.kind = rgba ? Kind::libtiff_rgba : Kind::libtiff;
  method.name = text(name, " (libtiff)");
  return method;
}

std::uint64_t codec_scratch_bytes(Level const& level, DecodeMethod const& method) noexcept {
  tiff::Image const& image = level.image;
  std::uint64_t const pixels = std::uint64_t{image.block_width_px} * image.block_height_px;
  std::uint64_t const block = image.block_bytes(image.block_height_px);
  if (method.kind == DecodeMethod::Kind::libtiff_rgba) { return 4 * pixels; }  // bottom-up, as libtiff gives it
  if (method.kind != DecodeMethod::Kind::codec) { return 0; }
  switch (image.compression) {
    // Bands apart, a mask for each, and the blob inside deflate or zstd, which may be a third larger than its pixels.
    case tiff::Compression::lerc:
      return block + pixels * image.samples_per_block() +
             (image.lerc_additional_compression != 0 ? block + block / 3 + 256 : 0);
    case tiff::Compression::jxl:
    case tiff::Compression::jxl_dng_1_7:
      // Channels that come in planes of their own, and libjxl's own memory.
      return block + codec::jxl_working_bytes({image.block_width_px, image.block_height_px}, image.samples_per_block());
    // Planes of 16-bit samples in whole MCUs, of at most 32 pixels a side. Coefficients of 8-bit streams are charged
    // when the stream turns out to have several scans (codec/memory_charge.hpp).
    case tiff::Compression::jpeg:
      return image.bits == 8 ? 0
                             : 2 * round_up<std::uint64_t>(image.block_width_px, 32) *
                                   round_up<std::uint64_t>(image.block_height_px, 32) * image.samples_per_block();
    case tiff::Compression::webp:
      return 4 * (pixels + 17 * std::uint64_t{image.block_width_px});  // lossless streams
    // OpenJPEG decodes whole blocks of 32-bit samples.
    case tiff::Compression::jpeg2000:
    case tiff::Compression::aperio_jp2_ycbcr:
    case tiff::Compression::aperio_jp2_rgb: return 4 * pixels * image.samples_per_block();
    default: return 0;
  }
}

}  // namespace terrazzo::reading
