// SPDX-License-Identifier: Apache-2.0
#include "read/plan/plan.hpp"

#include "base/affine.hpp"
#include "base/checked.hpp"
#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "read/plan/decode_method.hpp"
#include "read/plan/resample.hpp"
#include "read/plan/value_transforms.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace terrazzo {

std::uint64_t ReadPlan::Impl::window_bytes() const noexcept {
  tiff::Image const& image = level->image;
  std::uint64_t const row_bits = std::uint64_t{window.width} * image.samples_per_block() * image.bits;
  return saturating_product((row_bits + 7) / 8, window.height, planes.size());
}

TileId ReadPlan::Impl::block_id(std::uint64_t index) const noexcept {
  std::uint64_t const per_plane = std::uint64_t{block_columns} * block_rows;
  std::uint64_t const in_plane = index % per_plane;
  return {first_block_column + static_cast<std::uint32_t>(in_plane % block_columns),
          first_block_row + static_cast<std::uint32_t>(in_plane / block_columns),
          planes[static_cast<std::size_t>(index / per_plane)]};
}

std::uint64_t ReadPlan::Impl::block_number(TileId const& id) const noexcept { return level->image.block_number(id); }

Window ReadPlan::Impl::covered(TileId const& id) const noexcept {
  tiff::Image const& image = level->image;
  auto const overlap = [](std::uint64_t start, std::uint64_t length, std::uint64_t from, std::uint64_t size) {
    std::uint64_t const first = std::max(start, from);
    std::uint64_t const end = std::min(start + length, from + size);
    return std::pair(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end - first));
  };
  auto const [column, width] =
      overlap(std::uint64_t{id.column} * image.block_width_px, image.block_width_px, window.column, window.width);
  auto const [row, height] =
      overlap(std::uint64_t{id.row} * image.block_height_px, image.block_height_px, window.row, window.height);
  return {column, row, width, height};
}

ReadPlan::Impl::Target ReadPlan::Impl::target_of(Window const& covered_part) const noexcept {
  std::uint32_t const row = covered_part.row - window.row, column = covered_part.column - window.column;
  if (filter) {
    // Filters use every pixel: a part provides its share of the result.
    auto const share = [](std::uint64_t at, std::uint32_t size, std::uint32_t of) {
      return static_cast<std::uint32_t>(at * of / size);
    };
    std::uint32_t const first_row = share(row, window.height, out_height);
    std::uint32_t const first_column = share(column, window.width, out_width);
    return {first_row, share(std::uint64_t{row} + covered_part.height, window.height, out_height) - first_row,
            first_column, share(std::uint64_t{column} + covered_part.width, window.width, out_width) - first_column};
  }
  if (!resampled()) { return {row, covered_part.height, column, covered_part.width}; }
  auto const part = [](std::vector<std::uint32_t> const& map, std::uint32_t from, std::uint32_t size) {
    auto const first = std::ranges::lower_bound(map, from);
    auto const end = std::ranges::lower_bound(map, from + size);
    return std::pair(static_cast<std::uint32_t>(first - map.begin()), static_cast<std::uint32_t>(end - first));
  };
  auto const [first_row, rows] = part(source_rows, row, covered_part.height);
  auto const [first_column, columns] = part(source_columns, column, covered_part.width);
  return {first_row, rows, first_column, columns};
}

void ReadPlan::Impl::fill_sample(std::size_t band_index, std::byte* out) const noexcept {
  // Convert through the stored type, so that a filled pixel equals a stored pixel of that value.
  std::byte stored[16];
  reading::stored_fill(*this, band_index, stored);
  tile::convert_row(level->dtype, stored, 0, dtype, out, 0, 1, transforms[band_index]);
}

tile::MissingValue ReadPlan::Impl::missing_value() const noexcept {
  if (!missing) { return {}; }
  return {.value = missing->value, .i64 = missing->exact_i64, .u64 = missing->exact_u64};
}

reading::LevelPtr const& ReadPlan::Impl::mask_level() const noexcept {
  reading::LevelPtr const& full = dataset->levels[0]->mask;
  bool const of_full = full == nullptr || (level->mask == nullptr && (resampled() || filter));
  return of_full ? full : level->mask;
}

