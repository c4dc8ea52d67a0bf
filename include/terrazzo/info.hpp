// SPDX-License-Identifier: Apache-2.0
//
// Description of a raster without its pixels: size, bands, georeference, metadata, layout, overviews.
// Plain values, filled by open(); these types do no I/O.
#pragma once

#include "terrazzo/dtype.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

// The value that marks missing pixels. 64-bit integers have their own fields because a double cannot hold all of them.
struct Nodata {
  double value = 0;                          // nearest double; NaN is a valid marker
  std::optional<std::int64_t> exact_i64{};   // set for int64 bands
  std::optional<std::uint64_t> exact_u64{};  // set for uint64 bands
  std::string text{};                        // as written in the file
  // False if no pixel of the band's type can equal the value (-9999 in a uint8 band, 1.5 in an integer band).
  bool representable = true;
};

// Metadata items of one domain, in the file's order. GDAL's default domain is "". A repeated key keeps its last value.
using MetadataItems = std::vector<std::pair<std::string, std::string>>;
struct Metadata {
  std::map<std::string, MetadataItems> domains{};
  std::map<std::string, std::string> xml_domains{};  // "xml:..." domains: one document each

  // Value of `key` in `domain`, or null.
  [[nodiscard]] std::string const* find(std::string const& key, std::string const& domain = "") const;
};

struct GroundControlPoint {
  std::string id{};
  double column = 0, row = 0;  // pixels, from the top-left corner of the raster
  double x = 0, y = 0, z = 0;  // in the CRS
};

// The coordinate reference system of a file that was read or will be written.
struct Crs {
  // The CRS that a text defines: "EPSG:32632", "EPSG:25832+5783", another authority's code, WKT, PROJJSON, or a PROJ
  // string ("+proj=utm +zone=32 +datum=WGS84"). The text may come from an untrusted party. `usage` errors:
  // names, definitions that refer to files, texts that define no CRS. With PROJ all fields are filled. Without PROJ the
  // result has the fields that the text states, and a text that only PROJ can interpret is an `unsupported` error.
  [[nodiscard]] static Crs from(std::string_view text);

  enum class Kind : std::uint8_t { unknown, projected, geographic, geocentric, compound, vertical, local };
  Kind kind = Kind::unknown;
  std::optional<int> epsg{};  // code of the whole CRS, if it has one
  std::optional<int> horizontal_epsg{};
  std::optional<int> vertical_epsg{};
  std::string name{};
  std::string wkt{};  // WKT2:2019; empty if PROJ is unavailable and the file does not store it
  std::string projjson{};  // PROJJSON; empty under the same conditions
};

// Origin of the geotransform.
enum class TransformSource : std::uint8_t { none, pixel_scale, matrix, world_file, pam };

struct Georeference {
  // GDAL's order: x = t[0] + col * t[1] + row * t[2], y = t[3] + col * t[4] + row * t[5], for pixel corners. The
  // transform of PixelIsPoint files is shifted by half a pixel to corners, as in GDAL.
  std::optional<std::array<double, 6>> transform{};
  TransformSource transform_source = TransformSource::none;
  bool pixel_is_point = false;
  bool has_raster_type = false;  // the file has the raster type key (area or point)
  std::optional<Crs> crs{};
  std::vector<GroundControlPoint> gcps{};
  MetadataItems rpc{};  // GDAL's names: LINE_OFF, SAMP_OFF, ...
};

enum class ColorInterpretation : std::uint8_t {
  undefined,
  gray,
  palette,
  red,
  green,
  blue,
  alpha,
  hue,
  saturation,
  lightness,
  cyan,
  magenta,
  yellow,
  black,
  y,
  cb,
  cr,
  other,  // a newer name of GDAL (nir, pan, coastal, ...), in BandInfo::color_name
};
[[nodiscard]] std::string_view to_string(ColorInterpretation color) noexcept;  // GDAL's lower-case names

struct ColorEntry {
  std::uint8_t red = 0, green = 0, blue = 0, alpha = 255;
};

struct BandStatistics {
  std::optional<double> minimum{}, maximum{}, mean{}, stddev{}, valid_percent{};
};

// Source of a band's pixel validity.
enum class MaskKind : std::uint8_t { all_valid, nodata, alpha, internal, external };
[[nodiscard]] std::string_view to_string(MaskKind kind) noexcept;

struct BandInfo {
  DType dtype = DType::u8;
  std::uint32_t bits = 8;  // as stored in the file
  ColorInterpretation color = ColorInterpretation::undefined;
  std::string color_name{};  // GDAL's name in lower case: "gray", "red", "palette", "nir", ...
  std::optional<Nodata> nodata{};
  double scale = 1, offset = 0;  // value = stored * scale + offset
  bool has_scale = false, has_offset = false;
  std::string unit{}, description{};
  Metadata metadata{};
  BandStatistics statistics{};
  std::vector<ColorEntry> color_table{};
  std::vector<std::string> category_names{};
  MaskKind mask = MaskKind::all_valid;

  // True for an alpha band whose colours are premultiplied: ALPHA=PREMULTIPLIED in domain IMAGE_STRUCTURE, as in GDAL.
  [[nodiscard]] bool is_premultiplied() const;
};

enum class PlanarLayout : std::uint8_t { contiguous, separate };  // pixel- or band-interleaved

// Storage of the pixels in the file.
struct Layout {
  bool tiled = false;
  std::uint32_t tile_width = 0, tile_height = 0;  // pixels of a tile, or of a strip (raster width, rows per strip)
  PlanarLayout planar = PlanarLayout::contiguous;
  std::uint32_t compression = 1;  // TIFF tag 259
  std::string compression_name{};
  std::uint32_t predictor = 1;
  std::uint32_t bits_per_sample = 8;
  std::string sample_format{};  // "uint", "int", "float", "complex-int", "complex-float"
  std::string photometric{};
  std::string source_color_space{};  // "YCbCr", "CMYK", ... if reads convert pixels to RGB
  bool bigtiff = false;
  bool big_endian = false;
  bool cog = false;  // has GDAL's ghost area with LAYOUT=IFDS_BEFORE_DATA
};

// A smaller version of the raster. Overviews are listed in the file's order, normally largest first.
struct OverviewInfo {
  std::uint32_t width = 0, height = 0;
  std::uint32_t tile_width = 0, tile_height = 0;
  bool external = false;  // stored in the .ovr file beside the raster
  bool has_mask = false;
};

// Another image in the same file (GDAL calls it a subdataset).
struct PageInfo {
  std::uint32_t ifd = 0;  // index in the chain; open it with OpenOptions::page = ifd
  std::uint32_t width = 0, height = 0, bands = 0;
};

struct Info {
  std::string source{};
  std::uint32_t width = 0, height = 0;
  std::vector<BandInfo> bands{};
  Georeference georeference{};
  Metadata metadata{};
  Layout layout{};
  std::vector<OverviewInfo> overviews{};
  std::vector<PageInfo> pages{};  // other images of the file, without overviews and masks
  std::vector<std::string> files{};  // the file and the sidecars that were read
  std::vector<std::string> warnings{};  // defects that open() tolerated

  [[nodiscard]] DType dtype() const { return bands.empty() ? DType::u8 : bands.front().dtype; }
};

}  // namespace terrazzo
#pragma GCC visibility pop
