// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/device.hpp"

#include "base/checked.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "read/device_engine.hpp"
#include "read/engine_choice.hpp"
#include "read/entry.hpp"
#include "read/plan.hpp"
#include "read/read_report.hpp"
#include "tile/view_strides.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace terrazzo {

namespace {

using reading::checked_view;
using reading::DeviceJob;
using reading::naming_the_source;
using reading::with_dtype;

std::uint64_t result_bytes(ReadPlan::Impl const& plan, std::uint64_t count = 1) {
  auto const bytes = checked_product(size_bytes(plan.dtype), plan.bands.size(), plan.out_height, plan.out_width, count);
  if (!bytes) { throw Error(ErrorKind::limit, "the result has more bytes than can be counted"); }
  return *bytes;
}

void execute(std::span<DeviceJob const> jobs, ReadRequest const& request, DeviceView const& view, void* stream,
             ReadReport* report) {
  ReadReport local;
  ReadReport& filled = report == nullptr ? local : *report;
  filled = {};
  reading::execute_on_device(jobs, request, view, stream, filled);
}

// Memory for `count` results of the plan, one after the other.
DeviceBatch make_batch(ReadPlan::Impl const& plan, std::uint32_t count, ReadRequest const& request) {
  std::shared_ptr<void> memory = reading::allocate_result(result_bytes(plan, count), request);
  auto const item = tile::contiguous_view<DeviceView>(
      memory.get(), plan.dtype, static_cast<std::uint32_t>(plan.bands.size()), plan.out_height, plan.out_width);
  return DeviceBatch(std::move(memory), {item, count, item.bands * item.band_stride_bytes}, reading::current_device());
}

std::string item_of(ReadPlan::Impl const& plan) {
  return text(plan.bands.size(), " x ", plan.out_height, " x ", plan.out_width, " of ", to_string(plan.dtype));
}

// A job for each window, in their order, all of one shape and type; where they go is not said yet.
std::vector<DeviceJob> plan_windows(std::span<WindowOf const> windows, ReadRequest one) {
  if (one.window || one.target_size) {
    throw Error(ErrorKind::usage, "windows are given one by one: the request has none of its own, and no target size");
  }
  std::vector<DeviceJob> jobs;
  jobs.reserve(windows.size());
  for (WindowOf const& window : windows) {
    one.window = window.window;
    naming_the_source(window.dataset, [&] {
      jobs.push_back({reading::make_plan(window.dataset.shared_impl(), one)});
      ReadPlan::Impl const &first = *jobs.front().plan, &plan = *jobs.back().plan;
      if (plan.bands.size() != first.bands.size() || plan.out_height != first.out_height ||
          plan.out_width != first.out_width || plan.dtype != first.dtype) {
        throw Error(ErrorKind::usage, text("a window is ", item_of(plan), ", the first is ", item_of(first)));
      }
    });
  }
  return jobs;
}

// As checked_view(). Without any stride, items follow each other without gaps too.
DeviceBatchView checked_batch(ReadPlan::Impl const& plan, DeviceBatchView const& destination) {
  DeviceBatchView batch = destination;
  batch.item = checked_view(plan, destination.item);
  bool const is_packed = destination.item_stride_bytes == 0 && destination.item.band_stride_bytes == 0 &&
                         destination.item.row_stride_bytes == 0 && destination.item.pixel_stride_bytes == 0;
  if (is_packed) { batch.item_stride_bytes = batch.item.bands * batch.item.band_stride_bytes; }
  if (batch.count > 1 && batch.item_stride_bytes == 0) {
    throw Error(ErrorKind::usage,
                text("the destination has ", batch.count, " items at one address: their stride is 0"));
  }
  return batch;
}

void execute_windows(std::vector<DeviceJob> jobs, ReadRequest const& request, DeviceBatchView const& destination,
                     void* stream, ReadReport* report) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    jobs[i].destination_offset_bytes = static_cast<std::int64_t>(i) * destination.item_stride_bytes;
  }
  reading::sort_by_format(jobs);
  execute(jobs, request, destination.item, stream, report);
}

