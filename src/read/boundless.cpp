// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/boundless.hpp"

#include "base/memory_budget.hpp"
#include "base/settings.hpp"
#include "read/arrays/host_array.hpp"
#include "read/plan/plan.hpp"
#include "read/public_call.hpp"
#include "terrazzo/error.hpp"
#include "tile/convert.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

namespace terrazzo {
namespace {

void check_request(GridWindow const& window, ReadRequest const& request) {
  if (request.window || request.has_target()) {
    throw Error(ErrorKind::usage, "a read outside the raster has its own window, and no target size");
  }
  if (window.width == 0 || window.height == 0) { throw Error(ErrorKind::usage, "the window is empty"); }
}

// A pixel outside, in the type of the result.
std::array<std::byte, 16> outside_sample(ReadPlan::Impl const& plan, std::size_t band_index, bool masked) {
  std::array<std::byte, 16> sample{};
  if (masked) {
    tile::store_missing(plan.dtype, sample.data(), plan.missing_value());
  } else {
    plan.fill_sample(band_index, sample.data());
  }
  return sample;
}

void fill_outside(ReadPlan::Impl const& plan, bool masked, HostArray& result) {
  std::size_t const bytes = size_bytes(result.dtype());
  std::size_t const band_bytes = result.bytes().size() / result.bands();
  for (std::uint32_t band = 0; band < result.bands(); ++band) {
    auto const sample = outside_sample(plan, band, masked);
    std::byte* const first = result.bytes().data() + band * band_bytes;
    std::memcpy(first, sample.data(), bytes);
    // Each copy doubles the filled part.
    for (std::size_t filled = bytes; filled < band_bytes;) {
      std::size_t const more = std::min(filled, band_bytes - filled);
      std::memcpy(first + filled, first, more);
      filled += more;
    }
  }
}

HostArray read_all(Dataset const& dataset, GridWindow const& window, ReadRequest const& request, ReadReport* report) {
  check_request(window, request);
  ReadRequest part = request;
  part.window = Window{0, 0, 1, 1};
  auto const first_pixel = reading::make_plan(dataset.shared_impl(), part);  // checks the level and the bands
  std::optional<Window> const within = part_inside(dataset.info(), window, request.level);

  MemoryBudget budget(resolve_memory_limit(request.memory_limit_bytes));
  auto const bands = static_cast<std::uint32_t>(first_pixel->bands.size());
  auto const reservation =
      budget.reserve(reading::array_bytes(first_pixel->dtype, bands, window.height, window.width), "the result");
  HostArray result(first_pixel->dtype, bands, window.height, window.width);
  bool const whole = within && within->width == window.width && within->height == window.height;
  if (!whole) { fill_outside(*first_pixel, request.masked, result); }
  if (report != nullptr) { *report = {}; }
  if (!within) { return result; }

  part.window = within;
  part.memory_limit_bytes = std::max<std::uint64_t>(budget.limit_bytes() - budget.used_bytes(), 1);
  HostView view = result.view();
  view.data = static_cast<std::byte*>(view.data) + (within->row - window.row) * view.row_stride_bytes +
              (within->column - window.column) * view.pixel_stride_bytes;
  view.width = within->width;
  view.height = within->height;
  read_into(dataset, part, view, report);
  return result;
}

}  // namespace

HostArray read_boundless(Dataset const& dataset, GridWindow const& window, ReadRequest const& request,
                         ReadReport* report) {
  return reading::naming_the_source(dataset, [&] { return read_all(dataset, window, request, report); });
}

}  // namespace terrazzo
