// SPDX-License-Identifier: Apache-2.0
#include "geo/nodata.hpp"

#include "geo/number.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <system_error>
#include <type_traits>

namespace terrazzo::geo {
namespace {

// The leading integer, clamped, as strtoll and strtoull parse it; 0 if there is none.
template <class T>
T leading_integer(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  if (text.starts_with('+')) { text.remove_prefix(1); }
  T value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return text.starts_with('-') ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
  }
  if constexpr (std::is_unsigned_v<T>) {
    // strtoull negates modulo 2^64, so "-1" is the largest value.
    if (error != std::errc{} && text.starts_with('-')) { return T{} - leading_integer<T>(text.substr(1)); }
  }
  return error == std::errc{} ? value : T{};
}

template <class T>
bool integer_holds(double value) {
  return value >= static_cast<double>(std::numeric_limits<T>::min()) &&
         value <= static_cast<double>(std::numeric_limits<T>::max()) && value == std::floor(value);
}

bool holds(DType dtype, double value) {
  constexpr double kMaxHalf = 65504;
  switch (dtype) {
    case DType::u8: return integer_holds<std::uint8_t>(value);
    case DType::i8: return integer_holds<std::int8_t>(value);
    case DType::u16: return integer_holds<std::uint16_t>(value);
    case DType::i16:
    case DType::ci16: return integer_holds<std::int16_t>(value);
    case DType::u32: return integer_holds<std::uint32_t>(value);
    case DType::i32:
    case DType::ci32: return integer_holds<std::int32_t>(value);
    case DType::u64:
    case DType::i64: return true;  // read as integers
    case DType::f16:
    case DType::cf16: return !std::isfinite(value) || std::abs(value) <= kMaxHalf;
    case DType::f32:
    case DType::cf32:
      return !std::isfinite(value) || std::abs(value) <= static_cast<double>(std::numeric_limits<float>::max());
    case DType::f64:
    case DType::cf64: return true;
  }
  return true;
}

// Text with few digits of the largest float ("3.402823466e+38", "3.4028235e+38") parses as a neighbouring double.
double to_float32(double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  constexpr double kClose = 1e-10 * kMax;
  constexpr double kHalfStep = 0x1p103;  // a value less than this beyond the largest float is rounded to it
  if (std::isfinite(value) && std::abs(value) > kMax - kClose) {
    double const rounded = std::abs(value) < kMax + kHalfStep ? kMax : std::numeric_limits<double>::infinity();
    return std::copysign(rounded, value);
  }
  return static_cast<double>(static_cast<float>(value));
}

}  // namespace

Nodata nodata_of(double value, std::string_view text, DType dtype) {
  if (dtype == DType::f32) { value = to_float32(value); }
  return {.value = value, .text = std::string(text), .representable = holds(dtype, value)};
}

std::optional<Nodata> parse_nodata(std::string_view text, DType dtype) {
  if (text.empty()) { return std::nullopt; }
  if (dtype == DType::i64) {
    auto const exact = leading_integer<std::int64_t>(text);
    return Nodata{.value = static_cast<double>(exact), .exact_i64 = exact, .text = std::string(text)};
  }
  if (dtype == DType::u64) {
    auto const exact = leading_integer<std::uint64_t>(text);
    return Nodata{.value = static_cast<double>(exact), .exact_u64 = exact, .text = std::string(text)};
  }
  return nodata_of(number_with_any_point(text), text, dtype);
}

std::optional<Nodata> parse_pam_nodata(std::string_view text, std::optional<double> bits, DType dtype) {
  if (text.empty()) { return std::nullopt; }
  bool const is_exact = dtype == DType::i64 || dtype == DType::u64;
  if (is_exact && !bits) { return parse_nodata(text, dtype); }
  double const value = bits ? *bits : number_or_zero(text);
  return Nodata{.value = value, .text = std::string(text), .representable = !is_exact && holds(dtype, value)};
}

}  // namespace terrazzo::geo
