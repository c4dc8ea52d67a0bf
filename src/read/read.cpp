// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/read.hpp"

#include "base/checked.hpp"
#include "base/memory_budget.hpp"
#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "read/arrays/host_array.hpp"
#include "read/device/engine.hpp"
#include "read/host/engine.hpp"
#include "read/mask.hpp"
#include "read/plan/plan.hpp"
#include "read/public_call.hpp"
#include "read/read_job.hpp"
#include "read/window_jobs.hpp"
#include "tile/convert.hpp"
#include "tile/view_strides.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>
#include <vector>

namespace terrazzo {

using reading::array_bytes;
using reading::checked_view;
using reading::naming_the_source;
using reading::ReadJob;
using reading::with_dtype;
using tile::contiguous_view;

namespace {

constexpr char const* kMaps = "the rows and columns of a target size";

std::uint64_t batch_bytes(DType dtype, std::uint32_t count, std::uint32_t bands, std::uint32_t height,
                          std::uint32_t width) {
  auto const bytes = checked_product(size_bytes(dtype), count, bands, height, width);
  if (!bytes || *bytes > SIZE_MAX / 2) {
    throw Error(ErrorKind::limit, text("a result of ", count, " x ", bands, " x ", height, " x ", width, " samples"));
  }
  return *bytes;
}

// All items as the bands of one array, for one allocation. Throws `limit` if the number of bands overflows.
std::uint32_t bands_of_all(std::uint32_t count, std::uint32_t bands) {
  auto const all = checked_product(count, bands);
  if (!all || *all > UINT32_MAX) { throw Error(ErrorKind::limit, text("a result of ", count, " x ", bands, " bands")); }
  return static_cast<std::uint32_t>(*all);
}

bool is_c_order(HostBatchView const& batch) {
  HostView const& view = batch.item;
  auto const packed = contiguous_view<HostView>(view.data, view.dtype, view.bands, view.height, view.width);
  return view.pixel_stride_bytes == packed.pixel_stride_bytes && view.row_stride_bytes == packed.row_stride_bytes &&
         view.band_stride_bytes == packed.band_stride_bytes &&
         (batch.count == 1 || batch.item_stride_bytes == packed.bands * packed.band_stride_bytes);
}

// Copies packed items to their destinations.
void copy_items(std::span<std::byte const> packed, HostBatchView const& destination) {
  HostView const& item = destination.item;
  std::size_t const sample = size_bytes(item.dtype), row_bytes = sample * item.width;
  std::byte const* from = packed.data();
  for (std::uint32_t i = 0; i < destination.count; ++i) {
    for (std::uint32_t band = 0; band < item.bands; ++band) {
      for (std::uint32_t row = 0; row < item.height; ++row, from += row_bytes) {
        std::byte* const to = static_cast<std::byte*>(item.data) + i * destination.item_stride_bytes +
                              band * item.band_stride_bytes + row * item.row_stride_bytes;
        tile::convert_row(item.dtype, from, static_cast<std::ptrdiff_t>(sample), item.dtype, to,
                          item.pixel_stride_bytes, item.width, {});
      }
    }
  }
}

// Decodes on the device and copies the result back: on request, and to compare the engines.
void execute_through_device(std::vector<ReadJob> jobs, ReadRequest const& request, HostBatchView const& destination,
                            MemoryBudget& budget, ReadReport& report) {
  auto const here = reading::choose_device(request.device);
  HostView const& item = destination.item;
  std::uint64_t const bytes = batch_bytes(item.dtype, destination.count, item.bands, item.height, item.width);
  std::shared_ptr<DeviceMemory> const memory = reading::allocate_result(bytes, request);
  auto const view = contiguous_view<DeviceView>(memory->data(), item.dtype, item.bands, item.height, item.width);
  reading::place_items(jobs, view.bands * view.band_stride_bytes);
  reading::sort_by_format(jobs);
  reading::DeviceEngine(request, view, nullptr).execute(jobs, report);
  if (is_c_order(destination)) {
    return reading::copy_to_host(view.data, {static_cast<std::byte*>(item.data), bytes}, request.threads, nullptr);
  }
  auto const reservation = budget.reserve(bytes, "a result on its way from the device");
  HostBatch packed(item.dtype, destination.count, item.bands, item.height, item.width);
  reading::copy_to_host(view.data, packed.bytes(), request.threads, nullptr);
  copy_items(packed.bytes(), destination);
}

// Executes one job for each item of the destination.
void execute(std::vector<ReadJob> jobs, ReadRequest const& request, HostBatchView const& destination,
             MemoryBudget& budget, ReadReport* report) {
  ReadReport local;
  ReadReport& filled = report == nullptr ? local : *report;
  filled = {};
  std::uint64_t map_bytes = 0;
  for (ReadJob const& job : jobs) { map_bytes = saturating_sum(map_bytes, job.plan->map_bytes()); }
  auto const maps = budget.reserve((request.masked ? 2 : 1) * map_bytes, kMaps);  // masks have maps of their own
  // The device has no kernels for filters.
  if (resolve_engine(request.engine) == Engine::device && !jobs.front().plan->filter) {
    ReadRequest forced = request;
    forced.engine = Engine::device;
    return execute_through_device(std::move(jobs), forced, destination, budget, filled);
  }
  reading::place_items(jobs, destination.item_stride_bytes);
  reading::HostEngine(request, destination.item, budget).execute(jobs, filled);
}

}  // namespace

HostBatch::HostBatch(DType dtype, std::uint32_t count, std::uint32_t bands, std::uint32_t height, std::uint32_t width)
    : memory_(dtype, bands_of_all(count, bands), height, width) {
  view_.item = memory_.view();
  view_.item.bands = bands;
  view_.count = count;
  view_.item_stride_bytes = std::int64_t{bands} * view_.item.band_stride_bytes;
}

HostView HostBatch::item(std::uint32_t index) noexcept {
  HostView item = view_.item;
  item.data = static_cast<std::byte*>(item.data) + static_cast<std::int64_t>(index) * view_.item_stride_bytes;
  return item;
}

ConstHostView HostBatch::item(std::uint32_t index) const noexcept {
  ConstHostView item = view_.item;
  item.data = static_cast<std::byte const*>(item.data) + static_cast<std::int64_t>(index) * view_.item_stride_bytes;
  return item;
}

DType result_dtype(Dataset const& dataset, ReadRequest const& request) {
  return reading::make_plan(dataset.shared_impl(), request)->dtype;
}

HostArray read(Dataset const& dataset, ReadRequest const& request, ReadReport* report) {
  return naming_the_source(dataset, [&] {
    auto const plan = reading::make_plan(dataset.shared_impl(), request);
    MemoryBudget budget(resolve_memory_limit(request.memory_limit_bytes));
    auto const bands = static_cast<std::uint32_t>(plan->bands.size());
    auto const reservation =
        budget.reserve(array_bytes(plan->dtype, bands, plan->out_height, plan->out_width), "the result");
    HostArray result(plan->dtype, bands, plan->out_height, plan->out_width);
    execute({{plan}}, request, {result.view(), 1}, budget, report);
    return result;
  });
}

void read_into(Dataset const& dataset, ReadRequest const& request, HostView const& destination, ReadReport* report) {
  naming_the_source(dataset, [&] {
    auto const plan = reading::make_plan(dataset.shared_impl(), with_dtype(request, destination.dtype));
    HostView const view = checked_view(*plan, destination);
    MemoryBudget budget(resolve_memory_limit(request.memory_limit_bytes));
    execute({{plan}}, request, {view, 1}, budget, report);
  });
}

HostBatch read_windows(std::span<WindowOf const> windows, ReadRequest const& request, ReadReport* report) {
  std::uint32_t const count = reading::item_count(windows);
  std::vector<ReadJob> jobs = reading::plan_windows(windows, request);
  ReadPlan::Impl const& first = *jobs.front().plan;
  auto const bands = static_cast<std::uint32_t>(first.bands.size());
  MemoryBudget budget(resolve_memory_limit(request.memory_limit_bytes));
  auto const reservation =
      budget.reserve(batch_bytes(first.dtype, count, bands, first.out_height, first.out_width), "the result");
  HostBatch result(first.dtype, count, bands, first.out_height, first.out_width);
  execute(std::move(jobs), request, result.view(), budget, report);
  return result;
}

void read_windows(std::span<WindowOf const> windows, ReadRequest const& request, HostBatchView const& destination,
                  ReadReport* report) {
  reading::check_count(windows, destination);
  if (report != nullptr) { *report = {}; }
  std::vector<ReadJob> jobs = reading::plan_windows(windows, with_dtype(request, destination.item.dtype));
  if (jobs.empty()) { return; }
  HostBatchView const places = naming_the_source(
      windows.front().dataset, [&] { return reading::checked_batch(*jobs.front().plan, destination); });
  MemoryBudget budget(resolve_memory_limit(request.memory_limit_bytes));
  execute(std::move(jobs), request, places, budget, report);
}

HostArray read_mask(Dataset const& dataset, ReadRequest const& request, ReadReport* report) {
  ReadRequest stored = request;
  stored.masked = stored.unpack = false;
  stored.scale.reset();
  stored.missing.reset();
  stored.dtype.reset();
  return naming_the_source(dataset, [&] {
    auto const plan = reading::make_plan(dataset.shared_impl(), stored);
    MemoryBudget budget(resolve_memory_limit(request.memory_limit_bytes));
    auto const bands = static_cast<std::uint32_t>(plan->bands.size());
    auto const reservation =
        budget.reserve(array_bytes(DType::u8, bands, plan->out_height, plan->out_width), "the mask");
    HostArray result(DType::u8, bands, plan->out_height, plan->out_width);
    auto const maps = budget.reserve(2 * plan->map_bytes(), kMaps);
    ReadReport local;
    ReadReport& filled = report == nullptr ? local : *report;
    filled = {};
    reading::read_masks(*plan, stored, result.view(), budget, filled);
    return result;
  });
}

}  // namespace terrazzo
