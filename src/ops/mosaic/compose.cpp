// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/compose.hpp"

#include "tile/byte_swap.hpp"
#include "tile/convert_sample.hpp"

#include <cstring>
#include <type_traits>

namespace terrazzo::ops {
namespace {

using tile::load_unaligned;
using tile::store_unaligned;

template <std::size_t kBytes>
void copy_new(SampleRow from, std::span<std::uint8_t const> from_valid, SampleRow to,
              std::span<std::uint8_t const> to_valid) noexcept {
  for (std::size_t i = 0; i < from_valid.size(); ++i) {
    if (from_valid[i] != 0 && to_valid[i] == 0) { std::memcpy(to.first, from.first, kBytes); }
    from.first += from.stride_bytes;
    to.first += to.stride_bytes;
  }
}

void copy_new(std::size_t sample_bytes, SampleRow from, std::span<std::uint8_t const> from_valid, SampleRow to,
              std::span<std::uint8_t const> to_valid) noexcept {
  switch (sample_bytes) {
    case 1: return copy_new<1>(from, from_valid, to, to_valid);
    case 2: return copy_new<2>(from, from_valid, to, to_valid);
    case 4: return copy_new<4>(from, from_valid, to, to_valid);
    case 8: return copy_new<8>(from, from_valid, to, to_valid);
    default: return copy_new<16>(from, from_valid, to, to_valid);
  }
}

// float16 has no order of its own.
template <class T>
[[nodiscard]] auto comparable(T value) noexcept {
  if constexpr (std::is_same_v<T, tile::Half>) {
    return tile::convert_value<float>(value);
  } else {
    return value;
  }
}

template <class T>
void keep_extreme(bool wants_less, SampleRow from, std::span<std::uint8_t const> from_valid, SampleRow to,
                  std::span<std::uint8_t const> to_valid) noexcept {
  for (std::size_t i = 0; i < from_valid.size(); ++i) {
    if (from_valid[i] != 0) {
      T const sample = load_unaligned<T>(from.first);
      auto const mine = comparable(sample), theirs = comparable(load_unaligned<T>(to.first));
      if (to_valid[i] == 0 || (wants_less ? mine < theirs : theirs < mine)) { store_unaligned<T>(to.first, sample); }
    }
    from.first += from.stride_bytes;
    to.first += to.stride_bytes;
  }
}

}  // namespace

void find_valid(DType dtype, SampleRow samples, tile::ValueTransform const& marker, std::span<std::uint8_t> valid) {
  tile::with_part_type(dtype, [&]<class T>(std::type_identity<T>) {
    std::byte const* sample = samples.first;
    for (std::uint8_t& one : valid) {
      one = tile::is_missing(load_unaligned<T>(sample), marker) ? 0 : 255;
      sample += samples.stride_bytes;
    }
  });
}

void compose_row(MosaicRule rule, DType dtype, SampleRow from, std::span<std::uint8_t const> from_valid, SampleRow to,
                 std::span<std::uint8_t const> to_valid) {
  if (rule == MosaicRule::first) { return copy_new(size_bytes(dtype), from, from_valid, to, to_valid); }
  tile::with_part_type(dtype, [&]<class T>(std::type_identity<T>) {
    keep_extreme<T>(rule == MosaicRule::minimum, from, from_valid, to, to_valid);
  });
}

void add_row(DType dtype, SampleRow from, std::span<std::uint8_t const> from_valid, std::span<double> sums) {
  tile::with_part_type(dtype, [&]<class T>(std::type_identity<T>) {
    std::byte const* sample = from.first;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (from_valid[i] != 0) { sums[i] += tile::convert_value<double>(load_unaligned<T>(sample)); }
      sample += from.stride_bytes;
    }
  });
}

void store_means(DType dtype, std::span<double const> sums, std::span<std::uint32_t const> counts, SampleRow to) {
  tile::with_part_type(dtype, [&]<class T>(std::type_identity<T>) {
    std::byte* sample = to.first;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (counts[i] != 0) { store_unaligned<T>(sample, tile::convert_value<T>(sums[i] / counts[i])); }
      sample += to.stride_bytes;
    }
  });
}

}  // namespace terrazzo::ops
