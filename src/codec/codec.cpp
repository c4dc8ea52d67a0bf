// SPDX-License-Identifier: Apache-2.0
#include "codec/codec.hpp"

#include "codec/decoders.hpp"

#include <array>

namespace terrazzo::codec {

std::span<Codec const> all_codecs() noexcept {
  using tiff::Compression;
  // libtiff swaps what LERC and JPEG XL give in a big-endian file, and swaps before it encodes: so they are `stored`
  // there and here. JPEG's samples it leaves alone.
  static std::array const kTable = {
      Codec{Compression::none, "", none_decoder(), OutputOrder::stored, false},
      Codec{Compression::lzw, "", lzw_decoder(), OutputOrder::stored, false},
      Codec{Compression::jpeg, "libjpeg-turbo", jpeg_decoder(), OutputOrder::native, true},
      Codec{Compression::deflate, "libdeflate", deflate_decoder(), OutputOrder::stored, false, deflate_pair_decoder(),
            kLeastPairBytes},
      Codec{Compression::packbits, "", packbits_decoder(), OutputOrder::stored, false},
      Codec{Compression::pkzip_deflate, "libdeflate", deflate_decoder(), OutputOrder::stored, false,
            deflate_pair_decoder(), kLeastPairBytes},
      Codec{Compression::aperio_jp2_ycbcr, "OpenJPEG", jpeg2000_decoder(), OutputOrder::native, true},
      Codec{Compression::aperio_jp2_rgb, "OpenJPEG", jpeg2000_decoder(), OutputOrder::native, true},
      Codec{Compression::jpeg2000, "OpenJPEG", jpeg2000_decoder(), OutputOrder::native, true},
      Codec{Compression::lerc, "liblerc", lerc_decoder(), OutputOrder::stored, false},
      Codec{Compression::lzma, "liblzma", lzma_decoder(), OutputOrder::stored, false},
      Codec{Compression::zstd, "libzstd", zstd_decoder(), OutputOrder::stored, false},
      Codec{Compression::webp, "libwebp", webp_decoder(), OutputOrder::native, true},
      Codec{Compression::jxl, "libjxl", jxl_decoder(), OutputOrder::stored, true},
      Codec{Compression::lz4, "liblz4", lz4_frame_decoder(), OutputOrder::stored, false},
      Codec{Compression::jxl_dng_1_7, "libjxl", jxl_decoder(), OutputOrder::stored, true},
  };
  return kTable;
}

Codec const* find_codec(tiff::Compression compression) noexcept {
  for (Codec const& codec : all_codecs()) {
    if (codec.compression == compression) { return &codec; }
  }
  return nullptr;
}

}  // namespace terrazzo::codec
