// SPDX-License-Identifier: Apache-2.0
#include "read/arrays/host_array.hpp"

#include "read/arrays/dlpack.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

namespace terrazzo {
namespace {

static_assert(dtype_of<std::uint8_t>() == DType::u8 && dtype_of<std::int8_t>() == DType::i8);
static_assert(dtype_of<std::uint16_t>() == DType::u16 && dtype_of<std::int16_t>() == DType::i16);
static_assert(dtype_of<std::uint32_t>() == DType::u32 && dtype_of<std::int32_t>() == DType::i32);
static_assert(dtype_of<std::uint64_t>() == DType::u64 && dtype_of<std::int64_t>() == DType::i64);
static_assert(dtype_of<long>() == DType::i64 && dtype_of<long long>() == DType::i64, "both have 64 bits");
static_assert(dtype_of<float>() == DType::f32 && dtype_of<double>() == DType::f64);
static_assert(dtype_of<std::complex<float>>() == DType::cf32 && dtype_of<std::complex<double>>() == DType::cf64);
static_assert(!Sample<bool> && !Sample<char> && !Sample<std::byte> && !Sample<float const> && !Sample<long double>);
static_assert(!std::is_copy_constructible_v<HostArray> && std::is_nothrow_move_constructible_v<HostArray>);

HostArray counted() {
  HostArray array(DType::u16, 2, 3, 4);
  auto const samples = array.as<std::uint16_t>();
  std::iota(samples.begin(), samples.end(), std::uint16_t{0});
  return array;
}

template <class F>
ErrorKind kind_of(F const& f) {
  try {
    (void)f();
  } catch (Error const& error) { return error.kind(); }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorKind::io;
}

TEST(HostArray, GivesItsSamplesAsASpan) {
  HostArray const array = counted();
  std::span<std::uint16_t const> const samples = array.as<std::uint16_t>();
  EXPECT_EQ(samples.size(), 24u);
  EXPECT_EQ(static_cast<void const*>(samples.data()), array.bytes().data());
  EXPECT_EQ(samples[23], 23);
}

TEST(HostArray, GivesSamplesByBandRowAndColumn) {
  HostArray array = counted();
  HostArray const& unchanged = array;
  RasterSpan<std::uint16_t const> const read_only = unchanged.view<std::uint16_t>();
  EXPECT_EQ(read_only.bands(), 2u);
  EXPECT_EQ(read_only.height(), 3u);
  EXPECT_EQ(read_only.width(), 4u);
  EXPECT_EQ(read_only(0, 0, 0), 0);
  EXPECT_EQ(read_only(1, 2, 3), 23);
  EXPECT_EQ(read_only.row(1, 0).size(), 4u);
  EXPECT_EQ(read_only.row(1, 0).front(), 12);
  array.view<std::uint16_t>()(1, 0, 1) = 500;
  EXPECT_EQ(read_only(1, 0, 1), 500) << "one memory";
  static_assert(std::is_convertible_v<RasterSpan<float>, RasterSpan<float const>>);
  static_assert(!std::is_convertible_v<RasterSpan<float const>, RasterSpan<float>>);
}

TEST(HostArray, RefusesAnotherTypeThanItsOwn) {
  HostArray array = counted();
  EXPECT_EQ(kind_of([&] { return array.as<std::int16_t>(); }), ErrorKind::usage) << "of the same size";
  EXPECT_EQ(kind_of([&] { return std::as_const(array).as<float>(); }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&] { return array.view<std::uint8_t>(); }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&] { return std::as_const(array).view<double>(); }), ErrorKind::usage);
  HostArray half(DType::f16, 1, 1, 1);
  EXPECT_EQ(kind_of([&] { return half.as<std::uint16_t>(); }), ErrorKind::usage);
}

TEST(HostArray, SharesItsMemoryWithADlpackTensor) {
  DLManagedTensor* managed = nullptr;
  DLManagedTensorVersioned* versioned = nullptr;
  {
    HostArray array = counted();
    managed = array.to_dlpack();
    versioned = array.to_dlpack_versioned({.copied = true});
    EXPECT_EQ(managed->dl_tensor.data, array.bytes().data());
  }
  DLTensor const& tensor = managed->dl_tensor;
  EXPECT_EQ(tensor.device.device_type, kDLCPU);
  EXPECT_EQ(tensor.device.device_id, 0);
  EXPECT_EQ(tensor.dtype.code, kDLUInt);
  EXPECT_EQ(tensor.dtype.bits, 16);
  ASSERT_EQ(tensor.ndim, 3);
  EXPECT_EQ(std::vector(tensor.shape, tensor.shape + 3), (std::vector<std::int64_t>{2, 3, 4}));
  EXPECT_EQ(versioned->flags, reading::kDlpackIsCopied);
  EXPECT_EQ(versioned->dl_tensor.device.device_type, kDLCPU);
  EXPECT_EQ(versioned->dl_tensor.data, tensor.data);
  managed->deleter(managed);
  EXPECT_EQ(static_cast<std::uint16_t const*>(versioned->dl_tensor.data)[23], 23)
      << "the array and one tensor are gone";
  versioned->deleter(versioned);
}

TEST(ArrayBytes, AreALimitErrorWhenTheyCannotBeAddressed) {
  EXPECT_EQ(reading::array_bytes(DType::f64, 3, 5, 7), 3u * 5 * 7 * 8);
  EXPECT_EQ(kind_of([] { return reading::array_bytes(DType::cf64, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF); }),
            ErrorKind::limit);
}

}  // namespace
}  // namespace terrazzo
