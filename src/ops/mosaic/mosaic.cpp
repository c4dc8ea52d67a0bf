// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/mosaic.hpp"

#include "base/memory_budget.hpp"
#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "ops/input_files.hpp"
#include "ops/mosaic/canvas.hpp"
#include "ops/mosaic/compose_rows.hpp"
#include "ops/mosaic/grid.hpp"
#include "ops/mosaic/plan.hpp"
#include "ops/same_nodata.hpp"
#include "read/plan/value_transforms.hpp"
#include "read/read_report.hpp"
#include "terrazzo/boundless.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <future>
#include <utility>

namespace terrazzo {
namespace {

using ops::Canvas;
using ops::Input;
using ops::Validity;

// The box in pixels of the first input.
ops::PixelBox pixel_box(Info const& info, BoundingBox const& box) {
  static_cast<void>(grid_window_of(info, box));  // throws for a box that is empty, not finite or too far away
  ops::PixelBox result;
  bool is_first = true;
  for (Point const& corner :
       {Point{box.xmin, box.ymin}, Point{box.xmin, box.ymax}, Point{box.xmax, box.ymin}, Point{box.xmax, box.ymax}}) {
    auto const [column, row] = to_pixel(info, corner);
    if (std::exchange(is_first, false)) { result = {column, row, column, row}; }
    result = {std::min(result.first_column, column), std::min(result.first_row, row),
              std::max(result.end_column, column), std::max(result.end_row, row)};
  }
  return result;
}

ops::Grid choose_grid(ops::Inputs const& inputs, MosaicRequest const& request) {
  if (request.bounds) {
    return ops::grid_of_box(inputs.files.front().footprint, pixel_box(inputs.first, *request.bounds),
                            request.resolution);
  }
  std::vector<ops::Footprint> footprints;
  footprints.reserve(inputs.files.size());
  for (Input const& input : inputs.files) { footprints.push_back(input.footprint); }
  return ops::covering_grid(footprints, request.resolution);
}

void check_rule(MosaicRule rule, DType dtype) {
  if (is_complex(dtype) && rule != MosaicRule::first && rule != MosaicRule::last) {
    throw Error(ErrorKind::usage, text("complex samples have no ", to_string(rule), "; use first or last"));
  }
}

void place_inputs(MosaicPlan::Impl& plan) {
  for (Input const& input : plan.inputs.files) {
    std::optional<ops::GridPlace> const place = ops::place_on(plan.grid.transform, input.footprint);
    // read_inputs() has checked it against the first input, whose axes are the grid's.
    if (!place) { throw Error(ErrorKind::usage, "the grid is rotated or mirrored", {.source = input.path}); }
    plan.places.push_back(*place);
    plan.targets.push_back(ops::target_of(*place, plan.grid));
    plan.used_count += is_empty(plan.targets.back()) ? 0 : 1;
  }
}

std::optional<Nodata> mosaic_nodata(MosaicPlan::Impl const& plan) {
  for (Input const& input : plan.inputs.files) {
    if (input.nodata) { return reading::nearest_nodata(*input.nodata, input.dtype, plan.dtype()); }
  }
  return is_floating(plan.dtype()) ? std::optional(make_nodata("nan", plan.dtype())) : std::nullopt;
}

std::size_t count_with(MosaicPlan::Impl const& plan, Validity validity) {
  return static_cast<std::size_t>(std::ranges::count(plan.inputs.files, validity, &Input::validity));
}

void note_other_nodata(MosaicPlan::Impl const& plan, Nodata const& nodata) {
  Input const* example = nullptr;
  std::size_t others = 0;
  for (Input const& input : plan.inputs.files) {
    if (!input.nodata) { continue; }
    if (ops::same_nodata(reading::nearest_nodata(*input.nodata, input.dtype, plan.dtype()), nodata)) { continue; }
    if (others++ == 0) { example = &input; }
  }
  if (example == nullptr) { return; }
  log_once(text("the nodata values of ", others, " of ", plan.inputs.files.size(), " files become ", nodata.text,
                ", that of the mosaic (", example->path, " has ", example->nodata->text,
                "); pixels of that value in these files ", "become missing"));
}

void tell_notes(MosaicPlan::Impl const& plan, WriteOptions const& options) {
  if (options.nodata) {
    note_other_nodata(plan, *options.nodata);
    if (std::size_t const masked = count_with(plan, Validity::by_mask); masked > 0 && !options.mask) {
      log_once(text("pixels that the masks of ", masked, " files hide become nodata ", options.nodata->text));
    }
  } else if (!options.mask && !plan.alpha() && !is_floating(plan.dtype())) {
    bool const has_missing = count_with(plan, Validity::everywhere) != plan.inputs.files.size();
    if (plan.has_gaps || has_missing) {
      log_once("pixels that no file has become 0, like data: mark them by WriteOptions::nodata or WriteOptions::mask");
    }
  }
}

void check_options(MosaicPlan::Impl const& plan, WriteOptions const& options) {
  if (options.dtype != plan.dtype() || options.bands != plan.inputs.bands.size()) {
    throw Error(ErrorKind::usage,
                text("the mosaic has ", plan.inputs.bands.size(), " bands of ", to_string(plan.dtype()),
                     ", and the options are for ", options.bands, " of ", to_string(options.dtype)));
  }
}

// The division of the rows and of the memory.
struct RowBands {
  std::uint32_t rows = 1;  // of a canvas
  bool reads_ahead = false;  // one is read while another is written
  std::uint64_t patch_bytes = 0;
};

RowBands divide(MosaicPlan::Impl const& plan, WriteOptions const& options, std::uint64_t memory_limit_bytes) {
  constexpr std::uint64_t kMost = std::uint64_t{96} << 20;
  std::uint64_t const row_bytes =
      saturating_product(Canvas::pixel_bytes(ops::pixel_format(plan, options), plan.request.rule), plan.grid.width);
  // The rest of the streaming buffer is for rows of overviews, as in convert(); half of the limit is for decoding and
  // patches.
  std::uint64_t const for_rows = std::min(options.streaming_buffer_bytes / 4 * 3, memory_limit_bytes / 2);
  std::uint64_t const affordable = std::clamp<std::uint64_t>(for_rows / 2, 1, kMost) / row_bytes;
  std::uint64_t const tile_rows = std::max<std::uint64_t>(options.strip_rows.value_or(options.tile_size.height), 1);
  std::uint64_t const rows =
      std::min<std::uint64_t>(std::max(affordable / tile_rows, std::uint64_t{1}) * tile_rows, plan.grid.height);
  return {static_cast<std::uint32_t>(rows),
          rows < plan.grid.height && saturating_product(2, row_bytes, rows) <= for_rows,
          std::min(kMost, memory_limit_bytes / 4)};
}

ReadReport stream(MosaicPlan::Impl const& plan, WriteOptions const& options, Writer& writer) {
  MemoryBudget budget(resolve_memory_limit(plan.request.memory_limit_bytes));
  RowBands const bands = divide(plan, options, budget.limit_bytes());
  ops::RowComposer composer(plan, options, bands.patch_bytes, budget);
  ops::PixelFormat const format = ops::pixel_format(plan, options);
  std::vector<Canvas> canvases;
  canvases.reserve(2);
  for (int i = 0; i < (bands.reads_ahead ? 2 : 1); ++i) {
    canvases.emplace_back(format, plan.request.rule, bands.rows, plan.grid.width, budget);
  }
  ReadReport report;
  auto const rows_of = [&](std::uint64_t first) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bands.rows, plan.grid.height - first));
  };
  auto const make = [&](std::uint64_t first, Canvas& canvas) {
    composer.compose(static_cast<std::uint32_t>(first), rows_of(first), canvas, report);
  };
  // Destroyed before the canvases: waits for a band in progress if writing fails.
  std::future<void> next;
  std::size_t at = 0;
  for (std::uint64_t first = 0; first < plan.grid.height; first += bands.rows) {
    Canvas& canvas = canvases[at];
    if (next.valid()) {
      next.get();
    } else {
      make(first, canvas);
    }
    std::uint64_t const following = first + bands.rows;
    if (bands.reads_ahead && following < plan.grid.height) {
      at = 1 - at;
      next = std::async(std::launch::async, [&make, following, &other = canvases[at]] { make(following, other); });
    }
    ops::Patch& rows = canvas.patch();
    HostView const view = rows.view(0, 0, plan.grid.width, rows_of(first));
    if (options.mask) {
      writer.write_rows(view, ConstHostView{rows.valid_bytes().data(), DType::u8, 1, view.height, view.width});
    } else {
      writer.write_rows(view);
    }
  }
  if (std::optional<std::uint32_t> const input = composer.input_that_equals_nodata()) {
    log_once(text(plan.inputs.files[*input].path, ": valid pixels equal ", options.nodata->text,
                  ", the nodata value of the mosaic, and become missing; choose a value that no file has"));
  }
  return report;
}

