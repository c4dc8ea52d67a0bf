// SPDX-License-Identifier: Apache-2.0
#include "write/plan/compression.hpp"

#include "codec/registry/codec.hpp"

namespace terrazzo::writing {

std::optional<Compression> compression_like(tiff::Image const& image) noexcept {
  codec::Codec const* codec = codec::find_codec(image.compression);
  if (codec != nullptr && codec->written_as) { codec = codec::find_codec(*codec->written_as); }
  if (codec == nullptr || codec->choices.empty()) { return std::nullopt; }
  for (codec::Choice const& choice : codec->choices) {
    if (choice.lerc_additional_compression == image.lerc_additional_compression) { return choice.value; }
  }
  return codec->choices.front().value;
}

Compression fallback_compression() noexcept {
  return codec::find_codec(codec::kFallbackCompression)->choices.front().value;
}

bool turns_alpha_into_mask(Compression compression) noexcept {
  codec::Codec const* const codec = codec::find_choice(compression).codec;
  return codec != nullptr && codec->alpha == codec::Alpha::mask;
}

}  // namespace terrazzo::writing