// Of a read in parts, top down: one run from 0 to the tiles of the whole, whatever the parts count for themselves.
class PartsProgress {
 public:
  PartsProgress(Progress const& tell, std::uint64_t tiles, std::uint32_t rows)
      : tell_(tell), tiles_(tiles), rows_(rows) {}

  // For the part of these rows, counted from the top of the whole. Lives as long as this.
  [[nodiscard]] Progress of_part(std::uint64_t first, std::uint64_t end) {
    if (!tell_) { return {}; }
    return [this, first, end](std::uint64_t done, std::uint64_t total) {
      double const part = static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(1, total));
      return tell(static_cast<double>(first) + part * static_cast<double>(end - first));
    };
  }

  // Tiles that nobody decodes are not told of: the part is done all the same.
  void part_is_done(std::uint64_t end) {
    if (tell_ && !tell(static_cast<double>(end))) { throw Error(ErrorKind::cancelled, "the read was cancelled"); }
  }

 private:
  bool tell(double rows) {
    auto const tiles = static_cast<std::uint64_t>(static_cast<double>(tiles_) * (rows / rows_));
    if (told_ && tiles <= *told_) { return true; }
    told_ = tiles;
    return tell_(tiles, tiles_);
  }

  Progress const& tell_;
  std::uint64_t tiles_;
  std::uint32_t rows_;
  std::optional<std::uint64_t> told_;
};

}  // namespace

DeviceArray make_device_array(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width) {
  auto const bytes = checked_product(size_bytes(dtype), bands, height, width);
  if (!bytes) { throw Error(ErrorKind::limit, "the array has more bytes than can be counted"); }
  std::shared_ptr<void> memory = reading::allocate_result(*bytes, {});
  auto const view = tile::contiguous_view<DeviceView>(memory.get(), dtype, bands, height, width);
  return DeviceArray(std::move(memory), view, reading::current_device());
}

DeviceArray read_device(Dataset const& dataset, ReadRequest const& request, void* stream, ReadReport* report) {
  return naming_the_source(dataset, [&] {
    DeviceJob const job{reading::make_plan(dataset.shared_impl(), request)};
    DeviceArray array = make_batch(*job.plan, 1, request).item(0);
    execute({&job, 1}, request, array.view(), stream, report);
    return array;
  });
}

void read_into(Dataset const& dataset, ReadRequest const& request, DeviceView const& destination, void* stream,
               ReadReport* report) {
  naming_the_source(dataset, [&] {
    DeviceJob const job{reading::make_plan(dataset.shared_impl(), with_dtype(request, destination.dtype))};
    execute({&job, 1}, request, checked_view(*job.plan, destination), stream, report);
  });
}

void read_windows(std::span<WindowOf const> windows, ReadRequest const& request, DeviceBatchView const& destination,
                  void* stream, ReadReport* report) {
  if (windows.size() != destination.count) {
    throw Error(ErrorKind::usage, text(windows.size(), " windows for ", destination.count, " places"));
  }
  if (report != nullptr) { *report = {}; }
  std::vector<DeviceJob> jobs = plan_windows(windows, with_dtype(request, destination.item.dtype));
  if (jobs.empty()) { return; }
  DeviceBatchView const places =
      naming_the_source(windows.front().dataset, [&] { return checked_batch(*jobs.front().plan, destination); });
  execute_windows(std::move(jobs), request, places, stream, report);
}

DeviceBatch read_windows_device(std::span<WindowOf const> windows, ReadRequest const& request, void* stream,
                                ReadReport* report) {
  auto const count = static_cast<std::uint32_t>(windows.size());
  if (count == 0 || count != windows.size()) {
    throw Error(ErrorKind::usage, text(windows.size(), " windows for a tensor"));
  }
  std::vector<DeviceJob> jobs = plan_windows(windows, request);
  DeviceBatch batch = make_batch(*jobs.front().plan, count, request);
  execute_windows(std::move(jobs), request, batch.view(), stream, report);
  return batch;
}

