// SPDX-License-Identifier: Apache-2.0
//
// A file from standard input. TIFF needs random access, so the bytes are kept in memory.
#pragma once

#include "terrazzo/source.hpp"

#include <cstddef>
#include <cstdint>
#include <istream>
#include <string_view>
#include <vector>

namespace terrazzo::cli {

// True for "-".
[[nodiscard]] bool is_standard_input(std::string_view file) noexcept;

// All bytes of a stream. More than `limit_bytes` are a `limit` error; none are an `io` error, as is a failed read.
[[nodiscard]] std::vector<std::byte> spool(std::istream& in, std::uint64_t limit_bytes);

// Standard input, within the memory limit of the settings, of which the bytes take their part. REQUIRES: the settings
// are applied; no other call in this process.
[[nodiscard]] std::vector<std::byte> spool_standard_input();

}  // namespace terrazzo::cli
