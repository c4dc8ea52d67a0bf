// SPDX-License-Identifier: Apache-2.0
#include "gpu/transfer/copy_rows.hpp"

#include "gpu/decode/decoder_batch.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace terrazzo::gpu {
namespace {

using test::Bytes;
using test::DeviceCopy;

class CopyRows : public test::OnDevice {};

// Ways to lay out bands x rows x columns; offsets in samples, but for `shift`, which is in bytes.
struct Strides {
  std::int64_t band, row, pixel, origin, size, shift;
};

constexpr std::int64_t kBands = 3, kRows = 7, kColumns = 11;

std::vector<Strides> layouts() {
  std::int64_t const plane = kRows * kColumns;
  return {{plane, kColumns, 1, 0, plane * kBands, 0},
          {1, kBands * kColumns, kBands, 0, plane * kBands, 0},
          {1, kBands * kColumns, -kBands, kBands * (kColumns - 1), plane * kBands, 0},
          {plane, -kColumns, 1, plane - kColumns, plane * kBands, 0},
          {1, 50, 4, 3, 50 * kRows + 8, 0},
          {1, 50, 4, 3, 50 * kRows + 8, 1}};
}

TEST_F(CopyRows, GoesFromAnyStridesToAnyOther) {
  std::mt19937 random(3);
  for (DType const dtype : {DType::u8, DType::u16, DType::f32, DType::f64, DType::cf64}) {
    auto const sample = static_cast<std::int64_t>(size_bytes(dtype));
    for (Strides const& a : layouts()) {
      for (Strides const& b : layouts()) {
        Bytes source(static_cast<std::size_t>(a.size * sample + 16));
        for (std::byte& byte : source) { byte = static_cast<std::byte>(random()); }
        Bytes expected(static_cast<std::size_t>(b.size * sample + 16), std::byte{0xA5});
        DeviceCopy const from(source), to(expected);
        auto const view = [&](std::byte* base, Strides const& s) {
          return DeviceView{base + s.origin * sample + s.shift,
                            dtype,
                            kBands,
                            kRows,
                            kColumns,
                            s.band * sample,
                            s.row * sample,
                            s.pixel * sample};
        };
        auto const at = [&](Strides const& s, std::int64_t band, std::int64_t row, std::int64_t column) {
          return (s.origin + band * s.band + row * s.row + column * s.pixel) * sample + s.shift;
        };
        for (std::int64_t band = 0; band < kBands; ++band) {
          for (std::int64_t row = 0; row < kRows; ++row) {
            for (std::int64_t column = 0; column < kColumns; ++column) {
              std::memcpy(expected.data() + at(b, band, row, column), source.data() + at(a, band, row, column),
                          static_cast<std::size_t>(sample));
            }
          }
        }
        StreamHandle const stream = make_stream();
        copy_rows({0, view(from.get(), a), {}}, {0, view(to.get(), b), {}}, stream.get());
        check_cuda(cudaStreamSynchronize(stream.get()), "copying");
        EXPECT_TRUE(to.back() == expected) << to_string(dtype);
      }
    }
  }
}

}  // namespace
}  // namespace terrazzo::gpu
