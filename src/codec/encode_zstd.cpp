// SPDX-License-Identifier: Apache-2.0
//
// Zstandard: one frame with its content's size in the header, which decoders on the device need, and no checksum, as
// libtiff's. Where a block is partly noise, at the usual levels, repeats are found by our own search, which is two to
// four times as fast as libzstd's for the same size (bench/write_peers.py); the rest is libzstd's.
#include "codec/encoders.hpp"
#include "codec/noise.hpp"
#include "codec/noise_zstd.hpp"
#include "codec/workspace.hpp"

#include <new>

namespace terrazzo::codec {

std::uint64_t compress_zstd_bound(std::uint64_t in_bytes) noexcept {
  // ZSTD_COMPRESSBOUND is in_bytes + in_bytes / 256 + at most 64.
  return in_bytes + in_bytes / 256 + 64;
}

#if TERRAZZO_HAVE_ZSTD

namespace {

// The levels at which our own search finds as much as libzstd's and is faster: 4 is faster than ours and larger, 13 and
// above look longer.
constexpr int kLowestForNoise = 5, kHighestForNoise = 12;

ZSTD_CCtx* fresh_context(Workspace& workspace) {
  ZSTD_CCtx* const context = workspace.impl().zstd_encoder();
  if (context == nullptr) { throw std::bad_alloc(); }
  return context;
}

// An error code of libzstd, or bytes. A shortest match of 0 is the level's.
std::size_t compress_by_library(int level, std::size_t shortest_match, std::span<std::byte const> in,
                                std::span<std::byte> out, Workspace& workspace) {
  ZSTD_CCtx* const context = fresh_context(workspace);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, static_cast<int>(shortest_match));
  return ZSTD_compress2(context, out.data(), out.size(), in.data(), in.size());
}

// Whether our search keeps to libzstd's size on a piece from the middle. False for errors: they are met again.
bool keeps_size(int level, std::size_t shortest_match, std::span<std::byte const> in, std::span<std::byte> out,
                Workspace& workspace) {
  constexpr std::size_t kTrialBytes = std::size_t{32} << 10;
  constexpr double kTrialAllowed = 1.004;
  std::size_t const from = (in.size() - kTrialBytes) / 2 / kNoiseSegmentBytes * kNoiseSegmentBytes;
  std::span<std::byte const> const piece = in.subspan(from, kTrialBytes);
  std::size_t const ours =
      workspace.impl().noise_zstd().encode(piece, {.shortest_match = shortest_match}, out, fresh_context(workspace));
  if (ours == 0) { return false; }
  std::size_t const theirs = compress_by_library(level, shortest_match, piece, out, workspace);
  return ZSTD_isError(theirs) == 0 && static_cast<double>(ours) <= kTrialAllowed * static_cast<double>(theirs);
}

// 0 when the block is libzstd's.
std::size_t compress_noise(int level, std::span<std::byte const> in, std::span<std::byte> out, Workspace& workspace) {
  bool const is_ours = level >= kLowestForNoise && level <= kHighestForNoise && in.size() <= RepeatFinder::kMostBytes;
  if (!is_ours || !NoiseZstd::available()) { return 0; }
  constexpr double kLeastShare = 0.2, kShareOfPlanes = 0.4;
  NoiseShare const share = noise_share(in);
  if (share.all + share.every_other < kLeastShare) { return 0; }
  NoiseZstd& encoder = workspace.impl().noise_zstd();
  constexpr std::size_t kSmallBytes = std::size_t{256} << 10;  // as for libzstd's levels
  NoiseZstd::Settings settings{
      .shortest_match = in.size() > kSmallBytes ? RepeatFinder::kShortest : RepeatFinder::kShortestInSmall,
      .allowed = RepeatFinder::Doubt::none,
      .has_planes = share.all >= kShareOfPlanes};
  if (std::size_t const size = encoder.encode(in, settings, out, fresh_context(workspace)); size != 0) { return size; }
  bool const may_be_tried = encoder.doubt() == RepeatFinder::Doubt::some && in.size() > kSmallBytes;
  if (!may_be_tried || !keeps_size(level, settings.shortest_match, in, out, workspace)) { return 0; }
  settings.allowed = RepeatFinder::Doubt::some;  // other parts may be worse than the piece was
  return encoder.encode(in, settings, out, fresh_context(workspace));
}

}  // namespace

tile::TileResult compress_zstd(std::span<std::byte const> in, int level, EncodedBlock& out, Workspace& workspace) {
  if (level < kZstdLevels[0] || level > kZstdLevels[1]) { return failed("no such level"); }
  std::span<std::byte> const memory = out.memory.get(ZSTD_compressBound(in.size()));
  if (std::size_t const size = compress_noise(level, in, memory, workspace); size != 0) {
    return encoded(out, memory, size);
  }
  std::size_t const size = compress_by_library(level, 0, in, memory, workspace);
  if (ZSTD_isError(size) != 0) { return failed("libzstd failed, probably for lack of memory"); }
  return encoded(out, memory, size);
}

#else

tile::TileResult compress_zstd(std::span<std::byte const>, int, EncodedBlock&, Workspace&) {
  return unsupported("this build lacks libzstd");
}

#endif

namespace {

#if TERRAZZO_HAVE_ZSTD
tile::TileResult encode(EncodeFormat const& format, BlockShape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace& workspace) {
  return compress_zstd(in, format.level, out, workspace);
}
#endif

std::string refuse(EncodeFormat const& format) {
  return refuse_level("zstd", format.level, kZstdLevels[0], kZstdLevels[1]);
}

std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  return compress_zstd_bound(raw_bytes(format, shape));
}

}  // namespace

Encoder zstd_encoder() noexcept {
  return {
    .compression = tiff::Compression::zstd, .library = "libzstd",
#if TERRAZZO_HAVE_ZSTD
    .encode = &guarded_encode<&encode>,
#endif
    .refuse = &refuse, .bound = &bound, .lowest_level = kZstdLevels[0], .highest_level = kZstdLevels[1],
    .default_level = kDefaultZstdLevel
  };
}

}  // namespace terrazzo::codec
