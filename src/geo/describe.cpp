// SPDX-License-Identifier: Apache-2.0
#include "geo/describe.hpp"

#include "base/text.hpp"
#include "geo/crs/citation.hpp"
#include "geo/crs/crs_text.hpp"
#include "geo/metadata/baseline_metadata.hpp"
#include "geo/metadata/color.hpp"
#include "geo/metadata/gdal_metadata.hpp"
#include "geo/metadata/metadata.hpp"
#include "geo/metadata/pam.hpp"
#include "geo/metadata/rpc.hpp"
#include "geo/metadata/xml.hpp"
#include "geo/nodata.hpp"
#include "geo/number.hpp"
#include "geo/transform.hpp"
#include "tiff/format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace terrazzo::geo {
namespace {

constexpr int kPixelIsPoint = 2;

void describe_nodata(tiff::Directory const& dir, Info& info) {
  constexpr std::uint64_t kMaxBytes = 1024;  // every band keeps the text
  auto const text = bounded_text(dir, tiff::tag::GDALNodata, kMaxBytes);
  if (!text) { return; }
  for (auto& band : info.bands) { band.nodata = parse_nodata(*text, band.dtype); }
}

void describe_raster_type(std::optional<GeoKeys> const& keys, Georeference& georeference) {
  auto const type = keys ? keys->code(key::GTRasterType) : std::nullopt;
  georeference.has_raster_type = type.has_value();
  georeference.pixel_is_point = type == kPixelIsPoint;
}

void place_by_tags(tiff::Directory const& dir, Sidecars const& sidecars, Georeference& georeference) {
  if (auto const found = transform_from_tags(dir, georeference.pixel_is_point)) {
    georeference.transform = found->transform;
    georeference.transform_source = found->source;
    return;
  }
  if (sidecars.world_file) {
    georeference.transform = transform_from_world_file(*sidecars.world_file);
    if (georeference.transform) { georeference.transform_source = TransformSource::world_file; }
  }
  if (!georeference.transform) { georeference.gcps = gcps_from_tags(dir, georeference.pixel_is_point); }
}

// The unit of a vertical CRS with a code comes from PROJ; one without a code has its own key.
std::string_view height_unit_of(GeoKeys const& keys) {
  auto const codes = crs_codes(keys);
  bool const ellipsoidal = codes.vertical_datum == kWgs84AsVerticalDatum;
  return codes.vertical == 0 && !ellipsoidal ? length_unit_name(codes.vertical_units) : std::string_view{};
}

// In a file with a vertical CRS, the third scale and tiepoint coordinate convert pixel values to heights.
void describe_heights(tiff::Directory const& dir, std::optional<GeoKeys> const& keys, Info& info) {
  if (!keys || info.bands.size() != 1 || info.georeference.transform_source != TransformSource::pixel_scale) { return; }
  auto const codes = crs_codes(*keys);
  if (!codes.reports_vertical || !codes.has_vertical()) { return; }
  auto const scale = dir.real_values(tiff::tag::ModelPixelScale, 3);
  auto const tie = dir.real_values(tiff::tag::ModelTiepoint, 6);
  if (scale.size() < 3 || tie.size() < 6 || scale[2] == 0) { return; }
  BandInfo& band = info.bands.front();
  band.scale = scale[2];
  band.offset = tie[5] - tie[2] * scale[2];
  band.has_scale = band.has_offset = true;
}

// Charges the tags that are read and the descriptions of bands.
void charge_tags(tiff::Directory const& dir, std::size_t bands, MemoryBudget& budget) {
  constexpr std::uint64_t kBandBytes = sizeof(BandInfo) + sizeof(PamBand) + sizeof(MetadataBuilder);
  constexpr std::uint64_t kPointBytes = 2 * sizeof(GroundControlPoint);  // and their source numbers
  auto const bytes_of = [&](std::uint16_t tag) {
    auto const* const entry = dir.find(tag);
    return entry == nullptr ? 0 : entry->value_bytes;
  };
  std::uint64_t const nodata = bytes_of(tiff::tag::GDALNodata);
  budget.charge(bands * (kBandBytes + std::min<std::uint64_t>(nodata, 1024)), "the descriptions of the bands");
  // The bytes, their text, and that text as UTF-8.
  budget.charge(3 * baseline_text_bytes(dir), "the texts in the tags");
  budget.charge(
      std::min<std::uint64_t>(bytes_of(tiff::tag::ModelTiepoint) / (6 * sizeof(double)), kMaxTiepoints) * kPointBytes,
      "the ground control points");
}

// A CRS in the metadata that ArcGIS writes beside the file.
std::string crs_from_esri_xml(std::string const& xml) {
  constexpr std::size_t kMaxBytes = std::size_t{10} << 20;
  constexpr int kLastEpsgCode = 32767;
  pugi::xml_document document;
  if (!parse_xml(xml, kMaxBytes, document)) { return {}; }
  pugi::xml_node node = document;
  for (char const* name : {"metadata", "refSysInfo", "RefSystem", "refSysID", "identCode"}) {
    node = child(node, name);
  }
  int const code = integer_or_zero(value_of(node, "code").value_or(""));
  if (code <= 0) { return {}; }
  return (code <= kLastEpsgCode ? "EPSG:" : "ESRI:") + std::to_string(code);
}

// Points of ArcGIS's GeodataXform, whose columns and rows are in inches: the resolution tags convert them to pixels.
std::vector<GroundControlPoint> gcps_from_source_points(Pam const& pam, Metadata const& metadata, Info const& info) {
  auto const* unit = metadata.find("TIFFTAG_RESOLUTIONUNIT");
  auto const* across = metadata.find("TIFFTAG_XRESOLUTION");
  auto const* down = metadata.find("TIFFTAG_YRESOLUTION");
  if (unit == nullptr || across == nullptr || down == nullptr || integer_or_zero(*unit) != 2) { return {}; }
  double const per_column = number_or_zero(*across), per_row = number_or_zero(*down);
  std::vector<GroundControlPoint> gcps;
  for (auto const& point : pam.source_points) {
    gcps.push_back({.id = {},
                    .column = point.across * per_column,
                    .row = static_cast<double>(info.height) - point.up * per_row,
                    .x = point.x,
                    .y = point.y});
  }
  return gcps;
}

void apply_pam_placement(Pam const& pam, Metadata const& metadata, Info& info, CrsDefinition& definition) {
  Georeference& georeference = info.georeference;
  if (pam.transform) {
    georeference.transform = pam.transform;
    georeference.transform_source = TransformSource::pam;
  }
  if (!pam.srs.empty()) { definition.text = pam.srs; }
  // The points of ArcGIS count only if the resolution tags can convert them to pixels.
  bool const esri = pam.metadata.xml_domains.contains("xml:ESRI");
  auto gcps = gcps_from_source_points(pam, metadata, info);
  if (!gcps.empty()) {
    if (!pam.gcp_srs.empty()) { definition.text = pam.gcp_srs; }
  } else if (!esri && !pam.gcps.empty()) {
    gcps = pam.gcps;
    definition = {.text = pam.gcp_srs, .keys = {}};
  } else {
    return;
  }
  georeference.gcps = std::move(gcps);
  if (!pam.transform) {
    georeference.transform.reset();
    georeference.transform_source = TransformSource::none;
  }
}

void apply_pam_band(PamBand& from, BandInfo& band) {
  if (from.nodata) { band.nodata = from.nodata; }
  if (from.scale) {
    band.scale = *from.scale;
    band.offset = *from.offset;
    band.has_scale = band.has_offset = true;
  }
  if (!from.unit.empty()) { band.unit = from.unit; }
  if (!from.description.empty()) { band.description = from.description; }
  if (!from.color_table.empty()) {
    set_color(band, ColorInterpretation::palette);
  } else if (color_from_name(from.color_name) != ColorInterpretation::undefined) {
    set_color(band, from.color_name);
  }
  if (!from.category_names.empty()) { band.category_names = std::move(from.category_names); }
  band.statistics = from.statistics;
}

void describe_statistics(BandInfo& band) {
  auto const take = [&](char const* key, std::optional<double>& into) {
    if (auto const* text = band.metadata.find(key)) { into = leading_number(*text); }
  };
  take("STATISTICS_MINIMUM", band.statistics.minimum);
  take("STATISTICS_MAXIMUM", band.statistics.maximum);
  take("STATISTICS_MEAN", band.statistics.mean);
  take("STATISTICS_STDDEV", band.statistics.stddev);
  take("STATISTICS_VALID_PERCENT", band.statistics.valid_percent);
}

CrsDefinition definition_from_keys(std::optional<GeoKeys> keys) {
  CrsDefinition definition;
  if (!keys) { return definition; }
  if (auto const* citation = keys->text(key::ProjectedCitation);
      citation != nullptr && crs_codes(*keys).kind == Crs::Kind::local) {
    definition.text = esri_wkt(*citation);
  }
  definition.keys = std::move(keys);
  return definition;
}

}  // namespace

