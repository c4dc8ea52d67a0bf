// SPDX-License-Identifier: Apache-2.0
#include "write/tag_edit.hpp"

#include "base/text.hpp"
#include "geo/encode.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace terrazzo::writing {
namespace {

namespace tag = tiff::tag;

// Values are offsets: SubIFDs, JPEG tables of old, free space, EXIF, GPS and interoperability directories.
constexpr std::array<std::uint16_t, 9> kPointerTags{
    tag::SubIFDs, tag::JPEGInterchangeFormat, 288, 519, 520, 521, 34665, 34853, 40965};

constexpr std::array kKeyTags{tag::GeoKeyDirectory, tag::GeoDoubleParams, tag::GeoAsciiParams};
constexpr std::array kPlaceTags{tag::ModelPixelScale, tag::ModelTiepoint, tag::ModelTransformation,
                                tag::IntergraphMatrix};

template <class Tags>
void take(Tags const& numbers, tiff::TagSet const& from, tiff::TagSet& tags) {
  for (std::uint16_t const number : numbers) {
    tags.erase(number);
    if (tiff::TagValue const* const value = from.find(number)) { tags.set(number, *value); }
  }
}

}  // namespace

tiff::TagSet tags_of(tiff::Directory const& directory) {
  tiff::TagSet tags;
  for (tiff::Entry const& entry : directory.entries()) {
    if (entry.count == 0 || tags.has(entry.tag)) { continue; }
    Where const where{.ifd = directory.index(), .tag = entry.tag};
    if (tiff::field_type_bytes(entry.type) == 0) {
      throw Error(ErrorKind::unsupported, text("a tag has the unknown type ", entry.type), where);
    }
    tiff::TagValue value{static_cast<tiff::FieldType>(entry.type), entry.count, directory.bytes_value(entry.tag)};
    if (value.bytes.size() != entry.value_bytes || value.bytes.empty()) {
      throw Error(ErrorKind::malformed, "the value of a tag lies outside the file, or is too long", where);
    }
    tags.set(entry.tag, std::move(value));
  }
  return tags;
}

bool has_pointers(tiff::Directory const& directory) {
  return std::ranges::any_of(directory.entries(), [](tiff::Entry const& entry) {
    auto const type = static_cast<tiff::FieldType>(entry.type);
    return type == tiff::FieldType::ifd || type == tiff::FieldType::ifd8 ||
           std::ranges::find(kPointerTags, entry.tag) != kPointerTags.end();
  });
}

void replace_nodata(std::optional<Nodata> const& nodata, tiff::TagSet& tags) {
  tags.erase(tag::GDALNodata);
  if (nodata) { geo::encode_nodata(*nodata, tags); }
}

void replace_crs(Georeference const& georeference, tiff::TagSet& tags) {
  Georeference only = georeference;
  only.transform.reset();
  only.gcps.clear();
  only.rpc.clear();
  tiff::TagSet fresh;
  std::string const too_long = geo::encode_georeference(only, fresh);
  if (!too_long.empty()) {
    throw Error(ErrorKind::unsupported, "the CRS is too long for the file's tags, and needs a PAM file beside it");
  }
  take(kKeyTags, fresh, tags);
}

void replace_transform(Georeference const& georeference, tiff::TagSet& tags) {
  Georeference only = georeference;
  only.crs.reset();
  only.gcps.clear();
  only.rpc.clear();
  tiff::TagSet fresh;
  static_cast<void>(geo::encode_georeference(only, fresh));
  take(kPlaceTags, fresh, tags);
  // Whether a pixel is a point or an area is a key, and a file may have none yet.
  if (!tags.has(tag::GeoKeyDirectory)) { take(kKeyTags, fresh, tags); }
}

void replace_metadata(Info const& before, Info const& after, tiff::TagSet& tags) {
  tiff::TagSet said;  // its numbers are those of the tags that say what is said now
  geo::encode_metadata(before.metadata, before.bands, said);
  for (auto const& [number, value] : said.values()) { tags.erase(number); }
  tags.erase(tag::GDALMetadata);
  geo::encode_metadata(after.metadata, after.bands, tags);
}

}  // namespace terrazzo::writing
