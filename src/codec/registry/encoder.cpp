// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/encoder.hpp"

#include "codec/registry/codec.hpp"
#include "codec/registry/encoders.hpp"

namespace terrazzo::codec {

Encoder const* find_encoder(tiff::Compression compression) noexcept {
  Codec const* const codec = find_codec(compression);
  return codec != nullptr && !codec->choices.empty() ? &codec->encoder : nullptr;
}

std::string refuse_level(char const* codec, int level, int lowest, int highest) {
  if (level >= lowest && level <= highest) { return {}; }
  return std::string(codec) + " has levels " + std::to_string(lowest) + " to " + std::to_string(highest) + ", not " +
         std::to_string(level);
}

}  // namespace terrazzo::codec
