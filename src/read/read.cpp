// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/read.hpp"

#include "base/checked.hpp"
#include "base/memory_budget.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "read/device_engine.hpp"
#include "read/entry.hpp"
#include "read/host_engine.hpp"
#include "read/mask.hpp"
#include "read/plan.hpp"
#include "tile/convert.hpp"
#include "tile/view_strides.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace terrazzo {

using reading::checked_view;
using reading::naming_the_source;
using reading::with_dtype;
using tile::contiguous_view;

namespace {

// Large results on huge pages: a 1 GiB array costs 512 page faults instead of 262,144.
constexpr std::size_t kHugePageBytes = 2u << 20;

constexpr char const* kMaps = "the rows and columns of a target size";

std::byte* allocate(std::size_t bytes) {
  bool const large = bytes >= 4 * kHugePageBytes;
  std::size_t const alignment = large ? kHugePageBytes : 64;
  std::size_t const rounded = round_up(std::max<std::size_t>(bytes, 1), alignment);
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) { throw Error(ErrorKind::limit, text("no memory for a result of ", bytes, " bytes")); }
  if (large) { madvise(memory, rounded, MADV_HUGEPAGE); }
  return static_cast<std::byte*>(memory);
}

std::uint64_t array_bytes(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width) {
  auto const bytes = checked_product(size_bytes(dtype), bands, height, width);
  if (!bytes || *bytes > SIZE_MAX / 2) {
    throw Error(ErrorKind::limit, text("a result of ", bands, " x ", height, " x ", width, " samples"));
  }
  return *bytes;
}

bool is_c_order(HostView const& view) {
  auto const packed = contiguous_view<HostView>(view.data, view.dtype, view.bands, view.height, view.width);
  return view.pixel_stride_bytes == packed.pixel_stride_bytes && view.row_stride_bytes == packed.row_stride_bytes &&
         view.band_stride_bytes == packed.band_stride_bytes;
}

// Decoded on the device and brought back: for whoever asks for it, and to compare the engines.
void execute_through_device(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination,
                            MemoryBudget& budget, ReadReport& report) {
  std::uint64_t const bytes = array_bytes(plan.dtype, destination.bands, destination.height, destination.width);
  std::shared_ptr<void> const memory = reading::allocate_result(bytes, request);
  auto const sample = static_cast<std::int64_t>(size_bytes(plan.dtype));
  auto const view =
      contiguous_view<DeviceView>(memory.get(), plan.dtype, destination.bands, destination.height, destination.width);
  // The plan outlives the job: nothing is owned.
  reading::DeviceJob const job{std::shared_ptr<ReadPlan::Impl const>(std::shared_ptr<void>(), &plan)};
  reading::execute_on_device({&job, 1}, request, view, nullptr, report);
  if (is_c_order(destination)) {
    return reading::copy_to_host(view.data, {static_cast<std::byte*>(destination.data), bytes}, request.threads,
                                 nullptr);
  }
  auto const reservation = budget.reserve(bytes, "a result on its way from the device");
  HostArray packed(plan.dtype, destination.bands, destination.height, destination.width);
  reading::copy_to_host(view.data, packed.bytes(), request.threads, nullptr);
  for (std::uint32_t band = 0; band < destination.bands; ++band) {
    for (std::uint32_t row = 0; row < destination.height; ++row) {
      std::byte const* const from = packed.bytes().data() + (std::uint64_t{band} * destination.height + row) *
                                                                destination.width * size_bytes(plan.dtype);
      std::byte* const to = static_cast<std::byte*>(destination.data) + band * destination.band_stride_bytes +
                            row * destination.row_stride_bytes;
      tile::convert_row(plan.dtype, from, sample, plan.dtype, to, destination.pixel_stride_bytes, destination.width,
                        {});
    }
  }
}

void execute(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination, MemoryBudget& budget,
             ReadReport* report) {
  ReadReport local;
  ReadReport& filled = report == nullptr ? local : *report;
  filled = {};
  auto const maps = budget.reserve((request.masked ? 2 : 1) * plan.map_bytes(), kMaps);  // masks have their own
  if (resolve_engine(request.engine) == Engine::device) {
    ReadRequest forced = request;
    forced.engine = Engine::device;
    return execute_through_device(plan, forced, destination, budget, filled);
  }
  (request.masked ? reading::execute_masked : reading::execute_on_host)(plan, request, destination, budget, filled);
}

}  // namespace

HostArray::HostArray(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width)
    : size_bytes_(static_cast<std::size_t>(array_bytes(dtype, bands, height, width))) {
  data_.reset(allocate(size_bytes_));
  view_ = contiguous_view<HostView>(data_.get(), dtype, bands, height, width);
}

void HostArray::Free::operator()(std::byte* p) const noexcept { std::free(p); }

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
    execute(*plan, request, result.view(), budget, report);
    return result;
  });
}

void read_into(Dataset const& dataset, ReadRequest const& request, HostView const& destination, ReadReport* report) {
  naming_the_source(dataset, [&] {
    auto const plan = reading::make_plan(dataset.shared_impl(), with_dtype(request, destination.dtype));
    HostView const view = checked_view(*plan, destination);
    MemoryBudget budget(resolve_memory_limit(request.memory_limit_bytes));
    execute(*plan, request, view, budget, report);
  });
}

HostArray read_mask(Dataset const& dataset, ReadRequest const& request, ReadReport* report) {
  ReadRequest stored = request;
  stored.masked = stored.unpack = false;
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
