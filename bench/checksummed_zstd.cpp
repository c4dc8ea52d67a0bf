// SPDX-License-Identifier: Apache-2.0
//
// checksummed_zstd FILE: writes a GeoTIFF of 32 x 32 ZSTD tiles (256 px, uint16) whose frames have a content checksum.
// nvCOMP does not decode such frames, so the host decodes every tile of a device read:
//
//   checksummed_zstd sums.tif && device_bench --trusted --quick sums.tif
#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <vector>

namespace {

using namespace terrazzo;

constexpr std::uint32_t kTilePx = 256, kTilesAcross = 32;

std::uint64_t load(std::byte const* at, std::size_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

// XXH64 with seed 0 (RFC 8878, section 3.1.1: the checksum of a frame is its low 32 bits).
std::uint64_t xxh64(std::span<std::byte const> bytes) {
  constexpr std::uint64_t k1 = 0x9E3779B185EBCA87u, k2 = 0xC2B2AE3D27D4EB4Fu, k3 = 0x165667B19E3779F9u,
                          k4 = 0x85EBCA77C2B2AE63u, k5 = 0x27D4EB2F165667C5u;
  auto const round = [](std::uint64_t sum, std::uint64_t word) { return std::rotl(sum + word * k2, 31) * k1; };
  std::byte const* at = bytes.data();
  std::byte const* const end = at + bytes.size();
  std::uint64_t hash = k5;
  if (bytes.size() >= 32) {
    std::uint64_t lanes[4] = {k1 + k2, k2, 0, 0 - k1};
    for (; end - at >= 32; at += 32) {
      for (int i = 0; i < 4; ++i) { lanes[i] = round(lanes[i], load(at + 8 * i, 8)); }
    }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (std::uint64_t const lane : lanes) { hash = (hash ^ round(0, lane)) * k1 + k4; }
  }
  hash += bytes.size();
  for (; end - at >= 8; at += 8) { hash = std::rotl(hash ^ round(0, load(at, 8)), 27) * k1 + k4; }
  for (; end - at >= 4; at += 4) { hash = std::rotl(hash ^ load(at, 4) * k1, 23) * k2 + k3; }
  for (; at != end; ++at) { hash = std::rotl(hash ^ load(at, 1) * k5, 11) * k1; }
  hash = (hash ^ hash >> 33) * k2;
  hash = (hash ^ hash >> 29) * k3;
  return hash ^ hash >> 32;
}

void write_file(char const* path) {
  constexpr std::uint32_t kSide = kTilePx * kTilesAcross;
  HostArray pixels(DType::u16, 1, kTilePx, kTilePx);
  WriteOptions options;
  options.dtype = DType::u16;
  options.compression = Compression::zstd;
  options.predictor = PredictorChoice::none;  // the checksum is that of the pixels
  options.tile_size = {kTilePx, kTilePx};
  Writer writer = create(path, kSide, kSide, options);
  auto* const values = reinterpret_cast<std::uint16_t*>(pixels.bytes().data());
  std::uint32_t noise = 1;
  for (std::uint32_t tile = 0; tile < kTilesAcross * kTilesAcross; ++tile) {
    for (std::uint32_t i = 0; i < kTilePx * kTilePx; ++i) {
      noise = noise * 1664525 + 1013904223;
      values[i] = static_cast<std::uint16_t>(tile * 8 + i / kTilePx + (noise >> 28));
    }
    TileId const id{tile % kTilesAcross, tile / kTilesAcross, 0};
    EncodedTiles const encoded = encode_tiles(pixels.view(), id, kSide, kSide, options);
    std::span<std::byte const> const frame = encoded.bytes_of(encoded.tiles.front());
    std::vector<std::byte> summed(frame.begin(), frame.end());
    summed[4] |= std::byte{4};  // Content_Checksum_flag, in the byte after the magic number
    auto const sum = static_cast<std::uint32_t>(xxh64(pixels.bytes()));
    for (int shift = 0; shift < 32; shift += 8) { summed.push_back(static_cast<std::byte>(sum >> shift)); }
    writer.write_encoded(id, summed);
  }
  writer.close();
  static_cast<void>(read(open(path)));  // the host's decoder compares the checksums
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: checksummed_zstd FILE\n");
    return 2;
  }
  try {
    write_file(argv[1]);
    return 0;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
