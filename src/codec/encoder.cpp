// SPDX-License-Identifier: Apache-2.0
#include "codec/encoder.hpp"

#include "codec/encoders.hpp"

#include <array>

namespace terrazzo::codec {

std::span<Encoder const> all_encoders() noexcept {
  static std::array const kTable = {
      none_encoder(),      packbits_encoder(), lzw_encoder(),  deflate_encoder(),  zstd_encoder(), lzma_encoder(),
      lz4_frame_encoder(), lerc_encoder(),     jpeg_encoder(), jpeg2000_encoder(), webp_encoder(),
  };
  return kTable;
}

Encoder const* find_encoder(tiff::Compression compression) noexcept {
  for (Encoder const& encoder : all_encoders()) {
    if (encoder.compression == compression) { return &encoder; }
  }
  return nullptr;
}

std::string refuse_level(char const* codec, int level, int lowest, int highest) {
  if (level >= lowest && level <= highest) { return {}; }
  return std::string(codec) + " has levels " + std::to_string(lowest) + " to " + std::to_string(highest) + ", not " +
         std::to_string(level);
}

}  // namespace terrazzo::codec
