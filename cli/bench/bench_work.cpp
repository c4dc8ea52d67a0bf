// SPDX-License-Identifier: Apache-2.0
#include "bench/bench_work.hpp"

#include "interrupt.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

namespace terrazzo::cli {

double Timing::median() const {
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  std::size_t const middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Timing::fastest() const { return *std::min_element(times.begin(), times.end()); }

double Timing::slowest() const { return *std::max_element(times.begin(), times.end()); }

double gb_per_s(std::uint64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / 1e9 / seconds : 0;
}

std::vector<Window> random_windows(ReadPlan const& whole, std::uint32_t count, std::uint32_t side_px,
                                   std::uint32_t seed) {
  Window const area = whole.window();
  std::uint32_t const width = std::min(side_px, area.width);
  std::uint32_t const height = std::min(side_px, area.height);
  std::mt19937 random(seed);  // the standard defines its sequence
  auto const below = [&](std::uint32_t end) { return static_cast<std::uint32_t>(std::uint64_t{random()} * end >> 32); };
  std::vector<Window> windows;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t const column = area.column + below(area.width - width + 1);
    std::uint32_t const row = area.row + below(area.height - height + 1);
    windows.push_back({column, row, width, height});
  }
  return windows;
}

HostWork::HostWork(Dataset const& dataset, ReadRequest request, std::vector<Window> windows)
    : dataset_(dataset), request_(std::move(request)), windows_(std::move(windows)) {
  request_.engine = Engine::host;
  if (!request_.has_target()) { request_.window = windows_.front(); }
  buffer_.emplace(read(dataset_, request_));
  std::memset(buffer_->bytes().data(), 0, buffer_->bytes().size());
}

void HostWork::run() {
  ReadReport report;
  for (Window const& window : windows_) {
    throw_if_cancelled();
    if (!request_.has_target()) { request_.window = window; }
    read_into(dataset_, request_, buffer_->view(), &report);
  }
}

}  // namespace terrazzo::cli
