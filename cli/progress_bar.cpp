// SPDX-License-Identifier: Apache-2.0
#include "progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace terrazzo::cli {
namespace {

constexpr auto kDelay = std::chrono::milliseconds(500);
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr std::size_t kBarColumns = 30;

}  // namespace

ProgressBar::ProgressBar(std::string label, bool quiet)
    : label_(std::move(label)), enabled_(!quiet && isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (shown_) { std::fputs("\r\033[K", stderr); }
}

void ProgressBar::update(std::uint64_t done, std::uint64_t total) {
  auto const now = Clock::now();
  if (!enabled_ || total == 0 || now - started_ < kDelay || now - drawn_ < kInterval) { return; }
  double const part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  double const elapsed_s = std::chrono::duration<double>(now - started_).count();
  std::string bar(kBarColumns, '.');
  std::fill_n(bar.begin(), static_cast<std::size_t>(part * kBarColumns), '#');
  std::fprintf(stderr, "\r\033[K%s [%s] %3.0f %%", label_.c_str(), bar.c_str(), part * 100);
  if (part > 0) { std::fprintf(stderr, "  %.0f s left", elapsed_s / part - elapsed_s); }
  std::fflush(stderr);
  drawn_ = now;
  shown_ = true;
}

Progress ProgressBar::callback() {
  if (!enabled_) { return {}; }
  return [this](std::uint64_t done, std::uint64_t total) {
    update(done, total);
    return true;
  };
}

}  // namespace terrazzo::cli
