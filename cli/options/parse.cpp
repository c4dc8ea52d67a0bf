// SPDX-License-Identifier: Apache-2.0
#include "options/parse.hpp"

#include "terrazzo/settings.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>

namespace terrazzo::cli {
namespace {

constexpr std::size_t kMaxBandsListed = 1'000'000;

[[noreturn]] void refuse(std::string_view option, std::string_view value, std::string_view wanted) {
  throw Error(ErrorKind::usage,
              std::string(option) + " \"" + std::string(value) + "\": expected " + std::string(wanted));
}

template <class T>
std::optional<T> parse_number(std::string_view value) {
  T number{};
  auto const [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || value.empty()) { return std::nullopt; }
  return number;
}

bool is_whole(std::string_view value) {
  return !value.empty() && std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
}

// The expected form of a value's parts. A part that is a number is too large.
std::string wanted_of(std::string_view part, std::string_view wanted) {
  return std::string(wanted) +
         (is_whole(part) ? ", none above " + std::to_string(std::numeric_limits<std::uint32_t>::max()) : "");
}

std::vector<std::string_view> split(std::string_view value, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    std::size_t const at = value.find(separator);
    parts.push_back(value.substr(0, at));
    if (at == std::string_view::npos) { return parts; }
    value.remove_prefix(at + 1);
  }
}

std::vector<std::uint32_t> parse_unsigneds(std::string_view option, std::string_view value, char separator,
                                           std::size_t count, std::string_view wanted) {
  std::vector<std::uint32_t> numbers;
  for (std::string_view part : split(value, separator)) {
    auto const number = parse_number<std::uint32_t>(part);
    if (!number) { refuse(option, value, wanted_of(part, wanted)); }
    numbers.push_back(*number);
  }
  if (numbers.size() != count) { refuse(option, value, wanted); }
  return numbers;
}

// "Byte", "Float32", "CFloat64"; in lower case.
std::optional<DType> dtype_from_gdal(std::string const& name) {
  if (name == "byte") { return DType::u8; }
  if (name == "cfloat32") { return DType::cf32; }
  if (name == "cfloat64") { return DType::cf64; }
  return dtype_from_string(name);
}

std::vector<double> parse_finite(std::string_view option, std::string_view value, std::size_t count,
                                 std::string_view wanted) {
  std::vector<double> numbers;
  for (std::string_view const part : split(value, ',')) {
    auto const number = parse_number<double>(part);
    if (!number || !std::isfinite(*number)) { refuse(option, value, wanted); }
    numbers.push_back(*number);
  }
  if (numbers.size() != count) { refuse(option, value, wanted); }
  return numbers;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  return lower;
}

std::string extension_of(std::string const& path) {
  return lower_case(std::filesystem::path(path).extension().string());
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

bool are_numbers(std::string_view word) {
  return word.find_first_not_of("0123456789.,+-eE") == std::string_view::npos &&
         word.find_first_of("0123456789") != std::string_view::npos;
}

std::uint64_t parse_whole(std::string_view option, std::string_view value, std::uint64_t least, std::uint64_t most) {
  auto const number = parse_number<std::uint64_t>(value);
  if (!number || *number < least || *number > most) {
    bool const is_too_large = is_whole(value) && (!number || *number > most);
    // Omit the limit of 2^32 - 1 unless the number exceeds it.
    bool const open = most >= std::numeric_limits<std::uint32_t>::max() && !is_too_large;
    refuse(option, value,
           "a whole number" + (open ? " from " + std::to_string(least)
                                    : ", " + std::to_string(least) + " to " + std::to_string(most)));
  }
  return *number;
}

std::size_t parse_choice(std::string_view option, std::string_view value, std::span<std::string const> names) {
  std::string const typed = lower_case(value);
  std::string wanted, begins_alike;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == typed) { return i; }
    wanted += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
    // A GDAL user types "near".
    if (begins_alike.empty() && typed.size() > 1 && names[i].starts_with(typed)) { begins_alike = names[i]; }
  }
  if (!begins_alike.empty()) { wanted += "; type \"" + std::string(option) + " " + begins_alike + "\""; }
  refuse(option, value, wanted);
}

std::uint64_t parse_size(std::string_view option, std::string_view value) {
  auto const bytes = terrazzo::parse_size(value);
  if (!bytes) { refuse(option, value, "a size such as 65536, 512M or 1.5G"); }
  return *bytes;
}

