// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/sample.hpp"

#include "base/memory_budget.hpp"
#include "base/parallel.hpp"
#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "read/arrays/host_array.hpp"
#include "read/plan/plan.hpp"
#include "read/public_call.hpp"
#include "read/read_report.hpp"
#include "read/sample/point_groups.hpp"
#include "terrazzo/error.hpp"
#include "tile/convert.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

namespace terrazzo {
namespace {

using reading::BlockGrid;
using reading::PlacedPoint;
using reading::PointGroup;

// Larger windows of a group are not read as a whole: strips of a wide raster, blocks of a whole raster.
constexpr std::uint64_t kMaxWindowBytes = std::uint64_t{32} << 20;
constexpr std::size_t kPixelsAtOnce = 4096;  // windows of one pixel; a plan for each takes about 1 KiB

void check_request(std::span<Point const> points, ReadRequest const& request) {
  if (request.window || request.has_target()) {
    throw Error(ErrorKind::usage, "samples are taken at points: the request must have no window and no target size");
  }
  if (points.size() >= std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorKind::limit, text(points.size(), " points are too many for one call: give fewer than 2^32 - 1"));
  }
}

// REQUIRES: the level exists.
BlockGrid grid_of(Info const& info, std::uint32_t level) {
  if (level == 0) {
    return {info.width, info.height, std::max(info.layout.tile_width, 1U), std::max(info.layout.tile_height, 1U)};
  }
  OverviewInfo const& overview = info.overviews[level - 1];
  return {overview.width, overview.height, std::max(overview.tile_width, 1U), std::max(overview.tile_height, 1U)};
}

// How the validity of the requested pixels is found.
struct Validity {
  bool by_mask = false;  // read_mask() decides
  std::vector<std::optional<tile::ValueTransform>> nodata{};  // else a comparison of the values read, for each band
};

Validity validity_of(ReadPlan::Impl const& plan, ReadRequest const& request) {
  // read() gives stored values unless it changes them.
  bool const is_stored =
      !request.masked && !request.unpack && !request.scale && !request.missing && plan.dtype == plan.level->dtype;
  Validity validity;
  validity.by_mask = plan.mask_level() != nullptr;
  for (std::uint32_t const number : plan.bands) {
    BandInfo const& band = plan.dataset->info.bands[number - 1];
    auto& nodata = validity.nodata.emplace_back();
    validity.by_mask = validity.by_mask || band.mask == MaskKind::alpha;
    if (!band.nodata || !band.nodata->representable) { continue; }
    validity.by_mask = validity.by_mask || !is_stored;
    nodata.emplace();
    nodata->mask_nodata = true;
    nodata->nodata = band.nodata->value;
    nodata->nodata_i64 = band.nodata->exact_i64;
    nodata->nodata_u64 = band.nodata->exact_u64;
  }
  return validity;
}

// Reads the pixels of groups. One per call of sample(); thread-safe.
class PointReader {
 public:
  PointReader(Dataset const& dataset, ReadRequest request, ReadPlan::Impl const& plan, SampleResult& result)
      : dataset_(dataset), request_(std::move(request)), validity_(validity_of(plan, request_)), result_(result) {
    request_.progress = {};
    request_.threads = 1;
    request_.engine = Engine::host;
    pixel_bytes_ = saturating_product(plan.bands.size(), size_bytes(plan.dtype));
  }

  void set_memory_limit(std::uint64_t bytes) noexcept { request_.memory_limit_bytes = bytes; }

  // Bytes of the window of a group.
  [[nodiscard]] std::uint64_t window_bytes(PointGroup const& group) const noexcept {
    return saturating_product(group.window.width, group.window.height, pixel_bytes_);
  }
  [[nodiscard]] bool reads_window(PointGroup const& group) const noexcept {
    return window_bytes(group) <= kMaxWindowBytes;
  }

