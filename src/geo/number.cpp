// SPDX-License-Identifier: Apache-2.0
#include "geo/number.hpp"

#include "base/letter_case.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <system_error>

namespace terrazzo::geo {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view without_leading_space(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) { text.remove_prefix(1); }
  return text;
}

struct Spelling {
  std::string_view text;
  double value;
};
constexpr std::array kSpecial = {
    Spelling{"-1.#qnan", kNaN},   Spelling{"-1.#ind", kNaN},   Spelling{"-1.#inf", -kInfinity},
    Spelling{"1.#qnan", kNaN},    Spelling{"1.#snan", kNaN},   Spelling{"1.#inf", kInfinity},
    Spelling{"-inf", -kInfinity}, Spelling{"+inf", kInfinity}, Spelling{"inf", kInfinity},
    Spelling{"nan", kNaN},        Spelling{"-nan", kNaN},
};

// A number too long for a double is either 0 or infinite, by the sign of its exponent.
double out_of_range_value(std::string_view digits) noexcept {
  bool const negative = digits.starts_with('-');
  auto const exponent = digits.find_first_of("eE");
  bool const tiny = exponent == std::string_view::npos ? digits.find('.') != std::string_view::npos
                                                       : digits.substr(exponent + 1).starts_with('-');
  if (tiny) { return negative ? -0.0 : 0.0; }
  return negative ? -kInfinity : kInfinity;
}

}  // namespace

std::optional<double> leading_number(std::string_view text, char decimal_point) {
  text = without_leading_space(text);
  for (auto const& special : kSpecial) {
    if (starts_with_ignoring_case(text, special.text)) { return special.value; }
  }
  if (text.starts_with('+')) { text.remove_prefix(1); }
  // Long enough for any double with all its digits; further digits hardly change the value.
  constexpr std::size_t kMaxDigits = 1100;
  std::string digits;
  for (char c : text.substr(0, kMaxDigits)) {
    bool const part = (c >= '0' && c <= '9') || c == decimal_point || c == '+' || c == '-' || c == 'e' || c == 'E';
    if (!part) { break; }
    digits.push_back(c == decimal_point ? '.' : c);
  }
  double value = 0;
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) {
    return out_of_range_value(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }
  if (error != std::errc{}) { return std::nullopt; }
  return value;
}

double number_or_zero(std::string_view text) { return leading_number(text).value_or(0.0); }

double number_with_any_point(std::string_view text) {
  constexpr std::size_t kSearchedForPoint = 50;  // GDAL searches no further
  auto const point = text.substr(0, kSearchedForPoint).find_first_of(".,");
  bool const comma = point != std::string_view::npos && text[point] == ',';
  return leading_number(text, comma ? ',' : '.').value_or(0.0);
}

int integer_or_zero(std::string_view text) {
  text = without_leading_space(text);
  if (text.starts_with('+')) { text.remove_prefix(1); }
  int value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return text.starts_with('-') ? std::numeric_limits<int>::min() : std::numeric_limits<int>::max();
  }
  return error == std::errc{} ? value : 0;
}

std::string format_significant(double value, int digits) {
  std::array<char, 64> buffer{};
  digits = std::clamp(digits, 1, 40);
  auto const result =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits);
  return {buffer.data(), result.ptr};
}

std::string format_exact(double value) {
  std::array<char, 64> buffer{};
  auto const result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

}  // namespace terrazzo::geo
