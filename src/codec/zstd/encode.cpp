// SPDX-License-Identifier: Apache-2.0
//
// Zstandard: one frame with its content's size in the header, which device decoders need. A checksum of
// the content is optional; libtiff writes none. If a block is partly noise, at the usual levels, our own search finds
// the repeats two to four times as fast as libzstd's for the same size (bench/write_peers.py); libzstd does the rest,
// at a faster level where that is about as small.
#include "codec/matches/noise.hpp"
#include "codec/registry/encoders.hpp"
#include "codec/registry/workspace.hpp"
#include "codec/zstd/level_choice.hpp"
#include "codec/zstd/noise_zstd.hpp"

#include <new>

namespace terrazzo::codec {

std::uint64_t compress_zstd_bound(std::uint64_t in_bytes) noexcept {
  // ZSTD_COMPRESSBOUND is in_bytes + in_bytes / 256 + at most 64.
  return in_bytes + in_bytes / 256 + 64;
}

#if TERRAZZO_HAVE_ZSTD

namespace {

// The levels at which our own search is as good as libzstd's and faster: level 4 is faster than ours and larger, levels
// from 13 on search longer.
constexpr int kLowestForNoise = 5, kHighestForNoise = 12;

struct FrameSettings {
  int level = kDefaultZstdLevel;
  bool checksum = false;
};

ZSTD_CCtx* fresh_context(FrameSettings frame, Workspace& workspace) {
  ZSTD_CCtx* const context = workspace.impl().zstd_encoder();
  if (context == nullptr) { throw std::bad_alloc(); }
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, frame.checksum ? 1 : 0);
  return context;
}

// Returns an error code of libzstd, or a size. A shortest match of 0 means the level's default.
std::size_t compress_by_library(FrameSettings frame, std::size_t shortest_match, std::span<std::byte const> in,
                                std::span<std::byte> out, Workspace& workspace) {
  ZSTD_CCtx* const context = fresh_context(frame, workspace);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, frame.level);
  ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, static_cast<int>(shortest_match));
  return ZSTD_compress2(context, out.data(), out.size(), in.data(), in.size());
}

// True if our output for a sample from the middle has about the size of libzstd's. False for errors, which will occur
// again.
bool keeps_size(FrameSettings frame, std::size_t shortest_match, std::span<std::byte const> in,
                std::span<std::byte> out, Workspace& workspace) {
  constexpr std::size_t kTrialBytes = std::size_t{32} << 10;
  constexpr double kTrialAllowed = 1.004;
  std::size_t const from = (in.size() - kTrialBytes) / 2 / kNoiseSegmentBytes * kNoiseSegmentBytes;
  std::span<std::byte const> const piece = in.subspan(from, kTrialBytes);
  std::size_t const ours = workspace.impl().noise_zstd().encode(piece, {.shortest_match = shortest_match}, out,
                                                                fresh_context(frame, workspace));
  if (ours == 0) { return false; }
  std::size_t const theirs = compress_by_library(frame, shortest_match, piece, out, workspace);
  return ZSTD_isError(theirs) == 0 && static_cast<double>(ours) <= kTrialAllowed * static_cast<double>(theirs);
}

// Returns 0 if libzstd must encode the block.
std::size_t compress_noise(FrameSettings frame, std::span<std::byte const> in, std::span<std::byte> out,
                           Workspace& workspace) {
  bool const is_usual = frame.level >= kLowestForNoise && frame.level <= kHighestForNoise;
  bool const is_ours = is_usual && in.size() <= RepeatFinder::kMostBytes;
  if (!is_ours || !NoiseZstd::available()) { return 0; }
  constexpr double kLeastShare = 0.2, kShareOfPlanes = 0.4;
  NoiseShare const share = noise_share(in);
  if (share.all + share.every_other < kLeastShare) { return 0; }
  NoiseZstd& encoder = workspace.impl().noise_zstd();
  constexpr std::size_t kSmallBytes = std::size_t{256} << 10;  // as in libzstd's levels
  NoiseZstd::Settings settings{
      .shortest_match = in.size() > kSmallBytes ? RepeatFinder::kShortest : RepeatFinder::kShortestInSmall,
      .allowed = RepeatFinder::Doubt::none,
      .has_planes = share.all >= kShareOfPlanes};
  if (std::size_t const size = encoder.encode(in, settings, out, fresh_context(frame, workspace)); size != 0) {
    return size;
  }
  bool const may_be_tried = encoder.doubt() == RepeatFinder::Doubt::some && in.size() > kSmallBytes;
  if (!may_be_tried || !keeps_size(frame, settings.shortest_match, in, out, workspace)) { return 0; }
  settings.allowed = RepeatFinder::Doubt::some;  // other parts may be worse than the sample
  return encoder.encode(in, settings, out, fresh_context(frame, workspace));
}

tile::TileResult compress(std::span<std::byte const> in, EncodeFormat const& format, EncodedBlock& out,
                          Workspace& workspace) {
  FrameSettings frame{.level = format.level, .checksum = format.checksum};
  if (frame.level < kZstdLevels[0] || frame.level > kZstdLevels[1]) { return failed("no such level"); }
  std::span<std::byte> const memory = out.memory.get(ZSTD_compressBound(in.size()));
  if (std::size_t const size = compress_noise(frame, in, memory, workspace); size != 0) {
    return encoded(out, memory, size);
  }
  frame.level = choose_zstd_level(format, in, memory, workspace);
  std::size_t const size = compress_by_library(frame, 0, in, memory, workspace);
  if (ZSTD_isError(size) != 0) { return failed("libzstd failed, probably for lack of memory"); }
  return encoded(out, memory, size);
}

}  // namespace

tile::TileResult compress_zstd(std::span<std::byte const> in, int level, EncodedBlock& out, Workspace& workspace) {
  return compress(in, {.level = level}, out, workspace);
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
  return compress(in, format, out, workspace);
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
    .default_level = kDefaultZstdLevel, .settings = {
      .checksum = true
    }
  };
}

}  // namespace terrazzo::codec