std::uint32_t ReadPlan::level() const noexcept { return impl_->level_index; }
Window ReadPlan::window() const noexcept { return impl_->window; }
std::uint32_t ReadPlan::width() const noexcept { return impl_->out_width; }
std::uint32_t ReadPlan::height() const noexcept { return impl_->out_height; }
std::vector<std::uint32_t> const& ReadPlan::bands() const noexcept { return impl_->bands; }
DType ReadPlan::dtype() const noexcept { return impl_->dtype; }
std::string const& ReadPlan::codec() const noexcept { return impl_->codec_name; }
std::uint32_t ReadPlan::predictor() const noexcept {
  return static_cast<std::uint32_t>(reading::effective_predictor(impl_->level->image));
}
std::uint64_t ReadPlan::tile_count() const noexcept { return impl_->block_count(); }
unsigned ReadPlan::threads() const noexcept { return impl_->threads; }
std::uint64_t ReadPlan::scratch_bytes() const noexcept { return impl_->scratch_bytes_per_thread * impl_->threads; }
std::uint64_t ReadPlan::result_bytes() const noexcept {
  // A sparse file of a few bytes may describe more than 2^64 bytes: report an excessive size instead of the wrapped
  // product.
  return checked_product(impl_->out_width, impl_->out_height, impl_->bands.size(), size_bytes(impl_->dtype))
      .value_or(std::numeric_limits<std::uint64_t>::max());
}

PlannedTile ReadPlan::tile(std::uint64_t index) const {
  if (index >= tile_count()) {
    throw Error(ErrorKind::usage, text("tile ", index, " is out of range: the plan has ", tile_count()),
                {.source = impl_->dataset->info.source});
  }
  TileId const id = impl_->block_id(index);
  Window const covered = impl_->covered(id);
  tiff::Image const& image = impl_->level->image;
  tiff::BlockRange const range = impl_->level->index.range(impl_->block_number(id));
  PlannedTile tile;
  tile.id = id;
  tile.size_bytes = range.size_bytes;
  tile.offset_bytes = range.size_bytes == 0 ? 0 : range.offset_bytes;
  ReadPlan::Impl::Target const target = impl_->target_of(covered);
  bool const is_skipped = target.empty() && !impl_->filter;
  tile.in_tile = {covered.column - id.column * image.block_width_px, covered.row - id.row * image.block_height_px,
                  is_skipped ? 0 : covered.width, is_skipped ? 0 : covered.height};
  tile.column = target.first_column;
  tile.row = target.first_row;
  return tile;
}

ReadPlan plan(Dataset const& dataset, ReadRequest const& request) {
  return ReadPlan(reading::make_plan(dataset.shared_impl(), request));
}

