// SPDX-License-Identifier: Apache-2.0
#include "read/plan/decode_method.hpp"

#include "base/text.hpp"
#include "codec/libtiff/decoder.hpp"
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
  auto const not_found = [&](std::string_view library) {
    return text("compression ", name, " is decoded by ", library, ", which is not found");
  };
  DecodeMethod method;
  method.codec = codec::find_codec(image.compression);
  if (method.codec != nullptr) {
    if (method.codec->decode == nullptr) {
      refuse(text("compression ", name, ": this build lacks ", method.codec->library));
    }
    if (!method.codec->is_available()) { refuse(not_found(method.codec->library)); }
    bool const raw =
        !tiff::is_compressed(image.compression) && !image.is_converted_to_rgb() && !image.has_packed_chroma();
    method.kind = raw ? Kind::raw : Kind::codec;
    if (raw) { method.codec = nullptr; }
    std::string_view const library = raw ? std::string_view{} : method.codec->library;
    method.name = name;
    // Without a stream: every read comes here, and a small window takes a microsecond or two.
    if (!library.empty()) { method.name.append(" (").append(library).append(")"); }
    return method;
  }
  if (name == "unknown") {
    refuse(text("compression ", static_cast<std::uint32_t>(image.compression), " is not known"));
  }
  if (!codec::LibtiffDecoder::decodes(image.compression)) {
    refuse(codec::LibtiffDecoder::available() ? text("compression ", name, " is not supported") : not_found("libtiff"));
  }
  if (!trusted) { refuse(text("compression ", name, " is decoded by libtiff, which is off for untrusted sources")); }
  bool const rgba = codec::LibtiffDecoder::gives_rgba_only(image.compression) || image.is_converted_to_rgb();
  // libtiff then returns four bytes per pixel, with no room for other bands.
  if (rgba && (level.dtype != DType::u8 || (level.bands != 3 && level.bands != 4))) {
    refuse(text("compression ", name, " with ", level.bands, " bands of ", to_string(level.dtype)));
  }
  method.kind = rgba ? Kind::libtiff_rgba : Kind::libtiff;
  method.name = text(name, " (libtiff)");
  return method;
}

std::uint64_t codec_scratch_bytes(Level const& level, DecodeMethod const& method) noexcept {
  tiff::Image const& image = level.image;
  codec::BlockShape const shape{image.block_width_px, image.block_height_px};
  if (method.kind == DecodeMethod::Kind::libtiff_rgba) {
    return std::uint64_t{4} * shape.width_px * shape.height_px;  // bottom-up, in libtiff's order
  }
  if (method.kind != DecodeMethod::Kind::codec || method.codec->scratch_bytes == nullptr) { return 0; }
  return method.codec->scratch_bytes(block_format(image), shape);
}

codec::BlockFormat block_format(tiff::Image const& image) {
  codec::BlockFormat format;
  format.compression = image.compression;
  format.samples_per_pixel = image.samples_per_block();
  format.bits_per_sample = image.bits;
  format.sample_format = image.sample_format;
  format.photometric = image.photometric;
  format.extra_samples = image.separate_planes ? 0 : static_cast<std::uint32_t>(image.extra_samples.size());
  format.last_sample_is_alpha =
      format.extra_samples > 0 && (image.extra_samples.back() == 1 || image.extra_samples.back() == 2);
  format.byte_order = image.byte_order;
  format.jpeg_tables = image.jpeg_tables;
  format.lerc_additional_compression = image.lerc_additional_compression;
  return format;
}

tiff::Predictor effective_predictor(tiff::Image const& image) noexcept {
  codec::Codec const* const codec = codec::find_codec(image.compression);
  bool const in_force = codec != nullptr && codec->predictor != codec::PredictorUse::none;
  return in_force ? image.predictor : tiff::Predictor::none;
}

}  // namespace terrazzo::reading
