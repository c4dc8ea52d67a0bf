// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/read.hpp"

#include "base/checked.hpp"
#include "base/memory_budget.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "read/host_engine.hpp"
#include "read/mask.hpp"
#include "read/plan.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

namespace terrazzo {

namespace {

// Large results on huge pages: a 1 GiB array costs 512 page faults instead of 262,144.
constexpr std::size_t kHugePageBytes = 2u << 20;

std::byte* allocate(std::size_t bytes) {
  bool const large = bytes >= 4 * kHugePageBytes;
  std::size_t const alignment = large ? kHugePageBytes : 64;
  std::size_t const rounded = ceil_div(std::max<std::size_t>(bytes, 1), alignment) * alignment;
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

void check_view(ReadPlan::Impl const& plan, HostView const& view) {
  auto const refuse = [&](std::string message) -> void {
    throw Error(ErrorKind::usage, std::move(message), {.source = plan.dataset->info.source});
  };
  if (view.data == nullptr) { refuse("the destination has no memory"); }
  if (view.bands != plan.bands.size() || view.height != plan.out_height || view.width != plan.out_width) {
    refuse(text("the destination is ", view.bands, " x ", view.height, " x ", view.width, ", the result ",
                plan.bands.size(), " x ", plan.out_height, " x ", plan.out_width));
  }
  if (view.dtype != plan.dtype) {
    refuse(text("the destination holds ", to_string(view.dtype), ", the result is ", to_string(plan.dtype)));
  }
}

void execute(ReadPlan::Impl const& plan, ReadRequest const& request, HostView const& destination, MemoryBudget& budget,
             ReadReport* report) {
  ReadReport local;
  ReadReport& filled = report == nullptr ? local : *report;
  filled = {};
  reading::execute_on_host(plan, request, destination, budget, filled);
  if (request.masked) { reading::apply_masks(plan, request, destination, budget); }
}

// Inner layers say what is wrong; here every error learns which file it is about.
template <class Work>
auto naming_the_source(Dataset const& dataset, Work const& work) {
  try {
    return work();
  } catch (Error const& error) { throw error.located({.source = dataset.info().source}); }
}

ReadRequest with_dtype_of(ReadRequest request, HostView const& destination) {
  if (!request.dtype) { request.dtype = destination.dtype; }
  return request;
}

}  // namespace

HostArray::HostArray(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width)
    : size_bytes_(static_cast<std::size_t>(array_bytes(dtype, bands, height, width))) {
  data_.reset(allocate(size_bytes_));
  auto const sample = static_cast<std::int64_t>(terrazzo::size_bytes(dtype));
  view_ = {data_.get(), dtype, bands, height, width, sample * width * height, sample * width, sample};
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
    auto const plan = reading::make_plan(dataset.shared_impl(), with_dtype_of(request, destination));
    check_view(*plan, destination);
    MemoryBudget budget(resolve_memory_limit(request.memory_limit_bytes));
    execute(*plan, request, destination, budget, report);
  });
}

HostArray read_mask(Dataset const& dataset, ReadRequest const& request) {
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
    reading::read_masks(*plan, stored, result.view(), budget);
    return result;
  });
}

}  // namespace terrazzo
