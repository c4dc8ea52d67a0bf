// SPDX-License-Identifier: Apache-2.0
#include "output/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <ostream>

namespace terrazzo::cli {
namespace {

std::string with_decimals(double value, int decimals, char const* unit) {
  std::array<char, 64> buffer;
  int const length = std::snprintf(buffer.data(), buffer.size(), "%.*f %s", decimals, value, unit);
  return {buffer.data(), static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(buffer.size()) - 1))};
}

// Characters, not bytes: continuation bytes of UTF-8 take no column.
std::size_t display_width(std::string const& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) { return std::to_string(bytes) + " bytes"; }
  static constexpr std::array<char const*, 6> kUnits{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return with_decimals(value, value < 10 ? 2 : value < 100 ? 1 : 0, kUnits[unit]);
}

std::string format_number(double value) {
  if (std::isnan(value)) { return "nan"; }  // without its sign
  std::array<char, 64> buffer;
  // 400000 instead of 4e+05, although that is shorter.
  bool const plain = value == 0 || (std::abs(value) >= 1e-5 && std::abs(value) < 1e15);
  auto const format = plain ? std::chars_format::fixed : std::chars_format::general;
  auto const result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  return {buffer.data(), result.ptr};
}

std::string format_coordinate(double value) {
  std::array<char, 64> buffer;
  auto const rounded =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, 12);
  double shown = value;
  std::from_chars(buffer.data(), rounded.ptr, shown);
  return format_number(shown);
}

std::string format_degrees(double value) {
  constexpr double kDecimals = 1e7;
  double const rounded = std::round(value * kDecimals) / kDecimals;
  return format_number(rounded == 0 ? 0 : rounded);  // no "-0"
}

std::string format_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string format_size(std::uint64_t width, std::uint64_t height) {
  return std::to_string(width) + " x " + std::to_string(height);
}

std::string format_seconds(double seconds) {
  if (seconds < 1e-3) { return with_decimals(seconds * 1e6, 0, "us"); }
  if (seconds < 1) { return with_decimals(seconds * 1e3, 1, "ms"); }
  return with_decimals(seconds, 2, "s");
}

std::size_t control_bytes(std::string_view text) noexcept {
  auto const at = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0xFFU; };
  auto const is_in = [](unsigned value, unsigned first, unsigned last) { return first <= value && value <= last; };
  if (at(0) < 0x20 || at(0) == 0x7F) { return 1; }
  if (at(0) == 0xC2 && is_in(at(1), 0x80, 0x9F)) { return 2; }  // C1: U+009B begins a sequence, as ESC [ does
  if (at(0) != 0xE2) { return 0; }
  bool const marks = at(1) == 0x80 && (is_in(at(2), 0x8E, 0x8F) || is_in(at(2), 0xA8, 0xAE));
  bool const isolates = at(1) == 0x81 && is_in(at(2), 0xA6, 0xA9);
  return marks || isolates ? 3 : 0;
}

std::string printable(std::string_view text, std::size_t max_bytes) {
  std::string clean;
  std::string_view rest = text.substr(0, max_bytes);
  while (!rest.empty()) {
    std::size_t const control = control_bytes(rest);
    clean += control != 0 ? ' ' : rest.front();
    rest.remove_prefix(std::max<std::size_t>(control, 1));
  }
  if (text.size() > max_bytes) { clean += "..."; }
  return clean;
}

std::string printable_name(std::string_view name) { return printable(name, name.size()); }

void Table::print(std::ostream& out, std::string const& indent) const {
  std::vector<std::size_t> widths(rows_.front().size());
  std::vector<bool> used(widths.size());
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t c = 0; c < rows_[r].size() && c < widths.size(); ++c) {
      widths[c] = std::max(widths[c], display_width(rows_[r][c]));
      if (r > 0 && !rows_[r][c].empty()) { used[c] = true; }
    }
  }
  for (auto const& row : rows_) {
    std::string line = indent;
    for (std::size_t c = 0; c < row.size() && c < widths.size(); ++c) {
      if (used[c]) { line += row[c] + std::string(widths[c] - display_width(row[c]) + 2, ' '); }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

}  // namespace terrazzo::cli
