// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/edit.hpp"

#include "base/text.hpp"
#include "ops/edit_file.hpp"
#include "read/dataset.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory.hpp"
#include "write/tag_edit.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace terrazzo {
namespace {

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

void change_items(MetadataItems const& set, std::vector<std::string> const& unset, Metadata& metadata) {
  MetadataItems& items = metadata.domains[""];
  for (auto const& [key, value] : set) {
    if (key.empty()) { refuse("an item of metadata needs a name"); }
    auto const found = std::ranges::find(items, key, &std::pair<std::string, std::string>::first);
    if (found != items.end()) {
      found->second = value;
    } else {
      items.emplace_back(key, value);
    }
  }
  for (std::string const& key : unset) {
    std::erase_if(items, [&](auto const& item) { return item.first == key; });
  }
}

void change_band(BandEdit const& edit, Info& info) {
  if (edit.band == 0 || edit.band > info.bands.size()) {
    refuse(text("there is no band ", edit.band, ": the file has ", info.bands.size()));
  }
  BandInfo& band = info.bands[edit.band - 1];
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

// Tags of the raster, changed.
void change_raster(FileEdit const& changes, Info const& info, tiff::TagSet& tags) {
  if (changes.crs || changes.remove_crs) {
    Georeference georeference = info.georeference;
    georeference.crs = changes.crs;
    writing::replace_crs(georeference, tags);
  }
  if (changes.transform || changes.remove_transform) {
    Georeference georeference = info.georeference;
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
    // Pages of their own have a nodata value of their own.
    if (i == 0 || file.is_overview(i)) {
      file.change(i, [&](tiff::TagSet& tags) { writing::replace_nodata(nodata, tags); });
    }
  }
}

bool same_items(Metadata const& a, Metadata const& b, MetadataItems const& set) {
  return std::ranges::all_of(set, [&](auto const& item) {
    std::string const* const left = a.find(item.first);
    std::string const* const right = b.find(item.first);
    return (left == nullptr) == (right == nullptr) && (left == nullptr || *left == *right);
  });
}

// Does what readers see differ from what the file says, in what was changed?
bool is_hidden(std::string const& path, FileEdit const& changes) {
  Info const seen = open(path).info(), said = open(path, {.sidecars = false}).info();
  auto const nodata_text = [](Info const& info) {
    return info.bands.empty() || !info.bands[0].nodata ? std::string() : info.bands[0].nodata->text;
  };
  auto const code = [](Info const& info) {
    return info.georeference.crs ? info.georeference.crs->epsg.value_or(-1) : -2;
  };
  bool hidden = changes.nodata && nodata_text(seen) != nodata_text(said);
  hidden |= (changes.crs || changes.remove_crs) && code(seen) != code(said);
  hidden |=
      (changes.transform || changes.remove_transform) && seen.georeference.transform != said.georeference.transform;
  hidden |= !same_items(seen.metadata, said.metadata, changes.set);
  for (BandEdit const& edit : changes.bands) {
    BandInfo const& a = seen.bands[edit.band - 1];
    BandInfo const& b = said.bands[edit.band - 1];
    hidden |= a.description != b.description || a.unit != b.unit || a.scale != b.scale || a.offset != b.offset ||
              !same_items(a.metadata, b.metadata, edit.set);
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
  } catch (Error const& error) { throw error.located({.source = path}); }
  report.hidden_by_sidecar = is_hidden(path, changes);
  return report;
}

}  // namespace terrazzo
