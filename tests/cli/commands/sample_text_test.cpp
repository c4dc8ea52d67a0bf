// SPDX-License-Identifier: Apache-2.0
#include "commands/sample_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace terrazzo::cli {
namespace {

template <Sample T>
SampleResult samples_of(std::vector<T> const& values, SampleState state = SampleState::valid) {
  SampleResult samples{HostArray(dtype_of<T>(), 1, 1, static_cast<std::uint32_t>(values.size()))};
  std::ranges::copy(values, samples.values.as<T>().begin());
  samples.states.assign(values.size(), state);
  return samples;
}

template <Sample T>
std::string text_of(T value) {
  return sample_to_text(samples_of<T>({value}), 0, 0);
}

TEST(SampleToText, IsExact) {
  EXPECT_EQ(text_of<std::uint8_t>(200), "200");
  EXPECT_EQ(text_of<std::int8_t>(-5), "-5");
  EXPECT_EQ(text_of(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(text_of(0.1F), "0.1");
  EXPECT_EQ(text_of(0.1), "0.1");
  EXPECT_EQ(text_of(-std::nan("")), "nan");
  EXPECT_EQ(text_of(std::complex<float>(3, -4.5F)), "3-4.5j");
  EXPECT_EQ(text_of(std::complex<double>(3, 4)), "3+4j");
}

TEST(SampleToText, SaysWhatHasNoValue) {
  EXPECT_EQ(sample_to_text(samples_of<float>({1}, SampleState::missing), 0, 0), "nodata");
  EXPECT_EQ(sample_to_text(samples_of<float>({1}, SampleState::outside), 0, 0), "");
}

TEST(SampleToJson, IsANumberAPairOrNull) {
  EXPECT_EQ(sample_to_json(samples_of<std::int64_t>({-7}), 0, 0), -7);
  EXPECT_EQ(sample_to_json(samples_of<double>({std::nan("")}), 0, 0), "nan");
  EXPECT_EQ(sample_to_json(samples_of<std::complex<float>>({{1, 2}}), 0, 0), Json({1.0, 2.0}));
  EXPECT_TRUE(sample_to_json(samples_of<float>({1}, SampleState::missing), 0, 0).is_null());
  EXPECT_TRUE(sample_to_json(samples_of<float>({1}, SampleState::outside), 0, 0).is_null());
}

TEST(PrintedDtype, IsATypeOfCpp) {
  EXPECT_EQ(printed_dtype(DType::f16), DType::f32);
  EXPECT_EQ(printed_dtype(DType::ci16), DType::cf32);
  EXPECT_EQ(printed_dtype(DType::ci32), DType::cf64);
  EXPECT_EQ(printed_dtype(DType::u8), DType::u8);
}

}  // namespace
}  // namespace terrazzo::cli
