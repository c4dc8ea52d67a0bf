// SPDX-License-Identifier: Apache-2.0
#include "read/filter/filtered_read.hpp"

#include "base/checked.hpp"
#include "base/saturating.hpp"
#include "base/thread_pool.hpp"
#include "read/filter/absent_rows.hpp"
#include "read/filter/source_rows.hpp"
#include "read/plan/value_transforms.hpp"
#include "read/read_report.hpp"
#include "read/row_pieces.hpp"
#include "terrazzo/error.hpp"
#include "tile/convert.hpp"
#include "tile/reduce/reduction.hpp"
#include "tile/reduce_convolution.hpp"
#include "tile/view_strides.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace terrazzo::reading {
namespace {

constexpr std::uint64_t kStripBytes = 64 << 20;  // of source rows: many blocks to decode at once
constexpr std::uint64_t kChunkBytes = 1 << 20;  // of result rows that a thread makes before it converts them

// Some columns of the result, and the columns of the level that they use.
struct Part {
  std::uint32_t first = 0, count = 0;  // columns of the result
  tile::AxisMap columns{};
  Window window{};
};

[[nodiscard]] tile::AxisMap from_pixel(tile::AxisMap map, std::uint32_t first) noexcept {
  map.first += first;
  return map;
}

[[nodiscard]] bool same_nodata(std::optional<Nodata> const& a, std::optional<Nodata> const& b) noexcept {
  if (!a || !b) { return a.has_value() == b.has_value(); }
  return std::bit_cast<std::uint64_t>(a->value) == std::bit_cast<std::uint64_t>(b->value) &&
         a->exact_i64 == b->exact_i64 && a->exact_u64 == b->exact_u64;
}

// Bytes of a method's tables for an axis of `pixels` result pixels, and of the rows that it keeps.
[[nodiscard]] std::uint64_t table_bytes(Filter const& filter, tile::AxisMap const& map, std::uint32_t pixels,
                                        std::uint32_t level_size) {
  if (!tile::is_kernel(filter.method)) { return saturating_product(pixels, 4 * sizeof(double)); }
  constexpr std::uint64_t kTables = 3;  // plain, normalised and grouped weights
  PixelRange const all = filtered_pixels(filter.method, map, pixels, level_size);
  std::uint64_t const taps = (all.last - all.first) / pixels + 1;
  auto const width = static_cast<std::uint64_t>(2 * tile::kernel_radius(filter.method)) + 1;
  return saturating_product(kTables * sizeof(double), pixels, width, taps + 1);
}

class FilteredRead {
 public:
  FilteredRead(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination, bool makes_masks,
               MemoryBudget& budget, ReadReport& report)
      : plan_(plan),
        filter_(*plan.filter),
        request_(request),
        destination_(destination),
        makes_masks_(makes_masks),
        budget_(budget),
        report_(report),
        progress_(request.progress, plan.block_count(), plan.window.height) {
    // The engine that reads the strips has neither masks nor a progress of its own.
    strips_.bad_tile = request.bad_tile;
    strips_.strict = request.strict;
    strips_.threads = request.threads;
    strips_.cancel = request.cancel;
  }

  void run() {
    // Before any work whose time depends on the result's height.
    auto const row_tables =
        budget_.reserve(table_bytes(filter_, filter_.rows, plan_.out_height, plan_.level->image.height_px), kTablesOf);
    std::uint32_t const needed = most_rows();
    std::uint64_t const room = budget_.limit_bytes() - std::min(budget_.limit_bytes(), budget_.used_bytes());
    std::uint64_t const column_bytes = saturating_product(SourceRows::pixel_bytes(plan_), needed);
    std::uint64_t const bytes = saturating_product(column_bytes, plan_.window.width);
    // Half of the room for source rows, a quarter for what one thread of a kernel keeps of them.
    std::uint64_t const kept =
        tile::is_kernel(filter_.method) ? saturating_product(sizeof(double) + 1, needed, plan_.out_width) : 0;
    std::uint64_t const wanted = std::max(ceil_div(bytes, std::max<std::uint64_t>(room / 2, 1)),
                                          ceil_div(kept, std::max<std::uint64_t>(room / 4, 1)));
    std::uint64_t const parts = std::clamp<std::uint64_t>(wanted, 1, plan_.out_width);
    for (std::uint64_t i = 0; i < parts; ++i) {
      part_index_ = i;
      part_count_ = parts;
      make(part_of_result(i, parts), needed, room);
    }
    drop_repeats(report_.bad_tiles);
    progress_.tell_done(plan_.window.height);  // strips are read in whole tiles, so more rows than requested are done
  }

