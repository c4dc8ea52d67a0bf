// SPDX-License-Identifier: Apache-2.0
//
// Directories of a file that exists, linked otherwise: where the pointer to the next one lies, and a directory as bytes
// with another successor. Values outside the directory stay where they are.
#pragma once

#include "tiff/directory.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::writing {

// Of directories behind the end of a file: more than the format asks for.
inline constexpr std::uint64_t kAppendedAlignmentBytes = 16;

// Where the header says where the first directory is.
[[nodiscard]] std::uint64_t first_pointer_offset_bytes(tiff::Header const& header) noexcept;

// Where `directory` says which one follows.
[[nodiscard]] std::uint64_t next_pointer_offset_bytes(tiff::Directory const& directory);

// An offset as it is written there: 4 bytes, or 8 in BigTIFF. Throws `limit` when it does not fit.
[[nodiscard]] std::vector<std::byte> encode_pointer(tiff::Header const& header, std::uint64_t offset_bytes);

// The directory's own bytes, with `next_bytes` as its successor. To be put at a multiple of 8.
[[nodiscard]] std::vector<std::byte> relinked(tiff::Directory const& directory, std::uint64_t next_bytes);

}  // namespace terrazzo::writing
