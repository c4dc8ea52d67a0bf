// SPDX-License-Identifier: Apache-2.0
//
// Short names for the outcomes of a decoder, the required size of a block, and the wrapper that catches exceptions.
#pragma once

#include "codec/registry/codec.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <span>

namespace terrazzo::codec {

[[nodiscard]] inline tile::TileResult done(std::size_t bytes, bool surplus_input = false) noexcept {
  return {tile::TileStatus::ok, bytes, surplus_input, nullptr};
}
[[nodiscard]] inline tile::TileResult truncated(std::size_t good_bytes, char const* reason) noexcept {
  return {tile::TileStatus::truncated, good_bytes, false, reason};
}
[[nodiscard]] inline tile::TileResult corrupt(char const* reason, std::size_t bytes_before = 0) noexcept {
  return {tile::TileStatus::corrupt, bytes_before, false, reason};
}
[[nodiscard]] inline tile::TileResult unsupported(char const* reason) noexcept {
  return {tile::TileStatus::unsupported, 0, false, reason};
}
[[nodiscard]] inline tile::TileResult failed(char const* reason) noexcept {
  return {tile::TileStatus::failed, 0, false, reason};
}

[[nodiscard]] inline tile::TileResult out_of_memory(char const* reason = "out of memory") noexcept {
  return {tile::TileStatus::out_of_memory, 0, false, reason};
}

// Complete if the shape fills `out`; an `out` longer than the shape counts as truncated.
[[nodiscard]] inline tile::TileResult done_of(std::size_t written, std::size_t wanted, bool surplus_input) noexcept {
  if (written < wanted) { return truncated(written, "the block holds fewer samples than the layout asks for"); }
  return done(written, surplus_input);
}

// Bytes of a block as TIFF stores it: rows padded to whole bytes. nullopt if the product overflows.
[[nodiscard]] inline std::optional<std::size_t> row_bytes(BlockFormat const& format, BlockShape shape) noexcept {
  if (format.samples_per_pixel > 0xFFFF || format.bits_per_sample > 128) { return std::nullopt; }
  // 32 + 16 + 8 bits: cannot overflow.
  std::uint64_t const bits = std::uint64_t{shape.width_px} * format.samples_per_pixel * format.bits_per_sample;
  return static_cast<std::size_t>((bits + 7) / 8);
}
[[nodiscard]] inline std::optional<std::size_t> block_bytes(BlockFormat const& format, BlockShape shape) noexcept {
  auto const row = row_bytes(format, shape);
  if (!row || (shape.height_px != 0 && *row > std::numeric_limits<std::size_t>::max() / shape.height_px)) {
    return std::nullopt;
  }
  return *row * shape.height_px;
}

// Codecs of whole images write the block's shape or nothing: an `out` that is too small is refused first.
[[nodiscard]] inline std::optional<tile::TileResult> refuse_shape(BlockFormat const& format, BlockShape shape,
                                                                  std::size_t out_bytes) noexcept {
  auto const expected = block_bytes(format, shape);
  if (!expected || *expected == 0) { return failed("the block has no size"); }
  if (out_bytes < *expected) { return failed("the output is smaller than the block"); }
  return std::nullopt;
}

// Codec::Decode for a function that decodes one block. REQUIRES: the function does not throw.
template <auto DecodeBlock>
void each_block(BlockFormat const& format, std::span<Block> blocks, Workspace& workspace) noexcept {
  for (Block& block : blocks) { block.result = DecodeBlock(format, block.shape, block.in, block.out, workspace); }
}

// Codec::Decode for a function that may throw: libraries written in C++ do, and so may our own scratch memory.
template <auto DecodeBlock>
void guarded(BlockFormat const& format, std::span<Block> blocks, Workspace& workspace) noexcept {
  for (Block& block : blocks) {
    try {
      block.result = DecodeBlock(format, block.shape, block.in, block.out, workspace);
    } catch (std::bad_alloc const&) { block.result = out_of_memory(); } catch (...) {
      block.result = failed("the codec library threw an exception");
    }
  }
}

}  // namespace terrazzo::codec
