// SPDX-License-Identifier: Apache-2.0
//
// Formats of other files that people give to a TIFF reader by mistake, for the text of the error.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace terrazzo::tiff {

// The name of the format whose files begin with `bytes`, such as "a PNG picture"; empty if none is known.
[[nodiscard]] std::string_view foreign_format(std::span<std::byte const> bytes) noexcept;

}  // namespace terrazzo::tiff
