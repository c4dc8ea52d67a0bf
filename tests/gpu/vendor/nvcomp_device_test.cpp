// SPDX-License-Identifier: Apache-2.0
//
// nvCOMP on terrain-like tiles: equality, time alone and on several streams, scratch, and bad tiles among good ones.
#include "coding/zstd/frame.hpp"
#include "device_test.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/vendor/nvcomp.hpp"
#include "terrain_tile.hpp"

#include <libdeflate.h>
#include <zstd.h>

#include <cstring>

namespace terrazzo::gpu::device_test {
namespace {

using tile::TileStatus;
using Bytes = std::vector<std::byte>;

Bytes compressed(NvcompCodec codec, Bytes const& raw) {
  Bytes out;
  if (codec == NvcompCodec::deflate) {
    libdeflate_compressor* const compressor = libdeflate_alloc_compressor(6);
    out.resize(libdeflate_zlib_compress_bound(compressor, raw.size()));
    out.resize(libdeflate_zlib_compress(compressor, raw.data(), raw.size(), out.data(), out.size()));
    libdeflate_free_compressor(compressor);
  } else {
    // Piecewise, as libtiff writes: the frame does not know its size.
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 9);
    out.resize(ZSTD_compressBound(raw.size()) + 64);
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    ZSTD_inBuffer source{raw.data(), raw.size(), 0};
    while (source.pos < source.size) { ZSTD_compressStream2(context, &target, &source, ZSTD_e_continue); }
    while (ZSTD_compressStream2(context, &target, &source, ZSTD_e_end) != 0) {}
    out.resize(target.pos);
    ZSTD_freeCCtx(context);
  }
  return out;
}

// A batch on the device, with tiles placed as the engine places them.
struct Batch {
  NvcompCodec codec;
  std::uint64_t tile_bytes = 0;
  std::vector<std::uint64_t> input_offsets, input_sizes, output_offsets, output_sizes;
  Device input, output, statuses, device_arrays[4];
  std::uint64_t compressed_bytes = 0;

  Batch(NvcompCodec which, std::vector<Bytes const*> const& tiles, std::vector<std::uint64_t> const& outputs)
      : codec(which) {
    std::uint64_t at = 0, out = 0;
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      at = (at + 15) / 16 * 16 + nvcomp_input_phase(codec);
      input_offsets.push_back(at);
      input_sizes.push_back(tiles[i]->size());
      at += tiles[i]->size();
      compressed_bytes += tiles[i]->size();
      output_offsets.push_back(out);
      output_sizes.push_back(outputs[i]);
      out += (outputs[i] + 15) / 16 * 16;
      tile_bytes = std::max(tile_bytes, outputs[i]);
    }
    Bytes host(at + 16);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      std::memcpy(host.data() + input_offsets[i], tiles[i]->data(), tiles[i]->size());
    }
    input = uploaded(host);
    output = device_bytes(out);
    check_cuda(cudaMemset(output.get(), 0xA5, out), "clearing");
    statuses = device_bytes(tiles.size());
    device_arrays[0] = uploaded(input_offsets);
    device_arrays[1] = uploaded(input_sizes);
    device_arrays[2] = uploaded(output_offsets);
    device_arrays[3] = uploaded(output_sizes);
  }

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(input_sizes.size()); }

  // Tiles [first, first + length) as a batch of their own.
  [[nodiscard]] tile::DeviceTiles slice(std::uint32_t first, std::uint32_t length) const {
    auto const array = [&](int k) { return reinterpret_cast<std::uint64_t const*>(device_arrays[k].get()) + first; };
    return {input.get(),
            array(0),
            array(1),
            output.get(),
            array(2),
            array(3),
            reinterpret_cast<TileStatus*>(statuses.get()) + first,
            length};
  }

  // All tiles in `pieces` batches, each on a stream and in a scratch buffer of its own.
  double time_ms(std::uint32_t pieces, std::size_t& scratch_bytes) const {
    std::uint32_t const length = count() / pieces;
    scratch_bytes = nvcomp_decode_scratch_bytes(codec, length, tile_bytes, tile_bytes * length);
    std::vector<StreamHandle> streams;
    std::vector<Device> scratch;
    for (std::uint32_t i = 0; i < pieces; ++i) {
      streams.push_back(make_stream());
      scratch.push_back(device_bytes(scratch_bytes));
    }
    return best_ms(5, [&] {
      for (std::uint32_t i = 0; i < pieces; ++i) {
        nvcomp_decode(codec, slice(i * length, length), tile_bytes, tile_bytes * length, scratch[i].get(),
                      scratch_bytes, streams[i].get());
      }
    });
  }

  void decode() const {
    std::size_t const bytes = nvcomp_decode_scratch_bytes(codec, count(), tile_bytes, tile_bytes * count());
    Device const scratch = device_bytes(bytes + 16);
    StreamHandle const stream = make_stream();
    // An odd start: the adapter must align its parts itself.
    nvcomp_decode(codec, slice(0, count()), tile_bytes, tile_bytes * count(), scratch.get() + 16, bytes, stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "decoding");
  }

  [[nodiscard]] std::vector<TileStatus> status() const { return downloaded<TileStatus>(statuses.get(), count()); }

  [[nodiscard]] bool equals(std::size_t i, Bytes const& raw) const {
    Bytes const got = downloaded<std::byte>(output.get() + output_offsets[i], output_sizes[i]);
    return std::memcmp(got.data(), raw.data(), std::min(got.size(), raw.size())) == 0;
  }
};

constexpr std::size_t kDistinct = 32;

char const* name_of(NvcompCodec codec) { return codec == NvcompCodec::deflate ? "deflate" : "zstd"; }