 private:
  static constexpr char const* kTablesOf = "the weights of a resampled read";

  // Source rows of the result row that uses most.
  [[nodiscard]] std::uint32_t most_rows() const {
    constexpr std::uint32_t kPollRows = 1 << 16;
    std::uint32_t most = 1;
    for (std::uint32_t row = 0; row < plan_.out_height; ++row) {
      if (row % kPollRows == 0) { throw_if_cancelled(); }
      PixelRange const used =
          filtered_pixels(filter_.method, from_pixel(filter_.rows, row), 1, plan_.level->image.height_px);
      most = std::max(most, used.last - used.first);
    }
    return most;
  }

  [[nodiscard]] Part part_of_result(std::uint64_t index, std::uint64_t parts) const {
    Part part;
    part.first = static_cast<std::uint32_t>(index * plan_.out_width / parts);
    part.count = static_cast<std::uint32_t>((index + 1) * plan_.out_width / parts) - part.first;
    part.columns = from_pixel(filter_.columns, part.first);
    PixelRange const used = filtered_pixels(filter_.method, part.columns, part.count, plan_.level->image.width_px);
    part.columns.origin = used.first;
    part.window = {used.first, plan_.window.row, used.last - used.first, plan_.window.height};
    return part;
  }

  void make(Part const& part, std::uint32_t needed, std::uint64_t room) {
    tiff::Image const& image = plan_.level->image;
    auto const column_tables =
        budget_.reserve(table_bytes(filter_, part.columns, part.count, image.width_px), kTablesOf);
    std::uint64_t const row_bytes = saturating_product(SourceRows::pixel_bytes(plan_), part.window.width);
    std::uint64_t const fit = std::min(kStripBytes, room / 4) / std::max<std::uint64_t>(row_bytes, 1);
    // Rows that stay for the next strip, and at least one row of blocks after them if there is memory.
    std::uint64_t const rows = std::clamp<std::uint64_t>(fit, needed, plan_.window.height);
    SourceRows source(plan_, part.window, static_cast<std::uint32_t>(rows), budget_);
    std::vector<tile::Reduction> reductions;
    std::vector<std::size_t> reduction_of_band;
    choose_reductions(part, source, reductions, reduction_of_band);
    AbsentRows absent(plan_, part.window);
    rows_told_ = 0;
    for (std::uint32_t row = 0; row < plan_.out_height;) {
      tile::RowRange const used = reductions.front().source_rows(row);
      if (!source.has_masks() && absent.cover(used.first, used.last)) {
        fill_row(part, row);
        report_.sparse_tiles += absent.count(used.first, used.last);
        rows_told_ = used.last;
        ++row;
        continue;
      }
      read_rows(source, used);
      std::uint32_t end = row + 1;
      while (end < plan_.out_height && reductions.front().source_rows(end).last <= source.end()) { ++end; }
      reduce_rows(part, source, reductions, reduction_of_band, row, end);
      row = end;
    }
  }

  void read_rows(SourceRows& source, tile::RowRange const& used) {
    if (used.last > source.end()) {
      // Shares of one progress: the rows of this part among those of all parts.
      std::uint64_t const height = plan_.window.height;
      auto const at = [&](std::uint64_t row) { return (part_index_ * height + row) / part_count_; };
      std::uint32_t const done = std::max(source.end(), rows_told_);
      strips_.progress = progress_.of_rows(at(done), at(std::max(used.last, done)));
    }
    source.provide(used.first, used.last, strips_, report_);
  }

