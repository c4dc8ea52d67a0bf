// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/baseline_metadata.hpp"

#include "base/byte_view.hpp"
#include "base/letter_case.hpp"
#include "geo/metadata/utf8.hpp"
#include "geo/number.hpp"
#include "tiff/format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace terrazzo::geo {
namespace {

namespace tag = tiff::tag;

struct NamedTag {
  std::uint16_t tag;
  char const* name;
};
constexpr std::array kTexts = {
    NamedTag{tag::DocumentName, "TIFFTAG_DOCUMENTNAME"},
    NamedTag{tag::ImageDescription, "TIFFTAG_IMAGEDESCRIPTION"},
    NamedTag{tag::Software, "TIFFTAG_SOFTWARE"},
    NamedTag{tag::DateTime, "TIFFTAG_DATETIME"},
    NamedTag{tag::Artist, "TIFFTAG_ARTIST"},
    NamedTag{tag::HostComputer, "TIFFTAG_HOSTCOMPUTER"},
    NamedTag{tag::Copyright, "TIFFTAG_COPYRIGHT"},
};
constexpr std::array kRationals = {NamedTag{tag::XResolution, "TIFFTAG_XRESOLUTION"},
                                   NamedTag{tag::YResolution, "TIFFTAG_YRESOLUTION"}};
constexpr std::array kShorts = {NamedTag{tag::MinSampleValue, "TIFFTAG_MINSAMPLEVALUE"},
                                NamedTag{tag::MaxSampleValue, "TIFFTAG_MAXSAMPLEVALUE"}};
// DGIWG profile of GeoTIFF (STANAG 7218).
constexpr std::array kDgiwgTexts = {NamedTag{50909, "GEO_METADATA"}, NamedTag{50908, "TIFF_RSID"}};

std::string resolution_unit(std::uint64_t unit) {
  switch (unit) {
    case 1: return "1 (unitless)";
    case 2: return "2 (pixels/inch)";
    case 3: return "3 (pixels/cm)";
    default: return std::to_string(unit);
  }
}

template <std::size_t N>
NamedTag const* find(std::array<NamedTag, N> const& items, std::string_view name) {
  auto const* const found =
      std::find_if(items.begin(), items.end(), [&](auto const& item) { return equals_ignoring_case(item.name, name); });
  return found == items.end() ? nullptr : found;
}

// The simplest fraction that equals the float: 72, 145/2, 1/3.
std::optional<std::pair<std::uint32_t, std::uint32_t>> as_rational(double value) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
  if (!(value >= 0 && value <= kMost)) { return std::nullopt; }
  double before_up = 0, before_down = 1, up = 1, down = 0, rest = value;  // convergents of the continued fraction
  for (int step = 0; step < 64; ++step) {
    double const whole = std::floor(rest);
    double const next_up = whole * up + before_up, next_down = whole * down + before_down;
    if (next_up > kMost || next_down > kMost) { break; }
    before_up = std::exchange(up, next_up);
    before_down = std::exchange(down, next_down);
    if (static_cast<float>(up / down) == static_cast<float>(value) || rest == whole) { break; }
    rest = 1 / (rest - whole);
  }
  return std::pair(static_cast<std::uint32_t>(up), static_cast<std::uint32_t>(down));
}

bool set_rational(std::uint16_t tag, std::string const& value, tiff::TagSet& tags) {
  auto const number = leading_number(value);
  auto const fraction = number ? as_rational(*number) : std::nullopt;
  if (!fraction) { return false; }
  tiff::TagValue stored{tiff::FieldType::rational, 1, std::vector<std::byte>(8)};
  for (std::size_t i = 0; i < 4; ++i) {
    stored.bytes[i] = static_cast<std::byte>(fraction->first >> 8 * i & 0xff);
    stored.bytes[4 + i] = static_cast<std::byte>(fraction->second >> 8 * i & 0xff);
  }
  tags.set(tag, std::move(stored));
  return true;
}

