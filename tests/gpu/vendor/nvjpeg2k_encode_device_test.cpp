// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG2000 as an encoder: every tile decoded by OpenJPEG and compared sample by sample, over types, sizes and kinds
// of pictures; the same bytes in every batch, time beside OpenJPEG on all cores, and allocations.
#include "encode_tiles.hpp"
#include "gpu/vendor/encoded_stream.hpp"
#include "gpu/vendor/nvjpeg2k_encode.hpp"

#include <openjpeg.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace terrazzo::gpu::device_test {
namespace {

using tile::TileStatus;
using Bytes = EncodedBytes;

struct Kind {
  char const* name;
  std::uint32_t samples, bits;
  bool is_signed = false, is_rgb = false;
  std::uint32_t width = 256, height = 256;
};
constexpr Kind kRgb8{"u8 x 3, RGB", 3, 8, false, true};
constexpr Kind kKinds[] = {{"u8 x 1", 1, 8},
                           kRgb8,
                           {"u8 x 3, not RGB", 3, 8},
                           {"u8 x 2", 2, 8},
                           {"u8 x 4, RGB", 4, 8, false, true},
                           {"u8 x 4, not RGB", 4, 8},
                           {"u16 x 1", 1, 16},
                           {"u16 x 3, RGB", 3, 16, false, true},
                           {"u16 x 4, not RGB", 4, 16},
                           {"s16 x 1", 1, 16, true},
                           {"s16 x 3, RGB", 3, 16, true, true},
                           {"u8 x 3 77 x 301", 3, 8, false, true, 77, 301},
                           {"u16 x 1 1 x 1", 1, 16, false, false, 1, 1},
                           {"s16 x 2 1 x 40", 2, 16, true, false, 1, 40},
                           {"u8 x 1 513 x 31", 1, 8, false, false, 513, 31},
                           {"u16 x 1 1024 x 1024", 1, 16, false, false, 1024, 1024}};

enum class Picture { smooth, noise, extremes, constant };
constexpr Picture kPictures[] = {Picture::smooth, Picture::noise, Picture::extremes, Picture::constant};

// Samples side by side, least significant byte first.
Bytes picture(Kind const& kind, Picture which, std::uint64_t seed) {
  Noise noise(seed);
  double const top = static_cast<double>((1u << kind.bits) - 1);
  Bytes out;
  for (std::uint32_t y = 0; y < kind.height; ++y) {
    for (std::uint32_t x = 0; x < kind.width; ++x) {
      for (std::uint32_t s = 0; s < kind.samples; ++s) {
        double const wave =
            0.5 + 0.4 * std::sin((x + static_cast<double>(seed) * 11) * 0.03 * (s + 1)) * std::cos(y * 0.02);
        std::uint32_t value = static_cast<std::uint32_t>(std::min(top, std::floor(wave * top + noise.next() % 8)));
        if (which == Picture::noise) { value = noise.next(); }
        if (which == Picture::extremes) { value = noise.next() % 2 == 0 ? 0 : ~0u; }
        if (which == Picture::constant) { value = 37; }
        if (kind.is_signed) { value ^= 1u << (kind.bits - 1); }
        for (std::uint32_t b = 0; b < kind.bits / 8; ++b) { out.push_back(static_cast<std::byte>(value >> (8 * b))); }
      }
    }
  }
  return out;
}

struct Memory {
  Bytes bytes;
  std::size_t at = 0;
};

extern "C" {
static OPJ_SIZE_T encoded_write(void* from, OPJ_SIZE_T count, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  if (memory.at + count > memory.bytes.size()) { memory.bytes.resize(memory.at + count); }
  std::memcpy(memory.bytes.data() + memory.at, from, count);
  memory.at += count;
  return count;
}
static OPJ_SIZE_T encoded_read(void* to, OPJ_SIZE_T count, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  OPJ_SIZE_T const left = std::min<OPJ_SIZE_T>(count, memory.bytes.size() - memory.at);
  if (left == 0) { return static_cast<OPJ_SIZE_T>(-1); }
  std::memcpy(to, memory.bytes.data() + memory.at, left);
  memory.at += left;
  return left;
}
static OPJ_OFF_T encoded_skip(OPJ_OFF_T count, void* user) {
  static_cast<Memory*>(user)->at += static_cast<std::size_t>(count);
  return count;
}
static OPJ_BOOL encoded_seek(OPJ_OFF_T to, void* user) {
  static_cast<Memory*>(user)->at = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}
static void encoded_complaint(char const*, void* user) { *static_cast<bool*>(user) = true; }
}

opj_stream_t* stream_over(Memory& memory, bool reading) {
  opj_stream_t* const stream = opj_stream_default_create(reading ? OPJ_TRUE : OPJ_FALSE);
  opj_stream_set_read_function(stream, &encoded_read);
  opj_stream_set_write_function(stream, &encoded_write);
  opj_stream_set_skip_function(stream, &encoded_skip);
  opj_stream_set_seek_function(stream, &encoded_seek);
  opj_stream_set_user_data(stream, &memory, nullptr);
  opj_stream_set_user_data_length(stream, memory.bytes.size());
  return stream;
}

// The samples of an image of this kind; nothing when it is of another, or when OpenJPEG complains in any way.
Bytes samples_of(Kind const& kind, opj_image_t const& image) {
  if (image.numcomps != kind.samples || image.x1 != kind.width || image.y1 != kind.height) { return {}; }
  Bytes out(std::size_t{kind.width} * kind.height * kind.samples * (kind.bits / 8));
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

Bytes decode_on_host(Kind const& kind, Bytes const& tile) {
  Memory memory{tile, 0};
  opj_stream_t* const stream = stream_over(memory, true);
  opj_codec_t* const codec = opj_create_decompress(OPJ_CODEC_J2K);
  bool complained = false;
  opj_set_error_handler(codec, &encoded_complaint, &complained);
  opj_set_warning_handler(codec, &encoded_complaint, &complained);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_setup_decoder(codec, &parameters);
  opj_image_t* image = nullptr;
  bool const fine = opj_read_header(stream, codec, &image) && opj_decode(codec, stream, image) &&
                    opj_end_decompress(codec, stream) && !complained;
  Bytes const samples = fine ? samples_of(kind, *image) : Bytes();
  opj_image_destroy(image);
  opj_destroy_codec(codec);
  opj_stream_destroy(stream);
  return samples;
}

std::int32_t sample_at(Kind const& kind, Bytes const& pixels, std::size_t index) {
  auto const low = static_cast<std::int32_t>(pixels[index * (kind.bits / 8)]);
  if (kind.bits == 8) { return kind.is_signed ? static_cast<std::int8_t>(low) : low; }
  std::int32_t const value = low | static_cast<std::int32_t>(pixels[index * 2 + 1]) << 8;
  return kind.is_signed ? static_cast<std::int16_t>(value) : value;
}

// As the host codec does.
Bytes encode_on_host(Kind const& kind, Bytes const& pixels, bool lossless = true) {
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
      image->comps[s].data[i] = sample_at(kind, pixels, i * kind.samples + s);
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
  Memory memory;
  opj_stream_t* const stream = stream_over(memory, false);
  bool const fine =
      opj_start_compress(codec, image, stream) && opj_encode(codec, stream) && opj_end_compress(codec, stream);
  opj_stream_destroy(stream);
  opj_destroy_codec(codec);
  opj_image_destroy(image);
  return fine ? memory.bytes : Bytes();
}

Jpeg2000EncodeFormat format_of(Kind const& kind) {
  return {.width_px = kind.width,
          .height_px = kind.height,
          .samples = kind.samples,
          .bits_per_sample = kind.bits,
          .is_signed = kind.is_signed,
          .is_rgb = kind.is_rgb};
}

EncodeTiles tiles_of(Kind const& kind, std::vector<Bytes> const& pixels, std::size_t count) {
  return EncodeTiles(pixels, count, Nvjpeg2kEncoder::bound(format_of(kind)));
}

// Needs no GPU: OpenJPEG's streams pass the check and come back through the test's own decoder.
bool form() {
  bool right = true;
  for (Kind const& kind : kKinds) {
    CodestreamShape const shape{kind.width, kind.height, kind.samples, kind.bits, kind.is_signed};
    Bytes const pixels = picture(kind, Picture::smooth, 1);
    Bytes const stream = encode_on_host(kind, pixels);
    right &= is_lossless_codestream(stream, shape) && decode_on_host(kind, stream) == pixels;
    right &= !is_lossless_codestream(encode_on_host(kind, pixels, false), shape);
  }
  return report(right, "lossless codestreams are known as such");
}

bool equality() {
  bool passed = true;
  Nvjpeg2kEncoder encoder;
  for (Kind const& kind : kKinds) {
    constexpr std::size_t kTiles = 32;
    std::vector<Bytes> pixels;
    for (std::size_t i = 0; i < 8; ++i) { pixels.push_back(picture(kind, kPictures[i % 4], i + 1)); }
    EncodeTiles const tiles = tiles_of(kind, pixels, kTiles);
    encoder.encode(format_of(kind), tiles.batch(), tiles.stream());
    tiles.wait();
    auto const statuses = tiles.statuses();
    auto const streams = tiles.streams();
    std::size_t own_bytes = 0, host_bytes = 0, wrong = 0;
    for (std::size_t i = 0; i < kTiles; ++i) {
      if (statuses[i] != TileStatus::ok) { continue; }
      if (decode_on_host(kind, streams[i]) != pixels[i % 8]) { ++wrong; }
      if (i % 4 == 0) {
        own_bytes += streams[i].size();
        host_bytes += encode_on_host(kind, pixels[i % 8]).size();
      }
    }
    std::printf("  %-22s %zu of %zu encoded, smooth ones in %zu bytes (OpenJPEG %zu)\n", kind.name, tiles.good(),
                kTiles, own_bytes, host_bytes);
    passed &= report(wrong == 0, std::string(kind.name) + ": what was encoded decodes to the same samples");
    // Images of less than a code block's least side may be left to the host.
    bool const enough = tiles.good() == kTiles || std::min(kind.width, kind.height) < 32;
    passed &= report(enough, std::string(kind.name) + ": everything was encoded");
  }
  return passed;
}

bool same_bytes() {
  std::vector<Bytes> pixels;
  for (std::size_t i = 0; i < 16; ++i) { pixels.push_back(picture(kRgb8, kPictures[i % 3], i + 1)); }
  Nvjpeg2kEncoder encoder;
  EncodeTiles const many = tiles_of(kRgb8, pixels, 160);
  encoder.encode(format_of(kRgb8), many.batch(), many.stream());
  many.wait();
  std::vector<Bytes> const first = many.streams();
  bool same = many.good() == 160;
  for (std::size_t i = 16; i < 160; ++i) { same &= first[i] == first[i % 16]; }
  Nvjpeg2kEncoder::Options options;
  options.lanes = 1;
  Nvjpeg2kEncoder other(options);
  EncodeTiles const few = tiles_of(kRgb8, pixels, 16);
  other.encode(format_of(kRgb8), few.batch(), few.stream());
  few.wait();
  std::vector<Bytes> const second = few.streams();
  for (std::size_t i = 0; i < 16; ++i) { same &= second[i] == first[i]; }
  return report(same, "a tile gives the same bytes whatever the batch, the lane and the encoder");
}

bool odd_ones() {
  std::vector<Bytes> const pixels{picture(kRgb8, Picture::smooth, 1)};
  EncodeTiles tiles = tiles_of(kRgb8, pixels, 40);
  tiles.set_size(0, 0);
  tiles.set_size(17, 0);
  tiles.set_size(20, 1000);
  Nvjpeg2kEncoder encoder;
  encoder.encode(format_of(kRgb8), tiles.batch(), tiles.stream());
  tiles.wait();
  auto const statuses = tiles.statuses();
  bool const right = tiles.good() == 37 && statuses[0] == TileStatus::sparse && statuses[17] == TileStatus::sparse &&
                     statuses[20] == TileStatus::unsupported && tiles.streams()[20].empty();
  return report(right, "sparse tiles and tiles of other sizes");
}

bool timing() {
  constexpr std::size_t kTiles = 512;
  std::vector<Bytes> pixels(16);
  parallel(pixels.size(), [&](std::size_t i) { pixels[i] = picture(kRgb8, Picture::smooth, i + 1); });
  EncodeTiles const tiles = tiles_of(kRgb8, pixels, kTiles);
  double const raw_bytes = static_cast<double>(kTiles * pixels[0].size());
  bool passed = true;
  struct Way {
    unsigned lanes, threads;
  };
  for (Way const way : {Way{1, 1}, Way{4, 4}, Way{8, 4}, Way{8, 8}, Way{16, 4}, Way{16, 8}, Way{32, 8}, Way{32, 16}}) {
    std::size_t free_before = 0, free_after = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free_before, &total), "asking for free memory");
    Nvjpeg2kEncoder::Options options;
    options.lanes = way.lanes;
    options.host_threads = way.threads;
    Nvjpeg2kEncoder encoder(options);
    auto const encode = [&] {
      encoder.encode(format_of(kRgb8), tiles.batch(), tiles.stream());
      tiles.wait();
    };
    for (int i = 0; i < 3; ++i) { encode(); }
    check_cuda(cudaMemGetInfo(&free_after, &total), "asking for free memory");
    std::uint64_t const before = encoder.allocations();
    double const ms = best_ms(2, encode);
    double const held = static_cast<double>(free_before) - static_cast<double>(free_after);
    std::printf(
        "  512 tiles of 256 x 256 x 3: %2u lanes, %2u threads: %8.2f ms, %.2f GB/s, the library took %.1f MB "
        "(estimate %.1f)\n",
        way.lanes, way.threads, ms, raw_bytes / ms / 1e6, held / 1e6,
        static_cast<double>(Nvjpeg2kEncoder::library_device_bytes(format_of(kRgb8), way.lanes)) / 1e6);
    passed &= report(encoder.allocations() == before, "nothing of ours is allocated after the first batches");
  }
  auto const start = std::chrono::steady_clock::now();
  parallel(kTiles, [&](std::size_t i) { (void)encode_on_host(kRgb8, pixels[i % 16]); });
  std::chrono::duration<double, std::milli> const taken = std::chrono::steady_clock::now() - start;
  std::printf("  OpenJPEG on %u threads: %8.2f ms\n", std::thread::hardware_concurrency(), taken.count());
  return passed;
}

}  // namespace

std::vector<Part> nvjpeg2k_encode_parts() {
  return {{"jp2k-encode-form", &form},
          {"jp2k-encode-equality", &equality},
          {"jp2k-encode-same", &same_bytes},
          {"jp2k-encode-odd", &odd_ones},
          {"jp2k-encode-timing", &timing}};
}

}  // namespace terrazzo::gpu::device_test
