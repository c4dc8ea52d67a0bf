// SPDX-License-Identifier: Apache-2.0
#include "base/byte_view.hpp"
#include "base/letter_case.hpp"
#include "base/text.hpp"
#include "geo/encode.hpp"
#include "geo/metadata/baseline_metadata.hpp"
#include "geo/metadata/color.hpp"
#include "geo/metadata/gdal_metadata.hpp"
#include "geo/metadata/metadata.hpp"
#include "geo/metadata/utf8.hpp"
#include "geo/metadata/xml.hpp"
#include "geo/number.hpp"
#include "terrazzo/error.hpp"
#include "tiff/format.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace terrazzo::geo {
namespace {

namespace tag = tiff::tag;

constexpr std::string_view kXmp = "xml:XMP", kColorProfile = "COLOR_PROFILE", kRpc = "RPC";

// GDAL derives it from the types of the bands.
constexpr std::string_view kDerived = "DERIVED_SUBDATASETS";

struct ItemPlace {
  int sample = -1;  // the band, from 0; -1: the file
  std::string_view role{};
  std::string_view domain{};
};

// Parsers drop the leading space of a text unless it is a numeric entity.
std::string escaped_value(std::string const& value) {
  std::string const utf8 = to_utf8(value);
  std::string escaped;
  std::string_view rest = utf8;
  if (!rest.empty() && std::string_view(" \t\n").find(rest.front()) != std::string_view::npos) {
    escaped = "&#" + std::to_string(static_cast<int>(rest.front())) + ";";
    rest.remove_prefix(1);
  }
  return escape_xml(escaped + escape_xml(rest));  // GDAL escapes twice, and unescapes twice when it reads
}

class Document {
 public:
  void add(std::string_view name, std::string const& value, ItemPlace const& place) {
    if (value.empty()) { return; }  // no reader returns an empty item
    items_ += "  <Item name=\"" + escape_xml(to_utf8(std::string(name))) + '"';
    if (place.sample >= 0) { items_ += " sample=\"" + std::to_string(place.sample) + '"'; }
    if (!place.role.empty()) { items_.append(" role=\"").append(place.role).append("\""); }
    if (!place.domain.empty()) { items_ += " domain=\"" + escape_xml(to_utf8(std::string(place.domain))) + '"'; }
    items_ += '>' + escaped_value(value) + "</Item>\n";
  }
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] std::string xml() const { return "<GDALMetadata>\n" + items_ + "</GDALMetadata>\n"; }

 private:
  std::string items_;
};

void add_items(Metadata const& metadata, int sample, Document& document) {
  for (auto const& [domain, items] : metadata.domains) {
    for (auto const& [key, value] : items) { document.add(key, value, {.sample = sample, .domain = domain}); }
  }
  for (auto const& [domain, xml] : metadata.xml_domains) {
    document.add("doc", xml, {.sample = sample, .domain = domain});
  }
}

std::vector<std::byte> from_base64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::byte> bytes;
  std::uint32_t bits = 0;
  int held = 0;
  for (char const c : text) {
    auto const digit = kDigits.find(c);
    if (digit == std::string_view::npos) { continue; }  // line ends and padding
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes.push_back(static_cast<std::byte>(bits >> held & 0xff));
    }
  }
  return bytes;
}

// Moves items that have their own tag from `metadata` to `tags`.
void move_to_tags(Metadata& metadata, tiff::TagSet& tags) {
  if (auto const profile = metadata.domains.find(std::string(kColorProfile)); profile != metadata.domains.end()) {
    for (auto const& [key, value] : profile->second) {
      auto const bytes = key == "SOURCE_ICC_PROFILE" ? from_base64(value) : std::vector<std::byte>{};
      if (!bytes.empty()) { tags.set_bytes(tag::ICCProfile, tiff::FieldType::undefined, bytes); }
    }
    metadata.domains.erase(profile);
  }
  if (auto const xmp = metadata.xml_domains.find(std::string(kXmp)); xmp != metadata.xml_domains.end()) {
    if (!xmp->second.empty()) {
      tags.set_bytes(tag::XMLPacket, tiff::FieldType::byte_, std::as_bytes(std::span(xmp->second)));
    }
    metadata.xml_domains.erase(xmp);
  }
  if (tags.has(tag::RPCCoefficients)) { metadata.domains.erase(std::string(kRpc)); }
  if (auto const plain = metadata.domains.find(""); plain != metadata.domains.end()) {
    std::erase_if(plain->second, [&](auto const& item) {
      // The raster type is a key of the georeference.
      return equals_ignoring_case(item.first, "AREA_OR_POINT") || set_baseline_tag(item.first, item.second, tags);
    });
  }
}

