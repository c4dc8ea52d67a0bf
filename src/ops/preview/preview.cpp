// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/stats.hpp"

#include "base/affine.hpp"
#include "base/text.hpp"
#include "ops/preview/colormap.hpp"
#include "ops/preview/hillshade.hpp"
#include "ops/preview/stretch.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <span>

namespace terrazzo {
namespace {

constexpr std::uint32_t kMaxSide = 32'768;
// Values are averaged from a picture this much larger: nearest neighbours alone make terrain look grainy.
constexpr std::uint32_t kSupersampling = 2;
constexpr double kFlatShade = std::numbers::sqrt2 / 2;  // shade of level ground, lit at 45 degrees
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// The drawn style (resolved from `automatic`) and its bands.
struct Choice {
  PreviewStyle style = PreviewStyle::gray;
  std::vector<std::uint32_t> bands;
  bool palette = false;  // drawn in the colours of its colour table
  bool indices = false;  // values of a band are indices of a colour table: they have no mean
  bool stretch = true;
};

std::vector<std::uint32_t> rgb_bands(Info const& info) {
  std::vector<std::uint32_t> bands{1, 2, 3};
  for (std::uint32_t i = 0; i < info.bands.size(); ++i) {
    switch (info.bands[i].color) {
      case ColorInterpretation::red: bands[0] = i + 1; break;
      case ColorInterpretation::green: bands[1] = i + 1; break;
      case ColorInterpretation::blue: bands[2] = i + 1; break;
      default: break;
    }
  }
  return bands;
}

// True for samples of up to 8 bits that represent colours: they are shown unchanged.
bool is_true_color(Info const& info, std::vector<std::uint32_t> const& bands) {
  return std::all_of(bands.begin(), bands.end(), [&](std::uint32_t band) {
    BandInfo const& b = info.bands[band - 1];
    return b.dtype == DType::u8 && (b.color == ColorInterpretation::red || b.color == ColorInterpretation::green ||
                                    b.color == ColorInterpretation::blue);
  });
}

Choice choose(Info const& info, PreviewRequest const& request) {
  for (std::uint32_t band : request.bands) {
    if (band == 0 || band > info.bands.size()) {
      throw Error(ErrorKind::usage, text("there is no band ", band, "; the raster has ", info.bands.size()));
    }
  }
  if (info.bands.empty()) { throw Error(ErrorKind::usage, "the raster has no bands"); }
  Choice choice;
  choice.style = request.style;
  choice.bands = request.bands;
  std::uint32_t const first = request.bands.empty() ? 1 : request.bands.front();
  bool const automatic = request.style == PreviewStyle::automatic;
  if (automatic) {
    bool const has_palette = !info.bands[first - 1].color_table.empty() && request.bands.size() <= 1;
    std::size_t const available = request.bands.empty() ? info.bands.size() : request.bands.size();
    choice.palette = has_palette;
    choice.style = !has_palette && available >= 3 ? PreviewStyle::rgb : PreviewStyle::gray;
  }
  if (choice.style == PreviewStyle::rgb) {
    if (choice.bands.empty() && info.bands.size() >= 3) { choice.bands = rgb_bands(info); }
    if (choice.bands.size() < 3) { throw Error(ErrorKind::usage, "style rgb takes three bands"); }
    choice.bands.resize(3);
    choice.stretch = !(automatic && is_true_color(info, choice.bands));
  } else {
    choice.bands = {first};
  }
  choice.indices = std::any_of(choice.bands.begin(), choice.bands.end(),
                               [&](std::uint32_t band) { return !info.bands.at(band - 1).color_table.empty(); });
  return choice;
}

// Values of one band, NaN if missing.
struct Layer {
  std::vector<double> values;
};

struct Samples {
  std::uint32_t width = 0, height = 0;
  std::vector<Layer> layers;
};

std::vector<double> to_doubles(std::span<std::byte const> bytes, DType dtype) {
  std::vector<double> values;
  if (dtype == DType::cf64) {
    auto const* first = reinterpret_cast<std::complex<double> const*>(bytes.data());
    values.resize(bytes.size() / sizeof(*first));
    std::transform(first, first + values.size(), values.begin(), [](std::complex<double> v) { return std::abs(v); });
  } else {
    auto const* first = reinterpret_cast<double const*>(bytes.data());
    values.assign(first, first + bytes.size() / sizeof(double));
  }
  return values;
}

// A pixel that is missing in one layer is missing in all.
void drop_incomplete_pixels(Samples& samples) {
  for (std::size_t i = 0; i < samples.layers[0].values.size(); ++i) {
    bool const whole = std::all_of(samples.layers.begin(), samples.layers.end(),
                                   [&](Layer const& l) { return std::isfinite(l.values[i]); });
    if (whole) { continue; }
    for (Layer& layer : samples.layers) { layer.values[i] = kNaN; }
  }
}

Samples read_samples(Dataset const& dataset, Choice const& choice, PreviewRequest const& request, TargetSize size) {
  ReadRequest reading;
  reading.window = request.window;
  reading.bands = choice.bands;
  reading.target_size = size;
  bool const nearest = choice.indices || is_complex(dataset.info().dtype());
  reading.resampling = nearest ? Resampling::nearest : Resampling::average;
  reading.threads = request.threads;
  reading.progress = request.progress;
  reading.cancel = request.cancel;
  reading.unpack = choice.style == PreviewStyle::hillshade;
  bool const complex = is_complex(result_dtype(dataset, reading));
  reading.dtype = complex ? DType::cf64 : DType::f64;
  HostArray const pixels = read(dataset, reading);
  HostArray const mask = read_mask(dataset, reading);

  Samples samples{size.width, size.height, {}};
  std::size_t const count = std::size_t{size.width} * size.height;
  std::size_t const layer_bytes = count * size_bytes(*reading.dtype);
  for (std::size_t b = 0; b < choice.bands.size(); ++b) {
    Layer layer{to_doubles(pixels.bytes().subspan(b * layer_bytes, layer_bytes), *reading.dtype)};
    auto const valid = mask.bytes().subspan(b * count, count);
    for (std::size_t i = 0; i < count; ++i) {
      if (valid[i] == std::byte{0}) { layer.values[i] = kNaN; }
    }
    samples.layers.push_back(std::move(layer));
  }
  drop_incomplete_pixels(samples);
  return samples;
}

// Means of squares of `factor` x `factor` pixels, without missing pixels.
Samples average(Samples const& fine, std::uint32_t factor) {
  if (factor == 1) { return fine; }
  Samples coarse{fine.width / factor, fine.height / factor, {}};
  for (Layer const& layer : fine.layers) {
    Layer out{std::vector<double>(std::size_t{coarse.width} * coarse.height, kNaN)};
    for (std::uint32_t y = 0; y < coarse.height; ++y) {
      for (std::uint32_t x = 0; x < coarse.width; ++x) {
        double sum = 0;
        unsigned count = 0;
        for (std::uint32_t dy = 0; dy < factor; ++dy) {
          for (std::uint32_t dx = 0; dx < factor; ++dx) {
            double const v = layer.values[std::size_t{y * factor + dy} * fine.width + x * factor + dx];
            if (std::isnan(v)) { continue; }
            sum += v;
            ++count;
          }
        }
        if (count > 0) { out.values[std::size_t{y} * coarse.width + x] = sum / count; }
      }
    }
    coarse.layers.push_back(std::move(out));
  }
  return coarse;
}

TargetSize picture_size(Window const& window, std::uint32_t max_size) {
  std::uint32_t const longer = std::max(window.width, window.height);
  if (longer <= max_size) { return {window.width, window.height}; }
  double const ratio = static_cast<double>(max_size) / longer;
  auto const scaled = [&](std::uint32_t side) {
    return std::clamp<std::uint32_t>(static_cast<std::uint32_t>(std::lround(side * ratio)), 1, max_size);
  };
  return {scaled(window.width), scaled(window.height)};
}

bool is_geographic(Georeference const& georeference) {
  if (!georeference.crs) { return false; }
  Crs const& crs = *georeference.crs;
  if (crs.kind == Crs::Kind::geographic) { return true; }
  // EPSG reserves 4001 to 4999 for geographic systems.
  return crs.kind == Crs::Kind::compound && crs.horizontal_epsg && *crs.horizontal_epsg > 4000 &&
         *crs.horizontal_epsg < 5000;
}

// Sets the steps between pixels of the picture: in metres if the CRS has degrees, otherwise in the CRS's unit.
void set_steps(ops::HeightGrid& grid, Georeference const& georeference, Window const& window) {
  if (!georeference.transform) { return; }
  auto const& t = *georeference.transform;
  bool const north_up = t[2] == 0 && t[4] == 0;
  PixelSides const sides = pixel_sides(t);
  double column_step = north_up ? t[1] : sides.along_row;
  double row_step = north_up ? -t[5] : sides.along_column;
  if (is_geographic(georeference)) {
    double const latitude =
        t[3] + (window.column + window.width / 2.0) * t[4] + (window.row + window.height / 2.0) * t[5];
    double const phi = std::clamp(latitude, -89.0, 89.0) * std::numbers::pi / 180;
    // Lengths of a degree on WGS 84, accurate to a metre.
    column_step *= 111'412.84 * std::cos(phi) - 93.5 * std::cos(3 * phi);
    row_step *= 111'132.95 - 559.82 * std::cos(2 * phi) + 1.175 * std::cos(4 * phi);
  }
  column_step *= static_cast<double>(window.width) / grid.width;
  row_step *= static_cast<double>(window.height) / grid.height;
  if (std::isfinite(column_step) && std::isfinite(row_step) && column_step != 0 && row_step != 0) {
    grid.column_step = column_step;
    grid.row_step = row_step;
  }
}

// A lit colour: unchanged on level ground, darker in shade, towards white in the light.
std::uint8_t lit(std::uint8_t color, double shade) {
  double const light = shade / kFlatShade;
  double const value =
      light <= 1 ? color * (0.25 + 0.75 * light) : color + (255 - color) * (light - 1) / (1 / kFlatShade - 1) * 0.45;
  return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

struct Rgba {
  std::uint8_t red = 0, green = 0, blue = 0, alpha = 0;
};

// Fills the picture with color(i) where the first layer has data; other pixels stay transparent.
template <class Color>
Picture paint(Samples const& samples, Color const& color) {
  Picture picture{samples.width, samples.height, {}};
  picture.rgba.resize(std::size_t{samples.width} * samples.height * 4);
  for (std::size_t i = 0; i < samples.layers[0].values.size(); ++i) {
    if (!std::isfinite(samples.layers[0].values[i])) { continue; }
    Rgba const c = color(i);
    picture.rgba[4 * i] = c.red;
    picture.rgba[4 * i + 1] = c.green;
    picture.rgba[4 * i + 2] = c.blue;
    picture.rgba[4 * i + 3] = c.alpha;
  }
  return picture;
}

// The colour of each square of `factor` x `factor` pixels: the mean of its colours, weighted by their opacity. Pixels
// that are missing or outside the table are transparent.
Picture paint_palette(Samples const& samples, std::vector<ColorEntry> const& table, std::uint32_t factor) {
  Picture picture{samples.width / factor, samples.height / factor, {}};
  picture.rgba.reserve(std::size_t{picture.width} * picture.height * 4);
  for (std::uint32_t y = 0; y < picture.height; ++y) {
    for (std::uint32_t x = 0; x < picture.width; ++x) {
      std::uint32_t red = 0, green = 0, blue = 0, alpha = 0;
      for (std::uint32_t i = 0; i < factor * factor; ++i) {
        std::size_t const row = y * factor + i / factor;
        double const value = samples.layers[0].values[row * samples.width + x * factor + i % factor];
        if (!(value >= 0 && value < static_cast<double>(table.size()))) { continue; }
        ColorEntry const& c = table[static_cast<std::size_t>(value)];
        red += c.red * c.alpha;
        green += c.green * c.alpha;
        blue += c.blue * c.alpha;
        alpha += c.alpha;
      }
      auto const rounded = [](std::uint32_t sum, std::uint32_t count) {
        return count == 0 ? std::uint8_t{0} : static_cast<std::uint8_t>((sum + count / 2) / count);
      };
      picture.rgba.insert(picture.rgba.end(), {rounded(red, alpha), rounded(green, alpha), rounded(blue, alpha),
                                               rounded(alpha, factor * factor)});
    }
  }
  return picture;
}

// From black to the largest value of a sample of so many bits.
ops::Stretch full_range(BandInfo const& band) { return {0, std::ldexp(1.0, static_cast<int>(band.bits)) - 1}; }

// The requested range; percentiles of the values where it is open.
ops::Stretch stretch_of(std::span<double const> values, PreviewRequest const& request) {
  if (request.range_min && request.range_max) { return {*request.range_min, *request.range_max, request.gamma}; }
  auto const found = ops::Stretch::percentiles(values, request.stretch_low, request.stretch_high);
  return {request.range_min.value_or(found.low()), request.range_max.value_or(found.high()), request.gamma};
}

bool has_range(PreviewRequest const& request) { return request.range_min || request.range_max; }

Picture paint_rgb(Samples const& samples, PreviewRequest const& request, Choice const& choice, Info const& info) {
  std::vector<ops::Stretch> stretches;
  for (std::size_t i = 0; i < samples.layers.size(); ++i) {
    ops::Stretch const full = full_range(info.bands[choice.bands[i] - 1]);
    stretches.push_back(choice.stretch || has_range(request) ? stretch_of(samples.layers[i].values, request)
                                                             : ops::Stretch(full.low(), full.high(), request.gamma));
  }
  return paint(samples, [&](std::size_t i) {
    return Rgba{stretches[0].byte(samples.layers[0].values[i]), stretches[1].byte(samples.layers[1].values[i]),
                stretches[2].byte(samples.layers[2].values[i]), 255};
  });
}

Picture paint_map(Samples const& samples, PreviewRequest const& request, std::string const& colormap) {
  ops::Colormap const map = ops::make_colormap(colormap);
  ops::Stretch const stretch = stretch_of(samples.layers[0].values, request);
  return paint(samples, [&](std::size_t i) {
    ops::Rgb const c = map[stretch.byte(samples.layers[0].values[i])];
    return Rgba{c.red, c.green, c.blue, 255};
  });
}

Picture paint_relief(Samples const& samples, PreviewRequest const& request, Georeference const& georeference,
                     Window const& window) {
  std::span<double const> const heights = samples.layers[0].values;
  ops::HeightGrid grid{heights, samples.width, samples.height};
  set_steps(grid, georeference, window);
  std::vector<float> const shade = ops::hillshade(grid, ops::relief_exaggeration(grid, !georeference.transform));
  if (request.colormap.empty() || request.colormap == "gray") {
    return paint(samples, [&](std::size_t i) {
      auto const v = static_cast<std::uint8_t>(std::lround(shade[i] * 255));
      return Rgba{v, v, v, 255};
    });
  }
  ops::Colormap const map = ops::make_colormap(request.colormap);
  ops::Stretch const stretch = stretch_of(heights, request);
  return paint(samples, [&](std::size_t i) {
    ops::Rgb const c = map[stretch.byte(heights[i])];
    double const s = shade[i];
    return Rgba{lit(c.red, s), lit(c.green, s), lit(c.blue, s), 255};
  });
}

void check_request(PreviewRequest const& request) {
  if (request.max_size == 0 || request.max_size > kMaxSide) {
    throw Error(ErrorKind::usage, text("a preview is 1 to ", kMaxSide, " pixels wide or high, not ", request.max_size));
  }
  if (!(request.stretch_low >= 0 && request.stretch_low < request.stretch_high && request.stretch_high <= 100)) {
    throw Error(ErrorKind::usage, "the stretch is two percentiles, the lower first, from 0 to 100");
  }
  if ((request.range_min && !std::isfinite(*request.range_min)) ||
      (request.range_max && !std::isfinite(*request.range_max)) ||
      (request.range_min && request.range_max && !(*request.range_min < *request.range_max))) {
    throw Error(ErrorKind::usage, "the range of values is two numbers, the lower first");
  }
  if (!(request.gamma > 0) || !std::isfinite(request.gamma)) {
    throw Error(ErrorKind::usage, text("gamma is a number above 0, not ", request.gamma));
  }
}

// Colours that do not come from shades have no range.
void check_shades(Choice const& choice, PreviewRequest const& request) {
  if (!has_range(request) && request.gamma == 1) { return; }
  if (choice.palette) {
    throw Error(ErrorKind::usage, "a palette has its own colours; a range or gamma needs style gray or colormap");
  }
  if (choice.style == PreviewStyle::hillshade && (request.colormap.empty() || request.colormap == "gray")) {
    throw Error(ErrorKind::usage, "a gray hillshade shows slopes; a range or gamma of heights needs a colormap");
  }
}

}  // namespace

Picture make_preview(Dataset const& dataset, PreviewRequest const& request) {
  check_request(request);
  Info const& info = dataset.info();
  Choice const choice = choose(info, request);
  check_shades(choice, request);
  Window const window = plan(dataset, {.window = request.window}).window();
  TargetSize const size = picture_size(window, request.max_size);
  bool const fine = window.width >= kSupersampling * size.width && window.height >= kSupersampling * size.height &&
                    (choice.palette || !choice.indices);
  std::uint32_t const factor = fine ? kSupersampling : 1;
  Samples const fine_samples = read_samples(dataset, choice, request, {size.width * factor, size.height * factor});
  if (choice.palette) { return paint_palette(fine_samples, info.bands[choice.bands[0] - 1].color_table, factor); }
  Samples const samples = average(fine_samples, factor);
  switch (choice.style) {
    case PreviewStyle::rgb: return paint_rgb(samples, request, choice, info);
    case PreviewStyle::hillshade: return paint_relief(samples, request, info.georeference, window);
    case PreviewStyle::colormap: return paint_map(samples, request, request.colormap);
    default: return paint_map(samples, request, "gray");
  }
}

}  // namespace terrazzo
