// SPDX-License-Identifier: Apache-2.0
//
// Links between directories of an existing file: the offset of the pointer to the next directory, and the bytes of a
// directory with another successor. Values outside the directory keep their offsets.
#pragma once

#include "tiff/directory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::writing {

// Alignment of directories appended to a file: more than the format requires.
inline constexpr std::uint64_t kAppendedAlignmentBytes = 16;

// The offset of the header's pointer to the first directory.
[[nodiscard]] std::uint64_t first_pointer_offset_bytes(tiff::Header const& header) noexcept;

// The offset of the directory's pointer to the next one.
[[nodiscard]] std::uint64_t next_pointer_offset_bytes(tiff::Directory const& directory);

// An encoded pointer: 4 bytes, or 8 in BigTIFF. Throws `limit` if the offset does not fit.
[[nodiscard]] std::vector<std::byte> encode_pointer(tiff::Header const& header, std::uint64_t offset_bytes);

// The bytes of the directory, with `next_bytes` as its successor. Write them at a multiple of 8.
[[nodiscard]] std::vector<std::byte> relinked(tiff::Directory const& directory, std::uint64_t next_bytes);

}  // namespace terrazzo::writing
