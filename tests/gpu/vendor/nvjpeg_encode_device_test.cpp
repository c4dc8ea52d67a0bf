// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG as an encoder: tiles decoded by libjpeg-turbo with tag 347 as the host writes it, errors beside those of
// libjpeg-turbo's own encoder, quantisation at every quality, the same bytes in every batch, time and allocations.
#include "gpu/vendor/encoded_stream.hpp"
#include "gpu/vendor/nvjpeg_encode.hpp"
#include "host_jpeg.hpp"

namespace terrazzo::gpu::device_test {
namespace {

using tile::TileStatus;
using Bytes = EncodedBytes;

constexpr double kWorseByDb = 0.5;  // than libjpeg-turbo's own tiles
constexpr double kTimingSeconds = 6;  // then no other number of lanes is begun

constexpr JpegKind kGray{"gray", 1, 1, 1};
constexpr JpegKind kColour{"4:2:0", 3, 2, 2};
constexpr JpegKind kKinds[] = {kGray, {"4:4:4", 3, 1, 1}, {"4:2:2", 3, 2, 1}, kColour};
constexpr JpegKind kOddKinds[] = {{"gray 77 x 301", 1, 1, 1, 77, 301},    {"4:2:0 77 x 301", 3, 2, 2, 77, 301},
                                  {"4:2:2 203 x 65", 3, 2, 1, 203, 65},   {"4:4:4 333 x 17", 3, 1, 1, 333, 17},
                                  {"4:2:0 2048 x 16", 3, 2, 2, 2048, 16}, {"gray 64 x 64", 1, 1, 1, 64, 64}};

struct Job {
  JpegKind kind;
  int quality;
  Bytes tables;
  std::vector<Bytes> pixels;
  JpegEncodeFormat format;

