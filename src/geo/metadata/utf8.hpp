// SPDX-License-Identifier: Apache-2.0
//
// Text in files is UTF-8 by convention and has any encoding in practice; this folder returns only UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace terrazzo::geo {

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

// The text itself if it is UTF-8; otherwise its bytes decoded as ISO 8859-1, which older software writes.
[[nodiscard]] std::string to_utf8(std::string text);

}  // namespace terrazzo::geo
