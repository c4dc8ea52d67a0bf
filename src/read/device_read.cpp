// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/device.hpp"
#include "terrazzo/profile.hpp"

#include "base/checked.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "read/device/engine.hpp"
#include "read/device_pieces.hpp"
#include "read/plan/engine_choice.hpp"
#include "read/plan/plan.hpp"
#include "read/public_call.hpp"
#include "read/row_pieces.hpp"
#include "read/window_jobs.hpp"
#include "tile/view_strides.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace terrazzo {

namespace {

using reading::checked_view;
using reading::naming_the_source;
using reading::ReadJob;
using reading::with_dtype;

std::uint64_t result_bytes(ReadPlan::Impl const& plan, std::uint64_t count = 1) {
  auto const bytes = checked_product(size_bytes(plan.dtype), plan.bands.size(), plan.out_height, plan.out_width, count);
  if (!bytes) { throw Error(ErrorKind::limit, "the result has more bytes than can be counted"); }
  return *bytes;
}

void execute(std::span<ReadJob const> jobs, ReadRequest const& request, DeviceView const& view, StreamView stream,
             ReadReport* report) {
  ReadReport local;
  ReadReport& filled = report == nullptr ? local : *report;
  filled = {};
  auto const here = reading::choose_device(request.device);
  reading::DeviceEngine(request, view, stream).execute(jobs, filled);
}

// Memory for `count` results of the plan, one after the other.
DeviceBatch make_batch(ReadPlan::Impl const& plan, std::uint32_t count, ReadRequest const& request) {
  auto const here = reading::choose_device(request.device);
  std::shared_ptr<DeviceMemory> memory = reading::allocate_result(result_bytes(plan, count), request);
  auto const item = tile::contiguous_view<DeviceView>(
      memory->data(), plan.dtype, static_cast<std::uint32_t>(plan.bands.size()), plan.out_height, plan.out_width);
  return DeviceBatch(std::move(memory), {item, count, item.bands * item.band_stride_bytes}, reading::current_device());
}

void execute_windows(std::vector<ReadJob> jobs, ReadRequest const& request, DeviceBatchView const& destination,
                     StreamView stream, ReadReport* report) {
  reading::place_items(jobs, destination.item_stride_bytes);
  reading::sort_by_format(jobs);
  execute(jobs, request, destination.item, stream, report);
}

}  // namespace

DeviceArray make_device_array(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width,
                              std::optional<int> device) {
  auto const here = reading::choose_device(device);
  auto const bytes = checked_product(size_bytes(dtype), bands, height, width);
  if (!bytes) { throw Error(ErrorKind::limit, "the array has more bytes than can be counted"); }
  std::shared_ptr<DeviceMemory> memory = reading::allocate_result(*bytes, {});
  auto const view = tile::contiguous_view<DeviceView>(memory->data(), dtype, bands, height, width);
  return DeviceArray(std::move(memory), view, reading::current_device());
}

DeviceArray read_device(Dataset const& dataset, ReadRequest const& request, StreamView stream, ReadReport* report) {
  return naming_the_source(dataset, [&] {
    ReadJob const job{reading::make_plan(dataset.shared_impl(), request)};
    DeviceArray array = make_batch(*job.plan, 1, request).item(0);
    execute({&job, 1}, request, array.view(), stream, report);
    return array;
  });
}

void read_into(Dataset const& dataset, ReadRequest const& request, DeviceView const& destination, StreamView stream,
               ReadReport* report) {
  naming_the_source(dataset, [&] {
    ReadJob const job{reading::make_plan(dataset.shared_impl(), with_dtype(request, destination.dtype))};
    execute({&job, 1}, request, checked_view(*job.plan, destination), stream, report);
  });
}

void read_windows(std::span<WindowOf const> windows, ReadRequest const& request, DeviceBatchView const& destination,
                  StreamView stream, ReadReport* report) {
  reading::check_count(windows, destination);
  if (report != nullptr) { *report = {}; }
  std::vector<ReadJob> jobs = reading::plan_windows(windows, with_dtype(request, destination.item.dtype));
  if (jobs.empty()) { return; }
  DeviceBatchView const places = naming_the_source(
      windows.front().dataset, [&] { return reading::checked_batch(*jobs.front().plan, destination); });
  execute_windows(std::move(jobs), request, places, stream, report);
}

DeviceBatch read_windows_device(std::span<WindowOf const> windows, ReadRequest const& request, StreamView stream,
                                ReadReport* report) {
  std::uint32_t const count = reading::item_count(windows);
  std::vector<ReadJob> jobs = reading::plan_windows(windows, request);
  DeviceBatch batch = make_batch(*jobs.front().plan, count, request);
  execute_windows(std::move(jobs), request, batch.view(), stream, report);
  return batch;
}

