// SPDX-License-Identifier: Apache-2.0
#include "commands/info_json.hpp"

#include "commands/raster_place.hpp"

#include <cmath>
#include <utility>

namespace terrazzo::cli {
namespace {

Json text_or_null(std::string const& text) { return text.empty() ? Json() : Json(text); }

// Appends a key that is new to `object`. Json's own look-ups are linear, and a file may have a million keys.
void append(Json& object, std::string const& key, Json value) {
  auto& members = object.get_ref<Json::object_t&>();
  static_cast<Json::object_t::Container&>(members).emplace_back(key, std::move(value));
}

// REQUIRES: unique keys, as open() guarantees.
Json items_to_json(MetadataItems const& items) {
  Json object = Json::object();
  for (auto const& [key, value] : items) { append(object, key, value); }
  return object;
}

// {domain: {key: value}}; domains that are XML documents are {domain: text}.
Json metadata_to_json(Metadata const& metadata) {
  Json object = Json::object();
  for (auto const& [domain, items] : metadata.domains) {
    if (!metadata.xml_domains.contains(domain)) { append(object, domain, items_to_json(items)); }
  }
  for (auto const& [domain, document] : metadata.xml_domains) { append(object, domain, document); }
  return object;
}

Json nodata_to_json(std::optional<Nodata> const& nodata) {
  if (!nodata) { return {}; }
  if (nodata->exact_i64) { return *nodata->exact_i64; }
  if (nodata->exact_u64) { return *nodata->exact_u64; }
  return number(nodata->value);
}

Json optional_number(std::optional<double> const& value) { return value ? number(*value) : Json(); }

Json statistics_to_json(BandStatistics const& s) {
  if (!s.minimum && !s.maximum && !s.mean && !s.stddev && !s.valid_percent) { return {}; }
  return {{"minimum", optional_number(s.minimum)},
          {"maximum", optional_number(s.maximum)},
          {"mean", optional_number(s.mean)},
          {"stddev", optional_number(s.stddev)},
          {"valid_percent", optional_number(s.valid_percent)}};
}

Json color_table_to_json(std::vector<ColorEntry> const& table) {
  Json list = Json::array();
  for (ColorEntry const& c : table) { list.push_back(Json{c.red, c.green, c.blue, c.alpha}); }
  return list;
}

Json band_to_json(BandInfo const& band, std::size_t number_from_1) {
  return {{"band", number_from_1},
          {"dtype", to_string(band.dtype)},
          {"bits", band.bits},
          {"color", band.color_name.empty() ? std::string(to_string(band.color)) : band.color_name},
          {"nodata", nodata_to_json(band.nodata)},
          {"nodata_representable", band.nodata ? Json(band.nodata->representable) : Json()},
          {"scale", number(band.scale)},
          {"offset", number(band.offset)},
          {"unit", band.unit},
          {"description", band.description},
          {"mask", to_string(band.mask)},
          {"statistics", statistics_to_json(band.statistics)},
          {"color_table_size", band.color_table.size()},
          {"color_table", color_table_to_json(band.color_table)},
          {"category_names", band.category_names},
          {"metadata", metadata_to_json(band.metadata)}};
}

char const* kind_name(Crs::Kind kind) {
  switch (kind) {
    case Crs::Kind::unknown: return "unknown";
    case Crs::Kind::projected: return "projected";
    case Crs::Kind::geographic: return "geographic";
    case Crs::Kind::geocentric: return "geocentric";
    case Crs::Kind::compound: return "compound";
    case Crs::Kind::vertical: return "vertical";
    case Crs::Kind::local: return "local";
  }
  return "unknown";
}

char const* source_name(TransformSource source) {
  switch (source) {
    case TransformSource::none: return "none";
    case TransformSource::pixel_scale: return "pixel_scale";
    case TransformSource::matrix: return "matrix";
    case TransformSource::world_file: return "world_file";
    case TransformSource::pam: return "pam";
  }
  return "none";
}

Json point_to_json(Point const& point) {
  if (!std::isfinite(point.x) || !std::isfinite(point.y)) { return {}; }
  return Json::array({point.x, point.y});
}

Json corners_to_json(Corners const& corners) {
  return {{"upper_left", point_to_json(corners.upper_left)},
          {"lower_left", point_to_json(corners.lower_left)},
          {"upper_right", point_to_json(corners.upper_right)},
          {"lower_right", point_to_json(corners.lower_right)}};
}

Json bounds_to_json(std::optional<BoundingBox> const& box) {
  if (!box) { return {}; }
  return Json::array({number(box->xmin), number(box->ymin), number(box->xmax), number(box->ymax)});
}

// Adds "bounds", "corners", "center" and "lon_lat".
void add_place(Json& georeference, std::optional<RasterPlace> const& place) {
  georeference["bounds"] = place ? bounds_to_json(place->bounds) : Json();
  georeference["corners"] = place ? corners_to_json(place->corners) : Json();
  georeference["center"] = place ? point_to_json(place->center) : Json();
  Json lon_lat;
  if (place && place->lon_lat) {
    lon_lat = {{"bounds", bounds_to_json(place->lon_lat->bounds)},
               {"corners", corners_to_json(place->lon_lat->corners)},
               {"center", point_to_json(place->lon_lat->center)}};
  }
  georeference["lon_lat"] = std::move(lon_lat);
}

Json georeference_to_json(Georeference const& georeference) {
  Json transform;
  if (georeference.transform) {
    for (double value : *georeference.transform) { transform.push_back(number(value)); }
  }
  Json gcps = Json::array();
  for (GroundControlPoint const& g : georeference.gcps) {
    gcps.push_back({{"id", g.id},
                    {"column", number(g.column)},
                    {"row", number(g.row)},
                    {"x", number(g.x)},
                    {"y", number(g.y)},
                    {"z", number(g.z)}});
  }
  Crs const none;
  Crs const& c = georeference.crs ? *georeference.crs : none;
  Json projjson = c.projjson.empty() ? Json() : Json::parse(c.projjson, nullptr, false);
  if (projjson.is_discarded()) { projjson = nullptr; }
  return {{"transform", std::move(transform)},
          {"transform_source", source_name(georeference.transform_source)},
          {"pixel_is_point", georeference.pixel_is_point},
          {"kind", georeference.crs ? Json(kind_name(c.kind)) : Json()},
          {"epsg", or_null(c.epsg)},
          {"horizontal_epsg", or_null(c.horizontal_epsg)},
          {"vertical_epsg", or_null(c.vertical_epsg)},
          {"name", text_or_null(c.name)},
          {"wkt", text_or_null(c.wkt)},
          {"projjson", std::move(projjson)},
          {"gcps", std::move(gcps)},
          {"rpc", georeference.rpc.empty() ? Json() : items_to_json(georeference.rpc)}};
}

Json layout_to_json(Layout const& layout) {
  return {{"tiled", layout.tiled},
          {"tile_width", layout.tile_width},
          {"tile_height", layout.tile_height},
          {"interleave", layout.planar == PlanarLayout::separate ? "band" : "pixel"},
          {"compression", layout.compression_name},
          {"compression_tag", layout.compression},
          {"predictor", layout.predictor},
          {"bits_per_sample", layout.bits_per_sample},
          {"sample_format", layout.sample_format},
          {"photometric", layout.photometric},
          {"source_color_space", text_or_null(layout.source_color_space)},
          {"bigtiff", layout.bigtiff},
          {"byte_order", layout.big_endian ? "big" : "little"},
          {"cog", layout.cog}};
}

}  // namespace

Json info_to_json(std::string const& file, Info const& info) {
  Json bands = Json::array();
  for (std::size_t i = 0; i < info.bands.size(); ++i) { bands.push_back(band_to_json(info.bands[i], i + 1)); }
  Json overviews = Json::array();
  for (OverviewInfo const& o : info.overviews) {
    overviews.push_back({{"width", o.width},
                         {"height", o.height},
                         {"tile_width", o.tile_width},
                         {"tile_height", o.tile_height},
                         {"external", o.external},
                         {"mask", o.has_mask}});
  }
  Json pages = Json::array();
  for (PageInfo const& p : info.pages) {
    pages.push_back({{"page", p.ifd}, {"width", p.width}, {"height", p.height}, {"bands", p.bands}});
  }
  Json georeference = georeference_to_json(info.georeference);
  add_place(georeference, place_of(info));
  return {{"file", file},
          {"width", info.width},
          {"height", info.height},
          {"bands", std::move(bands)},
          {"georeference", std::move(georeference)},
          {"layout", layout_to_json(info.layout)},
          {"overviews", std::move(overviews)},
          {"pages", std::move(pages)},
          {"metadata", metadata_to_json(info.metadata)},
          {"files", info.files},
          {"warnings", info.warnings}};
}

}  // namespace terrazzo::cli
