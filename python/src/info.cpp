// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/info.hpp"

#include "bindings.hpp"
#include "enums.hpp"
#include "text.hpp"
#include "values.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <string>

namespace terrazzo::python {

namespace {

constexpr Names<Crs::Kind, 7> kCrsKinds{{{"unknown", Crs::Kind::unknown},
                                         {"projected", Crs::Kind::projected},
                                         {"geographic", Crs::Kind::geographic},
                                         {"geocentric", Crs::Kind::geocentric},
                                         {"compound", Crs::Kind::compound},
                                         {"vertical", Crs::Kind::vertical},
                                         {"local", Crs::Kind::local}}};

constexpr Names<TransformSource, 5> kTransformSources{{{"none", TransformSource::none},
                                                       {"pixel_scale", TransformSource::pixel_scale},
                                                       {"matrix", TransformSource::matrix},
                                                       {"world_file", TransformSource::world_file},
                                                       {"pam", TransformSource::pam}}};

// The colours that have a value of their own: ColorInterpretation's order.
constexpr std::size_t kColors = static_cast<std::size_t>(ColorInterpretation::other);

ColorInterpretation parse_color(std::string_view name) {
  for (std::size_t i = 0; i < kColors; ++i) {
    auto const color = static_cast<ColorInterpretation>(i);
    if (to_string(color) == name) { return color; }
  }
  return ColorInterpretation::other;
}

nb::list color_table(std::vector<ColorEntry> const& table) {
  nb::list list;
  for (ColorEntry const& c : table) { list.append(nb::make_tuple(c.red, c.green, c.blue, c.alpha)); }
  return list;
}

std::vector<ColorEntry> color_table_from(std::vector<std::vector<std::uint8_t>> const& rows) {
  std::vector<ColorEntry> table;
  for (auto const& row : rows) {
    if (row.size() != 3 && row.size() != 4) {
      throw Error(ErrorKind::usage, "an entry of a colour table has 3 or 4 numbers: red, green, blue, alpha");
    }
    table.push_back({row[0], row[1], row[2], row.size() == 4 ? row[3] : std::uint8_t{255}});
  }
  return table;
}

nb::list texts(std::vector<std::string> const& values) {
  nb::list list;
  for (std::string const& value : values) { list.append(to_str(value)); }
  return list;
}

void bind_crs(nb::module_& module) {
  nb::class_<Crs>(module, "Crs")
      .def(nb::init<>())
      .def_static("from_text", [](std::string const& text) { return Crs::from(text); })
      .def_prop_ro("kind", [](Crs const& crs) { return to_str(name_of(kCrsKinds, crs.kind)); })
      .def_rw("epsg", &Crs::epsg)
      .def_rw("horizontal_epsg", &Crs::horizontal_epsg)
      .def_rw("vertical_epsg", &Crs::vertical_epsg)
      .def_prop_ro("name", [](Crs const& crs) { return to_str(crs.name); })
      .def_prop_ro("wkt", [](Crs const& crs) { return to_str(crs.wkt); })
      .def_prop_ro("projjson", [](Crs const& crs) { return to_str(crs.projjson); });
}

void bind_band(nb::module_& module) {
  nb::class_<BandStatistics>(module, "BandStatistics")
      .def_ro("minimum", &BandStatistics::minimum)
      .def_ro("maximum", &BandStatistics::maximum)
      .def_ro("mean", &BandStatistics::mean)
      .def_ro("stddev", &BandStatistics::stddev)
      .def_ro("valid_percent", &BandStatistics::valid_percent);
  nb::class_<BandInfo>(module, "BandInfo")
      .def(nb::init<>())
      .def_prop_ro("dtype", [](BandInfo const& band) { return to_str(to_string(band.dtype)); })
      .def_ro("bits", &BandInfo::bits)
      .def_prop_rw(
          "color",
          [](BandInfo const& band) {
            return to_str(band.color_name.empty() ? to_string(band.color) : std::string_view(band.color_name));
          },
          [](BandInfo& band, std::string const& name) {
            band.color = parse_color(name);
            band.color_name = name;
          })
      .def_prop_ro(
          "nodata", [](BandInfo const& band) { return nodata_value(band.nodata, band.dtype); },
          nb::for_getter(nb::sig("def nodata(self) -> int | float | None")))
      .def_prop_ro("nodata_text",
                   [](BandInfo const& band) { return to_str_or_none(band.nodata ? band.nodata->text : std::string()); })
      .def_rw("scale", &BandInfo::scale)
      .def_rw("offset", &BandInfo::offset)
      .def_rw("has_scale", &BandInfo::has_scale)
      .def_rw("has_offset", &BandInfo::has_offset)
      .def_prop_rw(
          "unit", [](BandInfo const& band) { return to_str(band.unit); },
          [](BandInfo& band, std::string unit) { band.unit = std::move(unit); })
      .def_prop_rw(
          "description", [](BandInfo const& band) { return to_str(band.description); },
          [](BandInfo& band, std::string description) { band.description = std::move(description); })
      .def_prop_rw(
          "metadata", [](BandInfo const& band) { return metadata_dict(band.metadata); },
          [](BandInfo& band, nb::dict const& metadata) { band.metadata = metadata_from(metadata); })
      .def_ro("statistics", &BandInfo::statistics)
      .def_prop_rw(
          "color_table", [](BandInfo const& band) { return color_table(band.color_table); },
          [](BandInfo& band, std::vector<std::vector<std::uint8_t>> const& rows) {
            band.color_table = color_table_from(rows);
          })
      .def_prop_rw(
          "category_names", [](BandInfo const& band) { return texts(band.category_names); },
          [](BandInfo& band, std::vector<std::string> names) { band.category_names = std::move(names); })
      .def_prop_ro("mask", [](BandInfo const& band) { return to_str(to_string(band.mask)); });
}

void bind_georeference(nb::module_& module) {
  nb::class_<GroundControlPoint>(module, "GroundControlPoint")
      .def(nb::init<>())
      .def_prop_rw(
          "id", [](GroundControlPoint const& point) { return to_str(point.id); },
          [](GroundControlPoint& point, std::string id) { point.id = std::move(id); })
      .def_rw("column", &GroundControlPoint::column)
      .def_rw("row", &GroundControlPoint::row)
      .def_rw("x", &GroundControlPoint::x)
      .def_rw("y", &GroundControlPoint::y)
      .def_rw("z", &GroundControlPoint::z);
  nb::class_<Georeference>(module, "Georeference")
      .def(nb::init<>())
      .def_rw("transform", &Georeference::transform)
      .def_prop_ro("transform_source",
                   [](Georeference const& place) { return to_str(name_of(kTransformSources, place.transform_source)); })
      .def_rw("pixel_is_point", &Georeference::pixel_is_point)
      .def_rw("has_raster_type", &Georeference::has_raster_type)
      .def_rw("crs", &Georeference::crs)
      .def_rw("gcps", &Georeference::gcps)
      .def_prop_rw(
          "rpc", [](Georeference const& place) { return items_dict(place.rpc); },
          [](Georeference& place, nb::dict const& items) { place.rpc = items_from(items); });
}

void bind_layout(nb::module_& module) {
  nb::class_<Layout>(module, "Layout")
      .def_ro("tiled", &Layout::tiled)
      .def_ro("tile_width", &Layout::tile_width)
      .def_ro("tile_height", &Layout::tile_height)
      .def_prop_ro("interleave",
                   [](Layout const& layout) { return layout.planar == PlanarLayout::separate ? "band" : "pixel"; })
      .def_ro("compression_tag", &Layout::compression)
      .def_prop_ro("compression", [](Layout const& layout) { return to_str(layout.compression_name); })
      .def_ro("predictor", &Layout::predictor)
      .def_ro("bits_per_sample", &Layout::bits_per_sample)
      .def_ro("sample_format", &Layout::sample_format)
      .def_ro("photometric", &Layout::photometric)
      .def_prop_ro("source_color_space", [](Layout const& layout) { return to_str_or_none(layout.source_color_space); })
      .def_ro("bigtiff", &Layout::bigtiff)
      .def_prop_ro("byte_order", [](Layout const& layout) { return layout.big_endian ? "big" : "little"; })
      .def_ro("cog", &Layout::cog);
  nb::class_<OverviewInfo>(module, "OverviewInfo")
      .def_ro("width", &OverviewInfo::width)
      .def_ro("height", &OverviewInfo::height)
      .def_ro("tile_width", &OverviewInfo::tile_width)
      .def_ro("tile_height", &OverviewInfo::tile_height)
      .def_ro("external", &OverviewInfo::external)
      .def_ro("has_mask", &OverviewInfo::has_mask)
      .def("__repr__", [](OverviewInfo const& level) {
        return "OverviewInfo(width=" + std::to_string(level.width) + ", height=" + std::to_string(level.height) + ")";
      });
  nb::class_<PageInfo>(module, "PageInfo")
      .def_ro("ifd", &PageInfo::ifd)
      .def_ro("width", &PageInfo::width)
      .def_ro("height", &PageInfo::height)
      .def_ro("bands", &PageInfo::bands);
}

}  // namespace

void bind_info(nb::module_& module) {
  bind_crs(module);
  bind_band(module);
  bind_georeference(module);
  bind_layout(module);
  nb::class_<Info>(module, "Info")
      .def_prop_ro("source", [](Info const& info) { return to_file_name(info.source); })
      .def_ro("width", &Info::width)
      .def_ro("height", &Info::height)
      .def_ro("bands", &Info::bands)
      .def_ro("georeference", &Info::georeference)
      .def_prop_ro("metadata", [](Info const& info) { return metadata_dict(info.metadata); })
      .def_ro("layout", &Info::layout)
      .def_ro("overviews", &Info::overviews)
      .def_ro("pages", &Info::pages)
      .def_prop_ro("files",
                   [](Info const& info) {
                     nb::list files;
                     for (std::string const& file : info.files) { files.append(to_file_name(file)); }
                     return files;
                   })
      .def_prop_ro("warnings", [](Info const& info) { return texts(info.warnings); })
      .def_prop_ro("dtype", [](Info const& info) { return to_str(to_string(info.dtype())); });
}

}  // namespace terrazzo::python
