// SPDX-License-Identifier: Apache-2.0
#include "base/letter_case.hpp"
#include "base/text.hpp"
#include "geo/nodata.hpp"
#include "geo/number.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/write.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

namespace terrazzo {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  auto const first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) { return {}; }
  text = text.substr(first, text.find_last_not_of(kSpace) + 1 - first);
  if (text.starts_with('+')) { text.remove_prefix(1); }
  return text;
}

// The whole text as a number; nullopt if it contains other characters, or is too large for T. The nearest float of a
// text is not always that of its nearest double, and "3.4028235e38" is the largest one.
template <class T = double>
std::optional<double> whole_number(std::string_view text) {
  for (std::string_view const name : {"nan", "inf", "-inf", "-nan"}) {
    if (equals_ignoring_case(text, name)) { return geo::leading_number(text); }
  }
  T value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || error != std::errc{} || !std::isfinite(value)) { return std::nullopt; }
  return value;
}

[[noreturn]] void refuse(std::string_view given, std::string_view why) {
  throw Error(ErrorKind::usage, text("nodata \"", given, "\" ", why));
}

template <class T>
T exact_integer(std::string_view given, std::string_view digits) {
  T value{};
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc{} && end == digits.data() + digits.size()) { return value; }
  // "1e3" and "255.0" are integers too, if a double represents them exactly.
  constexpr double kExact = 9007199254740992.0;  // 2^53
  auto const number = whole_number(digits);
  if (!number) { refuse(given, "is not a number"); }
  if (std::abs(*number) <= kExact && *number == std::floor(*number) && (*number >= 0 || std::is_signed_v<T>)) {
    return static_cast<T>(*number);
  }
  refuse(given, "is no 64-bit integer of this type");
}

// A half has 11 significant bits, and steps of at least 2^-24.
bool is_half(double value) {
  int exponent = 0;
  static_cast<void>(std::frexp(value, &exponent));
  double const steps = std::ldexp(value, -std::max(exponent - 11, -24));
  return !std::isfinite(value) || steps == std::floor(steps);
}

}  // namespace

Nodata make_nodata(std::string_view text, DType dtype) {
  std::string_view const digits = trimmed(text);
  Nodata nodata;
  if (dtype == DType::i64) {
    nodata.exact_i64 = exact_integer<std::int64_t>(text, digits);
    nodata.value = static_cast<double>(*nodata.exact_i64);
  } else if (dtype == DType::u64) {
    nodata.exact_u64 = exact_integer<std::uint64_t>(text, digits);
    nodata.value = static_cast<double>(*nodata.exact_u64);
  } else {
    bool const is_float = dtype == DType::f32 || dtype == DType::cf32;
    auto const number = is_float ? whole_number<float>(digits) : whole_number(digits);
    if (!number) { refuse(text, "is neither a number that fits nor nan"); }
    nodata = geo::nodata_of(*number, text, dtype);
    // No pixel would equal the tag: missing pixels are stored in the type, and the tag is a double.
    bool const is_rounded = (dtype == DType::f16 || dtype == DType::cf16) && !is_half(nodata.value);
    if (!nodata.representable || is_rounded) { refuse(text, terrazzo::text("is no value of type ", to_string(dtype))); }
  }
  nodata.text = geo::nodata_text(nodata);
  return nodata;
}

namespace geo {

std::string nodata_text(Nodata const& nodata) {
  constexpr int kDigits = 17;
  if (nodata.exact_i64) { return std::to_string(*nodata.exact_i64); }
  if (nodata.exact_u64) { return std::to_string(*nodata.exact_u64); }
  if (std::isnan(nodata.value)) { return "nan"; }
  return format_significant(nodata.value, kDigits);
}

}  // namespace geo
}  // namespace terrazzo
