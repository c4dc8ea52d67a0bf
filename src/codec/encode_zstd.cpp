// SPDX-License-Identifier: Apache-2.0
//
// Zstandard: one frame with its content's size in the header, which decoders on the device need, and no checksum, as
// libtiff's.
#include "codec/encoders.hpp"
#include "codec/workspace.hpp"

namespace terrazzo::codec {

std::uint64_t compress_zstd_bound(std::uint64_t in_bytes) noexcept {
  // ZSTD_COMPRESSBOUND is in_bytes + in_bytes / 256 + at most 64.
  return in_bytes + in_bytes / 256 + 64;
}

#if TERRAZZO_HAVE_ZSTD

tile::TileResult compress_zstd(std::span<std::byte const> in, int level, EncodedBlock& out, Workspace& workspace) {
  if (level < kZstdLevels[0] || level > kZstdLevels[1]) { return failed("no such level"); }
  ZSTD_CCtx* const context = workspace.impl().zstd_encoder();
  if (context == nullptr) { return failed("out of memory"); }
  std::span<std::byte> const memory = out.memory.get(ZSTD_compressBound(in.size()));
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level);
  std::size_t const size = ZSTD_compress2(context, memory.data(), memory.size(), in.data(), in.size());
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