// Drops structural items, which the file itself shows, except the resampling of its overviews.
void drop_structure(Metadata& metadata) {
  metadata.domains.erase(std::string(kDerived));
  if (auto const structure = metadata.domains.find(kImageStructure); structure != metadata.domains.end()) {
    std::erase_if(structure->second,
                  [](auto const& item) { return !equals_ignoring_case(item.first, "OVERVIEW_RESAMPLING"); });
  }
}

std::vector<std::uint64_t> shorts_of(tiff::TagSet const& tags, std::uint16_t tag) {
  tiff::TagValue const* const value = tags.find(tag);
  std::vector<std::uint64_t> shorts;
  if (value == nullptr || value->type != tiff::FieldType::short_) { return shorts; }
  for (std::size_t i = 0; i + 1 < value->bytes.size(); i += 2) {
    shorts.push_back(load<std::uint16_t>(value->bytes.data() + i, std::endian::little));
  }
  return shorts;
}

std::uint64_t short_of(tiff::TagSet const& tags, std::uint16_t tag, std::uint64_t otherwise) {
  auto const shorts = shorts_of(tags, tag);
  return shorts.empty() ? otherwise : shorts.front();
}

// The colours that a reader derives from the tags of the image.
std::vector<BandInfo> colors_in_tags(tiff::TagSet const& tags, std::size_t bands) {
  Info info;
  info.bands.resize(bands);
  info.layout.bits_per_sample = static_cast<std::uint32_t>(short_of(tags, tag::BitsPerSample, 1));
  info.layout.compression = static_cast<std::uint32_t>(short_of(tags, tag::Compression, 1));
  ColorTags colors;
  colors.photometric = short_of(tags, tag::PhotometricInterpretation, 1);
  colors.samples_per_pixel = short_of(tags, tag::SamplesPerPixel, 1);
  colors.extra_samples = shorts_of(tags, tag::ExtraSamples);
  colors.color_map = shorts_of(tags, tag::ColorMap);
  if (colors.photometric == static_cast<std::uint64_t>(tiff::Photometric::ycbcr)) {
    info.layout.source_color_space = "YCbCr";  // readers convert it to RGB
  }
  describe_color(colors, info);
  return info.bands;
}

// GDAL's names have a capital; all readers ignore it.
std::string color_item(BandInfo const& band) {
  std::string name = band.color_name.empty() ? std::string(to_string(band.color)) : band.color_name;
  if (!name.empty() && name.front() >= 'a' && name.front() <= 'z') {
    name.front() = static_cast<char>(name.front() - 'a' + 'A');
  }
  return name;
}

void add_band(BandInfo const& band, BandInfo const& in_tags, int sample, Document& document) {
  Metadata metadata = band.metadata;
  drop_structure(metadata);
  add_items(metadata, sample, document);
  if (band.has_offset || band.offset != 0) {
    document.add("OFFSET", format_exact(band.offset), {.sample = sample, .role = "offset"});
  }
  if (band.has_scale || band.scale != 1) {
    document.add("SCALE", format_exact(band.scale), {.sample = sample, .role = "scale"});
  }
  document.add("UNITTYPE", band.unit, {.sample = sample, .role = "unittype"});
  document.add("DESCRIPTION", band.description, {.sample = sample, .role = "description"});
  // A band without a colour has no name for it either.
  bool const says_color = band.color != ColorInterpretation::undefined || !band.color_name.empty();
  bool const other_color = band.color != in_tags.color || (band.color == ColorInterpretation::other);
  if (says_color && other_color) {
    document.add("COLORINTERP", color_item(band), {.sample = sample, .role = "colorinterp"});
  }
}

}  // namespace

void encode_metadata(Metadata const& metadata, std::vector<BandInfo> const& bands, tiff::TagSet& tags) {
  Document document;
  Metadata of_file = metadata;
  move_to_tags(of_file, tags);
  drop_structure(of_file);
  add_items(of_file, -1, document);
  auto const in_tags = colors_in_tags(tags, bands.size());
  for (std::size_t i = 0; i < bands.size(); ++i) { add_band(bands[i], in_tags[i], static_cast<int>(i), document); }
  if (document.empty()) { return; }
  std::string const xml = document.xml();
  if (xml.size() > kMaxMetadataXmlBytes) {
    throw Error(ErrorKind::limit, text("metadata of ", xml.size(), " bytes: ", kMaxMetadataXmlBytes, " are the most"));
  }
  tags.set_text(tag::GDALMetadata, xml);
}

}  // namespace terrazzo::geo
