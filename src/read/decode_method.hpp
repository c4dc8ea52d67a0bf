// SPDX-License-Identifier: Apache-2.0
//
// Which decoder the blocks of a level are for, and what it takes.
#pragma once

#include "codec/codec.hpp"
#include "read/level.hpp"

#include <cstdint>
#include <string>

namespace terrazzo::reading {

// How the blocks of an image are decoded; decided once, before the first block.
struct DecodeMethod {
  enum class Kind : std::uint8_t {
    raw,           // not compressed: any row can be read by itself
    codec,         // one of ours
    libtiff,       // the long tail
    libtiff_rgba,  // the long tail, through libtiff's RGBA interface (old-style JPEG)
  };
  Kind kind = Kind::raw;
  codec::Codec const* codec = nullptr;
  std::string name;  // for people: "deflate (libdeflate)"
};

// Throws `unsupported`, naming the codec and the library that is missing or the trust that is lacking.
[[nodiscard]] DecodeMethod choose_method(Level const& level, bool trusted);

// What a codec holds besides its input and its output while it decodes a block, as far as the image tells.
[[nodiscard]] std::uint64_t codec_scratch_bytes(Level const& level, DecodeMethod const& method) noexcept;

}  // namespace terrazzo::reading
