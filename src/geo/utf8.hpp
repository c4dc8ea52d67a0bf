// SPDX-License-Identifier: Apache-2.0
//
// Text from files is UTF-8 by convention and anything in practice; what leaves this folder is always UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace terrazzo::geo {

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

// The text itself when it is UTF-8; otherwise its bytes taken as ISO 8859-1, which is what older software writes.
[[nodiscard]] std::string to_utf8(std::string text);

}  // namespace terrazzo::geo
