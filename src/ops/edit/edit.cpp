// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/edit.hpp"

#include "base/text.hpp"
#include "ops/edit/edit_file.hpp"
#include "read/open/dataset.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory.hpp"
#include "write/update/tag_edit.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string_view>
#include <utility>

namespace terrazzo {
namespace {

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

// For readers, a metadata item; in the file, a key of the georeference.
constexpr std::string_view kRasterType = "AREA_OR_POINT";

bool same_word(std::string_view a, std::string_view b) {
  auto const lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

// True for points, false for areas; nullopt if the edit does not set the raster type.
std::optional<bool> wants_points(MetadataItems const& set) {
  std::optional<bool> wanted;
  for (auto const& [key, value] : set) {
    if (!same_word(key, kRasterType)) { continue; }
    bool const point = same_word(value, "Point");
    if (!point && !same_word(value, "Area")) { refuse(text(kRasterType, " is Area or Point, not \"", value, "\"")); }
    wanted = point;
  }
  return wanted;
}

// Readers treat an item without a value as absent: setting an empty value removes it.
void change_items(MetadataItems const& set, std::vector<std::string> const& unset, Metadata& metadata) {
  MetadataItems& items = metadata.domains[""];
  for (auto const& [key, value] : set) {
    if (key.empty()) { refuse("an item of metadata needs a name"); }
    if (same_word(key, kRasterType)) { continue; }
    if (value.empty()) {
      std::erase_if(items, [&](auto const& item) { return item.first == key; });
      continue;
    }
    auto const found = std::ranges::find(items, key, &std::pair<std::string, std::string>::first);
    if (found != items.end()) {
      found->second = value;
    } else {
      items.emplace_back(key, value);
    }
  }
  for (std::string const& key : unset) {
    if (same_word(key, kRasterType)) { refuse(text(kRasterType, " cannot be removed: set it to Area or to Point")); }
    std::erase_if(items, [&](auto const& item) { return item.first == key; });
  }
}

void change_band(BandEdit const& edit, Info& info) {
  if (edit.band == 0 || edit.band > info.bands.size()) {
    refuse(text("there is no band ", edit.band, ": the file has ", info.bands.size()));
  }
  BandInfo& band = info.bands[edit.band - 1];
  for (auto const& value : {edit.scale, edit.offset}) {
    if (value && !std::isfinite(*value)) { refuse(text("scale and offset are finite numbers, not ", *value)); }
  }
  if (wants_points(edit.set)) { refuse(text(kRasterType, " is said of the file, not of a band")); }
  if (edit.description) { band.description = *edit.description; }
  if (edit.unit) { band.unit = *edit.unit; }
  if (edit.scale) {
    band.scale = *edit.scale;
    band.has_scale = true;
  }
  if (edit.offset) {
    band.offset = *edit.offset;
    band.has_offset = true;
  }
  change_items(edit.set, edit.unset, band.metadata);
}

std::optional<Nodata> parsed_nodata(std::string const& value, DType dtype) {
  if (value.empty()) { return std::nullopt; }
  Nodata nodata = make_nodata(value, dtype);
  if (!nodata.representable && is_integer(dtype)) {
    refuse(text("nodata ", value, " is no value of ", to_string(dtype)));
  }
  return nodata;
}

// Changes the tags of the raster.
void change_raster(FileEdit const& changes, Info const& info, tiff::TagSet& tags) {
  Georeference georeference = info.georeference;
  if (auto const points = wants_points(changes.set); points && *points != georeference.pixel_is_point) {
    georeference.pixel_is_point = *points;
    writing::replace_raster_type(georeference, tags);
  }
  if (changes.crs || changes.remove_crs) {
    georeference.crs = changes.crs;
    writing::replace_crs(georeference, tags);
  }
  if (changes.transform || changes.remove_transform) {
    georeference.transform = changes.transform;
    writing::replace_transform(georeference, tags);
  }
  bool const says_more = !changes.set.empty() || !changes.unset.empty() || !changes.bands.empty();
  if (says_more) {
    Info wanted = info;
    change_items(changes.set, changes.unset, wanted.metadata);
    for (BandEdit const& band : changes.bands) { change_band(band, wanted); }
    writing::replace_metadata(info, wanted, tags);
  }
}

void apply(FileEdit const& changes, Info const& info, ops::EditedFile& file) {
  file.change(0, [&](tiff::TagSet& tags) { change_raster(changes, info, tags); });
  if (!changes.nodata) { return; }
  std::optional<Nodata> const nodata = parsed_nodata(*changes.nodata, info.dtype());
  for (std::size_t i = 0; i < file.directory_count(); ++i) {
    // Separate pages have their own nodata value.
    if (i == 0 || file.is_overview(i)) {
      file.change(i, [&](tiff::TagSet& tags) { writing::replace_nodata(nodata, tags); });
    }
  }
}

bool same_items(Metadata const& a, Metadata const& b, MetadataItems const& set, std::vector<std::string> const& unset) {
  auto const same = [&](std::string const& key) {
    std::string const* const left = a.find(key);
    std::string const* const right = b.find(key);
    return (left == nullptr) == (right == nullptr) && (left == nullptr || *left == *right);
  };
  return std::ranges::all_of(set, same, &std::pair<std::string, std::string>::first) &&
         std::ranges::all_of(unset, same);
}

bool same_nodata(Info const& a, Info const& b) {
  return std::ranges::equal(a.bands, b.bands, [](BandInfo const& left, BandInfo const& right) {
    return left.nodata.has_value() == right.nodata.has_value() &&
           (!left.nodata || left.nodata->text == right.nodata->text);
  });
}

bool same_crs(std::optional<Crs> const& a, std::optional<Crs> const& b) {
  return a.has_value() == b.has_value() && (!a || (a->epsg == b->epsg && a->name == b->name && a->wkt == b->wkt));
}

// Compares two bands in the edited fields.
bool same_band(BandEdit const& edit, BandInfo const& a, BandInfo const& b) {
  return (!edit.description || a.description == b.description) && (!edit.unit || a.unit == b.unit) &&
         (!edit.scale || a.scale == b.scale) && (!edit.offset || a.offset == b.offset) &&
         same_items(a.metadata, b.metadata, edit.set, edit.unset);
}

// True if the values that readers see differ from the file's in the edited fields.
bool is_hidden(std::string const& path, FileEdit const& changes) {
  Dataset const all = open(path), alone = open(path, {.sidecars = false});
  Info const &seen = all.info(), &said = alone.info();
  bool hidden = changes.nodata && !same_nodata(seen, said);
  hidden |= (changes.crs || changes.remove_crs) && !same_crs(seen.georeference.crs, said.georeference.crs);
  hidden |=
      (changes.transform || changes.remove_transform) && seen.georeference.transform != said.georeference.transform;
  hidden |= !same_items(seen.metadata, said.metadata, changes.set, changes.unset);
  for (BandEdit const& edit : changes.bands) {
    hidden |= !same_band(edit, seen.bands[edit.band - 1], said.bands[edit.band - 1]);
  }
  return hidden;
}

}  // namespace

std::string_view to_string(EditWay way) noexcept {
  switch (way) {
    case EditWay::nothing: return "nothing";
    case EditWay::in_place: return "in place";
    case EditWay::appended: return "appended";
    case EditWay::rewritten: return "rewritten";
  }
  return "unknown";
}

EditReport edit(std::string const& path, FileEdit const& changes, EditOptions const& options) {
  EditReport report;
  try {
    ops::EditedFile file(path, options);
    apply(changes, file.dataset().info(), file);
    report.way = file.write();
    report.file_bytes = file.size_bytes();
    report.no_longer_cog = file.no_longer_cog();
  } catch (Error const& error) { throw error.located({.source = path}); }
  // The edit is complete: an unreadable sidecar does not make it fail.
  try {
    report.hidden_by_sidecar = is_hidden(path, changes);
  } catch (Error const&) {}
  return report;
}

}  // namespace terrazzo