// Calls `make_writer()` after the options are checked.
template <class MakeWriter>
MosaicReport mosaic_with(MosaicPlan const& plan, WriteOptions const& options, MakeWriter const& make_writer) {
  check_options(plan.impl(), options);
  tell_notes(plan.impl(), options);
  Writer writer = make_writer();
  MosaicReport report;
  report.read = stream(plan.impl(), options, writer);
  reading::drop_repeats(report.read.bad_tiles);
  report.write = writer.close();
  return report;
}

}  // namespace

std::string_view to_string(MosaicRule rule) noexcept {
  switch (rule) {
    case MosaicRule::first: return "first";
    case MosaicRule::last: return "last";
    case MosaicRule::minimum: return "min";
    case MosaicRule::maximum: return "max";
    case MosaicRule::mean: return "mean";
  }
  return "first";
}

std::uint32_t MosaicPlan::width() const noexcept { return impl_->grid.width; }
std::uint32_t MosaicPlan::height() const noexcept { return impl_->grid.height; }
std::array<double, 6> const& MosaicPlan::transform() const noexcept { return impl_->grid.transform; }
std::uint32_t MosaicPlan::bands() const noexcept { return static_cast<std::uint32_t>(impl_->inputs.bands.size()); }
DType MosaicPlan::dtype() const noexcept { return impl_->dtype(); }
std::size_t MosaicPlan::input_count() const noexcept { return impl_->inputs.files.size(); }
std::size_t MosaicPlan::used_count() const noexcept { return impl_->used_count; }
bool MosaicPlan::has_gaps() const noexcept { return impl_->has_gaps; }

