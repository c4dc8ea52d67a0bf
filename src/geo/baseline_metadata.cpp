// SPDX-License-Identifier: Apache-2.0
#include "geo/baseline_metadata.hpp"

#include "geo/number.hpp"
#include "geo/utf8.hpp"
#include "tiff/format.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

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

}  // namespace

std::optional<std::string> bounded_text(tiff::Directory const& dir, std::uint16_t tag, std::uint64_t max_bytes) {
  auto const* entry = dir.find(tag);
  if (entry == nullptr || entry->value_bytes > max_bytes) { return std::nullopt; }
  auto text = dir.text_value(tag);
  if (!text) { return std::nullopt; }
  return to_utf8(*std::move(text));
}

void add_baseline_metadata(tiff::Directory const& dir, MetadataBuilder& metadata) {
  for (auto const& item : kTexts) {
    if (auto text = bounded_text(dir, item.tag)) { metadata.set("", item.name, *std::move(text)); }
  }
  for (auto const& item : kRationals) {
    constexpr int kDigits = 8;  // of a float, which is how libtiff hands rationals out
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

}  // namespace terrazzo::geo
