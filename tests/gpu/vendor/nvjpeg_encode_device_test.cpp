// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG as an encoder: tiles decoded by libjpeg-turbo with tag 347 as the host writes it, errors beside those of
// libjpeg-turbo's own encoder, quantisation at every quality, the same bytes in every batch, time and allocations.
#include "encode_tiles.hpp"
#include "gpu/vendor/encoded_stream.hpp"
#include "gpu/vendor/nvjpeg_encode.hpp"

#include <csetjmp>
#include <cstdio>
extern "C" {
#include <jpeglib.h>
}

#include <cmath>
#include <cstdlib>
#include <cstring>

namespace terrazzo::gpu::device_test {
namespace {

using tile::TileStatus;
using Bytes = EncodedBytes;

struct Kind {
  char const* name;
  std::uint32_t samples, across, down;
  std::uint32_t width = 512, height = 512;
};
constexpr Kind kColour{"4:2:0", 3, 2, 2};
constexpr Kind kKinds[] = {{"gray", 1, 1, 1},
                           {"4:4:4", 3, 1, 1},
                           {"4:2:2", 3, 2, 1},
                           kColour,
                           {"gray 16 x 16", 1, 1, 1, 16, 16},
                           {"gray 77 x 301", 1, 1, 1, 77, 301},
                           {"4:2:0 77 x 301", 3, 2, 2, 77, 301},
                           {"4:2:2 1 x 1", 3, 2, 1, 1, 1},
                           {"4:4:4 333 x 7", 3, 1, 1, 333, 7},
                           {"4:2:0 2048 x 16", 3, 2, 2, 2048, 16}};

Bytes picture(Kind const& kind, std::uint64_t seed) {
  Noise noise(seed);
  double const shift = static_cast<double>(noise.next() % 100);
  Bytes pixels;
  for (std::uint32_t y = 0; y < kind.height; ++y) {
    for (std::uint32_t x = 0; x < kind.width; ++x) {
      double const edge = ((x / 37 + y / 53) % 2 == 0) ? 25 : -25;
      double const grain = static_cast<double>(noise.next() % 9) - 4;
      for (std::uint32_t s = 0; s < kind.samples; ++s) {
        double const value = 128 + 60 * std::sin((x + shift) * 0.02 * (s + 1)) * std::cos((y - shift) * 0.015) +
                             edge * (s == 1 ? 0.5 : 1) + grain;
        pixels.push_back(static_cast<std::byte>(static_cast<int>(std::min(255.0, std::max(0.0, value)))));
      }
    }
  }
  return pixels;
}

Bytes taken(unsigned char* memory, unsigned long size) {
  Bytes out(size);
  std::memcpy(out.data(), memory, size);
  std::free(memory);
  return out;
}

// As the host codec sets its encoder up.
void open(jpeg_compress_struct& encoder, jpeg_error_mgr& errors, Kind const& kind, int quality) {
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  encoder.image_width = kind.width;
  encoder.image_height = kind.height;
  encoder.input_components = static_cast<int>(kind.samples);
  encoder.in_color_space = kind.samples == 3 ? JCS_RGB : JCS_UNKNOWN;
  jpeg_set_defaults(&encoder);
  if (kind.samples == 3) {
    jpeg_set_colorspace(&encoder, JCS_YCbCr);
    encoder.comp_info[0].h_samp_factor = static_cast<int>(kind.across);
    encoder.comp_info[0].v_samp_factor = static_cast<int>(kind.down);
  }
  encoder.write_JFIF_header = FALSE;
  encoder.optimize_coding = TRUE;
  jpeg_set_quality(&encoder, quality, TRUE);
}

Bytes tag_347(Kind const& kind, int quality) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  open(encoder, errors, kind, quality);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  jpeg_suppress_tables(&encoder, TRUE);
  encoder.quant_tbl_ptrs[0]->sent_table = FALSE;
  if (kind.samples == 3) { encoder.quant_tbl_ptrs[1]->sent_table = FALSE; }
  jpeg_write_tables(&encoder);
  jpeg_destroy_compress(&encoder);
  return taken(memory, size);
}

// As the host codec writes a tile, or with all its tables and a JFIF header.
Bytes encode_on_host(Kind const& kind, Bytes const& pixels, int quality, bool in_full = false) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  open(encoder, errors, kind, quality);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  if (in_full) {
    if (kind.samples == 1) { encoder.comp_info[0].h_samp_factor = encoder.comp_info[0].v_samp_factor = 2; }
    encoder.write_JFIF_header = TRUE;
    encoder.optimize_coding = FALSE;
  } else {
    jpeg_suppress_tables(&encoder, TRUE);
  }
  jpeg_start_compress(&encoder, in_full ? TRUE : FALSE);
  while (encoder.next_scanline < kind.height) {
    auto const* const from = reinterpret_cast<JSAMPLE const*>(pixels.data()) +
                             std::size_t{encoder.next_scanline} * kind.width * kind.samples;
    JSAMPROW row = const_cast<JSAMPROW>(from);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  return taken(memory, size);
}

// A decoder that is kept from tile to tile, as libtiff keeps its own: tables of the tag are read once.
class Decoder {
 public:
  Decoder(Kind const& kind, Bytes const& tables) : kind_(kind) {
    decoder_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr self) {
      std::longjmp(reinterpret_cast<Decoder*>(self->client_data)->escape_, 1);
    };
    jpeg_create_decompress(&decoder_);
    decoder_.client_data = this;
    source(tables);
    jpeg_read_header(&decoder_, FALSE);
  }
  ~Decoder() { jpeg_destroy_decompress(&decoder_); }
  Decoder(Decoder const&) = delete;
  Decoder& operator=(Decoder const&) = delete;

