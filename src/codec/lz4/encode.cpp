// SPDX-License-Identifier: Apache-2.0
//
// LZ4 frames (TIFF 50004), with the content's size in the header and no checksum.
#include "codec/registry/encoders.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_LZ4
#include <lz4frame.h>
#endif

namespace terrazzo::codec {
namespace {

// Levels up to 2 use the fast compressor, 3 to 12 the thorough one; the library treats higher levels as 12.
constexpr int kLowestLevel = 0;
constexpr int kHighestLevel = 16;
constexpr int kDefaultLevel = 0;

#if TERRAZZO_HAVE_LZ4

tile::TileResult encode(EncodeFormat const& format, BlockShape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace&) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.blockSizeID = LZ4F_max4MB;  // upper limit: the library uses the smallest that holds the input
  preferences.frameInfo.contentSize = in.size();
  preferences.compressionLevel = format.level;
  // A new context for each frame: the output of a reused one depends on earlier frames.
  std::span<std::byte> const memory = out.memory.get(LZ4F_compressFrameBound(in.size(), &preferences));
  std::size_t const size = LZ4F_compressFrame(memory.data(), memory.size(), in.data(), in.size(), &preferences);
  if (LZ4F_isError(size) != 0) { return failed("liblz4 failed, probably for lack of memory"); }
  return encoded(out, memory, size);
}

#endif

std::string refuse(EncodeFormat const& format) {
  return refuse_level("LZ4", format.level, kLowestLevel, kHighestLevel);
}

// Incompressible blocks are stored after four bytes; 64 KiB is the smallest block.
std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  std::uint64_t const bytes = raw_bytes(format, shape);
  return bytes + bytes / 4096 + 64;
}

}  // namespace

Encoder lz4_frame_encoder() noexcept {
  return {
    .compression = tiff::Compression::lz4, .library = "liblz4",
#if TERRAZZO_HAVE_LZ4
    .encode = &guarded_encode<&encode>,
#endif
    .refuse = &refuse, .bound = &bound, .lowest_level = kLowestLevel, .highest_level = kHighestLevel,
    .default_level = kDefaultLevel
  };
}

}  // namespace terrazzo::codec
