// SPDX-License-Identifier: Apache-2.0
//
// LZ4 frames (TIFF 50004, the number that xarray-spatial uses; GDAL has none). A frame's largest block is 4 MiB, and
// the library allocates at most twice that.
#include "codec/registry/decoders.hpp"
#include "codec/registry/result.hpp"
#include "codec/registry/workspace.hpp"

namespace terrazzo::codec {

#if TERRAZZO_HAVE_LZ4

namespace {

tile::TileResult decode(BlockFormat const&, BlockShape, std::span<std::byte const> in, std::span<std::byte> out,
                        Workspace& workspace) noexcept {
  LZ4F_dctx* const context = workspace.impl().lz4();
  if (context == nullptr) { return out_of_memory(); }
  std::size_t read = 0;
  std::size_t written = 0;
  for (;;) {
    std::size_t in_bytes = in.size() - read;
    std::size_t out_bytes = out.size() - written;
    std::size_t const hint =
        LZ4F_decompress(context, out.data() + written, &out_bytes, in.data() + read, &in_bytes, nullptr);
    if (LZ4F_isError(hint) != 0) { return corrupt("the LZ4 frame is damaged", written); }
    read += in_bytes;
    written += out_bytes;
    bool const full = written == out.size();
    if (hint == 0) {  // the end of the frame, its checksum good
      if (full) { return done(written, read < in.size()); }
      return truncated(written, "the LZ4 frame holds fewer bytes than the block");
    }
    if (in_bytes == 0 && out_bytes == 0) {
      if (full) { return done(written, read < in.size()); }
      return truncated(written, "the LZ4 frame ends early");
    }
  }
}

}  // namespace

Codec::Decode lz4_frame_decoder() noexcept { return &each_block<&decode>; }

#else

Codec::Decode lz4_frame_decoder() noexcept { return nullptr; }

#endif

}  // namespace terrazzo::codec
