// SPDX-License-Identifier: Apache-2.0
//
// Tiles for team_decoders.cpp: valid streams of Deflate and ZSTD of all kinds, damaged streams from a seed, and the
// verdict of the host engine about both.
#pragma once

#include "codec/registry/codec.hpp"
#include "coding/deflate/scene.hpp"

#include <libdeflate.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::device_test {

using Bytes = std::vector<std::byte>;
using coding::test::DeflateScene;

enum class Coding : std::uint8_t { deflate, zstd };

struct TestTile {
  Bytes stream;
  std::size_t size = 0;  // of the output
  std::string name{};
};

// ---- Valid streams ----

inline Bytes zlib_stream(Bytes const& bytes, int level, int strategy) {
  z_stream state{};
  if (deflateInit2(&state, level, Z_DEFLATED, 15, 8, strategy) != Z_OK) { throw std::runtime_error("deflateInit2"); }
  Bytes stream(deflateBound(&state, bytes.size()));
  state.next_in = const_cast<Bytef*>(reinterpret_cast<Bytef const*>(bytes.data()));  // it reads only
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(stream.data());
  state.avail_out = static_cast<uInt>(stream.size());
  bool const is_done = ::deflate(&state, Z_FINISH) == Z_STREAM_END;
  stream.resize(state.total_out);
  deflateEnd(&state);
  if (!is_done) { throw std::runtime_error("deflate"); }
  return stream;
}

struct ZstdOptions {
  int level = 3;
  bool checksum = false, with_size = true;
  int window_bits = 0;  // 0: by the level
};

