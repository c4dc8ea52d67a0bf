// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/geokeys.hpp"

#include "base/checked.hpp"
#include "geo/metadata/utf8.hpp"
#include "tiff/format.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

namespace terrazzo::geo {
namespace {

// Limits of libgeotiff, which wrote nearly all existing files.
constexpr std::size_t kMaxValues = 1000;
constexpr std::size_t kMaxKeys = 250;
constexpr std::size_t kMaxAsciiBytes = std::size_t{1} << 20;  // keys address at most 64 KiB
constexpr std::size_t kEntryShorts = 4;  // key, tag with the value (0: the entry itself), count, value or index

// Citations end in '|', which stands for the NUL of each string in the shared tag. One that extends past the end of the
// tag by its NUL is cut, and so is one that only starts inside.
std::optional<std::string> citation(std::string_view all, std::size_t offset, std::size_t count) {
  if (offset > all.size() || (offset == all.size() && count > 1)) { return std::nullopt; }
  std::string_view text = all.substr(offset, count);
  if (text.ends_with('|')) { text.remove_suffix(1); }
  return to_utf8(std::string(text.substr(0, text.find('\0'))));
}

}  // namespace

GeoKeys::Result GeoKeys::read(tiff::Directory const& dir) {
  Result const absent{};
  Result const broken{.keys = std::nullopt, .broken = true};

  auto const shorts = dir.unsigned_values(tiff::tag::GeoKeyDirectory, kMaxValues + kEntryShorts);
  if (shorts.size() < kEntryShorts) { return absent; }
  auto const count = shorts[3];
  if (shorts[0] > 1 || count > kMaxKeys) { return broken; }
  if (shorts.size() < (count + 1) * kEntryShorts) { return broken; }
  if (count == 0) { return absent; }

  auto const doubles = dir.real_values(tiff::tag::GeoDoubleParams, kMaxValues);
  auto const* ascii_entry = dir.find(tiff::tag::GeoAsciiParams);
  if (ascii_entry != nullptr && ascii_entry->value_bytes > kMaxAsciiBytes) { return broken; }
  std::string ascii;
  auto const ascii_bytes = dir.bytes_value(tiff::tag::GeoAsciiParams);
  std::transform(ascii_bytes.begin(), ascii_bytes.end(), std::back_inserter(ascii),
                 [](std::byte b) { return static_cast<char>(b); });
  if (ascii.ends_with('\0')) { ascii.pop_back(); }

  GeoKeys keys;
  keys.revision_1_0_ = shorts[0] == 1 && shorts[1] == 1 && shorts[2] == 0;
  for (std::size_t i = 1; i <= count; ++i) {
    auto const entry = std::span(shorts).subspan(i * kEntryShorts, kEntryShorts);
    auto const key = static_cast<std::uint16_t>(entry[0]);
    auto const where = entry[1];
    auto const length = static_cast<std::size_t>(entry[2]);
    auto const offset = static_cast<std::size_t>(entry[3]);
    Value value;
    if (where == 0) {
      if (length != 1) { return broken; }
      value = std::vector{static_cast<std::uint16_t>(entry[3])};
    } else if (where == tiff::tag::GeoKeyDirectory) {
      if (!range_fits(offset, length, shorts.size())) { return broken; }
      std::vector<std::uint16_t> codes;
      for (auto v : std::span(shorts).subspan(offset, length)) { codes.push_back(static_cast<std::uint16_t>(v)); }
      value = std::move(codes);
    } else if (where == tiff::tag::GeoDoubleParams) {
      if (!range_fits(offset, length, doubles.size())) { return broken; }
      auto const part = std::span(doubles).subspan(offset, length);
      value = std::vector<double>(part.begin(), part.end());
    } else if (where == tiff::tag::GeoAsciiParams) {
      auto text = citation(ascii, offset, length);
      if (!text || ascii_entry == nullptr) { return broken; }
      value = *std::move(text);
    } else {
      return broken;
    }
    keys.values_.insert_or_assign(key, std::move(value));
  }
  return {.keys = std::move(keys), .broken = false};
}

std::optional<std::uint16_t> GeoKeys::code(std::uint16_t key) const {
  auto const found = values_.find(key);
  if (found == values_.end()) { return std::nullopt; }
  auto const* codes = std::get_if<std::vector<std::uint16_t>>(&found->second);
  if (codes == nullptr || codes->empty()) { return std::nullopt; }
  return codes->front();
}

std::optional<double> GeoKeys::number(std::uint16_t key) const {
  auto const all = numbers(key);
  if (all.empty()) { return std::nullopt; }
  return all.front();
}

std::vector<double> GeoKeys::numbers(std::uint16_t key) const {
  auto const found = values_.find(key);
  if (found == values_.end()) { return {}; }
  auto const* values = std::get_if<std::vector<double>>(&found->second);
  return values == nullptr ? std::vector<double>{} : *values;
}

std::string const* GeoKeys::text(std::uint16_t key) const {
  auto const found = values_.find(key);
  return found == values_.end() ? nullptr : std::get_if<std::string>(&found->second);
}

}  // namespace terrazzo::geo