MosaicPlan plan_mosaic(std::vector<std::string> const& inputs, MosaicRequest const& request) {
  auto plan = std::make_shared<MosaicPlan::Impl>();
  plan->request = request;
  plan->inputs = ops::read_inputs(inputs, request);
  check_rule(request.rule, plan->dtype());
  plan->grid = choose_grid(plan->inputs, request);
  place_inputs(*plan);
  if (plan->used_count == 0) { throw Error(ErrorKind::usage, "no file has a pixel in the bounds"); }
  plan->has_gaps = !ops::covers_all(plan->targets, plan->grid);
  return MosaicPlan(std::move(plan));
}

WriteOptions mosaic_options(MosaicPlan const& plan) {
  MosaicPlan::Impl const& impl = plan.impl();
  WriteOptions options = impl.inputs.like_first;
  // They describe the first input, not the mosaic.
  options.metadata = {};
  options.extra_tags.clear();
  for (BandInfo& band : options.band_info) {
    band.statistics = {};
    // How alpha is stored is a property of the samples.
    std::erase_if(band.metadata.domains, [](auto const& domain) { return domain.first != "IMAGE_STRUCTURE"; });
    band.metadata.xml_domains.clear();
  }
  options.georeference.transform = impl.grid.transform;
  options.georeference.gcps.clear();
  options.georeference.rpc.clear();
  options.nodata = mosaic_nodata(impl);
  options.nan_to_nodata = options.nodata.has_value();
  options.mask = !options.nodata && count_with(impl, Validity::by_mask) > 0;
  return options;
}

MosaicReport mosaic(MosaicPlan const& plan, std::string const& path, WriteOptions const& options) {
  return mosaic_with(plan, options, [&] { return create(path, plan.width(), plan.height(), options); });
}

MosaicReport mosaic(MosaicPlan const& plan, std::shared_ptr<ByteSink> sink, WriteOptions const& options) {
  return mosaic_with(plan, options, [&] { return create(std::move(sink), plan.width(), plan.height(), options); });
}

std::vector<std::string> mosaic_inputs(std::vector<std::string> const& inputs, std::string const& out) {
  std::string const out_identity = ops::file_identity(out);
  std::vector<std::string> paths;
  for (ops::InputFile const& file : ops::input_files(inputs, "")) {
    if (ops::file_identity(file.path) != out_identity) {
      paths.push_back(file.path);
    } else if (file.is_named) {
      throw Error(ErrorKind::usage, "the output is also an input", {.source = out});
    }
  }
  if (paths.empty()) { throw Error(ErrorKind::usage, "there is no TIFF file (.tif, .tiff) to join"); }
  return paths;
}

}  // namespace terrazzo
