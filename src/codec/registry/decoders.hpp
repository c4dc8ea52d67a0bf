// SPDX-License-Identifier: Apache-2.0
//
// One function per codec file, for the table in codec.cpp only. Each returns its decoder, or null if the build lacks
// the library; decoders that need more memory than their input and output have a function for its size.
#pragma once

#include "codec/registry/codec.hpp"

namespace terrazzo::codec {

[[nodiscard]] Codec::Decode none_decoder() noexcept;
[[nodiscard]] Codec::Decode lzw_decoder() noexcept;
[[nodiscard]] Codec::Decode packbits_decoder() noexcept;
[[nodiscard]] Codec::Decode deflate_decoder() noexcept;
[[nodiscard]] std::uint32_t deflate_blocks_at_once() noexcept;  // 2, or 1 if the machine lacks the instructions
// Decoded bytes of a block. For smaller blocks, making the tables of a pair takes longer than it saves (1.0 to 1.1 of
// libdeflate's time with 32 KiB, 0.9 to 1.0 with 64 KiB, 0.8 to 0.9 with 128 KiB).
inline constexpr std::uint64_t kLeastPairBytes = 64 << 10;
[[nodiscard]] Codec::Decode zstd_decoder() noexcept;
[[nodiscard]] Codec::Decode lzma_decoder() noexcept;
[[nodiscard]] Codec::Decode lz4_frame_decoder() noexcept;
[[nodiscard]] Codec::Decode lerc_decoder() noexcept;
[[nodiscard]] Codec::Decode jpeg_decoder() noexcept;
[[nodiscard]] Codec::Decode jpeg2000_decoder() noexcept;
[[nodiscard]] Codec::Decode webp_decoder() noexcept;
[[nodiscard]] Codec::Decode jxl_decoder() noexcept;
[[nodiscard]] Codec::IsLoaded jxl_is_loaded() noexcept;

[[nodiscard]] std::uint64_t lerc_scratch_bytes(BlockFormat const& format, BlockShape shape) noexcept;
[[nodiscard]] std::uint64_t jpeg_scratch_bytes(BlockFormat const& format, BlockShape shape) noexcept;
[[nodiscard]] std::uint64_t jpeg2000_scratch_bytes(BlockFormat const& format, BlockShape shape) noexcept;
[[nodiscard]] std::uint64_t webp_scratch_bytes(BlockFormat const& format, BlockShape shape) noexcept;
[[nodiscard]] std::uint64_t jxl_scratch_bytes(BlockFormat const& format, BlockShape shape) noexcept;

}  // namespace terrazzo::codec
