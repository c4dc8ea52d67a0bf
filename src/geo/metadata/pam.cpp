// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/pam.hpp"

#include "base/letter_case.hpp"
#include "geo/metadata/metadata.hpp"
#include "geo/metadata/utf8.hpp"
#include "geo/metadata/xml.hpp"
#include "geo/nodata.hpp"
#include "geo/number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <map>
#include <system_error>
#include <utility>

namespace terrazzo::geo {
namespace {

// <Metadata domain="..." format="xml"> elements, each one domain.
Metadata read_metadata(pugi::xml_node parent) {
  MetadataBuilder metadata;
  for (auto element : parent.children()) {
    if (element.type() != pugi::node_element || !equals_ignoring_case(element.name(), "Metadata")) { continue; }
    auto const domain = value_of(element, "domain").value_or("");
    auto const format = value_of(element, "format").value_or("");
    if (equals_ignoring_case(format, "xml")) {
      if (element.first_child()) { metadata.set_document(domain, serialize(element.first_child())); }
    } else if (equals_ignoring_case(format, "json")) {
      if (auto text = text_of(element)) { metadata.set_document(domain, *std::move(text)); }
    } else {
      for (auto item : element.children()) {
        if (item.type() != pugi::node_element || !equals_ignoring_case(item.name(), "MDI")) { continue; }
        auto text = text_of(item);
        auto const key = item.first_attribute();
        if (key && text) { metadata.set(domain, to_utf8(key.value()), *std::move(text)); }
      }
    }
  }
  return std::move(metadata).take();
}

std::vector<double> read_doubles(pugi::xml_node list) {
  std::vector<double> values;
  for (auto item : list.children()) {
    if (equals_ignoring_case(item.name(), "Double")) { values.push_back(number_or_zero(text_of(item).value_or("0"))); }
  }
  return values;
}

std::optional<Transform> read_transform(pugi::xml_node root) {
  auto const text = value_of(root, "GeoTransform");
  if (!text) { return std::nullopt; }
  std::vector<std::string_view> parts;
  std::string_view rest = *text;
  while (true) {
    auto const comma = rest.find(',');
    parts.push_back(rest.substr(0, comma));
    if (comma == std::string_view::npos || parts.size() > 6) { break; }
    rest.remove_prefix(comma + 1);
  }
  if (parts.size() != 6) { return std::nullopt; }
  Transform t{};
  std::transform(parts.begin(), parts.end(), t.begin(), number_or_zero);
  return t;
}

std::vector<GroundControlPoint> read_gcps(pugi::xml_node list) {
  std::vector<GroundControlPoint> gcps;
  for (auto element : list.children()) {
    if (!equals_ignoring_case(element.name(), "GCP")) { continue; }
    auto const number = [&](char const* name) { return leading_number(value_of(element, name).value_or("")); };
    auto const column = number("Pixel"), row = number("Line"), x = number("X"), y = number("Y");
    if (!column || !row || !x || !y) { continue; }
    auto const z = value_of(element, "Z");
    gcps.push_back({.id = value_of(element, "Id").value_or(""),
                    .column = *column,
                    .row = *row,
                    .x = *x,
                    .y = *y,
                    .z = z ? number_or_zero(*z) : number("GCPZ").value_or(0.0)});
  }
  return gcps;
}

// ArcGIS: a first-order polynomial, or pairs of points, instead of GDAL's own elements.
void read_geodata_xform(pugi::xml_node xform, Pam& pam) {
  if (auto wkt = text_of(child(child(xform, "SpatialReference"), "WKT"))) { pam.srs = *std::move(wkt); }
  auto const source = read_doubles(child(xform, "SourceGCPs"));
  auto const target = read_doubles(child(xform, "TargetGCPs"));
  if (!source.empty() && source.size() == target.size() && source.size() % 2 == 0) {
    for (std::size_t i = 0; i < source.size(); i += 2) {
      pam.source_points.push_back({source[i], source[i + 1], target[i], target[i + 1]});
    }
    if (pam.transform) { return; }
    bool const rows_down =
        std::any_of(pam.source_points.begin(), pam.source_points.end(), [](auto const& point) { return point.up > 0; });
    for (auto const& point : pam.source_points) {
      pam.gcps.push_back(
          {.id = {}, .column = point.across, .row = rows_down ? point.up : -point.up, .x = point.x, .y = point.y});
    }
    pam.gcp_srs = std::exchange(pam.srs, {});
    return;
  }
  auto const cx = read_doubles(child(xform, "CoeffX"));
  auto const cy = read_doubles(child(xform, "CoeffY"));
  if (pam.transform || cx.size() != 3 || cy.size() != 3 || value_of(xform, "PolynomialOrder") != "1") { return; }
  // For pixel centres, with rows counted upwards.
  Transform t{cx[0], cx[1], -cx[2], cy[0], cy[1], -cy[2]};
  t[0] -= 0.5 * t[1];
  t[0] -= 0.5 * t[2];
  t[3] -= 0.5 * t[4];
  t[3] -= 0.5 * t[5];
  pam.transform = t;
}

// The eight bytes of a double, lowest first, as hexadecimal digits.
std::optional<double> double_from_hex(std::string_view hex) {
  constexpr std::size_t kDigits = 16;
  if (hex.size() != kDigits) { return std::nullopt; }
  std::uint64_t bits = 0;
  auto const [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), bits, 16);
  if (error != std::errc{} || end != hex.data() + hex.size()) { return std::nullopt; }
  return std::bit_cast<double>(__builtin_bswap64(bits));
}

std::optional<Nodata> read_nodata(pugi::xml_node band, DType dtype) {
  auto const element = child(band, "NoDataValue");
  auto const text = text_of(element);
  if (!text) { return std::nullopt; }
  auto const hex = value_of(element, "le_hex_equiv");
  return parse_pam_nodata(*text, hex ? double_from_hex(*hex) : std::nullopt, dtype);
}

std::vector<ColorEntry> read_color_table(pugi::xml_node element) {
  constexpr std::size_t kMaxColors = 65536;
  std::vector<ColorEntry> table;
  for (auto entry : element.children()) {
    if (!equals_ignoring_case(entry.name(), "Entry") || table.size() == kMaxColors) { continue; }
    auto const level = [&](char const* name, char const* otherwise) {
      int const value = integer_or_zero(value_of(entry, name).value_or(otherwise));
      return static_cast<std::uint8_t>(std::clamp(value, 0, 255));
    };
    table.push_back({level("c1", "0"), level("c2", "0"), level("c3", "0"), level("c4", "255")});
  }
  return table;
}

std::vector<std::string> read_categories(pugi::xml_node element) {
  std::vector<std::string> names;
  for (auto entry : element.children()) {
    if (!equals_ignoring_case(entry.name(), "Category") || names.size() == kMaxCategories) { continue; }
    names.push_back(text_of(entry).value_or(""));
  }
  return names;
}

// The names in the attribute table of a thematic band, by pixel value, if there are no category names. Sparse until the
// list is known to be within `allowance`, which it reduces; nullopt if it is not.
std::optional<std::vector<std::string>> categories_from_table(pugi::xml_node table, std::size_t& allowance) {
  constexpr int kNameUsage = 2, kValueUsage = 5;  // GFU_Name, GFU_MinMax
  int fields = 0, value_field = -1, name_field = -1;
  for (auto field : table.children()) {
    if (!equals_ignoring_case(field.name(), "FieldDefn")) { continue; }
    int const usage = integer_or_zero(value_of(field, "Usage").value_or("0"));
    if (usage == kValueUsage && value_field < 0) { value_field = fields; }
    if (usage == kNameUsage && name_field < 0) { name_field = fields; }
    ++fields;
  }
  if (value_field < 0 || name_field < 0) { return std::vector<std::string>{}; }
  std::map<std::size_t, std::string> named;
  for (auto row : table.children()) {
    if (!equals_ignoring_case(row.name(), "Row")) { continue; }
    int field = 0;
    std::optional<double> value;
    std::string name;
    for (auto cell : row.children()) {
      if (field == value_field) { value = leading_number(text_of(cell).value_or("")); }
      if (field == name_field) { name = text_of(cell).value_or(""); }
      ++field;
    }
    // Sparse tables of large codes would make a long, mostly empty list; the names are for palette indices.
    constexpr double kMaxCode = 65535;
    if (!value || !(*value >= 0 && *value <= kMaxCode)) { continue; }
    named.insert_or_assign(static_cast<std::size_t>(*value), std::move(name));
  }
  std::size_t const count = named.empty() ? 0 : named.rbegin()->first + 1;
  if (count > allowance) { return std::nullopt; }
  allowance -= count;
  std::vector<std::string> names(count);
  for (auto& [index, name] : named) { names[index] = std::move(name); }
  return names;
}

// `names_left`: the rest of kMaxTableNames.
PamBand read_band(pugi::xml_node element, DType dtype, std::size_t& names_left, bool& left_out_names) {
  PamBand band;
  band.metadata = read_metadata(element);
  band.description = value_of(element, "Description").value_or("");
  band.unit = value_of(element, "UnitType").value_or("");
  band.color_name = value_of(element, "ColorInterp").value_or("");
  band.nodata = read_nodata(element, dtype);
  auto const scale = value_of(element, "Scale"), offset = value_of(element, "Offset");
  if (scale || offset) {
    band.scale = scale ? number_or_zero(*scale) : 1.0;
    band.offset = offset ? number_or_zero(*offset) : 0.0;
  }
  band.category_names = read_categories(child(element, "CategoryNames"));
  if (band.category_names.empty()) {
    auto names = categories_from_table(child(element, "GDALRasterAttributeTable"), names_left);
    left_out_names = left_out_names || !names;
    if (names) { band.category_names = *std::move(names); }
  }
  band.color_table = read_color_table(child(element, "ColorTable"));
  auto const number = [&](char const* name) { return leading_number(value_of(element, name).value_or("")); };
  band.statistics = {.minimum = number("Minimum"),
                     .maximum = number("Maximum"),
                     .mean = number("Mean"),
                     .stddev = number("StandardDeviation")};
  return band;
}

void read_esri_document(Pam& pam) {
  auto const esri = pam.metadata.xml_domains.find("xml:ESRI");
  if (esri == pam.metadata.xml_domains.end()) { return; }
  pugi::xml_document document;
  if (!parse_xml(esri->second, kMaxPamBytes, document)) { return; }
  if (auto const xform = child(document, "GeodataXform")) { read_geodata_xform(xform, pam); }
}

}  // namespace

