// SPDX-License-Identifier: Apache-2.0
//
// JPEG 2000 (TIFF 34712) as bare codestreams: samples of 8 or 16 bits, lossless (5/3 wavelet) or to a compression ratio
// (9/7). RGB gets the format's own colour transform, which decoders undo automatically.
#include "codec/registry/encode_sink.hpp"
#include "codec/registry/encoders.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_OPENJPEG
#include "codec/jpeg2000/openjpeg.hpp"
#endif

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace terrazzo::codec {
namespace {

constexpr std::uint32_t kMaxComponents = 16384;  // limit of the format

#if TERRAZZO_HAVE_OPENJPEG

// Each wavelet level halves the image; more than five levels gain nothing.
constexpr int kMostResolutions = 6;

struct Output {
  EncodeSink* sink;
  std::size_t at = 0;
};

extern "C" {

static OPJ_SIZE_T jpeg2000_write(void* data, OPJ_SIZE_T bytes, void* user) {
  auto& output = *static_cast<Output*>(user);
  if (!output.sink->write(output.at, {static_cast<std::byte const*>(data), bytes})) {
    return static_cast<OPJ_SIZE_T>(-1);
  }
  output.at += bytes;
  return bytes;
}

static OPJ_OFF_T jpeg2000_skip_output(OPJ_OFF_T bytes, void* user) {
  if (bytes < 0) { return -1; }
  static_cast<Output*>(user)->at += static_cast<std::size_t>(bytes);
  return bytes;
}

static OPJ_BOOL jpeg2000_seek_output(OPJ_OFF_T to, void* user) {
  if (to < 0) { return OPJ_FALSE; }
  static_cast<Output*>(user)->at = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}

}  // extern "C"

template <class Sample>
void take_component(std::span<std::byte const> in, std::size_t first, std::size_t samples, OPJ_INT32* out,
                    std::size_t pixels) noexcept {
  for (std::size_t i = 0; i < pixels; ++i) {
    Sample value;
    std::memcpy(&value, in.data() + (i * samples + first) * sizeof(Sample), sizeof(Sample));
    out[i] = value;
  }
}

OpenJpegImage image_of(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in) {
  bool const is_signed = format.sample_format == tiff::SampleFormat::int_;
  opj_image_cmptparm_t component{};
  component.dx = component.dy = 1;
  component.w = shape.width_px;
  component.h = shape.height_px;
  component.prec = format.bits_per_sample;
  component.sgnd = is_signed ? 1 : 0;
  std::uint32_t const samples = format.samples_per_pixel;
  std::vector<opj_image_cmptparm_t> components(samples, component);
  bool const rgb = format.photometric == tiff::Photometric::rgb && samples >= 3;
  OpenJpegImage image(opj_image_create(samples, components.data(), rgb ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY));
  if (!image) { return nullptr; }
  image->x1 = shape.width_px;
  image->y1 = shape.height_px;
  std::size_t const pixels = std::size_t{shape.width_px} * shape.height_px;
  for (std::uint32_t s = 0; s < samples; ++s) {
    OPJ_INT32* const to = image->comps[s].data;
    if (format.bits_per_sample == 8) {
      is_signed ? take_component<std::int8_t>(in, s, samples, to, pixels)
                : take_component<std::uint8_t>(in, s, samples, to, pixels);
    } else {
      is_signed ? take_component<std::int16_t>(in, s, samples, to, pixels)
                : take_component<std::uint16_t>(in, s, samples, to, pixels);
    }
  }
  return image;
}

opj_cparameters_t parameters_of(EncodeFormat const& format, BlockShape shape) noexcept {
  opj_cparameters_t parameters;
  opj_set_default_encoder_parameters(&parameters);
  parameters.cod_format = 0;  // a codestream
  parameters.tcp_numlayers = 1;
  parameters.cp_disto_alloc = 1;
  parameters.irreversible = format.lossless ? 0 : 1;
  parameters.tcp_rates[0] = format.lossless ? 0.0F : static_cast<float>(format.jpeg2000_rate);
  int const levels = static_cast<int>(std::bit_width(std::min(shape.width_px, shape.height_px)));
  parameters.numresolution = std::clamp(levels, 1, kMostResolutions);
  bool const rgb = format.block.photometric == tiff::Photometric::rgb && format.block.samples_per_pixel >= 3;
  parameters.tcp_mct = rgb ? 1 : 0;
  return parameters;
}

tile::TileResult encode(EncodeFormat const& format, BlockShape shape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace&) {
  if (format.block.bits_per_sample != 8 && format.block.bits_per_sample != 16) {
    return unsupported("JPEG 2000 is written with samples of 8 or 16 bits");
  }
  OpenJpegImage const image = image_of(format.block, shape, in);
  OpenJpegCodec const codec(opj_create_compress(OPJ_CODEC_J2K));
  OpenJpegStream const stream(opj_stream_default_create(OPJ_FALSE));
  if (!image || !codec || !stream) { return out_of_memory(); }
  silence(codec.get());
  opj_cparameters_t parameters = parameters_of(format, shape);
  if (opj_setup_encoder(codec.get(), &parameters, image.get()) == OPJ_FALSE) {
    return failed("OpenJPEG refuses these parameters");
  }
  EncodeSink sink(out, in.size() / 2 + 4096);
  Output output{&sink};
  opj_stream_set_write_function(stream.get(), &jpeg2000_write);
  opj_stream_set_skip_function(stream.get(), &jpeg2000_skip_output);
  opj_stream_set_seek_function(stream.get(), &jpeg2000_seek_output);
  opj_stream_set_user_data(stream.get(), &output, nullptr);
  if (opj_start_compress(codec.get(), image.get(), stream.get()) == OPJ_FALSE ||
      opj_encode(codec.get(), stream.get()) == OPJ_FALSE || opj_end_compress(codec.get(), stream.get()) == OPJ_FALSE) {
    return failed("OpenJPEG failed, probably for lack of memory");
  }
  sink.finish();
  return done(sink.size());
}

#endif

std::string refuse(EncodeFormat const& format) {
  bool const is_integer =
      format.block.sample_format == tiff::SampleFormat::uint || format.block.sample_format == tiff::SampleFormat::int_;
  if (!is_integer || (format.block.bits_per_sample != 8 && format.block.bits_per_sample != 16)) {
    return "JPEG 2000 holds integers of 8 or 16 bits";
  }
  if (format.block.samples_per_pixel > kMaxComponents) { return "JPEG 2000 has at most 16384 components"; }
  if (!format.lossless && (!std::isfinite(format.jpeg2000_rate) || format.jpeg2000_rate < 1)) {
    return "lossy JPEG 2000 wants a compression ratio, 1 or more";
  }
  return {};
}

// Noise takes slightly more than its samples; every component and code block has headers.
std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  return 2 * raw_bytes(format, shape) + 64 * std::uint64_t{format.block.samples_per_pixel} + 4096;
}

}  // namespace

Encoder jpeg2000_encoder() noexcept {
  return {
    .compression = tiff::Compression::jpeg2000, .library = "OpenJPEG",
#if TERRAZZO_HAVE_OPENJPEG
    .encode = &guarded_encode<&encode>,
#endif
    .refuse = &refuse, .bound = &bound, .settings = {
      .lossless = true,
      .rate = true
    }
  };
}

}  // namespace terrazzo::codec
