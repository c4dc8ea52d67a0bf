// SPDX-License-Identifier: Apache-2.0
//
// Statistics and previews of a raster, computed block by block in bounded memory. Thread-safe.
#pragma once

#include "terrazzo/read.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

struct StatsRequest {
  ReadRequest read{};                     // window, bands, level, unpack, threads, progress, cancel
  std::uint32_t histogram_bins = 0;       // 0: no histogram
  std::optional<double> histogram_min{}, histogram_max{};  // default: minimum and maximum of the band (a second pass)
};

struct BandStats {
  std::uint32_t band = 0;  // 1-based
  std::uint64_t valid = 0, total = 0;  // counts of pixels; NaN, nodata and masked pixels are invalid
  double minimum = 0, maximum = 0, mean = 0, stddev = 0;  // of valid pixels; population stddev; NaN if there are none
  double histogram_min = 0, histogram_max = 0;
  std::vector<std::uint64_t> histogram{};
};

[[nodiscard]] std::vector<BandStats> compute_stats(Dataset const& dataset, StatsRequest const& request = {},
                                                   ReadReport* report = nullptr);

enum class PreviewStyle : std::uint8_t { automatic, gray, colormap, hillshade, rgb };

struct PreviewRequest {
  std::uint32_t max_size = 1024;  // of the longer side, in pixels
  PreviewStyle style = PreviewStyle::automatic;  // automatic: rgb for 3 or more bands, else the palette, else gray
  std::vector<std::uint32_t> bands{};  // 1-based; default by style
  std::string colormap = "viridis";  // of colormap_names(); "viridis_r" has the colours reversed
  double stretch_low = 2, stretch_high = 98;  // percentiles; 0 and 100: minimum and maximum
  // Values that map to the first and the last shade; values beyond are clamped. Default: the percentiles above. Values
  // are as stored; those of a hillshade are unpacked.
  std::optional<double> range_min{}, range_max{};
  double gamma = 1;  // the shade is the fraction of the range to the power of 1 / gamma: above 1 is brighter
  std::optional<Window> window{};
  unsigned threads = 0;
  Progress progress{};  // progress of the read, as in ReadRequest
  std::atomic<bool> const* cancel = nullptr;
};

// viridis, magma, inferno, plasma, cividis, turbo (matplotlib's colours, within 4/255), terrain, gray.
[[nodiscard]] std::vector<std::string> colormap_names();

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::vector<std::uint8_t> rgba{};  // rows from top to bottom; alpha is 0 for invalid pixels
};

[[nodiscard]] Picture make_preview(Dataset const& dataset, PreviewRequest const& request = {});

// The bytes of a PNG file.
[[nodiscard]] std::vector<std::uint8_t> encode_png(Picture const& picture);

}  // namespace terrazzo
#pragma GCC visibility pop