  void read_group(std::span<PlacedPoint const> points, PointGroup const& group, ReadReport& report) const {
    if (reads_window(group)) { return read_window(points, group.window, report); }
    for (std::size_t first = 0; first < points.size(); first += kPixelsAtOnce) {
      read_pixels(points.subspan(first, std::min(kPixelsAtOnce, points.size() - first)), report);
    }
  }

 private:
  void read_window(std::span<PlacedPoint const> points, Window const& window, ReadReport& report) const {
    ReadRequest request = request_;
    request.window = window;
    ReadReport part;
    HostArray const values = read(dataset_, request, &part);
    reading::add_report(report, std::move(part));
    std::optional<HostArray> const mask = mask_of(window, report);
    for (PlacedPoint const& point : points) {
      std::uint32_t const column = point.column - window.column, row = point.row - window.row;
      take(point.index, values.view(), mask ? std::optional(mask->view()) : std::nullopt, column, row);
    }
  }

  void read_pixels(std::span<PlacedPoint const> points, ReadReport& report) const {
    std::vector<WindowOf> windows;
    windows.reserve(points.size());
    for (PlacedPoint const& point : points) { windows.push_back({dataset_, {point.column, point.row, 1, 1}}); }
    ReadReport part;
    HostBatch const values = read_windows(windows, request_, &part);
    reading::add_report(report, std::move(part));
    for (std::size_t i = 0; i < points.size(); ++i) {
      std::optional<HostArray> const mask = mask_of(windows[i].window, report);
      take(points[i].index, values.item(static_cast<std::uint32_t>(i)),
           mask ? std::optional(mask->view()) : std::nullopt, 0, 0);
    }
  }

  [[nodiscard]] std::optional<HostArray> mask_of(Window const& window, ReadReport& report) const {
    if (!validity_.by_mask) { return std::nullopt; }
    ReadRequest request = request_;
    request.window = window;
    ReadReport part;
    HostArray mask = read_mask(dataset_, request, &part);
    reading::add_report(report, std::move(part));
    return mask;
  }

  static std::byte const* sample_of(ConstHostView const& view, std::uint32_t band, std::uint32_t column,
                                    std::uint32_t row) noexcept {
    std::size_t const number = (std::size_t{band} * view.height + row) * view.width + column;
    return static_cast<std::byte const*>(view.data) + number * size_bytes(view.dtype);
  }

  // Moves one pixel of packed `values` to the result. Groups have different points, so threads do not meet.
  void take(std::uint32_t index, ConstHostView const& values, std::optional<ConstHostView> const& mask,
            std::uint32_t column, std::uint32_t row) const {
    std::size_t const bytes = size_bytes(values.dtype);
    for (std::uint32_t band = 0; band < values.bands; ++band) {
      std::byte const* const from = sample_of(values, band, column, row);
      std::size_t const place = std::size_t{band} * result_.values.width() + index;
      std::memcpy(result_.values.bytes().data() + place * bytes, from, bytes);
      result_.states[place] =
          is_valid(values.dtype, from, band, mask, column, row) ? SampleState::valid : SampleState::missing;
    }
  }

  [[nodiscard]] bool is_valid(DType dtype, std::byte const* value, std::uint32_t band,
                              std::optional<ConstHostView> const& mask, std::uint32_t column, std::uint32_t row) const {
    if (mask) { return *sample_of(*mask, band, column, row) != std::byte{0}; }
    auto const& nodata = validity_.nodata[band];
    if (!nodata) { return true; }
    std::uint8_t valid = 0;
    tile::valid_row(dtype, value, static_cast<std::ptrdiff_t>(size_bytes(dtype)), &valid, 1, 1, *nodata);
    return valid != 0;
  }

