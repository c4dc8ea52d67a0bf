// SPDX-License-Identifier: Apache-2.0
//
// OpenJPEG as the host codec uses it, and pictures to encode: the other side of the device tests of nvJPEG2000's
// encoder.
#pragma once

#include "encode_tiles.hpp"

#include <openjpeg.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace terrazzo::gpu::device_test {

struct Jpeg2000Kind {
  char const* name;
  std::uint32_t samples, bits;
  bool is_signed = false, is_rgb = false;
  std::uint32_t width = 128, height = 128;
};

enum class Jpeg2000Picture { smooth, noise, extremes, constant };
inline constexpr Jpeg2000Picture kJpeg2000Pictures[] = {Jpeg2000Picture::smooth, Jpeg2000Picture::noise,
                                                        Jpeg2000Picture::extremes, Jpeg2000Picture::constant};

// Samples side by side, least significant byte first.
inline EncodedBytes jpeg2000_picture(Jpeg2000Kind const& kind, Jpeg2000Picture which, std::uint64_t seed) {
  Noise noise(seed);
  double const top = static_cast<double>((1u << kind.bits) - 1);
  EncodedBytes out;
  out.reserve(std::size_t{kind.width} * kind.height * kind.samples * (kind.bits / 8));
  for (std::uint32_t y = 0; y < kind.height; ++y) {
    for (std::uint32_t x = 0; x < kind.width; ++x) {
      for (std::uint32_t s = 0; s < kind.samples; ++s) {
        double const wave =
            0.5 + 0.4 * std::sin((x + static_cast<double>(seed) * 11) * 0.03 * (s + 1)) * std::cos(y * 0.02);
        std::uint32_t value = static_cast<std::uint32_t>(std::min(top, std::floor(wave * top + noise.next() % 8)));
        if (which == Jpeg2000Picture::noise) { value = noise.next(); }
        if (which == Jpeg2000Picture::extremes) { value = noise.next() % 2 == 0 ? 0 : ~0u; }
        if (which == Jpeg2000Picture::constant) { value = 37; }
        if (kind.is_signed) { value ^= 1u << (kind.bits - 1); }
        for (std::uint32_t b = 0; b < kind.bits / 8; ++b) { out.push_back(static_cast<std::byte>(value >> (8 * b))); }
      }
    }
  }
  return out;
}

struct Jpeg2000Memory {
  EncodedBytes bytes;
  std::size_t at = 0;
};

extern "C" {
static OPJ_SIZE_T jpeg2000_write(void* from, OPJ_SIZE_T count, void* user) {
  auto& memory = *static_cast<Jpeg2000Memory*>(user);
  if (memory.at + count > memory.bytes.size()) { memory.bytes.resize(memory.at + count); }
  std::memcpy(memory.bytes.data() + memory.at, from, count);
  memory.at += count;
  return count;
}
static OPJ_SIZE_T jpeg2000_read(void* to, OPJ_SIZE_T count, void* user) {
  auto& memory = *static_cast<Jpeg2000Memory*>(user);
  OPJ_SIZE_T const left = std::min<OPJ_SIZE_T>(count, memory.bytes.size() - memory.at);
  if (left == 0) { return static_cast<OPJ_SIZE_T>(-1); }
  std::memcpy(to, memory.bytes.data() + memory.at, left);
  memory.at += left;
  return left;
}
static OPJ_OFF_T jpeg2000_skip(OPJ_OFF_T count, void* user) {
  static_cast<Jpeg2000Memory*>(user)->at += static_cast<std::size_t>(count);
  return count;
}
static OPJ_BOOL jpeg2000_seek(OPJ_OFF_T to, void* user) {
  static_cast<Jpeg2000Memory*>(user)->at = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}
static void jpeg2000_complaint(char const* text, void* user) {
  *static_cast<bool*>(user) = true;
  std::printf("  OpenJPEG: %s", text);
}
}

inline opj_stream_t* jpeg2000_stream(Jpeg2000Memory& memory, bool reading) {
  opj_stream_t* const stream = opj_stream_default_create(reading ? OPJ_TRUE : OPJ_FALSE);
  opj_stream_set_read_function(stream, &jpeg2000_read);
  opj_stream_set_write_function(stream, &jpeg2000_write);
  opj_stream_set_skip_function(stream, &jpeg2000_skip);
  opj_stream_set_seek_function(stream, &jpeg2000_seek);
  opj_stream_set_user_data(stream, &memory, nullptr);
  opj_stream_set_user_data_length(stream, memory.bytes.size());
  return stream;
}