bool measure(NvcompCodec codec, std::uint32_t edge_px, std::uint32_t count) {
  std::vector<Bytes> raw(kDistinct), packed(kDistinct);
  parallel(kDistinct, [&](std::size_t i) {
    raw[i] = terrain_tile(edge_px, i + 1);
    packed[i] = compressed(codec, raw[i]);
  });
  std::size_t plausible = 0;
  for (std::size_t i = 0; i < kDistinct; ++i) {
    plausible += coding::zstd_frame_is_plausible(packed[i], raw[i].size()) ? 1 : 0;
  }
  bool passed = true;
  if (codec == NvcompCodec::zstd) {
    passed &= report(plausible == kDistinct, "every zstd frame of libzstd is plausible");
  }
  std::vector<Bytes const*> tiles(count);
  for (std::uint32_t i = 0; i < count; ++i) { tiles[i] = &packed[i % kDistinct]; }
  Batch const batch(codec, tiles, std::vector<std::uint64_t>(count, raw[0].size()));
  batch.decode();
  std::vector<TileStatus> const statuses = batch.status();
  bool equal = true;
  for (std::uint32_t i = 0; i < count && equal; ++i) {
    equal = statuses[i] == TileStatus::ok && batch.equals(i, raw[i % kDistinct]);
  }
  std::string const title = std::string(name_of(codec)) + " " + std::to_string(count) + " tiles of " +
                            std::to_string(raw[0].size() >> 10) + " KiB";
  passed &= report(equal, title + " decode to what was compressed");
  double const total = static_cast<double>(raw[0].size()) * count;
  for (std::uint32_t const pieces : {1u, 8u, 16u}) {
    std::size_t scratch = 0;
    double const ms = batch.time_ms(pieces, scratch);
    std::printf(
        "  %2u batches on as many streams: %7.2f ms, %6.1f GB/s out, ratio %.2f, scratch %.1f MB each, %.1f MB in "
        "all\n",
        pieces, ms, total / ms / 1e6, total / static_cast<double>(batch.compressed_bytes),
        static_cast<double>(scratch) / 1e6, static_cast<double>(scratch) * pieces / 1e6);
  }
  return passed;
}

bool deflate_large() { return measure(NvcompCodec::deflate, 512, 1024); }
bool deflate_small() { return measure(NvcompCodec::deflate, 256, 4096); }
bool zstd_large() { return measure(NvcompCodec::zstd, 512, 1024); }
bool zstd_small() { return measure(NvcompCodec::zstd, 256, 4096); }

// Tiles that never reach nvCOMP, among good ones.
bool bad_among_good(NvcompCodec codec) {
  Bytes const raw = terrain_tile(64, 7);
  Bytes const good = compressed(codec, raw);
  Bytes header = good;
  header[1] = static_cast<std::byte>(static_cast<unsigned>(header[1]) ^ 1);
  Bytes const brief(good.begin(), good.begin() + 7);
  Bytes const none;
  std::vector<Bytes const*> tiles(100, &good);
  tiles[3] = &header;
  tiles[50] = &brief;
  tiles[51] = &none;
  tiles[99] = &header;
  Batch const batch(codec, tiles, std::vector<std::uint64_t>(100, raw.size()));
  batch.decode();
  std::vector<TileStatus> const statuses = batch.status();
  TileStatus const refused = codec == NvcompCodec::deflate ? TileStatus::corrupt : TileStatus::unsupported;
  bool right = true;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    TileStatus const expected = tiles[i] == &good ? TileStatus::ok : tiles[i] == &none ? TileStatus::sparse : refused;
    right &= statuses[i] == expected && (tiles[i] != &good || batch.equals(i, raw));
  }
  return report(right, std::string(name_of(codec)) + ": bad tiles are reported, their neighbours are right");
}

bool deflate_bad() { return bad_among_good(NvcompCodec::deflate); }
bool zstd_bad() { return bad_among_good(NvcompCodec::zstd); }

// A valid stream that holds more than its tile, or less: never `ok` with wrong bytes.
bool other_lengths(NvcompCodec codec) {
  Bytes const raw = terrain_tile(64, 7);
  Bytes const good = compressed(codec, raw);
  std::vector<Bytes const*> const tiles(3, &good);
  Batch const batch(codec, tiles, {raw.size(), raw.size() / 2, raw.size() * 2});
  batch.decode();
  std::vector<TileStatus> const statuses = batch.status();
  std::printf("  status of the right length %d, of surplus data %d, of missing data %d\n",
              static_cast<int>(statuses[0]), static_cast<int>(statuses[1]), static_cast<int>(statuses[2]));
  bool const surplus_right = statuses[1] != TileStatus::ok || batch.equals(1, raw);
  return report(statuses[0] == TileStatus::ok && batch.equals(0, raw) && surplus_right && statuses[2] != TileStatus::ok,
                std::string(name_of(codec)) + ": surplus and missing data are noticed");
}

bool deflate_lengths() { return other_lengths(NvcompCodec::deflate); }
bool zstd_lengths() { return other_lengths(NvcompCodec::zstd); }

}  // namespace

std::vector<Part> nvcomp_parts() {
  return {{"nvcomp-deflate-bad", &deflate_bad},
          {"nvcomp-zstd-bad", &zstd_bad},
          {"nvcomp-deflate-lengths", &deflate_lengths},
          {"nvcomp-zstd-lengths", &zstd_lengths},
          {"nvcomp-zstd-1MiB", &zstd_large},
          {"nvcomp-zstd-256KiB", &zstd_small},
          {"nvcomp-deflate-1MiB", &deflate_large},
          {"nvcomp-deflate-256KiB", &deflate_small}};
}

}  // namespace terrazzo::gpu::device_test
