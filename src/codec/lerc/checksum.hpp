// SPDX-License-Identifier: Apache-2.0
//
// The checksum of LERC blobs.
#pragma once

#include "tile/host/cpu.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

// Fletcher's sums of big-endian 16-bit words; a last odd byte is the upper half of a word. Decoders refuse a blob whose
// sum differs.
[[nodiscard]] std::uint32_t lerc_checksum(std::span<std::byte const> bytes) noexcept;

// The two implementations that lerc_checksum() chooses from.
[[nodiscard]] std::uint32_t lerc_checksum_portable(std::span<std::byte const> bytes) noexcept;
#if TERRAZZO_HAVE_X86
[[nodiscard]] TERRAZZO_TARGET_AVX2 std::uint32_t lerc_checksum_avx2(std::span<std::byte const> bytes) noexcept;
#endif

}  // namespace terrazzo::codec
