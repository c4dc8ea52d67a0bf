// SPDX-License-Identifier: Apache-2.0
//
// Statistics of one band, fed block by block. The result is independent of the split into blocks and of the number of
// threads: integers are summed exactly, floats row by row, and rows are merged in order.
#pragma once

#include "terrazzo/info.hpp"
#include "terrazzo/stats.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace terrazzo::ops {

// One band of a block: `rows` x `columns` samples, contiguous, and the validity of each, or null if all are valid.
struct BandRows {
  void const* samples = nullptr;
  std::uint8_t const* mask = nullptr;  // 0: not valid
  std::uint32_t rows = 0, columns = 0;
};

// Equal slices of [low, high], both finite. A value on the edge of two is in the upper one; the last one includes
// `high`. Values outside are not counted.
struct HistogramRange {
  double low = 0, high = 0;
  std::uint32_t bins = 0;
};

class Accumulator {
 public:
  virtual ~Accumulator() = default;

  // First pass.
  virtual void add(BandRows const& rows, unsigned threads) = 0;
  // Sets valid, minimum, maximum, mean and stddev of all added values.
  virtual void summarise(BandStats& stats) const = 0;
  // The smallest and largest finite value; empty if there was none.
  [[nodiscard]] virtual std::optional<HistogramRange> value_range() const = 0;

  // Second pass: begin_histogram(), add_histogram() for every block (not needed when counting), histogram().
  virtual void begin_histogram(HistogramRange const& range) = 0;
  virtual void add_histogram(BandRows const& rows, unsigned threads) = 0;
  [[nodiscard]] virtual std::vector<std::uint64_t> histogram() const = 0;
};

// For samples of `type`: every real type except f16, and cf64, whose magnitude counts. Compares `nodata` with each
// sample; null if the band has none or validity comes as a mask. `counting`, for 8 and 16 bits, counts each value (2 or
// 512 KiB): a histogram then needs no second pass over the pixels.
[[nodiscard]] std::unique_ptr<Accumulator> make_accumulator(DType type, Nodata const* nodata, bool counting);

}  // namespace terrazzo::ops