namespace reading {

namespace {

[[noreturn]] void refuse(Dataset::Impl const& dataset, std::string message) {
  throw Error(ErrorKind::usage, std::move(message), {.source = dataset.info.source});
}

void check_window(Dataset::Impl const& dataset, Window const& window, std::uint32_t width, std::uint32_t height) {
  if (window.width == 0 || window.height == 0) { refuse(dataset, "the window is empty"); }
  if (!range_fits(window.column, window.width, width) || !range_fits(window.row, window.height, height)) {
    refuse(dataset, text("the window (column ", window.column, ", row ", window.row, ", ", window.width, " x ",
                         window.height, ") is outside the raster of ", width, " x ", height));
  }
}

struct Span {
  std::uint32_t first, count;
};

// Pixels of `size` units on a raster with pixels of `pixel` units: their number, whole pixels that cover `length`, and
// the length that they cover. To keep the length, the nearest number of pixels covers exactly it.
struct CoveringPixels {
  std::uint32_t count;
  double length;
};

CoveringPixels covering_pixels(Dataset::Impl const& dataset, std::uint32_t length, double pixel, double size,
                               bool keeps_length) {
  constexpr double kWhole = 1e-6;  // quotients of decimal numbers are seldom exact
  double const exact = length * pixel / size, nearest = std::floor(exact + 0.5);
  bool const is_whole = keeps_length || std::abs(exact - nearest) <= kWhole;
  double const count = std::max(1.0, is_whole ? nearest : std::ceil(exact));
  if (!(count < std::numeric_limits<std::uint32_t>::max())) {
    refuse(dataset, "the target resolution is so fine that the result would have more than 4294967295 columns or rows");
  }
  return {static_cast<std::uint32_t>(count), keeps_length ? length : count * size / pixel};
}

// The pixels that a grid touches along one axis, of `size`.
Span touched_pixels(Dataset::Impl const& dataset, tile::AxisMap const& map, std::uint32_t count, std::uint32_t size) {
  if (count == 0) { refuse(dataset, "the target grid is empty"); }
  bool const counts = range_fits(map.first, count, std::numeric_limits<std::uint32_t>::max());
  if (!(map.ratio > 0 && std::isfinite(map.ratio) && std::isfinite(map.shift) && counts)) {
    refuse(dataset, "a target grid needs a place, and pixels that have a size");
  }
  if (!(map.at(0.5) >= 0 && map.at(count - 0.5) < size)) {
    refuse(dataset, "the target grid has pixels whose middle lies outside the raster");
  }
  auto const first = static_cast<std::uint32_t>(std::max(map.at(0), 0.0));
  auto const end = static_cast<std::uint32_t>(std::ceil(std::min<double>(map.at(count), size)));
  return {first, std::max(end, first + 1) - first};
}

Window window_of_grid(Dataset::Impl const& dataset, TargetGrid const& grid) {
  tiff::Image const& image = dataset.levels[0]->image;
  Span const columns =
      touched_pixels(dataset, {grid.column_step, grid.column, grid.first_column, 0}, grid.width, image.width_px);
  Span const rows = touched_pixels(dataset, {grid.row_step, grid.row, grid.first_row, 0}, grid.height, image.height_px);
  return {columns.first, rows.first, columns.count, rows.count};
}

ResultGrid grid_of(Dataset::Impl const& dataset, ReadRequest const& request, Window const& window) {
  if (request.target_grid) {
    TargetGrid const& grid = *request.target_grid;
    return {{grid.width, grid.height}, grid.width * grid.column_step, grid.height * grid.row_step, grid};
  }
  if (request.target_size) {
    return {*request.target_size, static_cast<double>(window.width), static_cast<double>(window.height)};
  }
  auto const& transform = dataset.info.georeference.transform;
  if (!transform) { refuse(dataset, "a target resolution needs a georeferenced raster; a target size does not"); }
  auto const& t = *transform;
  auto const [x, y] = *request.target_resolution;
  auto const [pixel_x, pixel_y] = pixel_sides(t);
  if (!(x > 0 && y > 0 && std::isfinite(x) && std::isfinite(y))) {
    refuse(dataset, "a target resolution must be above 0");
  }
  if (!(pixel_x > 0 && pixel_y > 0)) { refuse(dataset, "a target resolution needs pixels that have a size"); }
  CoveringPixels const columns = covering_pixels(dataset, window.width, pixel_x, x, request.keep_extent);
  CoveringPixels const rows = covering_pixels(dataset, window.height, pixel_y, y, request.keep_extent);
  return {{columns.count, rows.count}, columns.length, rows.length};
}

// A target size chooses its level but not the type: an overview's type may differ from the raster's.
DType dtype_of_result(Dataset::Impl const& dataset, ReadRequest const& request) {
  if (request.dtype) { return *request.dtype; }
  DType const stored = dataset.levels[request.level]->dtype;
  bool const becomes_float = request.masked || request.unpack;
  if (becomes_float && (stored == DType::ci16 || stored == DType::ci32)) { return DType::cf64; }
  return becomes_float && is_integer(stored) ? DType::f64 : stored;
}

// Upper bound for a row of a resampled block: its columns and their pixels.
std::uint64_t gathered_bytes(std::uint32_t width, Level const& level) {
  std::uint64_t const samples = level.image.is_converted_to_rgb() ? level.bands : level.image.samples_per_block();
  return width * (sizeof(std::uint32_t) + samples * size_bytes(level.dtype));
}

void choose_blocks(ReadPlan::Impl& plan) {
  tiff::Image const& image = plan.level->image;
  Window const& w = plan.window;
  plan.first_block_column = w.column / image.block_width_px;
  plan.first_block_row = w.row / image.block_height_px;
  plan.block_columns = (w.column + w.width - 1) / image.block_width_px - plan.first_block_column + 1;
  plan.block_rows = (w.row + w.height - 1) / image.block_height_px - plan.first_block_row + 1;
  if (plan.level->has_band_planes()) {
    for (std::uint32_t const band : plan.bands) { plan.planes.push_back(band - 1); }
    std::ranges::sort(plan.planes);
    plan.planes.erase(std::ranges::unique(plan.planes).begin(), plan.planes.end());
  } else {
    plan.planes = {0};
  }
  // The bounds of an image keep the product far below 2^64. A product that is 0 or wrapped would leave the result
  // uninitialised, so check it here, before any engine executes the plan.
  auto const blocks = checked_product(plan.block_columns, plan.block_rows, plan.planes.size());
  if (!blocks || *blocks == 0) {
    throw Error(ErrorKind::limit, text("a window of ", w.width, " x ", w.height, " pixels takes ", plan.block_columns,
                                       " x ", plan.block_rows, " blocks in ", plan.planes.size(), " planes"));
  }
}

// Uses the requested number of threads, limited by the number of blocks and by the memory limit.
void choose_threads(ReadPlan::Impl& plan, bool trusted, unsigned wanted) {
  DecodeMethod const method = choose_method(*plan.level, trusted);
  plan.codec_name = method.name;
  tiff::Image const& image = plan.level->image;
  std::uint64_t const block_bytes = image.block_bytes(image.block_height_px);
  bool const raw = method.kind == DecodeMethod::Kind::raw;
  // One finished row; and either the bytes that are read at a time, or decoded and compressed blocks, once more for
  // colour conversion, and the small blocks that share a read.
  bool const rgb = image.is_converted_to_rgb();
  std::uint64_t const planes = rgb ? image.planes() : 1;
  std::uint64_t const finished_row_bytes = std::uint64_t{image.block_width_px} * size_bytes(plan.level->dtype) *
                                           (rgb ? plan.level->bands : image.samples_per_block());
  plan.scratch_bytes_per_thread =
      finished_row_bytes + (raw ? std::max<std::uint64_t>(kRawPieceBytes, image.row_bytes())
                                : 3 * block_bytes * planes + codec_scratch_bytes(*plan.level, method) +
                                      (block_bytes < batch_bytes(*plan.level) ? batch_bytes(*plan.level) : 0));
  if (plan.resampled()) { plan.scratch_bytes_per_thread += gathered_bytes(plan.out_width, *plan.level); }
  // The part of the limit that the result leaves. One thread always runs and is subject to the budget.
  std::uint64_t const limit = plan.memory_limit_bytes - std::min(plan.memory_limit_bytes, plan.map_bytes());
  std::uint64_t const result_bytes =
      checked_product(plan.out_width, plan.out_height, plan.bands.size(), size_bytes(plan.dtype)).value_or(limit);
  std::uint64_t const scratch_limit = std::min(limit / 2, limit - std::min(limit, result_bytes));
  std::uint64_t const fed =
      std::max<std::uint64_t>(1, scratch_limit / std::max<std::uint64_t>(1, plan.scratch_bytes_per_thread));
  // Waking a thread pays off for this many bytes: decoding them takes some 200 microseconds.
  constexpr std::uint64_t kDecodeGrainBytes = 128 << 10;
  std::uint64_t const work =
      raw ? plan.window_bytes() / kRawGrainBytes
          : std::min(plan.block_count(), saturating_product(plan.block_count(), block_bytes) / kDecodeGrainBytes);
  plan.threads =
      static_cast<unsigned>(std::min<std::uint64_t>({resolve_threads(wanted), fed, std::max<std::uint64_t>(1, work)}));
  // Decoding several blocks at a time must not add a turn of all threads, unless there are many turns, and must not
  // cost a thread for lack of memory.
  constexpr std::uint64_t kManyTurns = 8;
  std::uint64_t const turns = (plan.block_count() + plan.threads - 1) / plan.threads;
  if (raw || rgb || method.codec == nullptr || block_bytes < method.codec->at_once_from_bytes) { return; }
  std::uint64_t const at_once = method.codec->blocks_at_once;
  std::uint64_t const with_more_bytes = plan.scratch_bytes_per_thread + 2 * (at_once - 1) * block_bytes;
  bool const costs_no_turn = turns >= kManyTurns || (turns > 0 && turns % at_once == 0);
  if (costs_no_turn && with_more_bytes <= scratch_limit / plan.threads) {
    plan.blocks_at_once = method.codec->blocks_at_once;
    plan.scratch_bytes_per_thread = with_more_bytes;
  }
}

std::vector<std::uint32_t> checked_bands(Dataset::Impl const& dataset, ReadRequest const& request) {
  std::size_t const count = dataset.info.bands.size();
  std::vector<std::uint32_t> bands = request.bands;
  if (bands.empty()) {
    bands.resize(count);
    std::iota(bands.begin(), bands.end(), 1u);
  }
  for (std::uint32_t const band : bands) {
    if (band == 0 || band > count) {
      refuse(dataset, text("band ", band, " is out of range: the raster has bands 1 to ", count));
    }
  }
  return bands;
}

void check_level_and_target(Dataset::Impl const& dataset, ReadRequest const& request) {
  if (request.level >= dataset.levels.size()) {
    refuse(dataset,
           text("level ", request.level, " is out of range: the raster has ", dataset.levels.size() - 1, " overviews"));
  }
  if (request.has_target() && request.level != 0) {
    refuse(dataset, "a target size or resolution chooses its level: give one of the two");
  }
  if (request.target_size && request.target_resolution) {
    refuse(dataset, "a result has a target size or a target resolution, not both");
  }
  if (request.target_grid && (request.target_size || request.target_resolution || request.window)) {
    refuse(dataset, "a target grid takes the place of a window, a target size and a target resolution");
  }
}

// The requested window, in pixels of the requested level.
Window checked_window(Dataset::Impl const& dataset, ReadRequest const& request) {
  tiff::Image const& image = dataset.levels[request.level]->image;
  Window const window = request.target_grid ? window_of_grid(dataset, *request.target_grid)
                                            : request.window.value_or(Window{0, 0, image.width_px, image.height_px});
  check_window(dataset, window, image.width_px, image.height_px);
  return window;
}

// Level, window, source pixels and size of a read without a target.
void place_window(ReadPlan::Impl& plan, ReadRequest const& request, Window const& window) {
  plan.level_index = request.level;
  plan.out_width = window.width;
  plan.out_height = window.height;
  plan.window = plan.asked_window = window;
  plan.grid_width = window.width;
  plan.grid_height = window.height;
}

// The same for a target. REQUIRES: place_window() was called.
void place_target(ReadPlan::Impl& plan, Dataset::Impl const& dataset, ReadRequest const& request) {
  ResultGrid const grid = grid_of(dataset, request, plan.asked_window);
  TargetSize const target = grid.size;
  if (target.width == 0 || target.height == 0) { refuse(dataset, "the target size is empty"); }
  std::uint64_t const map_bytes = (std::uint64_t{target.width} + target.height) * sizeof(std::uint32_t);
  if (map_bytes > plan.memory_limit_bytes) {
    throw Error(ErrorKind::limit,
                text("a target of ", target.width, " x ", target.height, " pixels needs ", map_bytes,
                     " bytes for its rows and columns alone (memory_limit_bytes, "
                     "TERRAZZO_MEMORY_LIMIT)"),
                {.source = dataset.info.source});
  }
  SourcePixels sampling = choose_resampling(dataset, plan.asked_window, grid, request.resampling);
  if (sampling.filter && is_complex(dataset.levels[sampling.level]->dtype)) {
    throw Error(ErrorKind::unsupported,
                text("complex pixels are resampled by nearest, not by ", to_string(request.resampling)),
                {.source = dataset.info.source});
  }
  plan.level_index = sampling.level;
  plan.window = sampling.window;
  plan.source_columns = std::move(sampling.columns);
  plan.source_rows = std::move(sampling.rows);
  plan.filter = sampling.filter;
  plan.out_width = target.width;
  plan.out_height = target.height;
  plan.grid_width = grid.width;
  plan.grid_height = grid.height;
  plan.placed = grid.placed;
}

// The values of sparse blocks, band by band.
std::vector<double> fills_of(Info const& info, std::span<std::uint32_t const> bands) {
  std::vector<double> fills;
  for (std::uint32_t const band : bands) {
    std::optional<Nodata> const& nodata = info.bands[band - 1].nodata;
    fills.push_back(nodata && nodata->representable ? nodata->value : 0);
  }
  return fills;
}

}  // namespace

std::shared_ptr<ReadPlan::Impl const> make_plan(std::shared_ptr<Dataset::Impl const> dataset,
                                                ReadRequest const& request) {
  auto plan = std::make_shared<ReadPlan::Impl>();
  plan->memory_limit_bytes = resolve_memory_limit(request.memory_limit_bytes);
  plan->bands = checked_bands(*dataset, request);
  check_level_and_target(*dataset, request);
  place_window(*plan, request, checked_window(*dataset, request));
  if (request.has_target()) { place_target(*plan, *dataset, request); }
  plan->level = dataset->levels[plan->level_index];
  plan->dataset = std::move(dataset);
  Info const& info = plan->dataset->info;
  plan->dtype = dtype_of_result(*plan->dataset, request);
  choose_transforms(*plan, request);
  plan->fills = fills_of(info, plan->bands);
  choose_blocks(*plan);
  try {
    choose_threads(*plan, plan->dataset->trusted, request.threads);
  } catch (Error const& error) { throw error.located({.source = info.source, .ifd = plan->level->image.ifd}); }
  return plan;
}

std::shared_ptr<ReadPlan::Impl const> make_part_plan(ReadPlan::Impl const& plan, Window const& part,
                                                     std::span<std::size_t const> band_indices) {
  auto result = std::make_shared<ReadPlan::Impl>(plan);
  result->window = result->asked_window = part;
  result->out_width = part.width;
  result->out_height = part.height;
  result->bands.clear();
  result->transforms.clear();
  result->fills.clear();
  result->planes.clear();
  for (std::size_t const i : band_indices) {
    result->bands.push_back(plan.bands[i]);
    result->transforms.push_back(plan.transforms[i]);
    result->fills.push_back(plan.fills[i]);
  }
  choose_blocks(*result);
  return result;
}

std::shared_ptr<ReadPlan::Impl const> make_gathered_plan(ReadPlan::Impl const& plan, std::vector<std::uint32_t> columns,
                                                         std::vector<std::uint32_t> rows) {
  auto result = std::make_shared<ReadPlan::Impl>(plan);
  result->out_width = static_cast<std::uint32_t>(columns.size());
  result->out_height = static_cast<std::uint32_t>(rows.size());
  result->source_columns = std::move(columns);
  result->source_rows = std::move(rows);
  result->blocks_at_once = 1;
  choose_threads(*result, result->dataset->trusted, plan.threads);
  return result;
}

std::shared_ptr<ReadPlan::Impl const> make_level_plan(std::shared_ptr<Dataset::Impl const> dataset, LevelPtr level,
                                                      std::uint32_t band, ReadPlan::Impl like) {
  auto plan = std::make_shared<ReadPlan::Impl>();
  plan->level = std::move(level);
  plan->level_index = like.level_index;
  plan->window = like.window;
  plan->out_width = like.out_width;
  plan->out_height = like.out_height;
  plan->source_columns = std::move(like.source_columns);
  plan->source_rows = std::move(like.source_rows);
  plan->asked_window = like.asked_window;
  plan->grid_width = like.grid_width;
  plan->grid_height = like.grid_height;
  plan->bad_tile_prefix = std::move(like.bad_tile_prefix);
  plan->bands = {band};
  plan->dtype = DType::u8;
  plan->transforms.emplace_back();
  plan->fills.push_back(0);
  choose_blocks(*plan);
  // The result that contains it is already allocated.
  std::uint64_t const held = checked_product(like.out_width, like.out_height, like.bands.size(), size_bytes(like.dtype))
                                 .value_or(like.memory_limit_bytes);
  plan->memory_limit_bytes = like.memory_limit_bytes - std::min(like.memory_limit_bytes, held);
  choose_threads(*plan, dataset->trusted, like.threads);
  plan->dataset = std::move(dataset);
  return plan;
}

}  // namespace reading
}  // namespace terrazzo