GridWindow parse_window(std::string_view option, std::string_view value) {
  constexpr std::string_view kWanted = "COLUMN,ROW,WIDTH,HEIGHT in pixels";
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::int64_t> n;
  for (std::string_view const part : split(value, ',')) {
    auto const number = parse_number<std::int64_t>(part);
    std::int64_t const least = n.size() < 2 ? -kMost : 0;  // a window may begin outside the raster
    if (!number || *number < least || *number > kMost) { refuse(option, value, wanted_of(part, kWanted)); }
    n.push_back(*number);
  }
  if (n.size() != 4) { refuse(option, value, std::string(kWanted) + ", joined by commas, such as 0,0,512,512"); }
  return {n[0], n[1], static_cast<std::uint32_t>(n[2]), static_cast<std::uint32_t>(n[3])};
}

BoundingBox parse_bbox(std::string_view option, std::string_view value) {
  auto const n = parse_finite(option, value, 4, "XMIN,YMIN,XMAX,YMAX, such as 9.1,45.2,9.4,45.5");
  return {n[0], n[1], n[2], n[3]};
}

LinearScale parse_scale(std::string_view option, std::string_view value) {
  auto const n = parse_finite(option, value, 4, "SRC_MIN,SRC_MAX,DST_MIN,DST_MAX, such as 0,3000,0,255");
  if (n[0] == n[1]) { refuse(option, value, "two different ends of the source's range"); }
  return {n[0], n[1], n[2], n[3]};
}

Point parse_point(std::string_view option, std::string_view value) {
  auto const n = parse_finite(option, value, 2, "X,Y, such as 9.25,45.3");
  return {n[0], n[1]};
}

std::string parse_crs_text(std::string_view option, std::string_view value) {
  if (is_whole(value)) { return "EPSG:" + std::string(value); }
  if (value.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    refuse(option, value, "EPSG:4326 (or another authority's code), WKT, PROJJSON or the name of a CRS");
  }
  return std::string(value);
}

std::vector<std::uint32_t> parse_bands(std::string_view option, std::string_view value) {
  constexpr std::string_view kWanted = "band numbers from 1, such as 3,2,1 or 1-4";
  std::vector<std::uint32_t> bands;
  for (std::string_view part : split(value, ',')) {
    std::size_t const dash = part.find('-');
    std::string_view const first_text = part.substr(0, dash);
    std::string_view const last_text = dash == std::string_view::npos ? first_text : part.substr(dash + 1);
    auto const first = parse_number<std::uint32_t>(first_text), last = parse_number<std::uint32_t>(last_text);
    if (!first || !last) { refuse(option, value, wanted_of(first ? last_text : first_text, kWanted)); }
    if (*first == 0 || *last < *first) { refuse(option, value, kWanted); }
    if (*last - *first >= kMaxBandsListed) { refuse(option, value, "fewer bands"); }
    // 64 bits: with 32, the loop would never end for band 4294967295.
    for (std::uint64_t band = *first; band <= *last; ++band) { bands.push_back(static_cast<std::uint32_t>(band)); }
    if (bands.size() > kMaxBandsListed) { refuse(option, value, "fewer bands"); }
  }
  return bands;
}

TargetSize parse_target_size(std::string_view option, std::string_view value) {
  char const separator = value.find('x') != std::string_view::npos ? 'x' : ',';
  auto const n = parse_unsigneds(option, value, separator, 2, "WIDTH,HEIGHT in pixels, both at least 1");
  if (n[0] == 0 || n[1] == 0) { refuse(option, value, "WIDTH,HEIGHT in pixels, both at least 1"); }
  return {n[0], n[1]};
}

std::pair<double, double> parse_pair(std::string_view option, std::string_view value, bool one_is_both) {
  std::string_view const wanted = one_is_both ? "one number, or two as X,Y" : "two numbers, such as 2,98";
  auto const parts = split(value, ',');
  if (parts.size() != 2 && !(one_is_both && parts.size() == 1)) { refuse(option, value, wanted); }
  auto const first = parse_number<double>(parts.front());
  auto const second = parse_number<double>(parts.back());
  if (!first || !second || !std::isfinite(*first) || !std::isfinite(*second)) { refuse(option, value, wanted); }
  return {*first, *second};
}

DType parse_dtype(std::string_view option, std::string_view value) {
  auto dtype = dtype_from_string(value);
  if (!dtype) { dtype = dtype_from_gdal(lower_case(value)); }
  if (!dtype) {
    refuse(
        option, value,
        "a sample type: uint8, int16, uint16, int32, uint32, int64, uint64, float16, float32, float64, complex64, ...");
  }
  return *dtype;
}

}  // namespace terrazzo::cli
