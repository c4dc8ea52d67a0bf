// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG on photograph-like tiles with their tables apart, as TIFF has them: difference from libjpeg-turbo, time with
// each backend, allocations after the first batch, and bad tiles among good ones.
#include "device_test.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/vendor/nvjpeg.hpp"
#include "terrazzo/error.hpp"

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
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kEdge = 512;
constexpr std::size_t kDistinct = 16;

// How a test image is stored.
struct Kind {
  char const* name;
  std::uint32_t samples;
  bool ycbcr;
  int across, down;  // luma's sampling factors
};
constexpr Kind kKinds[] = {{"gray", 1, false, 1, 1},
                           {"RGB", 3, false, 1, 1},
                           {"4:4:4", 3, true, 1, 1},
                           {"4:2:2", 3, true, 2, 1},
                           {"4:2:0", 3, true, 2, 2}};

std::vector<unsigned char> picture(std::uint32_t samples, std::uint64_t seed) {
  Noise noise(seed);
  double const shift = static_cast<double>(noise.next() % 100);
  std::vector<unsigned char> pixels(std::size_t{kEdge} * kEdge * samples);
  for (std::uint32_t y = 0; y < kEdge; ++y) {
    for (std::uint32_t x = 0; x < kEdge; ++x) {
      double const edge = ((x / 37 + y / 53) % 2 == 0) ? 25 : -25;
      double const grain = static_cast<double>(noise.next() % 17) - 8;
      for (std::uint32_t s = 0; s < samples; ++s) {
        double const value = 128 + 60 * std::sin((x + shift) * 0.02 * (s + 1)) * std::cos((y - shift) * 0.015) +
                             edge * (s == 1 ? 0.5 : 1) + grain;
        pixels[(std::size_t{y} * kEdge + x) * samples + s] =
            static_cast<unsigned char>(std::min(255.0, std::max(0.0, value)));
      }
    }
  }
  return pixels;
}

Bytes take(unsigned char* memory, unsigned long size) {
  Bytes out(size);
  std::memcpy(out.data(), memory, size);
  std::free(memory);
  return out;
}

void encode(Kind const& kind, std::vector<unsigned char> const& pixels, Bytes& tables, Bytes& tile) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  encoder.image_width = encoder.image_height = kEdge;
  encoder.input_components = static_cast<int>(kind.samples);
  encoder.in_color_space = kind.samples == 1 ? JCS_GRAYSCALE : kind.ycbcr ? JCS_RGB : JCS_UNKNOWN;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, 85, TRUE);
  if (kind.samples == 3 && !kind.ycbcr) { jpeg_set_colorspace(&encoder, JCS_UNKNOWN); }
  encoder.comp_info[0].h_samp_factor = kind.across;
  encoder.comp_info[0].v_samp_factor = kind.down;
  encoder.write_JFIF_header = FALSE;
  encoder.write_Adobe_marker = FALSE;
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  jpeg_write_tables(&encoder);
  tables = take(memory, size);
  memory = nullptr;
  size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  jpeg_suppress_tables(&encoder, TRUE);
  jpeg_start_compress(&encoder, FALSE);
  while (encoder.next_scanline < kEdge) {
    JSAMPROW row = const_cast<JSAMPROW>(pixels.data() + std::size_t{encoder.next_scanline} * kEdge * kind.samples);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  tile = take(memory, size);
}

// As the host codec decodes.
std::vector<unsigned char> decode(Kind const& kind, Bytes const& tables, Bytes const& tile) {
  jpeg_decompress_struct decoder{};
  jpeg_error_mgr errors{};
  decoder.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&decoder);
  auto const source = [&](Bytes const& from) {
    jpeg_mem_src(&decoder, reinterpret_cast<unsigned char const*>(from.data()), from.size());
  };
  source(tables);
  jpeg_read_header(&decoder, FALSE);
  source(tile);
  jpeg_read_header(&decoder, TRUE);
  if (kind.samples == 3) {
    decoder.jpeg_color_space = kind.ycbcr ? JCS_YCbCr : JCS_UNKNOWN;
    decoder.out_color_space = kind.ycbcr ? JCS_RGB : JCS_UNKNOWN;
  }
  jpeg_start_decompress(&decoder);
  std::vector<unsigned char> pixels(std::size_t{kEdge} * kEdge * kind.samples);
  while (decoder.output_scanline < kEdge) {
    JSAMPROW row = pixels.data() + std::size_t{decoder.output_scanline} * kEdge * kind.samples;
    jpeg_read_scanlines(&decoder, &row, 1);
  }
  jpeg_finish_decompress(&decoder);
  jpeg_destroy_decompress(&decoder);
  return pixels;
}

