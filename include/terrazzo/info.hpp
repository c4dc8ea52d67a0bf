// SPDX-License-Identifier: Apache-2.0
//
// What a raster is, apart from its pixels: size, bands, georeference, metadata, layout, overviews.
// Plain values, filled by open(); nothing here touches a file.
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

namespace terrazzo {

// The value that marks a missing pixel. 64-bit integers do not fit a double, so they are kept apart.
struct Nodata {
  double value = 0;                          // nearest double; NaN is a valid marker
  std::optional<std::int64_t> exact_i64{};   // set for int64 bands
  std::optional<std::uint64_t> exact_u64{};  // set for uint64 bands
  std::string text{};                        // as written in the file
  // False when no pixel of the band's type can ever equal it (say -9999 in a uint8 band, or 1.5 in an integer band).
  bool representable = true;
};

// Metadata of one domain, in the file's order. GDAL's default domain is "". A repeated key has its last value.
using MetadataItems = std::vector<std::pair<std::string, std::string>>;
struct Metadata {
  std::map<std::string, MetadataItems> domains{};
  std::map<std::string, std::string> xml_domains{};  // "xml:..." domains: one document each

  // First value of `key` in `domain`, or null.
  [[nodiscard]] std::string const* find(std::string const& key, std::string const& domain = "") const;
};

struct GroundControlPoint {
  std::string id{};
  double column = 0, row = 0;  // pixels, from the top-left corner of the raster
  double x = 0, y = 0, z = 0;  // in the CRS
};

struct Crs {
  enum class Kind : std::uint8_t { unknown, projected, geographic, geocentric, compound, vertical, local };
  Kind kind = Kind::unknown;
  std::optional<int> epsg{};           // of the whole CRS, when it has one code
  std::optional<int> horizontal_epsg{};
  std::optional<int> vertical_epsg{};
  std::string name{};
  std::string wkt{};                   // WKT2:2019; empty where PROJ is not to be had and the file does not carry it
  std::string projjson{};              // empty likewise
};

// Where the geotransform came from.
enum class TransformSource : std::uint8_t { none, pixel_scale, matrix, world_file, pam };

struct Georeference {
  // GDAL's order: x = t[0] + col * t[1] + row * t[2], y = t[3] + col * t[4] + row * t[5], of pixel corners,
  // also for PixelIsPoint files (shifted by half a pixel, as GDAL does).
  std::optional<std::array<double, 6>> transform{};
  TransformSource transform_source = TransformSource::none;
  bool pixel_is_point = false;
  bool has_raster_type = false;        // the file says area or point
  std::optional<Crs> crs{};
  std::vector<GroundControlPoint> gcps{};
  MetadataItems rpc{};                 // GDAL's names: LINE_OFF, SAMP_OFF, ...
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
  other,  // GDAL's newer names (nir, pan, coastal, ...): the text is in BandInfo::color_name
};
[[nodiscard]] std::string_view to_string(ColorInterpretation color) noexcept;  // GDAL's lower-case names

struct ColorEntry {
  std::uint8_t red = 0, green = 0, blue = 0, alpha = 255;
};

struct BandStatistics {
  std::optional<double> minimum{}, maximum{}, mean{}, stddev{}, valid_percent{};
};

// Which pixels of a band are valid, in GDAL's order of preference.
enum class MaskKind : std::uint8_t { all_valid, nodata, alpha, internal, external };
[[nodiscard]] std::string_view to_string(MaskKind kind) noexcept;

struct BandInfo {
  DType dtype = DType::u8;
  std::uint32_t bits = 8;              // as stored in the file
  ColorInterpretation color = ColorInterpretation::undefined;
  std::string color_name{};            // GDAL's name in lower case: "gray", "red", "palette", "nir", ...
  std::optional<Nodata> nodata{};
  double scale = 1, offset = 0;        // value = stored * scale + offset
  bool has_scale = false, has_offset = false;
  std::string unit{}, description{};
  Metadata metadata{};
  BandStatistics statistics{};
  std::vector<ColorEntry> color_table{};
  std::vector<std::string> category_names{};
  MaskKind mask = MaskKind::all_valid;

  // Alpha by which the colours are multiplied already: ALPHA=PREMULTIPLIED of the domain IMAGE_STRUCTURE, as in GDAL.
  [[nodiscard]] bool is_premultiplied() const;
};

enum class PlanarLayout : std::uint8_t { contiguous, separate };  // pixel- or band-interleaved

// How the pixels lie in the file.
struct Layout {
  bool tiled = false;
  std::uint32_t tile_width = 0, tile_height = 0;  // of a tile, or of a strip (width x rows per strip)
  PlanarLayout planar = PlanarLayout::contiguous;
  std::uint32_t compression = 1;  // TIFF tag 259
  std::string compression_name{};
  std::uint32_t predictor = 1;
  std::uint32_t bits_per_sample = 8;
  std::string sample_format{};  // "uint", "int", "float", "complex-int", "complex-float"
  std::string photometric{};
  std::string source_color_space{};  // "YCbCr", "CMYK", ... when pixels are converted to RGB on the way
  bool bigtiff = false;
  bool big_endian = false;
  bool cog = false;  // carries GDAL's ghost area with LAYOUT=IFDS_BEFORE_DATA
};

// A smaller version of the raster, in the file's order, which is largest first in all but odd files.
struct OverviewInfo {
  std::uint32_t width = 0, height = 0;
  std::uint32_t tile_width = 0, tile_height = 0;
  bool external = false;  // from the .ovr file beside it
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
  std::vector<PageInfo> pages{};  // images other than this one, its overviews and masks
  std::vector<std::string> files{};  // the file and the sidecars that were read
  std::vector<std::string> warnings{};  // what was tolerated while opening

  [[nodiscard]] DType dtype() const { return bands.empty() ? DType::u8 : bands.front().dtype; }
};

}  // namespace terrazzo
