// SPDX-License-Identifier: Apache-2.0
#include "commands/info_text.hpp"

#include "commands/raster_place.hpp"
#include "output/format.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>
#include <utility>

namespace terrazzo::cli {
namespace {

constexpr std::size_t kMaxBandsShown = 12;
constexpr std::size_t kMaxOverviewsShown = 8;

void line(std::ostream& out, std::string const& label, std::string const& value) {
  out << "  " << label << std::string(label.size() < 10 ? 10 - label.size() : 1, ' ') << value << '\n';
}

std::string join(std::vector<std::string> const& parts, std::string const& separator) {
  std::string joined;
  for (auto const& part : parts) { joined += (joined.empty() ? "" : separator) + part; }
  return joined;
}

std::string plural(std::size_t count, std::string const& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// "float32", or "uint16 and float32" where bands differ.
std::string types_of(Info const& info) {
  std::vector<std::string> types;
  for (auto const& band : info.bands) {
    std::string type(to_string(band.dtype));
    if (band.bits != 8 * size_bytes(band.dtype)) {
      type += " (" + std::to_string(band.bits) + (band.bits == 1 ? " bit" : " bits") + " in the file)";
    }
    if (std::find(types.begin(), types.end(), type) == types.end()) { types.push_back(std::move(type)); }
  }
  return join(types, " and ");
}

std::string crs_of(std::optional<Crs> const& crs) {
  if (!crs) { return ""; }
  std::vector<std::string> parts;
  if (crs->epsg) {
    parts.push_back("EPSG:" + std::to_string(*crs->epsg));
  } else if (crs->horizontal_epsg) {
    std::string code = "EPSG:" + std::to_string(*crs->horizontal_epsg);
    if (crs->vertical_epsg) { code += "+" + std::to_string(*crs->vertical_epsg); }
    parts.push_back(code);
  }
  if (!crs->name.empty()) { parts.push_back(printable(crs->name)); }
  return parts.empty() ? "user-defined" : join(parts, "  ");
}

template <class Format>
std::string ranges_of(BoundingBox const& box, Format const& format) {
  return format(box.xmin) + " .. " + format(box.xmax) + ", " + format(box.ymin) + " .. " + format(box.ymax);
}

void print_corners(std::ostream& out, RasterPlace const& place) {
  out << '\n';
  Table table({"corner", "x", "y", "longitude", "latitude"});
  auto const add = [&](std::string const& name, Point const& own, std::optional<Point> const& lon_lat) {
    bool const known = lon_lat && std::isfinite(lon_lat->x);
    table.add({name, format_coordinate(own.x), format_coordinate(own.y), known ? format_degrees(lon_lat->x) : "",
               known ? format_degrees(lon_lat->y) : ""});
  };
  auto const& lon_lat = place.lon_lat;
  for (auto const& [name, corner] :
       {std::pair("upper left", &Corners::upper_left), std::pair("lower left", &Corners::lower_left),
        std::pair("upper right", &Corners::upper_right), std::pair("lower right", &Corners::lower_right)}) {
    add(name, place.corners.*corner, lon_lat ? std::optional(lon_lat->corners.*corner) : std::nullopt);
  }
  add("center", place.center, lon_lat ? std::optional(lon_lat->center) : std::nullopt);
  table.print(out, "  ");
}

void print_place(std::ostream& out, Info const& info, std::optional<RasterPlace> const& place) {
  Georeference const& georeference = info.georeference;
  if (georeference.transform) {
    auto const& t = *georeference.transform;
    bool const north_up = t[2] == 0 && t[4] == 0;
    line(out, "origin",
         format_number(t[0]) + ", " + format_number(t[3]) + (georeference.pixel_is_point ? "  (pixel is point)" : ""));
    if (north_up) {
      line(out, "pixel",
           format_number(std::abs(t[1])) + " x " + format_number(std::abs(t[5])) + (t[5] > 0 ? "  (south up)" : ""));
    } else if (place) {
      TargetResolution const size = pixel_size(info);
      line(out, "pixel", format_number(size.x) + " x " + format_number(size.y) + "  (rotated)");
    }
  }
  if (place) { line(out, "extent", ranges_of(place->bounds, format_number)); }
  if (place && place->lon_lat && place->lon_lat->bounds) {
    line(out, "lon, lat", ranges_of(*place->lon_lat->bounds, format_degrees));
  }
  if (!georeference.gcps.empty()) { line(out, "points", plural(georeference.gcps.size(), "ground control point")); }
  if (!georeference.rpc.empty()) { line(out, "rpc", "rational polynomial coefficients"); }
}

std::string layout_of(Layout const& layout) {
  std::vector<std::string> parts;
  parts.push_back(layout.tiled ? "tiles of " + format_size(layout.tile_width, layout.tile_height)
                               : "strips of " + plural(layout.tile_height, "row"));
  parts.push_back(layout.compression_name +
                  (layout.predictor > 1 ? ", predictor " + std::to_string(layout.predictor) : ""));
  if (layout.planar == PlanarLayout::separate) { parts.push_back("separate bands"); }
  if (!layout.source_color_space.empty()) { parts.push_back("stored as " + layout.source_color_space); }
  if (layout.cog) { parts.push_back("COG"); }
  if (layout.bigtiff) { parts.push_back("BigTIFF"); }
  if (layout.big_endian) { parts.push_back("big-endian"); }
  return join(parts, ", ");
}

void print_overviews(std::ostream& out, Info const& info) {
  if (info.overviews.empty()) { return; }
  std::vector<std::string> sizes;
  for (std::size_t i = 0; i < info.overviews.size() && i < kMaxOverviewsShown; ++i) {
    auto const& o = info.overviews[i];
    sizes.push_back(format_size(o.width, o.height) + (o.external ? " (.ovr)" : ""));
  }
  if (info.overviews.size() > kMaxOverviewsShown) { sizes.push_back("..."); }
  line(out, "overviews", join(sizes, ", "));
}

std::string nodata_of(BandInfo const& band) {
  if (!band.nodata) { return ""; }
  std::string const text =
      band.nodata->text.empty() ? format_number(band.nodata->value) : printable(band.nodata->text, 40);
  return text + (band.nodata->representable ? "" : " (never occurs)");
}

void print_bands(std::ostream& out, Info const& info) {
  out << '\n';
  Table table({"band", "type", "color", "nodata", "mask", "scale", "offset", "unit", "min", "max", "description"});
  for (std::size_t i = 0; i < info.bands.size() && i < kMaxBandsShown; ++i) {
    BandInfo const& band = info.bands[i];
    std::string color = band.color_name.empty() ? std::string(to_string(band.color)) : printable(band.color_name);
    if (band.is_premultiplied()) { color += " (premultiplied)"; }
    if (!band.color_table.empty()) { color += " (" + std::to_string(band.color_table.size()) + " colours)"; }
    auto const optional = [](std::optional<double> const& v) { return v ? format_number(*v) : std::string(); };
    table.add({std::to_string(i + 1), std::string(to_string(band.dtype)), std::move(color), nodata_of(band),
               band.mask == MaskKind::all_valid ? "" : std::string(to_string(band.mask)),
               band.has_scale ? format_number(band.scale) : "", band.has_offset ? format_number(band.offset) : "",
               printable(band.unit, 20), optional(band.statistics.minimum), optional(band.statistics.maximum),
               printable(band.description, 60)});
  }
  table.print(out, "  ");
  if (info.bands.size() > kMaxBandsShown) {
    out << "  ... and " << info.bands.size() - kMaxBandsShown << " more (--json shows all)\n";
  }
}

void print_domains(std::ostream& out, Metadata const& metadata, std::string const& heading) {
  for (auto const& [domain, items] : metadata.domains) {
    if (items.empty()) { continue; }
    out << '\n' << "  " << heading << (domain.empty() ? "" : " [" + printable(domain) + "]") << '\n';
    for (auto const& [key, value] : items) { out << "    " << printable(key) << " = " << printable(value) << '\n'; }
  }
  for (auto const& [domain, document] : metadata.xml_domains) {
    out << '\n'
        << "  " << heading << " [" << printable(domain) << "]  " << format_bytes(document.size()) << " of XML\n";
  }
}

}  // namespace

void print_info(std::ostream& out, std::string const& file, Info const& info) {
  out << printable_name(file) << '\n';
  line(out, "size",
       format_size(info.width, info.height) + ", " + plural(info.bands.size(), "band") + ", " + types_of(info));
  if (std::string const crs = crs_of(info.georeference.crs); !crs.empty()) { line(out, "crs", crs); }
  auto const place = place_of(info);
  print_place(out, info, place);
  line(out, "layout", layout_of(info.layout));
  print_overviews(out, info);
  if (!info.pages.empty()) {
    line(out, "pages",
         plural(info.pages.size(), "other image") + " in the file (--page " + std::to_string(info.pages.front().ifd) +
             (info.pages.size() > 1 ? ", ..." : "") + ")");
  }
  for (std::size_t i = 1; i < info.files.size(); ++i) { line(out, i == 1 ? "with" : "", info.files[i]); }
  if (place) { print_corners(out, *place); }
  print_bands(out, info);
}

void print_metadata(std::ostream& out, Info const& info) {
  print_domains(out, info.metadata, "metadata");
  for (std::size_t i = 0; i < info.bands.size(); ++i) {
    print_domains(out, info.bands[i].metadata, "band " + std::to_string(i + 1));
  }
}

}  // namespace terrazzo::cli