inline Bytes zstd_frame(Bytes const& bytes, ZstdOptions const& options) {
  std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> const state(ZSTD_createCCtx(), ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(state.get(), ZSTD_c_compressionLevel, options.level);
  ZSTD_CCtx_setParameter(state.get(), ZSTD_c_checksumFlag, options.checksum ? 1 : 0);
  ZSTD_CCtx_setParameter(state.get(), ZSTD_c_contentSizeFlag, options.with_size ? 1 : 0);
  if (options.window_bits != 0) { ZSTD_CCtx_setParameter(state.get(), ZSTD_c_windowLog, options.window_bits); }
  Bytes frame(ZSTD_compressBound(bytes.size()) + bytes.size() / 100 + 1000);
  std::size_t const size = ZSTD_compress2(state.get(), frame.data(), frame.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(size) != 0) { throw std::runtime_error(ZSTD_getErrorName(size)); }
  frame.resize(size);
  return frame;
}

// Blocks of one literal that is repeated, blocks of literals, and matches: the compression ratio is about 10 and 100.
inline Bytes bytes_of_ratio(std::size_t size, std::uint32_t ratio, std::uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (std::size_t i = 0; i < size;) {
    std::size_t const fresh = 4 + random() % 24, repeated = fresh * (ratio + random() % ratio);
    for (std::size_t k = 0; k < fresh && i < size; ++k) { bytes[i++] = static_cast<std::byte>(random()); }
    std::size_t const distance = 1 + random() % std::min<std::size_t>(i, 5000);
    for (std::size_t k = 0; k < repeated && i < size; ++k, ++i) { bytes[i] = bytes[i - distance]; }
  }
  return bytes;
}

// One way to make a stream from bytes.
struct Encoding {
  char const* name;
  int level, strategy;   // of Deflate
  ZstdOptions zstd{};    // of ZSTD
};

inline std::vector<Encoding> encodings(Coding coding) {
  if (coding == Coding::deflate) {
    return {{"stored", 0, Z_DEFAULT_STRATEGY},  {"level 1", 1, Z_DEFAULT_STRATEGY},
            {"level 6", 6, Z_DEFAULT_STRATEGY}, {"level 9", 9, Z_DEFAULT_STRATEGY},
            {"fixed codes", 6, Z_FIXED},        {"literals only", 6, Z_HUFFMAN_ONLY},
            {"distance 1 only", 6, Z_RLE}};
  }
  return {{"level -5", 0, 0, {.level = -5}},
          {"level 1", 0, 0, {.level = 1}},
          {"level 3", 0, 0, {.level = 3}},
          {"level 9", 0, 0, {.level = 9}},
          {"level 19", 0, 0, {.level = 19}},
          {"checksum", 0, 0, {.checksum = true}},
          {"streamed", 0, 0, {.with_size = false, .window_bits = 17}},
          {"small blocks", 0, 0, {.window_bits = 11}}};
}

inline Bytes encoded(Coding coding, Encoding const& encoding, Bytes const& bytes) {
  return coding == Coding::deflate ? zlib_stream(bytes, encoding.level, encoding.strategy)
                                   : zstd_frame(bytes, encoding.zstd);
}

// Every kind of data, in every encoding, in every size up to `most_bytes`.
inline std::vector<TestTile> valid_tiles(Coding coding, std::size_t most_bytes) {
  std::vector<TestTile> tiles;
  for (std::size_t const size : {0u, 1u, 64u, 1'000u, 8'191u, 8'193u, 65'536u, 262'144u, 1'048'576u, 4'194'304u}) {
    if (size > most_bytes) { break; }
    for (Encoding const& encoding : encodings(coding)) {
      auto const add = [&](Bytes const& bytes, std::string const& data) {
        tiles.push_back(
            {encoded(coding, encoding, bytes), size, data + ", " + std::to_string(size) + " bytes, " + encoding.name});
      };
      for (DeflateScene const scene : coding::test::kDeflateScenes) {
        add(coding::test::deflate_scene(scene, size), "scene " + std::to_string(static_cast<int>(scene)));
      }
      if (size == 0) { continue; }
      add(bytes_of_ratio(size, 5, 1), "10:1");
      add(bytes_of_ratio(size, 50, 2), "100:1");
    }
  }
  return tiles;
}

// ---- Damaged streams ----

// Half of the sizes are 16 KiB or more.
inline std::size_t random_size(std::mt19937& random, std::size_t most_bytes) {
  auto const between = [&](double low, double high) {
    double const share = static_cast<double>(random() % 65'536) / 65'536;
    return static_cast<std::size_t>(low * std::pow(high / low, share));
  };
  std::uint32_t const kind = random() % 8;
  std::size_t const size = kind < 4 ? between(64, 16'384) : kind < 7 ? between(16'384, 65'536) : between(65'536, 1e6);
  return std::min(size, most_bytes);
}

// Valid tiles that are damaged later.
inline std::vector<TestTile> base_tiles(Coding coding, std::size_t count, std::size_t most_bytes) {
  std::vector<TestTile> tiles;
  std::vector<Encoding> const all = encodings(coding);
  std::mt19937 random(7);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t const size = random_size(random, most_bytes);
    auto const seed = static_cast<std::uint32_t>(i + 1);
    std::size_t const kind = i % (std::size(coding::test::kDeflateScenes) + 2);
    Bytes const bytes = kind >= 2 ? coding::test::deflate_scene(coding::test::kDeflateScenes[kind - 2], size, seed)
                                  : bytes_of_ratio(size, kind == 0 ? 5 : 50, seed);
    tiles.push_back({encoded(coding, all[i / 11 % all.size()], bytes), size});
  }
  return tiles;
}

// Deflate: the right checksum of what the stream contains, if it contains anything. Without that, the checksum would
// hide most differences.
inline void mend_checksum(TestTile& tile, Bytes& room) {
  constexpr std::size_t kFrame = 6;
  thread_local std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> const state(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (tile.stream.size() < kFrame) { return; }
  room.resize(std::max(room.size(), tile.size));
  std::size_t taken = 0, made = 0;
  if (libdeflate_deflate_decompress_ex(state.get(), tile.stream.data() + 2, tile.stream.size() - kFrame, room.data(),
                                       tile.size, &taken, &made) != LIBDEFLATE_SUCCESS) {
    return;
  }
  std::uint32_t const sum = libdeflate_adler32(1, room.data(), made);
  for (std::size_t i = 0; i < 4; ++i) { tile.stream[2 + taken + i] = static_cast<std::byte>(sum >> (24 - 8 * i)); }
  tile.size = made;
}

// Depends on the seed and the bases only.
inline TestTile damaged_tile(Coding coding, std::vector<TestTile> const& bases, std::uint64_t seed, Bytes& room) {
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  std::mt19937 random(words);
  auto const below = [&](std::size_t limit) { return limit == 0 ? 0 : static_cast<std::size_t>(random()) % limit; };
  TestTile tile = bases[below(bases.size())];
  Bytes& stream = tile.stream;
  auto const at = [&](std::size_t offset) { return stream.begin() + static_cast<std::ptrdiff_t>(offset); };
  switch (below(8)) {
    default:
      for (std::size_t i = 1 + below(8); i > 0; --i) {
        stream[below(stream.size())] = static_cast<std::byte>(random());
      }
      break;
    case 4: stream.resize(below(stream.size())); break;
    case 5: {  // the beginning of another tile
      Bytes const& other = bases[below(bases.size())].stream;
      std::size_t const count = below(std::min({stream.size(), other.size(), std::size_t{300}}));
      std::copy_n(other.begin(), count, stream.begin());
      break;
    }
    case 6: {  // a part of the stream twice
      std::size_t const begin = below(stream.size()), count = below(std::min<std::size_t>(stream.size() - begin, 5000));
      Bytes const part(at(begin), at(begin + count));
      stream.insert(at(below(stream.size())), part.begin(), part.end());
      break;
    }
    case 7: {  // the end of another tile
      Bytes const& other = bases[below(bases.size())].stream;
      std::size_t const from = below(std::min(stream.size(), other.size()));
      stream.resize(from);
      stream.insert(stream.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
      break;
    }
  }
  if (below(4) == 0) { tile.size += below(3) - 1; }  // not the size of the content: SIZE_MAX + 1 is 0
  if (coding == Coding::deflate && below(2) == 0) { mend_checksum(tile, room); }
  tile.name = "seed " + std::to_string(seed);
  return tile;
}

// ---- The host engine ----

struct Verdict {
  bool is_good;
  Bytes bytes;
};

inline Verdict host_verdict(Coding coding, TestTile const& tile, codec::Workspace& workspace) {
  codec::BlockFormat format;
  format.compression = coding == Coding::deflate ? tiff::Compression::deflate : tiff::Compression::zstd;
  codec::BlockShape const shape{static_cast<std::uint32_t>(tile.size), 1};
  Verdict verdict{false, Bytes(tile.size)};
  tile::TileResult const result =
      codec::find_codec(format.compression)->decode_block(format, shape, tile.stream, verdict.bytes, workspace);
  verdict.is_good = result.status == tile::TileStatus::ok;
  return verdict;
}

}  // namespace terrazzo::device_test
