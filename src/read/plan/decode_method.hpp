// SPDX-License-Identifier: Apache-2.0
//
// The decoder for the blocks of a level, and its requirements.
#pragma once

#include "codec/registry/codec.hpp"
#include "read/open/level.hpp"

#include <cstdint>
#include <string>

namespace terrazzo::reading {

// The method that decodes the blocks of an image; chosen once, before the first block.
struct DecodeMethod {
  enum class Kind : std::uint8_t {
    raw,           // not compressed: any row can be read independently
    codec,         // one of our codecs
    libtiff,       // libtiff, for rare codecs
    libtiff_rgba,  // libtiff's RGBA interface (old-style JPEG)
  };
  Kind kind = Kind::raw;
  codec::Codec const* codec = nullptr;
  std::string name;  // for people: "deflate (libdeflate)"

  [[nodiscard]] bool uses_libtiff() const noexcept { return kind == Kind::libtiff || kind == Kind::libtiff_rgba; }
};

// Throws `unsupported`; the error names the codec and the missing library or trust.
[[nodiscard]] DecodeMethod choose_method(Level const& level, bool trusted);

// The scratch of a codec in addition to its input and its output for a block, computed from the image's tags.
[[nodiscard]] std::uint64_t codec_scratch_bytes(Level const& level, DecodeMethod const& method) noexcept;

// The properties of an image that a codec needs; points to the image's tables.
[[nodiscard]] codec::BlockFormat block_format(tiff::Image const& image);

// The predictor in force: some codecs have none and ignore the tag.
[[nodiscard]] tiff::Predictor effective_predictor(tiff::Image const& image) noexcept;

}  // namespace terrazzo::reading
