// SPDX-License-Identifier: Apache-2.0
//
// One line on stderr that shows how far the work is: only on a terminal, only after half a second.
#pragma once

#include "terrazzo/read.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace terrazzo::cli {

class ProgressBar {
 public:
  ProgressBar(std::string label, bool quiet);
  ~ProgressBar();
  ProgressBar(ProgressBar const&) = delete;
  ProgressBar& operator=(ProgressBar const&) = delete;

  void update(std::uint64_t done, std::uint64_t total);

  // For ReadRequest::progress; empty when nothing would be shown. The bar must outlive the read.
  [[nodiscard]] Progress callback();

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  bool enabled_;
  bool shown_ = false;
  Clock::time_point started_ = Clock::now();
  Clock::time_point drawn_{};
};

}  // namespace terrazzo::cli
