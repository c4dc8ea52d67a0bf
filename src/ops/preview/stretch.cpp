// SPDX-License-Identifier: Apache-2.0
#include "ops/preview/stretch.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace terrazzo::ops {

Stretch Stretch::percentiles(std::span<double const> values, double low_percent, double high_percent) {
  std::vector<double> finite;
  finite.reserve(values.size());
  std::copy_if(values.begin(), values.end(), std::back_inserter(finite), [](double v) { return std::isfinite(v); });
  if (finite.empty()) { return {0, 1}; }
  auto const value_at = [&](double percent) {
    auto const rank = static_cast<std::size_t>(percent / 100 * static_cast<double>(finite.size() - 1));
    auto const place = finite.begin() + static_cast<std::ptrdiff_t>(std::min(rank, finite.size() - 1));
    std::nth_element(finite.begin(), place, finite.end());
    return *place;
  };
  double const low = value_at(low_percent);
  return {low, value_at(high_percent)};
}

double Stretch::operator()(double value) const noexcept {
  if (!(high_ > low_)) { return 0.5; }
  double const unit = std::isfinite(high_ - low_) ? 1 : 0.5;  // for doubles of all sizes the width would be infinite
  double const low = low_ * unit;
  double const fraction = std::clamp((value * unit - low) / (high_ * unit - low), 0.0, 1.0);
  return exponent_ == 1 ? fraction : std::pow(fraction, exponent_);
}

std::uint8_t Stretch::byte(double value) const noexcept {
  return static_cast<std::uint8_t>(std::lround((*this)(value)*255));
}

}  // namespace terrazzo::ops