  // Bands with the same nodata and kind of mask share a reduction, and its tables.
  void choose_reductions(Part const& part, SourceRows const& source, std::vector<tile::Reduction>& reductions,
                         std::vector<std::size_t>& of_band) const {
    std::vector<tile::ReductionSpec> specs;
    for (std::size_t band = 0; band < plan_.bands.size(); ++band) {
      tile::ReductionSpec spec;
      spec.source_width = part.window.width;
      spec.source_height = part.window.height;
      spec.width = part.count;
      spec.height = plan_.out_height;
      spec.dtype = plan_.level->dtype;
      spec.method = filter_.method;
      spec.nodata = nodata_of(band);
      spec.mask = spec.mask_has_weights = source.mask_of(band).has_value();
      spec.bits = plan_.level->image.is_converted_to_rgb() ? 0 : plan_.level->image.bits;
      spec.columns = part.columns;
      spec.rows = filter_.rows;
      auto const known = std::ranges::find_if(specs, [&](tile::ReductionSpec const& other) {
        return same_nodata(other.nodata, spec.nodata) && other.mask == spec.mask;
      });
      of_band.push_back(static_cast<std::size_t>(known - specs.begin()));
      if (known != specs.end()) { continue; }
      specs.push_back(spec);
      reductions.emplace_back(spec);
    }
  }

  [[nodiscard]] std::optional<Nodata> nodata_of(std::size_t band) const {
    std::optional<Nodata> const& nodata = plan_.dataset->info.bands[plan_.bands[band] - 1].nodata;
    return nodata && nodata->representable ? nodata : std::nullopt;
  }

  // Every method makes the fill of absent blocks from pixels that all have it: it is 0 or the value of missing pixels.
  void fill_row(Part const& part, std::uint32_t row) const {
    throw_if_cancelled();
    std::byte fill[16];
    for (std::size_t band = 0; band < plan_.bands.size(); ++band) {
      stored_fill(plan_, band, fill);
      store_row(part, band, row, fill, 0, nullptr);
    }
  }

  void throw_if_cancelled() const {
    if (request_.cancel != nullptr && request_.cancel->load(std::memory_order_relaxed)) {
      throw Error(ErrorKind::cancelled, "the read was cancelled", {.source = plan_.dataset->info.source});
    }
  }

