// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/stats.hpp"

#include "base/text.hpp"
#include "ops/stats/accumulator.hpp"

#include "terrazzo/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

namespace terrazzo {
namespace {

constexpr std::uint64_t kBlockBytes = 64U << 20;
constexpr std::uint32_t kMaxBins = 1U << 24;
constexpr std::uint64_t kMaxBinsOfAllBands = 1U << 26;
// Limit for 16-bit bands with counts of all values; more would take more than 128 MiB per thread.
constexpr std::size_t kMaxCountedBands = 256;

// Half floats and complex numbers are widened, without loss, to types that the accumulators support.
DType working_dtype(DType type) {
  if (is_complex(type)) { return DType::cf64; }
  return type == DType::f16 ? DType::f32 : type;
}

struct Band {
  BandInfo const* info = nullptr;
  std::uint32_t number = 0;  // 1-based
  bool needs_mask = false;
  std::unique_ptr<ops::Accumulator> accumulator;
};

// Nodata is compared during the pass; all other masks, and nodata of widened types, are read as masks. So is nodata of
// complex types: the real part is compared, and the magnitude counted.
bool needs_mask(BandInfo const& band) {
  if (band.mask == MaskKind::all_valid) { return false; }
  return band.mask != MaskKind::nodata || working_dtype(band.dtype) != band.dtype || is_complex(band.dtype);
}

std::vector<std::uint32_t> band_numbers(Info const& info, ReadRequest const& request) {
  if (!request.bands.empty()) { return request.bands; }
  std::vector<std::uint32_t> numbers(info.bands.size());
  std::iota(numbers.begin(), numbers.end(), 1U);
  return numbers;
}

std::vector<Band> make_bands(Info const& info, std::vector<std::uint32_t> const& numbers, DType dtype, bool counting) {
  std::vector<Band> bands;
  for (std::uint32_t number : numbers) {
    BandInfo const& band = info.bands.at(number - 1);  // RowBlocks has checked the numbers
    bool const mask = needs_mask(band);
    Nodata const* nodata = band.mask == MaskKind::nodata && !mask && band.nodata ? &*band.nodata : nullptr;
    bands.push_back({&band, number, mask, ops::make_accumulator(dtype, nodata, counting)});
  }
  return bands;
}

// Calls visit(band, rows) for each band of each block.
class Passes {
 public:
  Passes(RowBlocks const& blocks, std::vector<Band>& bands) : blocks_(blocks), bands_(bands) {}

  template <class Visit>
  void run(Visit const& visit, ReadReport* report = nullptr) {
    bool const any_mask = std::any_of(bands_.begin(), bands_.end(), [](Band const& b) { return b.needs_mask; });
    for (std::uint64_t i = 0; i < blocks_.count(); ++i) {
      bool const still_here = blocks_.count() == 1 && buffer_;  // the second pass over a raster of one block
      if (!still_here) {
        view_ = blocks_.read(i, buffer_, report);
        if (any_mask) { mask_.emplace(blocks_.read_mask(i)); }
      }
      std::uint64_t const samples = std::uint64_t{view_.height} * view_.width;
      for (std::size_t b = 0; b < bands_.size(); ++b) {
        auto const* first =
            static_cast<std::byte const*>(view_.data) + static_cast<std::int64_t>(b) * view_.band_stride_bytes;
        auto const* mask =
            bands_[b].needs_mask ? reinterpret_cast<std::uint8_t const*>(mask_->bytes().data()) + b * samples : nullptr;
        visit(bands_[b], ops::BandRows{first, mask, view_.height, view_.width});
      }
    }
  }

