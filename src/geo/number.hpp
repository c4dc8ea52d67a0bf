// SPDX-License-Identifier: Apache-2.0
//
// Numbers in text: tags and XML written by many programs. Independent of the process's locale.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace terrazzo::geo {

// The longest leading part that is a number, after white space: "2.5abc" is 2.5, "nan", "-inf" and the spellings of old
// C libraries ("1.#QNAN", "-1.#INF") are understood; overflow gives infinity. nullopt if there is no number.
[[nodiscard]] std::optional<double> leading_number(std::string_view text, char decimal_point = '.');

// Like leading_number(), but 0 if there is none: as the writers of these files parse them.
[[nodiscard]] double number_or_zero(std::string_view text);

// Like number_or_zero(), but the first comma before a point is a decimal comma: "1,5" is 1.5.
[[nodiscard]] double number_with_any_point(std::string_view text);

// The leading integer, 0 if there is none, clamped to int.
[[nodiscard]] int integer_or_zero(std::string_view text);

// Like printf's %.<digits>g in the C locale.
[[nodiscard]] std::string format_significant(double value, int digits);

// The shortest text that parses as the same double.
[[nodiscard]] std::string format_exact(double value);

}  // namespace terrazzo::geo