  // Empty when libjpeg complains in any way.
  Bytes decode(Bytes const& tile) {
    pixels_.assign(std::size_t{kind_.width} * kind_.height * kind_.samples, std::byte{});
    bool const fine = read(tile) && errors_.num_warnings == 0;
    errors_.num_warnings = 0;
    return fine ? pixels_ : Bytes();
  }

 private:
  void source(Bytes const& from) {
    jpeg_mem_src(&decoder_, reinterpret_cast<unsigned char const*>(from.data()), from.size());
  }
  bool read(Bytes const& tile) {
    if (setjmp(escape_) != 0) {
      jpeg_abort_decompress(&decoder_);
      return false;
    }
    source(tile);
    jpeg_read_header(&decoder_, TRUE);
    if (decoder_.image_width != kind_.width || decoder_.image_height != kind_.height ||
        decoder_.num_components != static_cast<int>(kind_.samples)) {
      jpeg_abort_decompress(&decoder_);
      return false;
    }
    decoder_.jpeg_color_space = kind_.samples == 3 ? JCS_YCbCr : JCS_UNKNOWN;
    decoder_.out_color_space = kind_.samples == 3 ? JCS_RGB : JCS_UNKNOWN;
    jpeg_start_decompress(&decoder_);
    while (decoder_.output_scanline < kind_.height) {
      JSAMPROW row = reinterpret_cast<JSAMPROW>(pixels_.data()) +
                     std::size_t{decoder_.output_scanline} * kind_.width * kind_.samples;
      jpeg_read_scanlines(&decoder_, &row, 1);
    }
    jpeg_finish_decompress(&decoder_);
    return true;
  }

  Kind kind_;
  jpeg_decompress_struct decoder_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf escape_{};
  Bytes pixels_;
};

double mean_difference(Bytes const& left, Bytes const& right) {
  if (left.size() != right.size() || left.empty()) { return 1e9; }
  double sum = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    sum += std::abs(static_cast<int>(left[i]) - static_cast<int>(right[i]));
  }
  return sum / static_cast<double>(left.size());
}

struct Job {
  Kind kind;
  int quality;
  Bytes tables;
  std::vector<Bytes> pixels;
  JpegEncodeFormat format;

  Job(Kind const& which, int with_quality, std::size_t distinct, bool optimize = false)
      : kind(which), quality(with_quality), tables(tag_347(which, with_quality)), pixels(distinct) {
    parallel(distinct, [&](std::size_t i) { pixels[i] = picture(kind, i + 1); });
    format = {.width_px = kind.width,
              .height_px = kind.height,
              .samples = kind.samples,
              .is_ycbcr = kind.samples == 3,
              .chroma_horizontal = kind.across,
              .chroma_vertical = kind.down,
              .quality = quality,
              .optimize_huffman = optimize,
              .tables = tables};
  }
  [[nodiscard]] EncodeTiles tiles(std::size_t count) const {
    return EncodeTiles(pixels, count, NvjpegEncoder::bound(format));
  }
};