// `count` tiles in pinned memory, with headroom for the tables or without.
struct Batch {
  Kind kind;
  Bytes tables;
  std::vector<Bytes> distinct;
  std::vector<std::vector<unsigned char>> expected;
  Pinned memory;
  std::vector<JpegTile> tiles;
  std::vector<TileStatus> statuses;
  Device output;
  std::size_t tile_bytes = 0;
  StreamHandle stream;

  Batch(Kind const& which, std::size_t count, bool with_headroom) : kind(which), stream(make_stream()) {
    distinct.resize(kDistinct);
    expected.resize(kDistinct);
    std::vector<Bytes> each_tables(kDistinct);
    parallel(kDistinct, [&](std::size_t i) {
      encode(kind, picture(kind.samples, i + 1), each_tables[i], distinct[i]);
      expected[i] = decode(kind, each_tables[i], distinct[i]);
    });
    tables = each_tables[0];
    std::size_t const headroom = with_headroom ? NvjpegDecoder::headroom_bytes(format()) : 0;
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i) { total += headroom + distinct[i % kDistinct].size() + 16; }
    memory = pinned_bytes(total);
    tile_bytes = std::size_t{kEdge} * kEdge * kind.samples;
    std::byte* at = memory.get();
    for (std::size_t i = 0; i < count; ++i) {
      Bytes const& tile = distinct[i % kDistinct];
      at += headroom;
      std::memcpy(at, tile.data(), tile.size());
      tiles.push_back({at, tile.size(), headroom, i * tile_bytes});
      at += tile.size();
    }
    statuses.resize(count);
    output = device_bytes(count * tile_bytes);
  }

  [[nodiscard]] JpegFormat format() const { return {kEdge, kEdge, kind.samples, kind.ycbcr, true, tables}; }

  void decode_with(NvjpegDecoder& decoder) {
    decoder.decode(format(), tiles, output.get(), std::size_t{kEdge} * kind.samples, statuses, stream.get());
  }

  // Largest and mean difference of the tiles that are `ok`; the number of those.
  std::size_t compare(int& largest, double& mean) const {
    largest = 0;
    double sum = 0;
    std::size_t good = 0;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (statuses[i] != TileStatus::ok) { continue; }
      ++good;
      auto const got = downloaded<unsigned char>(output.get() + i * tile_bytes, tile_bytes);
      auto const& want = expected[i % kDistinct];
      for (std::size_t k = 0; k < tile_bytes; ++k) {
        int const difference = std::abs(int{got[k]} - int{want[k]});
        largest = std::max(largest, difference);
        sum += difference;
      }
    }
    mean = good == 0 ? 0 : sum / static_cast<double>(good * tile_bytes);
    return good;
  }
};

char const* name_of(NvjpegBackend backend) {
  switch (backend) {
    case NvjpegBackend::hardware: return "hardware";
    case NvjpegBackend::gpu_hybrid: return "gpu_hybrid";
    case NvjpegBackend::hybrid: return "hybrid";
    case NvjpegBackend::automatic: break;
  }
  return "none";
}

bool differences(NvjpegBackend backend, bool interpolate) {
  bool passed = true;
  for (Kind const& kind : kKinds) {
    NvjpegDecoder::Options options;
    options.backend = backend;
    options.interpolate_chroma = interpolate;
    options.cpu_threads = 16;
    NvjpegDecoder decoder(options);
    Batch batch(kind, 64, true);
    check_cuda(cudaMemset(batch.output.get(), 0x55, 64 * batch.tile_bytes), "clearing");
    batch.decode_with(decoder);
    check_cuda(cudaStreamSynchronize(batch.stream.get()), "decoding");
    int largest = 0;
    double mean = 0;
    std::size_t const good = batch.compare(largest, mean);
    std::printf("  %-6s interpolation %-3s: largest %3d, mean %.4f, %zu of 64 decoded by %s\n", kind.name,
                interpolate ? "on" : "off", largest, mean, good, name_of(decoder.last_backend()));
    bool const subsampled = kind.across != 1 || kind.down != 1;
    bool const close = subsampled ? mean < 3 : largest <= 4 && mean < 0.5;
    passed &= report(good == 64 && close, std::string(kind.name) + " is close to libjpeg-turbo");
  }
  return passed;
}

