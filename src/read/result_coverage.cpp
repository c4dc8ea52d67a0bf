// SPDX-License-Identifier: Apache-2.0
#include "read/result_coverage.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace terrazzo::reading {

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kDefault = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool kDefault = true;
#else
constexpr bool kDefault = false;
#endif
#else
constexpr bool kDefault = false;
#endif

constexpr int kPoison = 0xA5;

std::atomic<bool> is_on{kDefault};

}  // namespace

bool checks_results() noexcept { return is_on.load(std::memory_order_relaxed); }
void set_result_checks(bool on) noexcept { is_on.store(on, std::memory_order_relaxed); }

void poison(HostView const& view) noexcept {
  std::size_t const sample = size_bytes(view.dtype);
  bool const packed = view.pixel_stride_bytes == static_cast<std::int64_t>(sample);
  for (std::uint32_t band = 0; band < view.bands; ++band) {
    for (std::uint32_t row = 0; row < view.height; ++row) {
      std::byte* const at = static_cast<std::byte*>(view.data) +
                            static_cast<std::int64_t>(band) * view.band_stride_bytes +
                            static_cast<std::int64_t>(row) * view.row_stride_bytes;
      if (packed) {
        std::memset(at, kPoison, sample * view.width);
        continue;
      }
      for (std::uint32_t column = 0; column < view.width; ++column) {
        std::memset(at + static_cast<std::int64_t>(column) * view.pixel_stride_bytes, kPoison, sample);
      }
    }
  }
}

ResultCoverage::ResultCoverage(ReadPlan::Impl const& plan)
    : plan_(plan), columns_(plan.planes.size() * plan.out_height) {}

std::size_t ResultCoverage::place(std::size_t plane_index, std::uint32_t row) const noexcept {
  return plane_index * plan_.out_height + row;
}

void ResultCoverage::add(std::uint32_t plane, std::uint32_t first_row, std::uint32_t rows,
                         std::uint64_t columns) noexcept {
  auto const index = static_cast<std::size_t>(std::ranges::lower_bound(plan_.planes, plane) - plan_.planes.begin());
  for (std::uint32_t row = first_row; row < first_row + rows; ++row) {
    columns_.at(place(index, row)).fetch_add(columns, std::memory_order_relaxed);
  }
}

void ResultCoverage::check() const {
  for (std::size_t i = 0; i < plan_.planes.size(); ++i) {
    for (std::uint32_t row = 0; row < plan_.out_height; ++row) {
      std::uint64_t const columns = columns_[place(i, row)].load(std::memory_order_relaxed);
      if (columns == plan_.out_width) { continue; }
      throw std::logic_error(text("internal error: row ", row, " of plane ", plan_.planes[i], " of a result of ",
                                  plan_.out_width, " x ", plan_.out_height, " has ", columns, " pixels written"));
    }
  }
}

}  // namespace terrazzo::reading