// Needs no GPU: what libjpeg writes in full becomes a tile that decodes with the tag as the whole did.
bool form() {
  bool right = true;
  for (Kind const& kind : kKinds) {
    Bytes const pixels = picture(kind, 1), tables = tag_347(kind, 75);
    Bytes const whole = encode_on_host(kind, pixels, 75, true);
    Bytes full = whole;
    JpegShape const shape{kind.width, kind.height, kind.samples, kind.across, kind.down};
    auto const known = quantisation_tables(tables);
    auto const abbreviated = known ? abbreviate_jpeg(full, shape, *known) : std::span<std::byte const>();
    Decoder decoder(kind, tables), other(kind, {std::byte{0xFF}, std::byte{0xD8}, std::byte{0xFF}, std::byte{0xD9}});
    Bytes const tile(abbreviated.begin(), abbreviated.end());
    Bytes const wanted = other.decode(whole);
    right &= !wanted.empty() && tile.size() < whole.size() && decoder.decode(tile) == wanted;
    Bytes again = whole;
    right &= abbreviate_jpeg(again, shape, *quantisation_tables(tag_347(kind, 76))).empty();
  }
  return report(right, "streams with all their tables become tiles of the file");
}

bool is_close(NvjpegEncoder& encoder, Job const& job, char const* with) {
  constexpr std::size_t kTiles = 24;
  EncodeTiles const tiles = job.tiles(kTiles);
  encoder.encode(job.format, tiles.batch(), tiles.stream());
  tiles.wait();
  std::vector<Bytes> const streams = tiles.streams();
  std::vector<TileStatus> const statuses = tiles.statuses();
  Decoder decoder(job.kind, job.tables);
  double worst_own = 0, worst_host = 0;
  std::size_t own_bytes = 0, host_bytes = 0;
  for (std::size_t i = 0; i < kTiles; ++i) {
    if (statuses[i] != TileStatus::ok) { continue; }
    Bytes const& original = job.pixels[i % job.pixels.size()];
    Bytes const on_host = encode_on_host(job.kind, original, job.quality);
    // One after the other through one decoder: neither may spoil the other's tables.
    worst_own = std::max(worst_own, mean_difference(decoder.decode(streams[i]), original));
    worst_host = std::max(worst_host, mean_difference(decoder.decode(on_host), original));
    own_bytes += streams[i].size();
    host_bytes += on_host.size();
  }
  std::printf("  %-16s quality %3d, %s Huffman: %zu of %zu, error %.3f (libjpeg %.3f), %zu bytes (libjpeg %zu)\n",
              job.kind.name, job.quality, with, tiles.good(), kTiles, worst_own, worst_host, own_bytes, host_bytes);
  // Images of less than a block may be left to the host.
  bool const enough = tiles.good() == kTiles || std::min(job.kind.width, job.kind.height) < 8;
  return report(enough && worst_own <= worst_host * 1.15 + 0.35,
                std::string(job.kind.name) + " decodes as closely as libjpeg's own");
}

bool closeness() {
  NvjpegEncoder encoder;
  bool passed = true;
  for (Kind const& kind : kKinds) {
    passed &= is_close(encoder, Job(kind, 75, 4), "standard");
    passed &= is_close(encoder, Job(kind, 92, 4, true), "own");
  }
  return passed;
}

// What nvJPEG's own scale gives, or what it was given instead: every tile has passed the check of its tables.
bool qualities() {
  NvjpegEncoder encoder;
  bool passed = true;
  for (int const quality : {1, 5, 10, 24, 25, 49, 50, 51, 75, 85, 90, 95, 99, 100}) {
    for (Kind const& kind : {kKinds[0], kColour}) { passed &= is_close(encoder, Job(kind, quality, 2), "standard"); }
  }
  return passed;
}

