// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG2000 as an encoder: every tile decoded by OpenJPEG and compared sample by sample, over types, sizes and kinds
// of pictures; the same bytes in every batch, time beside OpenJPEG on all cores, and allocations.
#include "gpu/vendor/encoded_stream.hpp"
#include "gpu/vendor/nvjpeg2k_encode.hpp"
#include "host_jpeg2000.hpp"

namespace terrazzo::gpu::device_test {
namespace {

using tile::TileStatus;
using Bytes = EncodedBytes;

constexpr double kTimingSeconds = 6;  // then no other number of lanes is begun

constexpr Jpeg2000Kind kRgb8{"u8 x 3, RGB", 3, 8, false, true};
// Every kind of samples that takes() accepts, and some shapes.
constexpr Jpeg2000Kind kKinds[] = {{"u8 x 1", 1, 8},
                                   kRgb8,
                                   {"u8 x 4, RGB", 4, 8, false, true},
                                   {"u16 x 1", 1, 16},
                                   {"u16 x 3, RGB", 3, 16, false, true},
                                   {"u16 x 4, RGB", 4, 16, false, true},
                                   {"s16 x 1", 1, 16, true},
                                   {"s16 x 3, RGB", 3, 16, true, true},
                                   {"s16 x 4, RGB", 4, 16, true, true},
                                   {"u8 x 3 77 x 301", 3, 8, false, true, 77, 301},
                                   {"u8 x 1 513 x 33", 1, 8, false, false, 513, 33},
                                   {"u16 x 1 512 x 512", 1, 16, false, false, 512, 512}};
constexpr Jpeg2000Kind kTinyKinds[] = {{"u8 x 1 64 x 64", 1, 8, false, false, 64, 64},
                                       {"u8 x 3 16 x 16", 3, 8, false, true, 16, 16},
                                       {"s16 x 1 1 x 40", 1, 16, true, false, 1, 40},
                                       {"u16 x 1 1 x 1", 1, 16, false, false, 1, 1}};

Jpeg2000EncodeFormat format_of(Jpeg2000Kind const& kind) {
  return {.width_px = kind.width,
          .height_px = kind.height,
          .samples = kind.samples,
          .bits_per_sample = kind.bits,
          .is_signed = kind.is_signed,
          .is_rgb = kind.is_rgb};
}

EncodeTiles tiles_of(Jpeg2000Kind const& kind, std::vector<Bytes> const& pixels, std::size_t count) {
  return EncodeTiles(pixels, count, Nvjpeg2kEncoder::bound(format_of(kind)));
}

// Needs no GPU: OpenJPEG's streams pass the check and come back through the test's own decoder.
bool form() {
  std::atomic<bool> right{true};
  parallel(std::size(kKinds), [&](std::size_t i) {
    Jpeg2000Kind const& kind = kKinds[i];
    CodestreamShape const shape{kind.width, kind.height, kind.samples, kind.bits, kind.is_signed};
    Bytes const pixels = jpeg2000_picture(kind, Jpeg2000Picture::smooth, 1);
    Bytes const stream = jpeg2000_on_host(kind, pixels);
    bool const fine = is_lossless_codestream(stream, shape) && jpeg2000_decoded_on_host(kind, stream) == pixels &&
                      !is_lossless_codestream(jpeg2000_on_host(kind, pixels, false), shape);
    if (!fine) { right = false; }
  });
  return report(right, "lossless codestreams are known as such");
}

// Eight tiles of each kind, two of every sort of picture.
bool is_lossless(Nvjpeg2kEncoder& encoder, Jpeg2000Kind const& kind, bool may_be_refused) {
  constexpr std::size_t kTiles = 8;
  std::vector<Bytes> pixels(kTiles);
  parallel(kTiles, [&](std::size_t i) { pixels[i] = jpeg2000_picture(kind, kJpeg2000Pictures[i % 4], i + 1); });
  EncodeTiles const tiles = tiles_of(kind, pixels, kTiles);
  encoder.encode(format_of(kind), tiles.batch(), tiles.stream());
  tiles.wait();
  auto const statuses = tiles.statuses();
  auto const streams = tiles.streams();
  std::vector<std::size_t> host_bytes(kTiles);
  std::vector<char> is_wrong(kTiles, 0);
  parallel(kTiles, [&](std::size_t i) {
    host_bytes[i] = jpeg2000_on_host(kind, pixels[i]).size();
    bool const is_right = statuses[i] == TileStatus::ok ? jpeg2000_decoded_on_host(kind, streams[i]) == pixels[i]
                                                        : statuses[i] == TileStatus::failed && streams[i].empty();
    is_wrong[i] = is_right ? 0 : 1;
  });
  std::string line = std::string(kind.name) + ": " + std::to_string(tiles.good()) + " of 8 encoded";
  char const* const names[] = {"smooth", "noise", "extremes", "constant"};
  for (std::size_t i = 0; i < 4; ++i) {
    std::size_t const ok = (statuses[i] == TileStatus::ok ? 1u : 0u) + (statuses[i + 4] == TileStatus::ok ? 1u : 0u);
    line.append(", ").append(names[i]).append(" ").append(std::to_string(ok)).append(" in ");
    line.append(std::to_string(streams[i].size())).append(" bytes (").append(std::to_string(host_bytes[i])).append(")");
  }
  std::ptrdiff_t const wrong = std::count(is_wrong.begin(), is_wrong.end(), 1);
  if (wrong != 0) { line.append("; ").append(std::to_string(wrong)).append(" WRONG"); }
  // Noise may be left to the host; what pictures are made of may not.
  bool const enough = may_be_refused || (statuses[0] == TileStatus::ok && statuses[3] == TileStatus::ok);
  return report(wrong == 0 && enough, line);
}

bool equality() {
  step("making an encoder");
  Nvjpeg2kEncoder encoder;
  bool passed = true;
  for (Jpeg2000Kind const& kind : kKinds) { passed &= is_lossless(encoder, kind, false); }
  return passed;
}

// Apart from the others: versions of the library have stumbled over such images.
bool tiny() {
  step("making an encoder");
  Nvjpeg2kEncoder encoder;
  bool passed = true;
  for (Jpeg2000Kind const& kind : kTinyKinds) { passed &= is_lossless(encoder, kind, true); }
  return passed;
}

bool same_bytes() {
  std::vector<Bytes> pixels;
  for (std::size_t i = 0; i < 16; ++i) { pixels.push_back(jpeg2000_picture(kRgb8, kJpeg2000Pictures[i % 4], i + 1)); }
  step("96 tiles");
  Nvjpeg2kEncoder encoder;
  EncodeTiles const many = tiles_of(kRgb8, pixels, 96);
  encoder.encode(format_of(kRgb8), many.batch(), many.stream());
  many.wait();
  std::vector<Bytes> const first = many.streams();
  bool same = many.good() > 0;
  for (std::size_t i = 16; i < 96; ++i) { same &= first[i] == first[i % 16]; }
  step("16 of them by an encoder of one lane");
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
  std::vector<Bytes> const pixels{jpeg2000_picture(kRgb8, Jpeg2000Picture::smooth, 1)};
  EncodeTiles tiles = tiles_of(kRgb8, pixels, 40);
  tiles.set_size(0, 0);
  tiles.set_size(17, 0);
  tiles.set_size(20, 1000);
  Nvjpeg2kEncoder encoder;
  encoder.encode(format_of(kRgb8), tiles.batch(), tiles.stream());
  tiles.wait();
  auto const statuses = tiles.statuses();
  auto const streams = tiles.streams();
  bool right = tiles.good() == 37 && statuses[0] == TileStatus::sparse && statuses[17] == TileStatus::sparse &&
               statuses[20] == TileStatus::unsupported && streams[0].empty() && streams[20].empty();
  right &= jpeg2000_decoded_on_host(kRgb8, streams[19]) == pixels[0] &&
           jpeg2000_decoded_on_host(kRgb8, streams[21]) == pixels[0];
  return report(right, "sparse tiles and tiles of other sizes, between tiles that are right");
}

// The least and the most that was free on the device while `work` ran. The library's encoder has no hooks, so this is
// what shows whether it allocates; what fits into pages that the driver holds already is not seen.
struct FreeBytes {
  std::size_t least = ~std::size_t{0}, most = 0;
};
FreeBytes watch_free_memory(std::function<void()> const& work) {
  FreeBytes seen;
  std::atomic<bool> done{false};
  std::thread watcher([&] {
    while (!done) {
      std::size_t free_bytes = 0, total = 0;
      if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) { break; }
      seen.least = std::min(seen.least, free_bytes);
      seen.most = std::max(seen.most, free_bytes);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  work();
  done = true;
  watcher.join();
  return seen;
}

bool timing() {
  constexpr std::size_t kTiles = 128;
  Jpeg2000Kind kind = kRgb8;
  kind.width = kind.height = 512;
  std::vector<Bytes> pixels(16);
  parallel(pixels.size(), [&](std::size_t i) { pixels[i] = jpeg2000_picture(kind, Jpeg2000Picture::smooth, i + 1); });
  double const megabytes = static_cast<double>(kTiles * pixels[0].size()) / 1e6;
  step("OpenJPEG");
  auto const start = std::chrono::steady_clock::now();
  parallel(kTiles, [&](std::size_t i) { (void)jpeg2000_on_host(kind, pixels[i % 16]); });
  std::chrono::duration<double, std::milli> const host = std::chrono::steady_clock::now() - start;
  std::printf("  128 tiles of 512 x 512 x 3, OpenJPEG on %u threads: %8.2f ms, %.0f MB/s\n",
              std::thread::hardware_concurrency(), host.count(), megabytes / host.count() * 1e3);
  EncodeTiles const tiles = tiles_of(kind, pixels, kTiles);
  bool passed = true;
  struct Way {
    unsigned lanes, threads;
  };
  for (Way const way : {Way{16, 4}, Way{16, 16}, Way{32, 16}, Way{8, 8}, Way{1, 1}}) {
    if (seconds_taken() > kTimingSeconds) {
      step("no time for other numbers of lanes");
      break;
    }
    step(std::to_string(way.lanes) + " lanes, " + std::to_string(way.threads) + " threads");
    std::size_t free_before = 0, free_after = 0, total = 0;
    check_cuda(cudaMemGetInfo(&free_before, &total), "asking for free memory");
    Nvjpeg2kEncoder::Options options;
    options.lanes = way.lanes;
    options.host_threads = way.threads;
    Nvjpeg2kEncoder encoder(options);
    auto const encode = [&] {
      encoder.encode(format_of(kind), tiles.batch(), tiles.stream());
      tiles.wait();
    };
    encode();
    encode();
    check_cuda(cudaMemGetInfo(&free_after, &total), "asking for free memory");
    std::uint64_t const before = encoder.allocations();
    double const ms = best_ms(1, encode);
    FreeBytes const free_bytes = watch_free_memory(encode);
    std::uint64_t const more = encoder.allocations() - before;
    double const held = static_cast<double>(free_before) - static_cast<double>(free_after);
    std::printf(
        "  nvJPEG2000, %2u lanes, %2u threads: %8.2f ms, %.0f MB/s, %.1f x OpenJPEG, the library took %.1f MB "
        "(estimate %.1f)\n",
        way.lanes, way.threads, ms, megabytes / ms * 1e3, host.count() / ms, held / 1e6,
        static_cast<double>(Nvjpeg2kEncoder::library_device_bytes(format_of(kind), way.lanes)) / 1e6);
    std::size_t const moved = free_bytes.most < free_bytes.least ? 0 : free_bytes.most - free_bytes.least;
    // A lane that meets its longest stream late may still grow its staging once.
    passed &= report(tiles.good() == kTiles && more <= way.lanes && moved == 0,
                     std::to_string(more) +
                         " allocations of ours in 384 tiles after 256 to warm up; the device's free "
                         "memory changed by " +
                         std::to_string(moved) + " bytes meanwhile");
  }
  return passed;
}

}  // namespace

std::vector<Part> nvjpeg2k_encode_parts() {
  constexpr unsigned kSeconds = 40;
  return {{"jp2k-encode-form", &form, kSeconds},    {"jp2k-encode-equality", &equality, kSeconds},
          {"jp2k-encode-tiny", &tiny, kSeconds},    {"jp2k-encode-same", &same_bytes, kSeconds},
          {"jp2k-encode-odd", &odd_ones, kSeconds}, {"jp2k-encode-timing", &timing, kSeconds}};
}

}  // namespace terrazzo::gpu::device_test
