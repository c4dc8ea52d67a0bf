// SPDX-License-Identifier: Apache-2.0
#include "tile/copy_samples.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace terrazzo::tile {
namespace {

using Bytes = std::vector<std::byte>;

// `count` samples at the stride, from the last byte on where it is negative; no byte is like its neighbour.
struct Strided {
  std::ptrdiff_t stride;
  Bytes bytes;
  std::ptrdiff_t first;

  Strided(std::ptrdiff_t stride_bytes, std::size_t count, std::size_t sample_bytes, unsigned seed)
      : stride(stride_bytes) {
    std::ptrdiff_t const last = stride * static_cast<std::ptrdiff_t>(count == 0 ? 0 : count - 1);
    first = last < 0 ? -last : 0;
    bytes.resize(static_cast<std::size_t>(last < 0 ? -last : last) + sample_bytes);
    for (std::size_t i = 0; i < bytes.size(); ++i) { bytes[i] = static_cast<std::byte>(i * 7 + seed); }
  }
  std::byte* sample(std::size_t i) { return bytes.data() + first + static_cast<std::ptrdiff_t>(i) * stride; }
};

TEST(CopySamples, MovesThemFromAnyStrideToAnyAndTouchesNothingElse) {
  for (std::size_t const size : {1U, 2U, 4U, 8U, 16U}) {
    auto const s = static_cast<std::ptrdiff_t>(size);
    for (std::ptrdiff_t const from_stride : {s, 3 * s + 1, -s, -(s + 3)}) {
      for (std::ptrdiff_t const to_stride : {s, 2 * s, s + 5, -3 * s}) {
        for (std::size_t const count : {0U, 1U, 2U, 37U}) {
          Strided from(from_stride, count, size, 1), to(to_stride, count, size, 99), expected = to;
          for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t k = 0; k < size; ++k) { expected.sample(i)[k] = from.sample(i)[k]; }
          }
          copy_samples(from.sample(0), from_stride, to.sample(0), to_stride, count, size);
          EXPECT_EQ(to.bytes, expected.bytes) << size << " bytes, " << from_stride << " to " << to_stride;
        }
      }
    }
  }
}

TEST(CopySamples, RepeatsOneSampleOfStrideZero) {
  Bytes const one{std::byte{1}, std::byte{2}};
  Bytes out(6);
  copy_samples(one.data(), 0, out.data(), 2, 3, 2);
  EXPECT_EQ(out, (Bytes{std::byte{1}, std::byte{2}, std::byte{1}, std::byte{2}, std::byte{1}, std::byte{2}}));
}

TEST(CopySamples, RepeatsASampleOfAnySizeAsOftenAsItIsWanted) {
  for (std::size_t const size : {1U, 2U, 4U, 8U, 16U}) {
    for (std::size_t const count : {0U, 1U, 2U, 3U, 64U, 333U}) {
      Bytes one(size), out(size * count + 3, std::byte{0xEE}), wanted = out;
      for (std::size_t k = 0; k < size; ++k) { one[k] = static_cast<std::byte>(k + 1); }
      for (std::size_t i = 0; i < size * count; ++i) { wanted[i] = one[i % size]; }
      copy_samples(one.data(), 0, out.data(), static_cast<std::ptrdiff_t>(size), count, size);
      EXPECT_EQ(out, wanted) << size << " bytes, " << count << " times";
    }
  }
}

TEST(GatherPixels, TakesThemFromTheirPlacesWhateverTheirSize) {
  std::vector<std::uint32_t> const places{4, 0, 0, 9, 3, 2};
  for (std::size_t const size : {1U, 2U, 3U, 4U, 5U, 8U, 12U, 16U}) {
    Bytes row(10 * size), out(places.size() * size + 2, std::byte{0xEE}), wanted = out;
    for (std::size_t i = 0; i < row.size(); ++i) { row[i] = static_cast<std::byte>(i); }
    for (std::size_t i = 0; i < places.size() * size; ++i) { wanted[i] = row[places[i / size] * size + i % size]; }
    gather_pixels(row.data(), places, size, out.data());
    EXPECT_EQ(out, wanted) << size;
  }
}

}  // namespace
}  // namespace terrazzo::tile
