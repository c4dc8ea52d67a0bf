// SPDX-License-Identifier: Apache-2.0
//
// The sample types of LERC.
#pragma once

#include "codec/registry/codec.hpp"

#include <optional>

namespace terrazzo::codec {

// Their numbers in LERC blobs and in Lerc_c_api.h.
inline constexpr unsigned kLercFloat = 6;
inline constexpr unsigned kLercDouble = 7;

[[nodiscard]] inline std::optional<unsigned> lerc_type(BlockFormat const& format) noexcept {
  bool const is_signed = format.sample_format == tiff::SampleFormat::int_;
  bool const is_unsigned = format.sample_format == tiff::SampleFormat::uint;
  if (format.sample_format == tiff::SampleFormat::ieee_float) {
    if (format.bits_per_sample == 32) { return kLercFloat; }
    if (format.bits_per_sample == 64) { return kLercDouble; }
  } else if (is_signed || is_unsigned) {
    unsigned const odd = is_unsigned ? 1 : 0;
    if (format.bits_per_sample == 8) { return 0 + odd; }
    if (format.bits_per_sample == 16) { return 2 + odd; }
    if (format.bits_per_sample == 32) { return 4 + odd; }
  }
  return std::nullopt;
}

}  // namespace terrazzo::codec