Pam parse_pam(std::string_view xml, std::vector<DType> const& dtypes) {
  Pam pam;
  pam.bands.resize(dtypes.size());
  pugi::xml_document document;
  if (!parse_xml(xml, kMaxPamBytes, document)) { return pam; }
  if (auto const xform = child(document, "GeodataXform")) {  // ArcGIS 9.3
    read_geodata_xform(xform, pam);
    return pam;
  }
  auto const root = child(document, "PAMDataset");
  pam.srs = value_of(root, "SRS").value_or("");
  pam.transform = read_transform(root);
  auto const gcp_list = child(root, "GCPList");
  pam.gcps = read_gcps(gcp_list);
  if (!pam.gcps.empty()) { pam.gcp_srs = value_of(gcp_list, "Projection").value_or(""); }
  pam.metadata = read_metadata(root);
  read_esri_document(pam);
  std::size_t names_left = kMaxTableNames;
  for (auto element : root.children()) {
    if (!equals_ignoring_case(element.name(), "PAMRasterBand")) { continue; }
    int const band = integer_or_zero(value_of(element, "band").value_or("0"));
    if (band < 1 || static_cast<std::size_t>(band) > dtypes.size()) { continue; }
    auto const index = static_cast<std::size_t>(band) - 1;
    pam.bands[index] = read_band(element, dtypes[index], names_left, pam.left_out_names);
  }
  return pam;
}

}  // namespace terrazzo::geo