void read_pieces(Dataset const& dataset, ReadRequest const& request, std::uint64_t piece_bytes,
                 DevicePiece const& piece, void* stream, ReadReport* report) {
  if (request.target_size) { throw Error(ErrorKind::usage, "pieces have the size of the window: no target size"); }
  naming_the_source(dataset, [&] {
    auto const plan = reading::make_plan(dataset.shared_impl(), request);
    Window const whole = plan->window;
    std::uint64_t const row_bytes = result_bytes(*plan) / plan->out_height;
    if (piece_bytes == 0) { piece_bytes = std::max(row_bytes, reading::engine_budget_bytes(request) / 2); }
    std::uint64_t rows = piece_bytes / row_bytes;
    if (rows == 0) {
      throw Error(ErrorKind::limit, text("a row takes ", row_bytes, " bytes, a piece may have ", piece_bytes));
    }
    std::uint32_t const block = plan->level->image.block_height_px;
    if (rows > block) { rows = rows / block * block; }
    rows = std::min<std::uint64_t>(rows, whole.height);
    std::shared_ptr<void> const memory = reading::allocate_result(rows * row_bytes, request);
    ReadReport total;
    PartsProgress progress(request.progress, plan->block_count(), whole.height);
    std::uint64_t const end = std::uint64_t{whole.row} + whole.height;
    for (std::uint64_t row = whole.row; row < end;) {
      // The first piece ends where a block does, so that the others are whole blocks.
      std::uint64_t const aligned = rows >= block ? row / block * block : row;
      std::uint64_t const next = std::min(end, aligned + rows);
      ReadRequest part = request;
      part.progress = progress.of_part(row - whole.row, next - whole.row);
      part.window =
          Window{whole.column, static_cast<std::uint32_t>(row), whole.width, static_cast<std::uint32_t>(next - row)};
      auto const view =
          tile::contiguous_view<DeviceView>(memory.get(), plan->dtype, static_cast<std::uint32_t>(plan->bands.size()),
                                            static_cast<std::uint32_t>(next - row), whole.width);
      ReadReport part_report;
      read_into(dataset, part, view, stream, &part_report);
      reading::add_report(total, std::move(part_report));
      progress.part_is_done(next - whole.row);
      piece(view, static_cast<std::uint32_t>(row - whole.row));
      row = next;
    }
    if (report != nullptr) { *report = std::move(total); }
  });
}

EnginePlan plan_device_read(Dataset const& dataset, ReadRequest const& request) {
  return naming_the_source(dataset, [&] {
    DeviceJob const job{reading::make_plan(dataset.shared_impl(), request)};
    reading::EngineChoice const choice = reading::choose_engine({&job, 1}, request);
    EnginePlan result{.possible = reading::device_is_usable(),
                      .engine = choice.engine,
                      .decoder = "host threads",
                      .reason = choice.reason};
    if (choice.engine == Engine::device) {
      reading::MethodChoice const method = reading::choose_device_method(
          *job.plan->level, dataset.shared_impl()->trust(), request, reading::usable_device_abilities());
      result.decoder = std::string(to_string(method.method));
      if (method.method == reading::DeviceMethod::host) { result.reason += "; " + method.reason; }
    }
    return result;
  });
}

void release_device_memory() { reading::release_engine_memory(); }

DeviceMemoryUse device_memory_use() { return reading::engine_memory_use(); }

void reset_device_memory_peak() { reading::reset_engine_memory_peak(); }

DeviceState device_state() { return reading::device_engine_state(); }

StageTimes profile_device_read(Dataset const& dataset, ReadRequest const& request) {
  return naming_the_source(dataset, [&] {
    DeviceJob const job{reading::make_plan(dataset.shared_impl(), request)};
    DeviceArray const array = make_batch(*job.plan, 1, request).item(0);
    StageTimes times;
    ReadReport report;
    ReadRequest forced = request;
    forced.engine = Engine::device;
    reading::execute_on_device({&job, 1}, forced, array.view(), nullptr, report, &times);
    return times;
  });
}

}  // namespace terrazzo