  // One task for each band and chunk of rows.
  void reduce_rows(Part const& part, SourceRows const& source, std::vector<tile::Reduction> const& reductions,
                   std::vector<std::size_t> const& of_band, std::uint32_t first, std::uint32_t end) {
    std::uint64_t const row_bytes = std::uint64_t{part.count} * (size_bytes(plan_.level->dtype) + 1);
    std::uint64_t const share = ceil_div(std::uint64_t{end - first} * plan_.bands.size(), std::uint64_t{plan_.threads});
    std::uint64_t const rows =
        std::clamp<std::uint64_t>(kChunkBytes / row_bytes, 1, std::min<std::uint64_t>(share, end - first));
    std::uint64_t const chunks = ceil_div(std::uint64_t{end - first}, rows);
    auto const tasks = chunks * plan_.bands.size();
    std::uint64_t thread_bytes = 0;
    for (tile::Reduction const& reduction : reductions) {
      thread_bytes = std::max(thread_bytes, reduction.scratch_bytes());
    }
    thread_bytes = saturating_sum(thread_bytes, saturating_product(rows, row_bytes));
    // As many threads as there is memory for.
    auto threads = static_cast<unsigned>(std::min<std::uint64_t>(plan_.threads, tasks));
    std::optional<MemoryBudget::Reservation> scratch;
    while (threads > 1 && !(scratch = budget_.try_reserve(saturating_product(threads, thread_bytes)))) { --threads; }
    if (!scratch) { scratch = budget_.reserve(thread_bytes, "resampled rows"); }
    std::atomic<std::uint64_t> next{0};
    run_on_pool(threads, [&](unsigned) {
      HostArray pixels(plan_.level->dtype, 1, static_cast<std::uint32_t>(rows), part.count);
      HostArray mask(DType::u8, 1, static_cast<std::uint32_t>(rows), part.count);
      for (std::uint64_t task = next++; task < tasks; task = next++) {
        throw_if_cancelled();
        auto const band = static_cast<std::size_t>(task / chunks);
        auto const from = first + static_cast<std::uint32_t>(task % chunks * rows);
        auto const count = static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, end - from));
        tile::HostRows made{from, rows_of(pixels, count), {}};
        if (source.mask_of(band) && (makes_masks_ || request_.masked)) { made.mask = rows_of(mask, count); }
        reductions[of_band[band]].reduce(source.band(band), made, [&] { throw_if_cancelled(); });
        for (std::uint32_t i = 0; i < count; ++i) {
          auto const* const valid = made.mask.data == nullptr ? nullptr : row_of(made.mask, i);
          store_row(part, band, from + i, row_of(made.pixels, i), made.pixels.pixel_stride_bytes, valid);
        }
      }
    });
  }

  [[nodiscard]] static HostView rows_of(HostArray& array, std::uint32_t count) {
    HostView view = array.view();
    view.height = count;
    return view;
  }

  [[nodiscard]] static std::byte const* row_of(HostView const& view, std::uint32_t row) {
    return static_cast<std::byte const*>(view.data) + row * view.row_stride_bytes;
  }

  // Converts a row of the stored type to the destination's row. `valid` has a byte for each pixel, or is null.
  void store_row(Part const& part, std::size_t band, std::uint32_t row, std::byte const* in,
                 std::ptrdiff_t in_stride_bytes, std::byte const* valid) const {
    std::byte* const out = static_cast<std::byte*>(destination_.data) +
                           static_cast<std::int64_t>(band) * destination_.band_stride_bytes +
                           row * destination_.row_stride_bytes + part.first * destination_.pixel_stride_bytes;
    if (makes_masks_) { return store_validity(part, band, in, in_stride_bytes, valid, out); }
    tile::convert_row(plan_.level->dtype, in, in_stride_bytes, plan_.dtype, out, destination_.pixel_stride_bytes,
                      part.count, plan_.transforms[band]);
    if (valid == nullptr) { return; }
    std::byte missing[16];
    tile::store_missing(plan_.dtype, missing, plan_.missing_value());
    std::size_t const bytes = size_bytes(plan_.dtype);
    for (std::uint32_t c = 0; c < part.count; ++c) {
      if (valid[c] == std::byte{0}) { std::memcpy(out + c * destination_.pixel_stride_bytes, missing, bytes); }
    }
  }

  void store_validity(Part const& part, std::size_t band, std::byte const* in, std::ptrdiff_t in_stride_bytes,
                      std::byte const* valid, std::byte* out) const {
    auto const nodata = nodata_of(band);
    for (std::uint32_t c = 0; valid != nullptr && c < part.count; ++c) {
      out[c * destination_.pixel_stride_bytes] = valid[c];
    }
    if (valid != nullptr) { return; }
    if (!nodata) { return tile::fill_row(DType::u8, out, destination_.pixel_stride_bytes, part.count, 255); }
    tile::ValueTransform marker;
    marker.mask_nodata = true;
    marker.nodata = nodata->value;
    marker.nodata_i64 = nodata->exact_i64;
    marker.nodata_u64 = nodata->exact_u64;
    tile::valid_row(plan_.level->dtype, in, in_stride_bytes, reinterpret_cast<std::uint8_t*>(out),
                    destination_.pixel_stride_bytes, part.count, marker);
  }

  ReadPlan::Impl const& plan_;
  Filter const& filter_;
  ReadRequest const& request_;
  HostView const& destination_;
  bool makes_masks_;
  MemoryBudget& budget_;
  ReadReport& report_;
  PieceProgress progress_;
  ReadRequest strips_{};
  std::uint64_t part_index_ = 0, part_count_ = 1;
  std::uint32_t rows_told_ = 0;  // source rows of the part that were filled, for the progress
};

}  // namespace

void execute_filtered(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                      MemoryBudget& budget, ReadReport& report) {
  FilteredRead(plan, request, destination, false, budget, report).run();
}

void execute_filtered_masks(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                            MemoryBudget& budget, ReadReport& report) {
  FilteredRead(plan, request, destination, true, budget, report).run();
}

}  // namespace terrazzo::reading