// One value per sample, as TIFF requires.
bool set_short_per_sample(std::uint16_t tag, std::string const& value, tiff::TagSet& tags) {
  int const number = integer_or_zero(value);
  if (number < 0 || number > std::numeric_limits<std::uint16_t>::max() || !leading_number(value)) { return false; }
  std::size_t samples = 1;
  if (auto const* per_pixel = tags.find(tag::SamplesPerPixel); per_pixel != nullptr && per_pixel->bytes.size() >= 2) {
    samples = load<std::uint16_t>(per_pixel->bytes.data(), std::endian::little);
  }
  tags.set_shorts(tag, std::vector(std::max<std::size_t>(samples, 1), static_cast<std::uint16_t>(number)));
  return true;
}

}  // namespace

std::optional<std::string> bounded_text(tiff::Directory const& dir, std::uint16_t tag, std::uint64_t max_bytes) {
  auto const* entry = dir.find(tag);
  if (entry == nullptr || entry->value_bytes > max_bytes) { return std::nullopt; }
  auto text = dir.text_value(tag);
  if (!text) { return std::nullopt; }
  return to_utf8(*std::move(text));
}

std::uint64_t baseline_text_bytes(tiff::Directory const& dir) noexcept {
  std::uint64_t bytes = 0;
  auto const add = [&](std::uint16_t number) {
    auto const* const entry = dir.find(number);
    if (entry != nullptr && entry->value_bytes <= kMaxTextTagBytes) { bytes += entry->value_bytes; }
  };
  for (auto const& item : kTexts) { add(item.tag); }
  for (auto const& item : kDgiwgTexts) { add(item.tag); }
  add(tag::XMLPacket);
  return bytes;
}

void add_baseline_metadata(tiff::Directory const& dir, MetadataBuilder& metadata) {
  for (auto const& item : kTexts) {
    if (auto text = bounded_text(dir, item.tag)) { metadata.set("", item.name, *std::move(text)); }
  }
  for (auto const& item : kRationals) {
    constexpr int kDigits = 8;  // digits of a float: libtiff returns rationals as floats
    if (auto value = dir.real_value(item.tag)) {
      metadata.set("", item.name, format_significant(static_cast<double>(static_cast<float>(*value)), kDigits));
    }
  }
  for (auto const& item : kShorts) {
    if (auto value = dir.unsigned_value(item.tag)) { metadata.set("", item.name, std::to_string(*value)); }
  }
  for (auto const& item : kDgiwgTexts) {
    if (auto text = bounded_text(dir, item.tag)) { metadata.set("", item.name, *std::move(text)); }
  }
  if (auto unit = dir.unsigned_value(tag::ResolutionUnit)) {
    metadata.set("", "TIFFTAG_RESOLUTIONUNIT", resolution_unit(*unit));
  }
  auto const* xmp = dir.find(tag::XMLPacket);
  if (xmp != nullptr && xmp->value_bytes <= kMaxTextTagBytes) {
    std::string text;
    for (std::byte b : dir.bytes_value(tag::XMLPacket)) { text.push_back(static_cast<char>(b)); }
    text.resize(std::min(text.find('\0'), text.size()));
    if (!text.empty()) { metadata.set_document("xml:XMP", to_utf8(std::move(text))); }
  }
}

bool set_baseline_tag(std::string_view key, std::string const& value, tiff::TagSet& tags) {
  if (auto const* text = find(kTexts, key)) {
    tags.set_text(text->tag, value);
    return true;
  }
  if (auto const* text = find(kDgiwgTexts, key)) {
    tags.set_text(text->tag, value);
    return true;
  }
  if (auto const* number = find(kRationals, key)) { return set_rational(number->tag, value, tags); }
  if (auto const* number = find(kShorts, key)) { return set_short_per_sample(number->tag, value, tags); }
  if (equals_ignoring_case(key, "TIFFTAG_RESOLUTIONUNIT")) {
    int const unit = integer_or_zero(value);  // "2 (pixels/inch)"
    tags.set_short(tag::ResolutionUnit, static_cast<std::uint16_t>(unit >= 1 && unit <= 65535 ? unit : 1));
    return true;
  }
  return false;
}

}  // namespace terrazzo::geo
