// SPDX-License-Identifier: Apache-2.0
//
// Maps values to shades: a range of values, given or between two percentiles, becomes 0 to 1.
#pragma once

#include <cstdint>
#include <span>

namespace terrazzo::ops {

class Stretch {
 public:
  // The shade is the fraction of the range to the power of 1 / `gamma`.
  Stretch(double low, double high, double gamma = 1) noexcept : low_(low), high_(high), exponent_(1 / gamma) {}

  // Percentiles of the finite values; arguments in 0 to 100; the nearest value at or below the rank.
  static Stretch percentiles(std::span<double const> values, double low_percent, double high_percent);

  // 0 to 1; 0.5 if all values are equal.
  [[nodiscard]] double operator()(double value) const noexcept;
  [[nodiscard]] std::uint8_t byte(double value) const noexcept;

  [[nodiscard]] double low() const noexcept { return low_; }
  [[nodiscard]] double high() const noexcept { return high_; }

 private:
  double low_, high_, exponent_ = 1;
};

}  // namespace terrazzo::ops
