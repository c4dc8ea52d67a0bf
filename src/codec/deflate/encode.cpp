// SPDX-License-Identifier: Apache-2.0
//
// Deflate in its zlib frame (TIFF 8): by our own encoder if the block is partly noise, otherwise by libdeflate, at a
// faster level where that is about as small. A level gives about the size of GDAL's level. Both encoders are stateless
// between calls.
#include "codec/deflate/noise_deflate.hpp"
#include "codec/matches/level_trial.hpp"
#include "codec/matches/noise.hpp"
#include "codec/registry/encoders.hpp"
#include "codec/registry/workspace.hpp"

namespace terrazzo::codec {

std::uint64_t deflate_zlib_bound(std::uint64_t in_bytes) noexcept {
  // Stored blocks are the worst case: five bytes for at most 65535, and libdeflate makes them no shorter than 5000;
  // then zlib's header and checksum.
  return in_bytes + (in_bytes / 5000 + 1) * 5 + 32;
}

#if TERRAZZO_HAVE_LIBDEFLATE

namespace {

// From zlib's default level of 6 on, libtiff uses libdeflate's next higher level, and so do we: the same level gives
// the same size.
constexpr int library_level(int level) noexcept { return level >= 6 && level < kDeflateLevels[1] ? level + 1 : level; }

// At the levels where libdeflate evaluates all matches, our encoder is used only if its output for a sample from the
// middle has about the size of libdeflate's: this is so for 16-bit samples.
bool keeps_size(std::span<std::byte const> in, int level, std::span<std::byte> room, Workspace& workspace) {
  constexpr int kFirstLevel = 9;
  constexpr double kAllowed = 1.008;
  if (level < kFirstLevel) { return true; }
  if (level > NoiseDeflate::kHighestLevel || in.size() < NoiseDeflate::kLeastBytes) { return false; }
  std::size_t const from = (in.size() - NoiseDeflate::kLeastBytes) / 2 / kNoiseSegmentBytes * kNoiseSegmentBytes;
  std::span<std::byte const> const piece = in.subspan(from, NoiseDeflate::kLeastBytes);
  std::size_t const ours = workspace.impl().noise_deflate().encode(piece, level, room);
  if (ours == 0) { return false; }
  std::size_t const theirs = libdeflate_deflate_compress(workspace.impl().libdeflate_encoder(library_level(level)),
                                                         piece.data(), piece.size(), room.data(), room.size());
  return theirs != 0 && static_cast<double>(ours) <= kAllowed * static_cast<double>(theirs);
}

// libdeflate's level for a block: that of the format, or a faster one that adds little to the size of a sample. From
// level 9 on all matches are evaluated, which is worth its time; levels up to 4 are fast.
int choose_library_level(EncodeFormat const& format, std::span<std::byte const> in, std::span<std::byte> room,
                         Workspace& workspace) {
  constexpr int kLowestTried = 5, kHighestTried = 8;
  // The lazy search of 5 takes 0.6 of the time of GDAL's level 6, the greedy ones of 1 and 4 a quarter to a half.
  constexpr FasterLevel kFaster[] = {{1, 1.003}, {4, 1.003}, {5, 1.009}};
  int const wanted = library_level(format.level);
  bool const tries = format.level >= kLowestTried && format.level <= kHighestTried && is_tried(format, in.size());
  if (!tries) { return wanted; }
  return choose_level(
      kFaster, wanted, in, workspace.impl().trial, [&](int level, std::span<std::byte const> sample) -> std::size_t {
        libdeflate_compressor* const compressor = workspace.impl().libdeflate_encoder(level);
        if (compressor == nullptr) { return 0; }
        return libdeflate_deflate_compress(compressor, sample.data(), sample.size(), room.data(), room.size());
      });
}

// RFC 1950: a header of two bytes, the stream, Adler-32 with its highest byte first. Returns 0 if libdeflate must
// encode the block.
std::size_t deflate_noise(std::span<std::byte const> in, int level, std::span<std::byte> memory, Workspace& workspace) {
  constexpr std::size_t kHeader = 2, kChecksum = 4;
  std::span<std::byte> const room = memory.subspan(kHeader, memory.size() - kHeader - kChecksum);
  if (!keeps_size(in, level, room, workspace)) { return 0; }
  std::size_t const size = workspace.impl().noise_deflate().encode(in, level, room);
  if (size == 0) { return 0; }
  memory[0] = std::byte{0x78};  // deflate, 32 KiB
  memory[1] = std::byte{0x9C};  // no dictionary; the two bytes together are a multiple of 31
  std::uint32_t const checksum = libdeflate_adler32(1, in.data(), in.size());
  for (std::size_t i = 0; i < kChecksum; ++i) {
    memory[kHeader + size + i] = static_cast<std::byte>(checksum >> (24 - 8 * i));
  }
  return kHeader + size + kChecksum;
}

tile::TileResult deflate(std::span<std::byte const> in, EncodeFormat const& format, EncodedBlock& out,
                         Workspace& workspace) {
  int const level = format.level;
  if (level < kDeflateLevels[0] || level > kDeflateLevels[1]) { return failed("no such level"); }
  std::span<std::byte> const memory = out.memory.get(libdeflate_zlib_compress_bound(nullptr, in.size()));
  if (std::size_t const size = deflate_noise(in, level, memory, workspace); size != 0) {
    return encoded(out, memory, size);
  }
  libdeflate_compressor* const compressor =
      workspace.impl().libdeflate_encoder(choose_library_level(format, in, memory, workspace));
  if (compressor == nullptr) { return out_of_memory(); }
  std::size_t const size = libdeflate_zlib_compress(compressor, in.data(), in.size(), memory.data(), memory.size());
  if (size == 0) { return failed("libdeflate failed"); }
  return encoded(out, memory, size);
}

}  // namespace

tile::TileResult deflate_zlib(std::span<std::byte const> in, int level, EncodedBlock& out, Workspace& workspace) {
  return deflate(in, {.level = level}, out, workspace);
}

#else

tile::TileResult deflate_zlib(std::span<std::byte const>, int, EncodedBlock&, Workspace&) {
  return unsupported("this build lacks libdeflate");
}

#endif

namespace {

#if TERRAZZO_HAVE_LIBDEFLATE
tile::TileResult encode(EncodeFormat const& format, BlockShape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace& workspace) {
  return deflate(in, format, out, workspace);
}
#endif

std::string refuse(EncodeFormat const& format) {
  return refuse_level("deflate", format.level, kDeflateLevels[0], kDeflateLevels[1]);
}

std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  return deflate_zlib_bound(raw_bytes(format, shape));
}

}  // namespace

Encoder deflate_encoder() noexcept {
  return {
    .compression = tiff::Compression::deflate, .library = "libdeflate",
#if TERRAZZO_HAVE_LIBDEFLATE
    .encode = &guarded_encode<&encode>,
#endif
    .refuse = &refuse, .bound = &bound, .lowest_level = kDeflateLevels[0], .highest_level = kDeflateLevels[1],
    .default_level = kDefaultDeflateLevel
  };
}

}  // namespace terrazzo::codec