void reading::read_plan_in_pieces(ReadPlan::Impl const& plan, ReadRequest const& request, std::uint64_t piece_bytes,
                                  DevicePiece const& piece, StreamView stream, ReadReport* report) {
  auto const here = choose_device(request.device);
  std::uint64_t const row_bytes = result_bytes(plan) / plan.out_height;
  if (piece_bytes == 0) { piece_bytes = std::max(row_bytes, engine_budget_bytes(request) / 2); }
  if (piece_bytes < row_bytes) {
    throw Error(ErrorKind::limit, text("a row takes ", row_bytes, " bytes, a piece may have ", piece_bytes));
  }
  RowPieces const pieces(plan.window, plan.level->image.block_height_px, piece_bytes / row_bytes);
  std::shared_ptr<DeviceMemory> const memory = allocate_result(pieces.max_rows() * row_bytes, request);
  std::vector<std::size_t> bands(plan.bands.size());
  std::iota(bands.begin(), bands.end(), std::size_t{0});
  PieceProgress const progress(request.progress, plan.block_count(), plan.window.height);
  ReadReport total;
  for (std::uint64_t i = 0; i < pieces.count(); ++i) {
    Window const window = pieces.window(i);
    std::uint32_t const first_row = window.row - plan.window.row;
    ReadRequest part = request;
    part.progress = progress.of_rows(first_row, first_row + window.height);
    auto const view = tile::contiguous_view<DeviceView>(
        memory->data(), plan.dtype, static_cast<std::uint32_t>(plan.bands.size()), window.height, window.width);
    ReadJob const job{make_part_plan(plan, window, bands)};
    DeviceEngine(part, view, stream).execute({&job, 1}, total);
    progress.tell_done(first_row + window.height);
    piece(view, first_row);
  }
  if (report != nullptr) { *report = std::move(total); }
}

void read_pieces(Dataset const& dataset, ReadRequest const& request, std::uint64_t piece_bytes,
                 DevicePiece const& piece, StreamView stream, ReadReport* report) {
  if (request.has_target()) { throw Error(ErrorKind::usage, "pieces have the size of the window: no target size"); }
  naming_the_source(dataset, [&] {
    reading::read_plan_in_pieces(*reading::make_plan(dataset.shared_impl(), request), request, piece_bytes, piece,
                                 stream, report);
  });
}

EnginePlan plan_device_read(Dataset const& dataset, ReadRequest const& request) {
  return naming_the_source(dataset, [&] {
    ReadJob const job{reading::make_plan(dataset.shared_impl(), request)};
    auto const here = reading::choose_device(request.device);
    reading::EngineChoice const choice = reading::choose_engine({&job, 1}, request);
    reading::DeviceFacts const facts = reading::device_facts();
    EnginePlan result{
        .possible = facts.usable, .engine = choice.engine, .decoder = "host threads", .reason = choice.reason};
    if (choice.engine == Engine::device) {
      reading::MethodChoice const method =
          reading::choose_device_method(*job.plan->level, dataset.shared_impl()->trust(), request, facts.abilities);
      result.decoder = std::string(reading::to_string(method.method));
      if (method.method == reading::DeviceMethod::host) { result.reason += "; " + method.reason; }
    }
    return result;
  });
}

void release_device_memory() { reading::release_engine_memory(); }

DeviceMemoryUse device_memory_use(std::optional<int> device) {
  auto const here = reading::choose_device(device);
  return reading::engine_memory_use();
}

void reset_device_memory_peak(std::optional<int> device) {
  auto const here = reading::choose_device(device);
  reading::reset_engine_memory_peak();
}

DeviceState device_state(std::optional<int> device) {
  auto const here = reading::choose_device(device);
  return reading::device_engine_state();
}

StageTimes profile_device_read(Dataset const& dataset, ReadRequest const& request) {
  return naming_the_source(dataset, [&] {
    ReadJob const job{reading::make_plan(dataset.shared_impl(), request)};
    DeviceArray const array = make_batch(*job.plan, 1, request).item(0);
    StageTimes times;
    ReadReport report;
    auto const here = reading::choose_device(request.device);
    ReadRequest forced = request;
    forced.engine = Engine::device;
    reading::DeviceEngine(forced, array.view(), nullptr, &times).execute({&job, 1}, report);
    return times;
  });
}

}  // namespace terrazzo
