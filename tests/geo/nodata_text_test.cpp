// SPDX-License-Identifier: Apache-2.0
#include "geo/nodata.hpp"
#include "geo/written_tags.hpp"
#include "terrazzo/write.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace terrazzo::geo {
namespace {

TEST(MakeNodata, SpellsNumbersAsGdalDoes) {
  EXPECT_EQ(make_nodata("-9999", DType::f32).text, "-9999");
  EXPECT_EQ(make_nodata(" -9999.0 ", DType::i16).text, "-9999");
  EXPECT_EQ(make_nodata("+255", DType::u8).text, "255");
  EXPECT_EQ(make_nodata("0.1", DType::f64).text, "0.10000000000000001");
  EXPECT_EQ(make_nodata("NaN", DType::f32).text, "nan");
  EXPECT_EQ(make_nodata("-inf", DType::f64).text, "-inf");
  EXPECT_EQ(make_nodata("-3.4028235e38", DType::f32).text, "-3.4028234663852886e+38");
  EXPECT_EQ(make_nodata("1e3", DType::u16).text, "1000");
}

TEST(MakeNodata, KeepsEveryBitOf64BitIntegers) {
  EXPECT_EQ(make_nodata("-9223372036854775808", DType::i64).exact_i64, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(make_nodata("18446744073709551615", DType::u64).exact_u64, std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(make_nodata("9007199254740993", DType::i64).text, "9007199254740993");
  EXPECT_EQ(make_nodata("255.0", DType::u64).exact_u64, 255U);
  EXPECT_EQ(make_nodata("-1e3", DType::i64).exact_i64, -1000);
}

TEST(MakeNodata, IsWhatAReaderMakesOfItsText) {
  for (auto const dtype : {DType::u8, DType::i8, DType::u16, DType::i16, DType::u32, DType::i32, DType::u64, DType::i64,
                           DType::f16, DType::f32, DType::f64, DType::ci16, DType::cf32}) {
    for (auto const* text : {"0", "1", "100"}) {
      Nodata const made = make_nodata(text, dtype);
      auto const read = parse_nodata(made.text, dtype);
      EXPECT_EQ(read->value, made.value);
      EXPECT_EQ(read->exact_i64, made.exact_i64);
      EXPECT_EQ(read->exact_u64, made.exact_u64);
      EXPECT_TRUE(made.representable);
    }
  }
}

TEST(MakeNodata, TakesEveryHalf) {
  for (auto const* text : {"0", "-10000", "2048", "0.25", "65504", "-65504", "5.9604644775390625e-08", "nan", "-inf"}) {
    EXPECT_TRUE(make_nodata(text, DType::f16).representable) << text;
  }
}

TEST(MakeNodata, RefusesWhatIsNoNumber) {
  for (auto const* text : {"", " ", "x", "1x", "1 2", "--1", "1,5", "0x10", "nanx", "1e999"}) {
    for (auto const dtype : {DType::f32, DType::u8, DType::i64}) {
      EXPECT_EQ(kind_of_failure([&] { static_cast<void>(make_nodata(text, dtype)); }), ErrorKind::usage) << text;
    }
  }
}

TEST(MakeNodata, RefusesWhatTheTypeCannotHold) {
  struct Case {
    char const* text;
    DType dtype;
  };
  for (auto const& [text, dtype] :
       {Case{"-1", DType::u8}, Case{"256", DType::u8}, Case{"1.5", DType::u8}, Case{"nan", DType::i16},
        Case{"inf", DType::i32}, Case{"-129", DType::i8}, Case{"65536", DType::u16}, Case{"4294967296", DType::u32},
        Case{"9223372036854775808", DType::i64}, Case{"-1", DType::u64}, Case{"18446744073709551616", DType::u64},
        Case{"0.5", DType::i64}, Case{"nan", DType::u64}, Case{"1e39", DType::f32}, Case{"1e5", DType::f16},
        Case{"-9999", DType::f16}, Case{"0.1", DType::f16}, Case{"2049", DType::cf16}, Case{"40000", DType::ci16}}) {
    EXPECT_EQ(kind_of_failure([&] { static_cast<void>(make_nodata(text, dtype)); }), ErrorKind::usage)
        << text << " " << to_string(dtype);
  }
}

TEST(NodataText, TakesTheValueAndNotTheTextOfAFile) {
  EXPECT_EQ(nodata_text({.value = -9999, .text = "-9999.000"}), "-9999");
  EXPECT_EQ(nodata_text({.value = std::nan(""), .text = "1.#QNAN"}), "nan");
}

}  // namespace
}  // namespace terrazzo::geo