 private:
  RowBlocks const& blocks_;
  std::vector<Band>& bands_;
  std::optional<HostArray> buffer_, mask_;
  HostView view_;
};

// Reports progress over two passes when there may be two.
Progress spread_over(Progress progress, std::shared_ptr<unsigned const> pass, unsigned passes) {
  if (!progress || passes == 1) { return progress; }
  return [progress = std::move(progress), pass = std::move(pass), passes](std::uint64_t done, std::uint64_t total) {
    return progress(done + *pass * total, total * passes);
  };
}

// The range in stored values for a histogram in the caller's units.
ops::HistogramRange stored_range(StatsRequest const& request, Band const& band, bool unpack) {
  ops::HistogramRange range = band.accumulator->value_range().value_or(ops::HistogramRange{});
  double const scale = unpack ? band.info->scale : 1, offset = unpack ? band.info->offset : 0;
  auto const to_stored = [&](double value) { return (value - offset) / scale; };
  bool const flipped = scale < 0;
  if (request.histogram_min) { (flipped ? range.high : range.low) = to_stored(*request.histogram_min); }
  if (request.histogram_max) { (flipped ? range.low : range.high) = to_stored(*request.histogram_max); }
  if (!std::isfinite(range.low) || !std::isfinite(range.high)) {
    throw Error(ErrorKind::usage, text("the histogram's range is no range of stored values of band ", band.number,
                                       ", whose scale is ", scale, " and offset ", offset));
  }
  range.bins = request.histogram_bins;
  return range;
}

void set_no_data(BandStats& stats) {
  stats.minimum = stats.maximum = stats.mean = stats.stddev = std::numeric_limits<double>::quiet_NaN();
}

// Converts stored values to real ones: value = stored * scale + offset.
void apply_scale(BandStats& stats, BandInfo const& band) {
  auto const real = [&](double stored) { return stored * band.scale + band.offset; };
  stats.minimum = real(stats.minimum);
  stats.maximum = real(stats.maximum);
  stats.mean = real(stats.mean);
  stats.stddev *= std::abs(band.scale);
  stats.histogram_min = real(stats.histogram_min);
  stats.histogram_max = real(stats.histogram_max);
  if (band.scale < 0) {
    std::swap(stats.minimum, stats.maximum);
    std::swap(stats.histogram_min, stats.histogram_max);
    std::reverse(stats.histogram.begin(), stats.histogram.end());
  }
}

void check_request(StatsRequest const& request) {
  if (request.read.has_target()) {
    throw Error(ErrorKind::usage, "statistics take a window and a level, not a target size");
  }
  if (request.histogram_bins > kMaxBins) {
    throw Error(ErrorKind::usage,
                text("a histogram has at most ", kMaxBins, " bins; ", request.histogram_bins, " were asked for"));
  }
  if (!std::isfinite(request.histogram_min.value_or(0)) || !std::isfinite(request.histogram_max.value_or(0))) {
    throw Error(ErrorKind::usage, "the histogram's minimum and maximum must be finite");
  }
  bool const ordered =
      !request.histogram_min || !request.histogram_max || *request.histogram_min < *request.histogram_max;
  if (!ordered) { throw Error(ErrorKind::usage, "the histogram's minimum must be below its maximum"); }
}

// The statistics of a band after all passes; with `unpack`, those of scaled values.
BandStats summary_of(Band const& band, StatsRequest const& request, bool unpack, std::uint64_t total) {
  BandStats stats;
  stats.band = band.number;
  stats.total = total;
  set_no_data(stats);
  band.accumulator->summarise(stats);
  if (request.histogram_bins > 0) {
    ops::HistogramRange const range = stored_range(request, band, unpack);
    stats.histogram_min = range.low;
    stats.histogram_max = range.high;
    stats.histogram = band.accumulator->histogram();
  }
  if (unpack) { apply_scale(stats, *band.info); }
  if (request.histogram_bins > 0) {
    // Report the requested limits: the conversion to stored values and back rounds.
    stats.histogram_min = request.histogram_min.value_or(stats.histogram_min);
    stats.histogram_max = request.histogram_max.value_or(stats.histogram_max);
  }
  return stats;
}

}  // namespace

std::vector<BandStats> compute_stats(Dataset const& dataset, StatsRequest const& request, ReadReport* report) {
  check_request(request);
  ReadRequest reading = request.read;
  bool const wants_unpacked = std::exchange(reading.unpack, false);
  reading.masked = false;
  reading.missing.reset();
  reading.scale.reset();
  reading.dtype.reset();
  DType const dtype = working_dtype(result_dtype(dataset, reading));
  reading.dtype = dtype;
  // Real results are scaled at the end. The magnitude of a scaled complex number cannot be computed from the stored
  // magnitude.
  bool const unpack = wants_unpacked && !is_complex(dtype);
  reading.unpack = wants_unpacked && is_complex(dtype);
  auto const pass = std::make_shared<unsigned>(0);
  std::vector<std::uint32_t> const numbers = band_numbers(dataset.info(), reading);
  if (std::uint64_t{request.histogram_bins} * numbers.size() > kMaxBinsOfAllBands) {
    throw Error(ErrorKind::limit, text("histograms of ", numbers.size(), " bands have at most ", kMaxBinsOfAllBands,
                                       " bins together; ask for fewer bins or bands"));
  }
  bool const counting = size_bytes(dtype) == 1 || (size_bytes(dtype) == 2 && numbers.size() <= kMaxCountedBands);
  unsigned const passes = request.histogram_bins > 0 && !counting ? 2 : 1;
  reading.progress = spread_over(reading.progress, pass, passes);

  RowBlocks const blocks(dataset, reading, kBlockBytes);
  std::vector<Band> bands = make_bands(dataset.info(), numbers, dtype, counting);
  Passes run(blocks, bands);
  unsigned const threads = blocks.threads();
  if (report != nullptr) { *report = {}; }
  run.run([&](Band& band, ops::BandRows const& rows) { band.accumulator->add(rows, threads); }, report);

  if (request.histogram_bins > 0) {
    for (Band& band : bands) { band.accumulator->begin_histogram(stored_range(request, band, unpack)); }
    *pass = 1;
    bool const any_value =
        std::any_of(bands.begin(), bands.end(), [](Band const& b) { return b.accumulator->value_range().has_value(); });
    if (!counting && any_value) {
      run.run([&](Band& band, ops::BandRows const& rows) { band.accumulator->add_histogram(rows, threads); });
    }
  }

  std::vector<BandStats> results;
  std::uint64_t const total = std::uint64_t{blocks.width()} * blocks.height();
  for (Band const& band : bands) { results.push_back(summary_of(band, request, unpack, total)); }
  return results;
}

}  // namespace terrazzo
