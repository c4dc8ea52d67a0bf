// SPDX-License-Identifier: Apache-2.0
//
// One function per codec file, for the table in codec.cpp alone. Each gives its decoder, or null where the build
// lacks the library.
#pragma once

#include "codec/codec.hpp"

namespace terrazzo::codec {

[[nodiscard]] Codec::Decode none_decoder() noexcept;
[[nodiscard]] Codec::Decode lzw_decoder() noexcept;
[[nodiscard]] Codec::Decode packbits_decoder() noexcept;
[[nodiscard]] Codec::Decode deflate_decoder() noexcept;
[[nodiscard]] Codec::DecodeTwo deflate_pair_decoder() noexcept;  // null where the machine lacks the instructions
// Making its tables takes longer than it saves below this (1.0 to 1.1 of libdeflate's time with 32 KiB, 0.9 to 1.0 with
// 64 KiB, 0.8 to 0.9 with 128 KiB).
inline constexpr std::uint64_t kLeastPairBytes = 64 << 10;
[[nodiscard]] Codec::Decode zstd_decoder() noexcept;
[[nodiscard]] Codec::Decode lzma_decoder() noexcept;
[[nodiscard]] Codec::Decode lz4_frame_decoder() noexcept;
[[nodiscard]] Codec::Decode lerc_decoder() noexcept;
[[nodiscard]] Codec::Decode jpeg_decoder() noexcept;
[[nodiscard]] Codec::Decode jpeg2000_decoder() noexcept;
[[nodiscard]] Codec::Decode webp_decoder() noexcept;
[[nodiscard]] Codec::Decode jxl_decoder() noexcept;

}  // namespace terrazzo::codec