CrsDefinition describe(tiff::Directory const& dir, Sidecars const& sidecars, Info& info, MemoryBudget& budget) {
  Georeference& georeference = info.georeference;
  charge_tags(dir, info.bands.size(), budget);
  auto [keys, broken] = GeoKeys::read(dir);
  if (broken) { info.warnings.emplace_back("the GeoKeys contradict themselves and are ignored"); }
  describe_raster_type(keys, georeference);
  place_by_tags(dir, sidecars, georeference);
  describe_nodata(dir, info);
  describe_color(dir, info);

  MetadataBuilder dataset;
  std::vector<MetadataBuilder> bands(info.bands.size());
  for (std::size_t i = 0; i < bands.size(); ++i) { bands[i].merge(info.bands[i].metadata); }  // items of the colours
  add_baseline_metadata(dir, dataset);
  if (auto const xml = bounded_text(dir, tiff::tag::GDALMetadata, kMaxMetadataXmlBytes)) {
    charge_xml(*xml, "GDAL's metadata", budget);
    add_gdal_metadata(*xml, dataset, bands, info.bands, !is_shown_as_rgba(info.layout));
  }
  describe_heights(dir, keys, info);
  if (georeference.has_raster_type) {
    dataset.set("", "AREA_OR_POINT", georeference.pixel_is_point ? "Point" : "Area");
  }
  std::string_view const height_unit = keys ? height_unit_of(*keys) : std::string_view{};

  CrsDefinition definition = definition_from_keys(std::move(keys));
  if (definition.empty() && sidecars.esri_xml) {
    charge_xml(*sidecars.esri_xml, "ArcGIS's metadata beside the file", budget);
    definition.text = crs_from_esri_xml(*sidecars.esri_xml);
  }

  if (sidecars.pam_xml) {
    std::vector<DType> dtypes;
    std::transform(info.bands.begin(), info.bands.end(), std::back_inserter(dtypes),
                   [](BandInfo const& band) { return band.dtype; });
    charge_xml(*sidecars.pam_xml, "the PAM file (.aux.xml)", budget);
    Pam pam = parse_pam(*sidecars.pam_xml, dtypes);
    for (PamBand const& band : pam.bands) {
      budget.charge(band.category_names.size() * sizeof(std::string), "the category names");
    }
    if (pam.left_out_names) {
      info.warnings.push_back(
          text("the attribute tables of the PAM file name values that lie too far apart: more than ", kMaxTableNames,
               " category names would be listed, and some bands have none"));
    }
    apply_pam_placement(pam, dataset.metadata(), info, definition);
    dataset.merge(pam.metadata);
    for (std::size_t i = 0; i < bands.size(); ++i) {
      bands[i].merge(pam.bands[i].metadata);
      apply_pam_band(pam.bands[i], info.bands[i]);
    }
    if (!bands.empty() && !pam.bands.front().color_table.empty()) {
      info.bands.front().color_table = pam.bands.front().color_table;
    }
  }

  info.metadata = std::move(dataset).take();
  for (std::size_t i = 0; i < bands.size(); ++i) {
    info.bands[i].metadata = std::move(bands[i]).take();
    describe_statistics(info.bands[i]);
    if (info.bands[i].unit.empty()) { info.bands[i].unit = height_unit; }
  }
  georeference.rpc = rpc_from_tags(dir);
  if (auto const rpc = info.metadata.domains.find("RPC");
      georeference.rpc.empty() && rpc != info.metadata.domains.end()) {
    georeference.rpc = rpc->second;
  }
  if (!definition.text.empty() && !is_crs_definition(definition.text)) {
    info.warnings.push_back(text("the CRS ", quoted_crs_text(definition.text),
                                 " is no WKT, PROJJSON or code of a CRS that PROJ may be given: it stays a text"));
  }
  georeference.crs = describe_crs(definition);
  return definition;
}

}  // namespace terrazzo::geo