bool same_bytes() {
  Job const job(kColour, 75, 16);
  NvjpegEncoder encoder;
  EncodeTiles const many = job.tiles(160);
  encoder.encode(job.format, many.batch(), many.stream());
  many.wait();
  std::vector<Bytes> const first = many.streams();
  bool same = many.good() == 160;
  for (std::size_t i = 16; i < 160; ++i) { same &= first[i] == first[i % 16]; }
  NvjpegEncoder::Options options;
  options.lanes = 1;
  NvjpegEncoder other(options);
  EncodeTiles const few = job.tiles(16);
  other.encode(job.format, few.batch(), few.stream());
  few.wait();
  std::vector<Bytes> const second = few.streams();
  for (std::size_t i = 0; i < 16; ++i) { same &= second[i] == first[i]; }
  return report(same, "a tile gives the same bytes whatever the batch, the lane and the encoder");
}

bool odd_ones() {
  Job const job(kColour, 75, 4);
  NvjpegEncoder encoder;
  EncodeTiles tiles = job.tiles(40);
  tiles.set_size(0, 0);
  tiles.set_size(17, 0);
  tiles.set_size(20, 1000);
  encoder.encode(job.format, tiles.batch(), tiles.stream());
  tiles.wait();
  auto const statuses = tiles.statuses();
  auto const streams = tiles.streams();
  bool right = tiles.good() == 37 && statuses[0] == TileStatus::sparse && statuses[17] == TileStatus::sparse &&
               statuses[20] == TileStatus::unsupported && streams[0].empty() && streams[20].empty();
  // Tables of another quality than the one that is asked for: nvJPEG is given them, or every tile is left to the host.
  Job mixed(kColour, 40, 4);
  mixed.format.quality = 90;
  EncodeTiles const others = mixed.tiles(8);
  encoder.encode(mixed.format, others.batch(), others.stream());
  others.wait();
  Decoder decoder(mixed.kind, mixed.tables);
  std::printf("  with the tables of another quality: %zu of 8 encoded\n", others.good());
  for (std::size_t i = 0; i < 8; ++i) {
    if (others.statuses()[i] != TileStatus::ok) { continue; }
    right &= mean_difference(decoder.decode(others.streams()[i]), mixed.pixels[i % 4]) < 8;
  }
  return report(right, "sparse tiles, tiles of other sizes and other tables");
}

bool timing() {
  bool passed = true;
  for (bool const optimize : {false, true}) {
    Job const job(kColour, 75, 16, optimize);
    EncodeTiles const tiles = job.tiles(512);
    struct Way {
      unsigned lanes, threads;
    };
    for (Way const way : {Way{1, 1}, Way{4, 4}, Way{8, 8}, Way{16, 4}, Way{16, 8}, Way{32, 8}, Way{32, 16}}) {
      NvjpegEncoder::Options options;
      options.lanes = way.lanes;
      options.host_threads = way.threads;
      NvjpegEncoder encoder(options);
      auto const encode = [&] {
        encoder.encode(job.format, tiles.batch(), tiles.stream());
        tiles.wait();
      };
      for (int i = 0; i < 3; ++i) { encode(); }
      std::uint64_t const before = encoder.allocations();
      double const ms = best_ms(3, encode);
      std::printf(
          "  512 tiles of 512 x 512, 4:2:0, %s Huffman, %2u lanes, %2u threads: %8.2f ms, %.2f GB/s, %.1f MB held "
          "(estimate %.1f)\n",
          optimize ? "own" : "standard", way.lanes, way.threads, ms, 512 * 512 * 512 * 3 / ms / 1e6,
          static_cast<double>(encoder.device_bytes_held()) / 1e6,
          static_cast<double>(NvjpegEncoder::library_device_bytes(job.format, way.lanes)) / 1e6);
      passed &= report(encoder.allocations() == before, "nothing is allocated after the first batches");
    }
  }
  return passed;
}

}  // namespace

std::vector<Part> nvjpeg_encode_parts() {
  return {{"jpeg-encode-form", &form},           {"jpeg-encode-closeness", &closeness},
          {"jpeg-encode-qualities", &qualities}, {"jpeg-encode-same", &same_bytes},
          {"jpeg-encode-odd", &odd_ones},        {"jpeg-encode-timing", &timing}};
}

}  // namespace terrazzo::gpu::device_test
