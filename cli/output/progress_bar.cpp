// SPDX-License-Identifier: Apache-2.0
#include "output/progress_bar.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace terrazzo::cli {
namespace {

constexpr auto kDelay = std::chrono::milliseconds(500);
constexpr auto kInterval = std::chrono::milliseconds(100);
constexpr std::size_t kBarColumns = 30;

template <class... Values>
std::string formatted(char const* format, Values... values) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, values...);
  return buffer.data();
}

std::string rate_text(double bytes_per_s) {
  double const megabytes = bytes_per_s / 1e6;
  if (megabytes >= 1000) { return formatted("%.1f GB/s", megabytes / 1000); }
  return formatted(megabytes < 10 ? "%.1f MB/s" : "%.0f MB/s", megabytes);
}

std::string duration_text(double seconds) {
  auto const whole = static_cast<long long>(std::ceil(seconds));
  if (whole < 60) { return formatted("%lld s", whole); }
  if (whole < 3600) { return formatted("%lld min %lld s", whole / 60, whole % 60); }
  return formatted("%lld h %lld min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

std::string progress_line(std::string const& label, double part, double elapsed_s, std::uint64_t total_bytes) {
  double const done = std::clamp(part, 0.0, 1.0);
  std::string bar(kBarColumns, '.');
  std::fill_n(bar.begin(), static_cast<std::size_t>(done * kBarColumns), '#');
  std::string line = label + " [" + bar + "] " + formatted("%3.0f %%", done * 100);
  if (total_bytes > 0 && elapsed_s > 0) {
    line += "  " + rate_text(done * static_cast<double>(total_bytes) / elapsed_s);
  }
  if (done > 0) { line += "  " + duration_text(elapsed_s / done - elapsed_s) + " left"; }
  return line;
}

ProgressBar::ProgressBar(std::string label, bool quiet)
    : label_(std::move(label)), enabled_(!quiet && isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (!shown_) { return; }
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

void ProgressBar::update(std::uint64_t done, std::uint64_t total) {
  auto const now = Clock::now();
  if (!enabled_ || total == 0 || now - started_ < kDelay || now - drawn_ < kInterval) { return; }
  double const part = static_cast<double>(done) / static_cast<double>(total);
  double const elapsed_s = std::chrono::duration<double>(now - started_).count();
  std::fprintf(stderr, "\r\033[K%s", progress_line(label_, part, elapsed_s, total_bytes_).c_str());
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
