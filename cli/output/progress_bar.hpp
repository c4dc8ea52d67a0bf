// SPDX-License-Identifier: Apache-2.0
//
// One line on stderr with progress, rate and remaining time: only on a terminal,
// only after half a second.
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

  void set_label(std::string label) { label_ = std::move(label); }
  // Size of the whole work; the line then shows a rate.
  void set_bytes(std::uint64_t total_bytes) { total_bytes_ = total_bytes; }

  void update(std::uint64_t done, std::uint64_t total);

  // Removes the line before other output; the next update draws it again.
  void clear();

  // For ReadRequest::progress; empty if nothing would be shown. The bar must outlive the read.
  [[nodiscard]] Progress callback();

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  bool enabled_;
  bool shown_ = false;
  std::uint64_t total_bytes_ = 0;
  Clock::time_point started_ = Clock::now();
  Clock::time_point drawn_{};
};

// "cog 2/9 [##########..........]  42 %  812 MB/s  12 s left"; no rate if `total_bytes` is 0.
[[nodiscard]] std::string progress_line(std::string const& label, double part, double elapsed_s,
                                        std::uint64_t total_bytes);

}  // namespace terrazzo::cli