bool timing(NvjpegBackend backend, bool headroom) {
  NvjpegDecoder::Options options;
  options.backend = backend;
  options.cpu_threads = 16;
  NvjpegDecoder decoder(options);
  Batch batch(kKinds[4], 256, headroom);
  batch.decode_with(decoder);
  check_cuda(cudaStreamSynchronize(batch.stream.get()), "decoding");
  batch.decode_with(decoder);
  check_cuda(cudaStreamSynchronize(batch.stream.get()), "decoding");
  std::uint64_t const allocations = decoder.allocations();
  double const ms = best_ms(5, [&] { batch.decode_with(decoder); });
  std::printf("  256 tiles of 512 x 512, 4:2:0, tables %s: %.2f ms by %s, %.1f MB of device memory\n",
              headroom ? "in headroom" : "copied", ms, name_of(decoder.last_backend()),
              static_cast<double>(decoder.device_bytes_held()) / 1e6);
  // How much of it is the call and how much the device: a long call can overlap other slots.
  auto const start = std::chrono::steady_clock::now();
  batch.decode_with(decoder);
  std::chrono::duration<double, std::milli> const call = std::chrono::steady_clock::now() - start;
  check_cuda(cudaStreamSynchronize(batch.stream.get()), "decoding");
  std::printf("  of which the host is held %.2f ms\n", call.count());
  return report(decoder.allocations() == allocations, "nothing is allocated after the first batches");
}

bool with_backend(NvjpegBackend backend) {
  try {
    NvjpegDecoder::Options options;
    options.backend = backend;
    NvjpegDecoder const probe(options);
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::unsupported) { throw; }
    std::printf("  %s: %s\n", name_of(backend), error.what());
    return true;
  }
  bool passed = differences(backend, true);
  (void)differences(backend, false);  // figures only
  passed &= timing(backend, true);
  passed &= timing(backend, false);
  return passed;
}

bool hardware() { return with_backend(NvjpegBackend::hardware); }
bool gpu_hybrid() { return with_backend(NvjpegBackend::gpu_hybrid); }
bool hybrid() { return with_backend(NvjpegBackend::hybrid); }

// Two decoders on two streams, as two slots of the engine use them.
bool two_slots() {
  NvjpegDecoder one, two;
  Batch first(kKinds[4], 128, true), second(kKinds[4], 128, true);
  std::string failure;
  double const ms = best_ms(5, [&] {
    std::thread other([&] {
      try {
        second.decode_with(two);
      } catch (Error const& error) { failure = error.what(); }
    });
    try {
      first.decode_with(one);
    } catch (Error const& error) { std::printf("  the first decoder: %s\n", error.what()); }
    other.join();
  });
  if (!failure.empty()) { std::printf("  the second decoder: %s\n", failure.c_str()); }
  std::printf("  2 x 128 tiles on two threads and streams: %.2f ms by %s\n", ms, name_of(one.last_backend()));
  int largest = 0;
  double mean = 0;
  return report(first.compare(largest, mean) == 128 && second.compare(largest, mean) == 128, "two slots at once");
}

bool bad_among_good() {
  Batch batch(kKinds[4], 64, true);
  std::byte* const cut = batch.tiles[5].data;
  batch.tiles[5].size_bytes /= 2;                                     // no end marker
  std::memset(batch.tiles[9].data, 0, 2);                             // not JPEG
  batch.tiles[11].size_bytes = 0;                                     // not in the file
  std::memset(batch.tiles[20].data + 600, 0xA7, 400);                 // damage inside the scan
  NvjpegDecoder decoder;
  batch.decode_with(decoder);
  check_cuda(cudaStreamSynchronize(batch.stream.get()), "decoding");
  std::printf("  cut %d, no JPEG %d, empty %d, damaged inside %d\n", static_cast<int>(batch.statuses[5]),
              static_cast<int>(batch.statuses[9]), static_cast<int>(batch.statuses[11]),
              static_cast<int>(batch.statuses[20]));
  bool right = batch.statuses[5] == TileStatus::unsupported && batch.statuses[9] == TileStatus::corrupt &&
               batch.statuses[11] == TileStatus::sparse && cut == batch.tiles[5].data;
  batch.statuses[20] = TileStatus::unsupported;  // its pixels are nobody's promise
  int largest = 0;
  double mean = 0;
  right &= batch.compare(largest, mean) == 60 && mean < 3;
  return report(right, "bad tiles are reported, their neighbours are right");
}

}  // namespace

std::vector<Part> nvjpeg_parts() {
  return {{"nvjpeg-hardware", &hardware},
          {"nvjpeg-gpu_hybrid", &gpu_hybrid},
          {"nvjpeg-hybrid", &hybrid},
          {"nvjpeg-slots", &two_slots},
          {"nvjpeg-bad", &bad_among_good}};
}

}  // namespace terrazzo::gpu::device_test
