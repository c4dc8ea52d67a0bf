// SPDX-License-Identifier: Apache-2.0
//
// Zstandard: one frame with its content's size in the header, which decoders on the device need, and no checksum, as
// libtiff's.
#include "codec/encoders.hpp"
#include "codec/noise.hpp"
#include "codec/workspace.hpp"

#include <new>

namespace terrazzo::codec {

std::uint64_t compress_zstd_bound(std::uint64_t in_bytes) noexcept {
  // ZSTD_COMPRESSBOUND is in_bytes + in_bytes / 256 + at most 64.
  return in_bytes + in_bytes / 256 + 64;
}

#if TERRAZZO_HAVE_ZSTD

namespace {

// Levels 6 to 12 look longer for repeats than 5. Where planes are noise that often gains nothing and takes twice the
// time and more (bench/write_peers.py --levels), so a piece of the block is tried first.
constexpr int kEnoughForNoise = 5;
constexpr int kMostForNoise = 12;
constexpr std::size_t kTrialBytes = std::size_t{64} << 10;
constexpr double kTrialAllowed = 1.004;

std::size_t compress_at(int level, std::span<std::byte const> in, std::span<std::byte> out, Workspace& workspace) {
  ZSTD_CCtx* const context = workspace.impl().zstd_encoder();
  if (context == nullptr) { throw std::bad_alloc(); }
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  return ZSTD_compress2(context, out.data(), out.size(), in.data(), in.size());
}

// Whether `level` would make the block smaller than kEnoughForNoise does by more than it is worth. False for errors:
// they are met again.
bool is_wasted(int level, std::span<std::byte const> in, std::span<std::byte> out, Workspace& workspace) {
  std::span<std::byte const> const piece = in.subspan((in.size() - kTrialBytes) / 2, kTrialBytes);
  std::size_t const with = compress_at(level, piece, out, workspace);
  std::size_t const without = compress_at(kEnoughForNoise, piece, out, workspace);
  return ZSTD_isError(with) == 0 && static_cast<double>(without) <= kTrialAllowed * static_cast<double>(with);
}

}  // namespace

tile::TileResult compress_zstd(std::span<std::byte const> in, int level, EncodedBlock& out, Workspace& workspace) {
  if (level < kZstdLevels[0] || level > kZstdLevels[1]) { return failed("no such level"); }
  std::span<std::byte> const memory = out.memory.get(ZSTD_compressBound(in.size()));
  double const noise = level > kEnoughForNoise && level <= kMostForNoise ? noise_share(in).all : 0;
  if (noise >= kLeastNoiseShare && is_wasted(level, in, memory, workspace)) {
    std::size_t const size = compress_at(kEnoughForNoise, in, memory, workspace);
    // Noise takes more than half of its bytes, unless it repeats itself: then a longer search is worth its time.
    double const least = 0.55 * noise * static_cast<double>(in.size());
    if (ZSTD_isError(size) == 0 && static_cast<double>(size) > least) { return encoded(out, memory, size); }
  }
  std::size_t const size = compress_at(level, in, memory, workspace);
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
