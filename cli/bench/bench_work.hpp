// SPDX-License-Identifier: Apache-2.0
//
// The work that `terrazzo bench` times, and summaries of times.
#pragma once

#include "terrazzo/read.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

namespace terrazzo::cli {

// Seconds of runs of the same work; at least one.
struct Timing {
  std::vector<double> times;

  [[nodiscard]] double median() const;
  [[nodiscard]] double fastest() const;
  [[nodiscard]] double slowest() const;
};

// 10^9 bytes per second; 0 if no time passed.
[[nodiscard]] double gb_per_s(std::uint64_t bytes, double seconds);

template <class Work>
[[nodiscard]] double seconds_of(Work const& work) {
  auto const started = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

// Times `repeat` runs.
template <class Work>
[[nodiscard]] Timing time_repeatedly(unsigned repeat, Work const& work) {
  Timing timing;
  for (unsigned i = 0; i < repeat; ++i) { timing.times.push_back(seconds_of(work)); }
  return timing;
}

// Squares at random positions of the plan's window, cut to its size; equal for equal seeds on every machine.
[[nodiscard]] std::vector<Window> random_windows(ReadPlan const& whole, std::uint32_t count, std::uint32_t side_px,
                                                 std::uint32_t seed);

// One or many reads by the host engine that are timed together.
class HostWork {
 public:
  // `windows` are all of one size. Reads the first one, which checks the memory limit and warms the page cache.
  HostWork(Dataset const& dataset, ReadRequest request, std::vector<Window> windows);

  void run();

  [[nodiscard]] std::uint64_t bytes() const noexcept { return buffer_->bytes().size() * windows_.size(); }
  [[nodiscard]] HostArray const& array() const noexcept { return *buffer_; }

 private:
  Dataset const& dataset_;
  ReadRequest request_;
  std::vector<Window> windows_;
  std::optional<HostArray> buffer_;
};

}  // namespace terrazzo::cli
