// SPDX-License-Identifier: Apache-2.0
#include "write/update/tag_edit.hpp"

#include "base/byte_view.hpp"
#include "base/text.hpp"
#include "geo/encode.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace terrazzo::writing {
namespace {

namespace tag = tiff::tag;

// Tags whose values are offsets: SubIFDs, old JPEG tables, free space, EXIF, GPS and interoperability directories.
constexpr std::array<std::uint16_t, 9> kPointerTags{
    tag::SubIFDs, tag::JPEGInterchangeFormat, 288, 519, 520, 521, 34665, 34853, 40965};

// Tags whose numbers are known not to be offsets, or to be offsets of blocks: TIFF 6.0 and its supplements, GeoTIFF,
// GDAL's, and a few others that have a description. First and last of each run; without kPointerTags.
constexpr std::array<std::array<std::uint16_t, 2>, 24> kDescribedTags{{
    {254, 287},     {290, 329},     {331, 347},     {433, 437},     {512, 512},     {514, 518},
    {529, 533},     {559, 559},     {700, 700},     {32781, 32781}, {32995, 32998}, {33421, 33422},
    {33432, 33437}, {33550, 33550}, {33723, 33723}, {33920, 33922}, {34264, 34264}, {34377, 34377},
    {34675, 34675}, {34735, 34737}, {42112, 42113}, {50674, 50674}, {50844, 50844}, {50909, 50909},
}};

constexpr std::array kKeyTags{tag::GeoKeyDirectory, tag::GeoDoubleParams, tag::GeoAsciiParams};
constexpr std::array kPlaceTags{tag::ModelPixelScale, tag::ModelTiepoint, tag::ModelTransformation,
                                tag::IntergraphMatrix};

// GTRasterTypeGeoKey of the GeoTIFF standard.
constexpr std::uint16_t kRasterType = 1025, kPixelIsArea = 1, kPixelIsPoint = 2;

std::vector<std::uint16_t> shorts_of(tiff::TagValue const& value) {
  std::vector<std::uint16_t> shorts;
  if (value.type != tiff::FieldType::short_) { return shorts; }
  for (std::size_t i = 0; i + 1 < value.bytes.size(); i += 2) {
    shorts.push_back(load<std::uint16_t>(value.bytes.data() + i, std::endian::little));
  }
  return shorts;
}

// A GeoKey directory with that raster type; nullopt if `keys` is not a GeoKey directory. Layout: four numbers, of which
// the last counts the keys; then keys of four numbers, sorted: key, 0 for an inline value, 1, value.
std::optional<std::vector<std::uint16_t>> with_raster_type(std::vector<std::uint16_t> keys, std::uint16_t type) {
  if (keys.size() < 4 || keys.size() / 4 < std::size_t{keys[3]} + 1) { return std::nullopt; }
  std::size_t const end = (std::size_t{keys[3]} + 1) * 4;
  auto const first = [&](auto const& is_it) {
    std::size_t at = 4;
    while (at < end && !is_it(keys[at])) { at += 4; }
    return at;
  };
  std::size_t at = first([](std::uint16_t key) { return key == kRasterType; });
  if (at == end) {
    at = first([](std::uint16_t key) { return key > kRasterType; });
    keys.insert(keys.begin() + static_cast<std::ptrdiff_t>(at), 4, 0);
    ++keys[3];
  }
  std::ranges::copy(std::array<std::uint16_t, 4>{kRasterType, 0, 1, type},
                    keys.begin() + static_cast<std::ptrdiff_t>(at));
  return keys;
}

template <class Tags>
void take(Tags const& numbers, tiff::TagSet const& from, tiff::TagSet& tags) {
  for (std::uint16_t const number : numbers) {
    tags.erase(number);
    if (tiff::TagValue const* const value = from.find(number)) { tags.set(number, *value); }
  }
}

// An edit leaves control points and RPC unchanged.
Georeference without_points(Georeference georeference) {
  georeference.gcps.clear();
  georeference.rpc.clear();
  return georeference;
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
    if (directory.header().order != std::endian::little) { tiff::swap_values(value.type, value.bytes); }
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

bool may_hold_offsets(tiff::Entry const& entry) noexcept {
  switch (static_cast<tiff::FieldType>(entry.type)) {
    case tiff::FieldType::ascii:
    case tiff::FieldType::rational:
    case tiff::FieldType::srational:
    case tiff::FieldType::float_:
    case tiff::FieldType::double_: return false;
    default: break;
  }
  return std::ranges::none_of(kDescribedTags,
                              [&](auto const& run) { return run[0] <= entry.tag && entry.tag <= run[1]; });
}

void replace_nodata(std::optional<Nodata> const& nodata, tiff::TagSet& tags) {
  tags.erase(tag::GDALNodata);
  if (nodata) { geo::encode_nodata(*nodata, tags); }
}

void replace_crs(Georeference const& georeference, tiff::TagSet& tags) {
  Georeference only = without_points(georeference);
  only.transform.reset();
  tiff::TagSet fresh;
  std::string const too_long = geo::encode_georeference(only, fresh);
  if (!too_long.empty()) {
    throw Error(ErrorKind::unsupported, "the CRS is too long for the file's tags, and needs a PAM file beside it");
  }
  take(kKeyTags, fresh, tags);
}

void replace_transform(Georeference const& georeference, tiff::TagSet& tags) {
  Georeference only = without_points(georeference);
  only.crs.reset();
  tiff::TagSet fresh;
  static_cast<void>(geo::encode_georeference(only, fresh));
  take(kPlaceTags, fresh, tags);
  // The raster type (point or area) is a key, and the file may have no keys yet.
  if (!tags.has(tag::GeoKeyDirectory)) { take(kKeyTags, fresh, tags); }
}

void replace_raster_type(Georeference const& georeference, tiff::TagSet& tags) {
  Georeference only = georeference;
  only.crs.reset();
  only.rpc.clear();
  tiff::TagSet fresh;
  static_cast<void>(geo::encode_georeference(only, fresh));
  take(kPlaceTags, fresh, tags);
  tiff::TagValue const* const directory = tags.find(tag::GeoKeyDirectory);
  if (directory == nullptr) {
    take(kKeyTags, fresh, tags);  // no keys for areas: area is the default
    return;
  }
  // The other keys stay unchanged, including keys that we would not write.
  std::optional<std::vector<std::uint16_t>> const keys =
      with_raster_type(shorts_of(*directory), georeference.pixel_is_point ? kPixelIsPoint : kPixelIsArea);
  if (!keys) { throw Error(ErrorKind::malformed, "the GeoKeys are broken", {.tag = tag::GeoKeyDirectory}); }
  tags.set_shorts(tag::GeoKeyDirectory, *keys);
}

void replace_metadata(Info const& before, Info const& after, tiff::TagSet& tags) {
  tiff::TagSet said;  // its keys are the tags that hold the current metadata
  geo::encode_metadata(before.metadata, before.bands, said);
  for (auto const& [number, value] : said.values()) { tags.erase(number); }
  tags.erase(tag::GDALMetadata);
  geo::encode_metadata(after.metadata, after.bands, tags);
}

}  // namespace terrazzo::writing