// The samples of an image of this kind; nothing when it is of another, or when OpenJPEG complains in any way.
inline EncodedBytes jpeg2000_samples(Jpeg2000Kind const& kind, opj_image_t const& image) {
  if (image.numcomps != kind.samples || image.x1 != kind.width || image.y1 != kind.height) { return {}; }
  EncodedBytes out(std::size_t{kind.width} * kind.height * kind.samples * (kind.bits / 8));
  for (std::uint32_t s = 0; s < kind.samples; ++s) {
    opj_image_comp_t const& component = image.comps[s];
    if (component.w != kind.width || component.h != kind.height || component.prec != kind.bits ||
        (component.sgnd != 0) != kind.is_signed || component.data == nullptr) {
      return {};
    }
    for (std::size_t i = 0; i < std::size_t{kind.width} * kind.height; ++i) {
      for (std::uint32_t b = 0; b < kind.bits / 8; ++b) {
        out[(i * kind.samples + s) * (kind.bits / 8) + b] = static_cast<std::byte>(component.data[i] >> (8 * b));
      }
    }
  }
  return out;
}

inline EncodedBytes jpeg2000_decoded_on_host(Jpeg2000Kind const& kind, EncodedBytes const& tile) {
  Jpeg2000Memory memory{tile, 0};
  opj_stream_t* const stream = jpeg2000_stream(memory, true);
  opj_codec_t* const codec = opj_create_decompress(OPJ_CODEC_J2K);
  bool complained = false;
  opj_set_error_handler(codec, &jpeg2000_complaint, &complained);
  opj_set_warning_handler(codec, &jpeg2000_complaint, &complained);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_setup_decoder(codec, &parameters);
  opj_image_t* image = nullptr;
  bool const fine = opj_read_header(stream, codec, &image) && opj_decode(codec, stream, image) &&
                    opj_end_decompress(codec, stream) && !complained;
  EncodedBytes const samples = fine ? jpeg2000_samples(kind, *image) : EncodedBytes();
  opj_image_destroy(image);
  opj_destroy_codec(codec);
  opj_stream_destroy(stream);
  return samples;
}

inline std::int32_t jpeg2000_sample(Jpeg2000Kind const& kind, EncodedBytes const& pixels, std::size_t index) {
  auto const low = static_cast<std::int32_t>(pixels[index * (kind.bits / 8)]);
  if (kind.bits == 8) { return kind.is_signed ? static_cast<std::int8_t>(low) : low; }
  std::int32_t const value = low | static_cast<std::int32_t>(pixels[index * 2 + 1]) << 8;
  return kind.is_signed ? static_cast<std::int16_t>(value) : value;
}

// As the host codec does.
inline EncodedBytes jpeg2000_on_host(Jpeg2000Kind const& kind, EncodedBytes const& pixels, bool lossless = true) {
  opj_image_cmptparm_t component{};
  component.dx = component.dy = 1;
  component.w = kind.width;
  component.h = kind.height;
  component.prec = kind.bits;
  component.sgnd = kind.is_signed ? 1 : 0;
  std::vector<opj_image_cmptparm_t> components(kind.samples, component);
  opj_image_t* const image =
      opj_image_create(kind.samples, components.data(), kind.is_rgb ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY);
  image->x1 = kind.width;
  image->y1 = kind.height;
  for (std::size_t i = 0; i < std::size_t{kind.width} * kind.height; ++i) {
    for (std::uint32_t s = 0; s < kind.samples; ++s) {
      image->comps[s].data[i] = jpeg2000_sample(kind, pixels, i * kind.samples + s);
    }
  }
  opj_cparameters_t settings;
  opj_set_default_encoder_parameters(&settings);
  settings.tcp_numlayers = 1;
  settings.cp_disto_alloc = 1;
  settings.irreversible = lossless ? 0 : 1;
  settings.tcp_rates[0] = lossless ? 0 : 10;
  settings.numresolution = std::min(6, static_cast<int>(std::bit_width(std::min(kind.width, kind.height))));
  settings.tcp_mct = kind.is_rgb ? 1 : 0;
  opj_codec_t* const codec = opj_create_compress(OPJ_CODEC_J2K);
  opj_setup_encoder(codec, &settings, image);
  Jpeg2000Memory memory;
  opj_stream_t* const stream = jpeg2000_stream(memory, false);
  bool const fine =
      opj_start_compress(codec, image, stream) && opj_encode(codec, stream) && opj_end_compress(codec, stream);
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  return fine ? memory.bytes : EncodedBytes();
}

}  // namespace terrazzo::gpu::device_test