  Job(JpegKind const& which, int with_quality, std::size_t distinct, bool optimize = false)
      : kind(which), quality(with_quality), tables(jpeg_tag_347(which, with_quality)), pixels(distinct) {
    parallel(distinct, [&](std::size_t i) { pixels[i] = jpeg_picture(kind, i + 1); });
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

// Needs no GPU. A complete JPEG stream of libjpeg, split into a tile and the tables' tag, decodes to the same pixels.
bool form() {
  bool right = true;
  std::vector<JpegKind> kinds(std::begin(kKinds), std::end(kKinds));
  kinds.insert(kinds.end(), std::begin(kOddKinds), std::end(kOddKinds));
  for (JpegKind const& kind : kinds) {
    Bytes const pixels = jpeg_picture(kind, 1), tables = jpeg_tag_347(kind, 75);
    Bytes const whole = jpeg_on_host(kind, pixels, 75, true);
    Bytes full = whole;
    JpegShape const shape{kind.width, kind.height, kind.samples, kind.across, kind.down};
    auto const known = quantisation_tables(tables);
    auto const abbreviated = known ? abbreviate_jpeg(full, shape, *known) : std::span<std::byte const>();
    HostJpegDecoder decoder(kind, tables),
        other(kind, {std::byte{0xFF}, std::byte{0xD8}, std::byte{0xFF}, std::byte{0xD9}});
    Bytes const tile(abbreviated.begin(), abbreviated.end());
    Bytes const wanted = other.decode(whole);
    right &= !wanted.empty() && tile.size() < whole.size() && decoder.decode(tile) == wanted;
    right &= is_abbreviated_jpeg(tile) && !is_abbreviated_jpeg(whole);
    right &= is_abbreviated_jpeg(jpeg_on_host(kind, pixels, 75));
    Bytes again = whole;
    right &= abbreviate_jpeg(again, shape, *quantisation_tables(jpeg_tag_347(kind, 76))).empty();
  }
  return report(right, "streams with all their tables become tiles of the file");
}

// Encodes, and compares every tile with its picture and with libjpeg-turbo's encoding of it.
bool is_close(NvjpegEncoder& encoder, Job const& job, std::size_t count) {
  EncodeTiles const tiles = job.tiles(count);
  encoder.encode(job.format, tiles.batch(), tiles.stream());
  tiles.wait();
  std::vector<Bytes> const streams = tiles.streams();
  std::vector<TileStatus> const statuses = tiles.statuses();
  HostJpegDecoder decoder(job.kind, job.tables);
  Psnr own, host;
  std::size_t own_bytes = 0, host_bytes = 0, abbreviated = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (statuses[i] != TileStatus::ok) { continue; }
    Bytes const& original = job.pixels[i % job.pixels.size()];
    Bytes const on_host = jpeg_on_host(job.kind, original, job.quality);
    // One after the other through one decoder: neither may spoil the other's tables.
    own.add(decoder.decode(streams[i]), original);
    host.add(decoder.decode(on_host), original);
    abbreviated += is_abbreviated_jpeg(streams[i]) ? 1 : 0;
    own_bytes += streams[i].size();
    host_bytes +=
        job.format.optimize_huffman ? on_host.size() : jpeg_on_host(job.kind, original, job.quality, true).size();
  }
  double const allowed = static_cast<double>(host_bytes) * 1.1 + 200.0 * static_cast<double>(count);
  bool const passed = tiles.good() == count && abbreviated == count && own.db() >= host.db() - kWorseByDb &&
                      static_cast<double>(own_bytes) <= allowed;
  char line[200];
  std::snprintf(line, sizeof line,
                "%-16s quality %3d, %s Huffman: %zu of %zu, %zu abbreviated, %.2f dB (libjpeg %.2f), %zu bytes (%zu)",
                job.kind.name, job.quality, job.format.optimize_huffman ? "own" : "std", tiles.good(), count,
                abbreviated, own.db(), host.db(), own_bytes, host_bytes);
  return report(passed, line);
}

bool closeness() {
  step("making an encoder");
  NvjpegEncoder encoder;
  bool passed = true;
  for (JpegKind const& kind : kKinds) {
    for (int const quality : {10, 50, 75, 90, 100}) { passed &= is_close(encoder, Job(kind, quality, 4), 8); }
  }
  return passed;
}

// Tables made for each tile, as the host makes them.
bool own_huffman() {
  step("making an encoder");
  NvjpegEncoder encoder;
  bool passed = true;
  for (JpegKind const& kind : kKinds) {
    for (int const quality : {10, 75, 95}) { passed &= is_close(encoder, Job(kind, quality, 4, true), 8); }
  }
  return passed;
}

bool odd_sizes() {
  step("making an encoder");
  NvjpegEncoder encoder;
  bool passed = true;
  for (JpegKind const& kind : kOddKinds) {
    passed &= is_close(encoder, Job(kind, 75, 4), 8);
    passed &= is_close(encoder, Job(kind, 90, 4, true), 8);
  }
  return passed;
}

// Qualities by nvJPEG's own scale, or with tables that we set. The check of every tile includes its tables.
bool qualities() {
  step("making an encoder");
  NvjpegEncoder encoder;
  bool passed = true;
  for (int const quality : {1, 5, 24, 25, 49, 51, 85, 95, 99}) {
    for (JpegKind const& kind : {kGray, kColour}) { passed &= is_close(encoder, Job(kind, quality, 2), 2); }
  }
  return passed;
}

bool same_bytes() {
  Job const job(kColour, 75, 16);
  step("160 tiles");
  NvjpegEncoder encoder;
  EncodeTiles const many = job.tiles(160);
  encoder.encode(job.format, many.batch(), many.stream());
  many.wait();
  std::vector<Bytes> const first = many.streams();
  bool same = many.good() == 160;
  for (std::size_t i = 16; i < 160; ++i) { same &= first[i] == first[i % 16]; }
  step("16 of them by an encoder of one lane");
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
  NvjpegEncoder encoder;
  Job const job(kColour, 75, 4);
  EncodeTiles tiles = job.tiles(40);
  tiles.set_size(0, 0);
  tiles.set_size(17, 0);
  tiles.set_size(20, 1000);
  step("sparse tiles and tiles of other sizes");
  encoder.encode(job.format, tiles.batch(), tiles.stream());
  tiles.wait();
  auto const statuses = tiles.statuses();
  auto const streams = tiles.streams();
  bool passed = report(tiles.good() == 37 && statuses[0] == TileStatus::sparse && statuses[17] == TileStatus::sparse &&
                           statuses[20] == TileStatus::unsupported && streams[0].empty() && streams[20].empty(),
                       "sparse tiles and tiles of other sizes");

  step("tables of another quality than the one that is asked for");
  Job mixed(kColour, 40, 4);
  mixed.format.quality = 90;
  EncodeTiles const others = mixed.tiles(8);
  encoder.encode(mixed.format, others.batch(), others.stream());
  others.wait();
  HostJpegDecoder decoder(mixed.kind, mixed.tables);
  bool right = true;
  auto const mixed_streams = others.streams();
  auto const mixed_statuses = others.statuses();
  for (std::size_t i = 0; i < 8; ++i) {
    if (mixed_statuses[i] != TileStatus::ok) { continue; }
    Psnr own;
    own.add(decoder.decode(mixed_streams[i]), mixed.pixels[i % 4]);
    right &= own.db() > 25 && is_abbreviated_jpeg(mixed_streams[i]);
  }
  std::printf("  %zu of 8 encoded by the tables of the tag, the rest left to the host\n", others.good());
  passed &= report(right, "tiles are quantised by the tag's tables or not at all");

  step("noise at quality 100, which may not fit its slot");
  Job wild(kKinds[1], 100, 2);
  for (std::size_t i = 0; i < wild.pixels.size(); ++i) {
    Noise noise(i + 1);
    for (std::byte& sample : wild.pixels[i]) { sample = static_cast<std::byte>(noise.next() & 0xFF); }
  }
  EncodeTiles const noisy = wild.tiles(4);
  encoder.encode(wild.format, noisy.batch(), noisy.stream());
  noisy.wait();
  HostJpegDecoder wild_decoder(wild.kind, wild.tables);
  auto const noisy_streams = noisy.streams();
  auto const noisy_statuses = noisy.statuses();
  bool fine = true;
  for (std::size_t i = 0; i < 4; ++i) {
    Psnr own;
    own.add(wild_decoder.decode(noisy_streams[i]), wild.pixels[i % 2]);
    fine &= noisy_statuses[i] == TileStatus::ok ? own.db() > 35
                                                : noisy_statuses[i] == TileStatus::failed && noisy_streams[i].empty();
  }
  std::printf("  %zu of 4 encoded\n", noisy.good());
  return report(fine, "what does not fit is failed, what fits is right") && passed;
}

// Tiles of one value have hardly a symbol to make Huffman tables for. Apart from the others: an encoder may stumble.
bool constants() {
  step("making an encoder");
  NvjpegEncoder encoder;
  bool passed = true;
  for (JpegKind const& kind : {kGray, kColour}) {
    for (bool const optimize : {false, true}) {
      Job job(kind, 75, 3, optimize);
      int const values[] = {0, 255, 100};
      for (std::size_t i = 0; i < 3; ++i) {
        std::fill(job.pixels[i].begin(), job.pixels[i].end(), static_cast<std::byte>(values[i]));
      }
      EncodeTiles const tiles = job.tiles(6);
      encoder.encode(job.format, tiles.batch(), tiles.stream());
      tiles.wait();
      auto const statuses = tiles.statuses();
      auto const streams = tiles.streams();
      HostJpegDecoder decoder(kind, job.tables);
      bool right = true;
      for (std::size_t i = 0; i < 6; ++i) {
        Psnr own;
        own.add(decoder.decode(streams[i]), job.pixels[i % 3]);
        right &= statuses[i] == TileStatus::ok ? own.db() > 45 : statuses[i] == TileStatus::failed;
      }
      passed &= report(right, std::string(kind.name) + ", tiles of one value, " + (optimize ? "own" : "std") +
                                  " Huffman: " + std::to_string(tiles.good()) + " of 6 encoded");
    }
  }
  return passed;
}

// Milliseconds of the host codec's work on all cores.
double libjpeg_ms(Job const& job, std::size_t count) {
  auto const start = std::chrono::steady_clock::now();
  parallel(count, [&](std::size_t i) { (void)jpeg_on_host(job.kind, job.pixels[i % job.pixels.size()], job.quality); });
  std::chrono::duration<double, std::milli> const taken = std::chrono::steady_clock::now() - start;
  return taken.count();
}

struct Way {
  unsigned lanes, threads;
};

bool time_way(Way const& way, Job const& job, EncodeTiles const& tiles, std::size_t count, double host_ms) {
  std::string const title = std::to_string(way.lanes) + " lanes, " + std::to_string(way.threads) + " threads, " +
                            (job.format.optimize_huffman ? "own" : "std") + " Huffman";
  step(title);
  NvjpegEncoder::Options options;
  options.lanes = way.lanes;
  options.host_threads = way.threads;
  NvjpegEncoder encoder(options);
  auto const encode = [&] {
    encoder.encode(job.format, tiles.batch(), tiles.stream());
    tiles.wait();
  };
  encode();
  encode();
  std::uint64_t const before = encoder.allocations();
  double const ms = best_ms(2, encode);
  std::uint64_t const more = encoder.allocations() - before;
  double const held = static_cast<double>(encoder.device_bytes_held());
  double const estimate = static_cast<double>(NvjpegEncoder::library_device_bytes(job.format, way.lanes));
  std::printf("  nvJPEG, %s: %.2f ms, %.0f MB/s, %.1f x libjpeg-turbo, %.1f MB held (estimate %.1f)\n", title.c_str(),
              ms, static_cast<double>(count * job.pixels[0].size()) / ms / 1e3, host_ms / ms, held / 1e6,
              estimate / 1e6);
  // A lane that meets its longest stream late may still grow its staging once.
  bool const passed = report(tiles.good() == count && more <= way.lanes,
                             std::to_string(more) + " allocations in three batches after two to warm up");
  return report(held <= estimate, "the library holds no more than the estimate") && passed;
}

bool timing() {
  constexpr std::size_t kTiles = 256;
  JpegKind kind = kColour;
  kind.width = kind.height = 512;
  Job const standard(kind, 75, 16), own(kind, 75, 16, true);
  step("libjpeg-turbo");
  double const host_ms = libjpeg_ms(own, kTiles);
  std::printf("  256 tiles of 512 x 512 x 3, 4:2:0, quality 75, libjpeg-turbo on %u threads: %.2f ms, %.0f MB/s\n",
              std::thread::hardware_concurrency(), host_ms,
              static_cast<double>(kTiles * own.pixels[0].size()) / host_ms / 1e3);
  EncodeTiles const tiles = own.tiles(kTiles);
  bool passed = true;
  for (Way const way : {Way{16, 4}, Way{16, 16}, Way{4, 4}, Way{32, 16}, Way{1, 1}}) {
    for (Job const* const job : {&own, &standard}) {
      if (seconds_taken() > kTimingSeconds) {
        step("no time for other numbers of lanes");
        return passed;
      }
      passed &= time_way(way, *job, tiles, kTiles, host_ms);
    }
  }
  return passed;
}

}  // namespace

std::vector<Part> nvjpeg_encode_parts() {
  constexpr unsigned kSeconds = 40;
  return {{"jpeg-encode-form", &form, kSeconds},           {"jpeg-encode-closeness", &closeness, kSeconds},
          {"jpeg-encode-own", &own_huffman, kSeconds},     {"jpeg-encode-sizes", &odd_sizes, kSeconds},
          {"jpeg-encode-qualities", &qualities, kSeconds}, {"jpeg-encode-same", &same_bytes, kSeconds},
          {"jpeg-encode-odd", &odd_ones, kSeconds},        {"jpeg-encode-constant", &constants, kSeconds},
          {"jpeg-encode-timing", &timing, kSeconds}};
}

}  // namespace terrazzo::gpu::device_test
