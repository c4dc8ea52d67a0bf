// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG2000 on lossless tiles: equality, the pooled decoder with K lanes against OpenJPEG on all cores and against the
// loop that allocates and waits for each tile, allocations after the first batch, and bad tiles among good ones.
#include "device_test.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/vendor/interleave.hpp"
#include "gpu/vendor/library.hpp"
#include "gpu/vendor/nvjpeg2k.hpp"
#include "gpu/vendor/nvjpeg2k_api.hpp"

#include <openjpeg.h>

#include <cmath>
#include <cstring>

namespace terrazzo::gpu::device_test {
namespace {

using tile::TileStatus;
using Bytes = std::vector<std::byte>;

constexpr std::uint32_t kEdge = 256;
constexpr std::size_t kDistinct = 32;
constexpr std::size_t kTiles = 1024;

struct Kind {
  char const* name;
  std::uint32_t samples;
  std::uint32_t bits;  // of the TIFF's samples
  std::uint32_t precision;  // of the codestream's
  bool is_signed;
};
constexpr Kind kRgb8{"u8 x 3", 3, 8, 8, false};
constexpr Kind kKinds[] = {kRgb8,
                           {"u8 x 1", 1, 8, 8, false},
                           {"u16 x 1", 1, 16, 16, false},
                           {"u16 x 3, 12 bits used", 3, 16, 12, false},
                           {"s16 x 1", 1, 16, 16, true},
                           {"s8 x 1", 1, 8, 8, true}};

struct Memory {
  Bytes bytes;
  std::size_t at = 0;
};

extern "C" {
static OPJ_SIZE_T memory_write(void* from, OPJ_SIZE_T count, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  if (memory.at + count > memory.bytes.size()) { memory.bytes.resize(memory.at + count); }
  std::memcpy(memory.bytes.data() + memory.at, from, count);
  memory.at += count;
  return count;
}
static OPJ_SIZE_T memory_read(void* to, OPJ_SIZE_T count, void* user) {
  auto& memory = *static_cast<Memory*>(user);
  OPJ_SIZE_T const left = std::min<OPJ_SIZE_T>(count, memory.bytes.size() - memory.at);
  if (left == 0) { return static_cast<OPJ_SIZE_T>(-1); }
  std::memcpy(to, memory.bytes.data() + memory.at, left);
  memory.at += left;
  return left;
}
static OPJ_OFF_T memory_skip(OPJ_OFF_T count, void* user) {
  static_cast<Memory*>(user)->at += static_cast<std::size_t>(count);
  return count;
}
static OPJ_BOOL memory_seek(OPJ_OFF_T to, void* user) {
  static_cast<Memory*>(user)->at = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}
static void silent(char const*, void*) {}
}

opj_stream_t* stream_over(Memory& memory, bool reading) {
  opj_stream_t* const stream = opj_stream_default_create(reading ? OPJ_TRUE : OPJ_FALSE);
  opj_stream_set_read_function(stream, &memory_read);
  opj_stream_set_write_function(stream, &memory_write);
  opj_stream_set_skip_function(stream, &memory_skip);
  opj_stream_set_seek_function(stream, &memory_seek);
  opj_stream_set_user_data(stream, &memory, nullptr);
  opj_stream_set_user_data_length(stream, memory.bytes.size());
  return stream;
}

// Samples side by side, each in `bits` bits.
Bytes picture(Kind const& kind, std::uint64_t seed) {
  Noise noise(seed);
  double const top = static_cast<double>((1u << kind.precision) - 1);
  Bytes out;
  for (std::uint32_t y = 0; y < kEdge; ++y) {
    for (std::uint32_t x = 0; x < kEdge; ++x) {
      for (std::uint32_t s = 0; s < kind.samples; ++s) {
        double const wave =
            0.5 + 0.4 * std::sin((x + static_cast<double>(seed) * 11) * 0.03 * (s + 1)) * std::cos(y * 0.02);
        double const value = std::floor(std::min(top, wave * top + noise.next() % 8));
        auto const stored = static_cast<std::int32_t>(value) - (kind.is_signed ? 1 << (kind.precision - 1) : 0);
        for (std::uint32_t b = 0; b < kind.bits / 8; ++b) { out.push_back(static_cast<std::byte>(stored >> (8 * b))); }
      }
    }
  }
  return out;
}

std::int32_t sample_at(Kind const& kind, Bytes const& pixels, std::size_t index) {
  auto const low = static_cast<std::int32_t>(pixels[index * (kind.bits / 8)]);
  if (kind.bits == 8) { return kind.is_signed ? static_cast<std::int8_t>(low) : low; }
  std::int32_t const value = low | static_cast<std::int32_t>(pixels[index * 2 + 1]) << 8;
  return kind.is_signed ? static_cast<std::int16_t>(value) : value;
}

Bytes encode(Kind const& kind, Bytes const& pixels) {
  opj_image_cmptparm_t parameters[3] = {};
  for (opj_image_cmptparm_t& one : parameters) {
    one.dx = one.dy = 1;
    one.w = one.h = kEdge;
    one.prec = kind.precision;
    one.sgnd = kind.is_signed ? 1 : 0;
  }
  opj_image_t* const image =
      opj_image_create(kind.samples, parameters, kind.samples == 3 ? OPJ_CLRSPC_SRGB : OPJ_CLRSPC_GRAY);
  image->x1 = image->y1 = kEdge;
  for (std::size_t i = 0; i < std::size_t{kEdge} * kEdge; ++i) {
    for (std::uint32_t s = 0; s < kind.samples; ++s) {
      image->comps[s].data[i] = sample_at(kind, pixels, i * kind.samples + s);
    }
  }
  opj_cparameters_t settings;
  opj_set_default_encoder_parameters(&settings);
  settings.tcp_numlayers = 1;
  settings.tcp_rates[0] = 0;
  settings.cp_disto_alloc = 1;
  settings.tcp_mct = kind.samples == 3 ? 1 : 0;
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

bool decode_on_host(Bytes const& tile) {
  Memory memory{tile, 0};
  opj_stream_t* const stream = stream_over(memory, true);
  opj_codec_t* const codec = opj_create_decompress(OPJ_CODEC_J2K);
  opj_set_error_handler(codec, &silent, nullptr);
  opj_set_warning_handler(codec, &silent, nullptr);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_setup_decoder(codec, &parameters);
  opj_image_t* image = nullptr;
  bool const fine = opj_read_header(stream, codec, &image) && opj_decode(codec, stream, image);
  opj_image_destroy(image);
  opj_destroy_codec(codec);
  opj_stream_destroy(stream);
  return fine;
}

struct Batch {
  Kind kind;
  std::vector<Bytes> raw, packed;
  std::vector<Jpeg2000Tile> tiles;
  std::vector<TileStatus> statuses;
  std::size_t tile_bytes;
  Device output;
  StreamHandle stream;

  Batch(Kind const& which, std::size_t count)
      : kind(which),
        raw(kDistinct),
        packed(kDistinct),
        statuses(count),
        tile_bytes(std::size_t{kEdge} * kEdge * which.samples * which.bits / 8),
        stream(make_stream()) {
    parallel(kDistinct, [&](std::size_t i) {
      raw[i] = picture(kind, i + 1);
      packed[i] = encode(kind, raw[i]);
    });
    for (std::size_t i = 0; i < count; ++i) {
      Bytes const& tile = packed[i % kDistinct];
      tiles.push_back({tile.data(), tile.size(), i * tile_bytes});
    }
    output = device_bytes(count * tile_bytes);
    check_cuda(cudaMemset(output.get(), 0x5A, count * tile_bytes), "clearing");
  }

  [[nodiscard]] Jpeg2000Format format() const { return {kEdge, kEdge, kind.samples, kind.bits, kind.is_signed}; }
  [[nodiscard]] std::size_t pitch() const { return tile_bytes / kEdge; }

  void decode_with(Nvjpeg2kDecoder& decoder) {
    decoder.decode(format(), tiles, output.get(), pitch(), statuses, stream.get());
  }
  [[nodiscard]] bool equals(std::size_t i) const {
    return downloaded<std::byte>(output.get() + i * tile_bytes, tile_bytes) == raw[i % kDistinct];
  }
  [[nodiscard]] bool all_equal() const {
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      if (statuses[i] != TileStatus::ok || !equals(i)) { return false; }
    }
    return true;
  }
};

bool equality() {
  bool passed = true;
  for (Kind const& kind : kKinds) {
    Batch batch(kind, 64);
    Nvjpeg2kDecoder decoder;
    batch.decode_with(decoder);
    check_cuda(cudaStreamSynchronize(batch.stream.get()), "decoding");
    std::size_t const good =
        static_cast<std::size_t>(std::count(batch.statuses.begin(), batch.statuses.end(), TileStatus::ok));
    std::printf("  %-22s %zu of 64 decoded\n", kind.name, good);
    passed &= report(batch.all_equal(), std::string("lossless ") + kind.name + " is what was encoded");
  }
  return passed;
}

bool pooled() {
  Batch batch(kRgb8, kTiles);
  bool passed = true;
  struct Way {
    unsigned lanes, threads;
  };
  for (Way const way : {Way{32, 8}, Way{16, 8}, Way{8, 8}, Way{8, 1}, Way{1, 1}}) {
    Nvjpeg2kDecoder::Options options;
    options.lanes = way.lanes;
    options.host_threads = way.threads;
    Nvjpeg2kDecoder decoder(options);
    // Which lane gets which tile is a matter of timing: all have their memory after a few batches.
    for (int i = 0; i < 3; ++i) { batch.decode_with(decoder); }
    check_cuda(cudaStreamSynchronize(batch.stream.get()), "decoding");
    std::uint64_t const allocations = decoder.allocations();
    double const ms = best_ms(2, [&] { batch.decode_with(decoder); });
    std::uint64_t const more = decoder.allocations() - allocations;
    std::printf(
        "  %2u lanes, %u host threads: %8.2f ms, %6.1f MB of device memory, %llu allocations after the first batches\n",
        way.lanes, way.threads, ms, static_cast<double>(decoder.device_bytes_held()) / 1e6,
        static_cast<unsigned long long>(more));
    passed &= more == 0;
  }
  passed = report(passed, "nothing is allocated after the first batches");
  return report(batch.all_equal(), "1024 tiles of 256 x 256 x 3 are what was encoded") && passed;
}

// The simple loop, for comparison with the pooled decoder: planes allocated for each tile, one state, a wait after each
// tile.
bool naive() {
  VendorModule const& module = vendor_module(Vendor::nvjpeg2k);
  nvjpeg2k::Create* create = nullptr;
  nvjpeg2k::StateCreate* state_create = nullptr;
  nvjpeg2k::StreamCreate* stream_create = nullptr;
  nvjpeg2k::StreamParse* parse = nullptr;
  nvjpeg2k::Decode* decode = nullptr;
  if (!bind(module, "nvjpeg2kCreateV2", create) || !bind(module, "nvjpeg2kDecodeStateCreate", state_create) ||
      !bind(module, "nvjpeg2kStreamCreate", stream_create) || !bind(module, "nvjpeg2kStreamParse", parse) ||
      !bind(module, "nvjpeg2kDecode", decode)) {
    return report(false, "nvJPEG2000 is there");
  }
  auto const device_allocate = [](void*, void** pointer, std::size_t bytes, cudaStream_t) -> int {
    return cudaMalloc(pointer, bytes);
  };
  auto const device_release = [](void*, void* pointer, std::size_t, cudaStream_t) -> int { return cudaFree(pointer); };
  auto const pinned_allocate = [](void*, void** pointer, std::size_t bytes, cudaStream_t) -> int {
    return cudaMallocHost(pointer, bytes);
  };
  auto const pinned_release = [](void*, void* pointer, std::size_t, cudaStream_t) -> int {
    return cudaFreeHost(pointer);
  };
  nvjpeg2k::DeviceAllocator device{device_allocate, device_release, nullptr};
  nvjpeg2k::PinnedAllocator pinned{pinned_allocate, pinned_release, nullptr};
  nvjpeg2k::Handle handle = nullptr;
  nvjpeg2k::State state = nullptr;
  nvjpeg2k::Stream parsed = nullptr;
  if (create(nvjpeg2k::kBackendDefault, &device, &pinned, &handle) != 0 || state_create(handle, &state) != 0 ||
      stream_create(&parsed) != 0) {
    return report(false, "nvJPEG2000 starts");
  }
  Batch batch(kRgb8, kTiles);
  std::size_t const plane = std::size_t{kEdge} * kEdge;
  std::vector<std::uint64_t> host_offsets;
  for (Jpeg2000Tile const& tile : batch.tiles) { host_offsets.push_back(tile.output_offset); }
  Device const offsets = uploaded(host_offsets);
  double const ms = best_ms(2, [&] {
    for (std::size_t i = 0; i < batch.tiles.size(); ++i) {
      Jpeg2000Tile const& tile = batch.tiles[i];
      Device const planes = device_bytes(3 * plane);
      void* pointers[3] = {planes.get(), planes.get() + plane, planes.get() + 2 * plane};
      std::size_t pitches[3] = {kEdge, kEdge, kEdge};
      nvjpeg2k::Image image{pointers, pitches, nvjpeg2k::kUint8, 3};
      bool const fine =
          parse(handle, reinterpret_cast<unsigned char const*>(tile.data), tile.size_bytes, 0, 0, parsed) == 0 &&
          decode(handle, state, parsed, &image, batch.stream.get()) == 0;
      batch.statuses[i] = fine ? TileStatus::ok : TileStatus::unsupported;
      PlanarTiles planar;
      planar.planes = planes.get();
      planar.tile_stride_bytes = 3 * plane;
      planar.plane_stride_bytes = plane;
      planar.plane_pitch_bytes = kEdge;
      planar.width_px = planar.height_px = kEdge;
      planar.samples = 3;
      planar.output = batch.output.get();
      planar.output_offsets = reinterpret_cast<std::uint64_t const*>(offsets.get()) + i;
      planar.output_pitch_bytes = batch.pitch();
      planar.count = 1;
      interleave_tiles(planar, batch.stream.get());
      check_cuda(cudaDeviceSynchronize(), "waiting for a tile");
    }
  });
  std::printf("  a tile at a time, allocated and waited for: %8.2f ms\n", ms);
  return report(batch.all_equal(), "the naive loop decodes what was encoded");
}

bool on_host() {
  std::vector<Bytes> packed(kDistinct);
  parallel(kDistinct, [&](std::size_t i) { packed[i] = encode(kRgb8, picture(kRgb8, i + 1)); });
  std::atomic<bool> fine{true};
  double best = 1e30;
  for (int run = 0; run < 3; ++run) {
    auto const start = std::chrono::steady_clock::now();
    parallel(kTiles, [&](std::size_t i) {
      if (!decode_on_host(packed[i % kDistinct])) { fine = false; }
    });
    std::chrono::duration<double, std::milli> const taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  std::printf("  OpenJPEG on %u threads: %8.2f ms, %zu bytes in the first tile\n", std::thread::hardware_concurrency(),
              best, packed[0].size());
  return report(fine, "OpenJPEG decodes what it encoded");
}

bool bad_among_good() {
  Batch batch(kRgb8, 64);
  Bytes const nothing(100);
  Bytes const header(batch.packed[0].begin(), batch.packed[0].begin() + 60);
  Bytes const other = encode(kKinds[1], picture(kKinds[1], 1));  // one component instead of three
  batch.tiles[3] = {nothing.data(), nothing.size(), batch.tiles[3].output_offset};
  batch.tiles[10] = {header.data(), header.size(), batch.tiles[10].output_offset};
  batch.tiles[11].size_bytes = 0;
  batch.tiles[40] = {other.data(), other.size(), batch.tiles[40].output_offset};
  Nvjpeg2kDecoder decoder;
  batch.decode_with(decoder);
  check_cuda(cudaStreamSynchronize(batch.stream.get()), "decoding");
  bool right = true;
  for (std::size_t i = 0; i < 64; ++i) {
    bool const bad = i == 3 || i == 10 || i == 11 || i == 40;
    if (bad) {
      auto const left = downloaded<std::byte>(batch.output.get() + i * batch.tile_bytes, batch.tile_bytes);
      bool const untouched = std::all_of(left.begin(), left.end(), [](std::byte b) { return b == std::byte{0x5A}; });
      right &= batch.statuses[i] != TileStatus::ok && untouched;
    } else {
      right &= batch.statuses[i] == TileStatus::ok && batch.equals(i);
    }
  }
  std::printf("  no JPEG 2000 %d, header only %d, empty %d, other components %d\n", static_cast<int>(batch.statuses[3]),
              static_cast<int>(batch.statuses[10]), static_cast<int>(batch.statuses[11]),
              static_cast<int>(batch.statuses[40]));
  return report(right, "bad tiles are reported and left alone, their neighbours are right");
}

}  // namespace

std::vector<Part> nvjpeg2k_parts() {
  return {{"jp2k-equality", &equality},
          {"jp2k-bad", &bad_among_good},
          {"jp2k-pooled", &pooled},
          {"jp2k-naive", &naive},
          {"jp2k-openjpeg", &on_host}};
}

}  // namespace terrazzo::gpu::device_test
