// SPDX-License-Identifier: Apache-2.0
//
// The samples of a mosaic, a row of one band at a time: which are valid, and how a row of an input changes a row of the
// mosaic. Validity is a byte per sample, 0 for missing ones.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/mosaic.hpp"
#include "tile/convert.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::ops {

struct SampleRow {
  std::byte* first = nullptr;
  std::ptrdiff_t stride_bytes = 0;  // between samples
};

// 255 for samples that are neither the marker nor NaN (the real part of complex ones), else 0; one for each of `valid`.
void find_valid(DType dtype, SampleRow samples, tile::ValueTransform const& marker, std::span<std::uint8_t> valid);

// Changes `to` where the input has a valid sample: `first` sets samples that are not valid yet, `minimum` and `maximum`
// compare with valid ones. Both validities have the same size and stay as they are. REQUIRES: one of these rules; real
// samples for the latter two.
void compose_row(MosaicRule rule, DType dtype, SampleRow from, std::span<std::uint8_t const> from_valid, SampleRow to,
                 std::span<std::uint8_t const> to_valid);

// For MosaicRule::mean: adds valid samples to their sums.
void add_row(DType dtype, SampleRow from, std::span<std::uint8_t const> from_valid, std::span<double> sums);

// Writes the means of samples that have a count. REQUIRES: real samples.
void store_means(DType dtype, std::span<double const> sums, std::span<std::uint32_t const> counts, SampleRow to);

}  // namespace terrazzo::ops
