// SPDX-License-Identifier: Apache-2.0
//
// From values to shades: the range between two percentiles becomes 0 to 1.
#pragma once

#include <cstdint>
#include <span>

namespace terrazzo::ops {

class Stretch {
 public:
  Stretch(double low, double high) noexcept : low_(low), high_(high) {}

  // Of the finite values; percentiles in 0 to 100, the nearest value at or below the rank.
  static Stretch percentiles(std::span<double const> values, double low_percent, double high_percent);

  // 0 to 1; 0.5 when all values are equal.
  [[nodiscard]] double operator()(double value) const noexcept;
  [[nodiscard]] std::uint8_t byte(double value) const noexcept;

  [[nodiscard]] double low() const noexcept { return low_; }
  [[nodiscard]] double high() const noexcept { return high_; }

 private:
  double low_, high_;
};

}  // namespace terrazzo::ops