  Dataset const& dataset_;
  ReadRequest request_;
  Validity validity_;
  SampleResult& result_;
  std::uint64_t pixel_bytes_ = 0;
};

// Threads whose windows and scratch fit half of the limit.
unsigned affordable_threads(ReadRequest const& request, ReadPlan::Impl const& plan, std::uint64_t limit_bytes,
                            std::uint64_t window_bytes) {
  std::uint64_t const each = std::max<std::uint64_t>(plan.scratch_bytes_per_thread + 2 * window_bytes, 1);
  std::uint64_t const fit = std::max<std::uint64_t>(limit_bytes / 2 / each, 1);
  return static_cast<unsigned>(std::min<std::uint64_t>(resolve_threads(request.threads), fit));
}

// Reports of all groups, and the caller's progress.
class Tally {
 public:
  Tally(ReadRequest const& request, std::uint64_t groups, ReadReport& report)
      : request_(request), groups_(groups), report_(report) {}

  void add(ReadReport part) {
    std::scoped_lock const lock(mutex_);
    reading::add_report(report_, std::move(part));
    ++done_;
    if (request_.progress && !request_.progress(done_, groups_)) {
      throw Error(ErrorKind::cancelled, "the caller cancelled the samples");
    }
  }

 private:
  ReadRequest const& request_;
  std::uint64_t groups_, done_ = 0;
  ReadReport& report_;
  std::mutex mutex_;
};

SampleResult take_samples(Dataset const& dataset, std::span<Point const> points, ReadRequest const& request,
                          ReadReport& report) {
  check_request(points, request);
  ReadRequest one_pixel = request;
  one_pixel.window = Window{0, 0, 1, 1};
  auto const plan = reading::make_plan(dataset.shared_impl(), one_pixel);  // checks the level and the bands
  Info const& info = dataset.info();
  BlockGrid const grid = grid_of(info, request.level);
  auto const count = static_cast<std::uint32_t>(points.size());
  auto const bands = static_cast<std::uint32_t>(plan->bands.size());

  MemoryBudget budget(resolve_memory_limit(request.memory_limit_bytes));
  auto const reserved_values = budget.reserve(
      saturating_sum(reading::array_bytes(plan->dtype, bands, 1, count), std::uint64_t{bands} * count), "the samples");
  auto const reserved_points =
      budget.reserve(std::uint64_t{count} * (sizeof(Pixel) + sizeof(PlacedPoint)), "the points of the samples");

  SampleResult result{HostArray(plan->dtype, bands, 1, count)};
  std::ranges::fill(result.values.bytes(), std::byte{0});
  result.states.assign(std::size_t{bands} * count, SampleState::outside);
  std::vector<Pixel> pixels = to_pixel(info, points);
  for (Pixel& pixel : pixels) {
    pixel.column *= static_cast<double>(grid.width) / info.width;
    pixel.row *= static_cast<double>(grid.height) / info.height;
  }
  std::vector<PlacedPoint> const placed = reading::place_points(pixels, grid);
  pixels = {};
  std::vector<PointGroup> const groups = reading::group_by_block(placed, grid);

  PointReader reader(dataset, request, *plan, result);
  std::uint64_t largest = 0;
  for (PointGroup const& group : groups) {
    if (reader.reads_window(group)) { largest = std::max(largest, reader.window_bytes(group)); }
  }
  std::uint64_t const free_bytes = budget.limit_bytes() - budget.used_bytes();
  unsigned const threads = affordable_threads(request, *plan, free_bytes, largest);
  reader.set_memory_limit(std::max<std::uint64_t>(free_bytes / threads, 1));
  Tally tally(request, groups.size(), report);
  parallel_for(groups.size(), threads, [&](std::uint64_t i) {
    ReadReport part;
    reader.read_group(std::span(placed).subspan(groups[i].first, groups[i].count), groups[i], part);
    tally.add(std::move(part));
  });
  return result;
}

}  // namespace

SampleResult sample(Dataset const& dataset, std::span<Point const> points, ReadRequest const& request,
                    ReadReport* report) {
  ReadReport local;
  ReadReport& filled = report == nullptr ? local : *report;
  filled = {};
  return reading::naming_the_source(dataset, [&] { return take_samples(dataset, points, request, filled); });
}

}  // namespace terrazzo
