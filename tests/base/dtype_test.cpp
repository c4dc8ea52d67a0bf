// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/dtype.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace terrazzo {
namespace {

struct Facts {
  DType type;
  std::size_t bytes;
  std::string_view name;
  bool floating, complex, integer, has_sign;
};

std::vector<Facts> const kFacts = {
    {DType::u8, 1, "uint8", false, false, true, false},
    {DType::i8, 1, "int8", false, false, true, true},
    {DType::u16, 2, "uint16", false, false, true, false},
    {DType::i16, 2, "int16", false, false, true, true},
    {DType::u32, 4, "uint32", false, false, true, false},
    {DType::i32, 4, "int32", false, false, true, true},
    {DType::u64, 8, "uint64", false, false, true, false},
    {DType::i64, 8, "int64", false, false, true, true},
    {DType::f16, 2, "float16", true, false, false, true},
    {DType::f32, 4, "float32", true, false, false, true},
    {DType::f64, 8, "float64", true, false, false, true},
    {DType::ci16, 4, "complex_int16", false, true, false, true},
    {DType::ci32, 8, "complex_int32", false, true, false, true},
    {DType::cf16, 4, "complex_float16", false, true, false, true},
    {DType::cf32, 8, "complex64", false, true, false, true},
    {DType::cf64, 16, "complex128", false, true, false, true},
};

TEST(DType, HasTheFactsOfItsTable) {
  for (Facts const& f : kFacts) {
    SCOPED_TRACE(f.name);
    EXPECT_EQ(size_bytes(f.type), f.bytes);
    EXPECT_EQ(to_string(f.type), f.name);
    EXPECT_EQ(is_floating(f.type), f.floating);
    EXPECT_EQ(is_complex(f.type), f.complex);
    EXPECT_EQ(is_integer(f.type), f.integer);
    EXPECT_EQ(is_signed(f.type), f.has_sign);
  }
}

TEST(DType, IsFoundByItsOwnName) {
  for (Facts const& f : kFacts) { EXPECT_EQ(dtype_from_string(f.name), f.type) << f.name; }
}

TEST(DType, HasNamesThatDiffer) {
  std::set<std::string_view> names;
  for (Facts const& f : kFacts) { EXPECT_TRUE(names.insert(to_string(f.type)).second); }
}

TEST(DType, TakesNumpyCodesByTheirBytes) {
  EXPECT_EQ(dtype_from_string("u1"), DType::u8);
  EXPECT_EQ(dtype_from_string("u8"), DType::u64) << "eight bytes, not bits";
  EXPECT_EQ(dtype_from_string("i8"), DType::i64);
  EXPECT_EQ(dtype_from_string("f4"), DType::f32);
  EXPECT_EQ(dtype_from_string("c8"), DType::cf32);
  EXPECT_EQ(dtype_from_string("c16"), DType::cf64);
}

TEST(DType, TakesTheByteOrdersThatAreThisMachines) {
  EXPECT_EQ(dtype_from_string("<u2"), DType::u16);
  EXPECT_EQ(dtype_from_string("=f8"), DType::f64);
  EXPECT_EQ(dtype_from_string("|u1"), DType::u8);
  EXPECT_EQ(dtype_from_string(">u2"), std::nullopt) << "samples are never given in the other order";
}

TEST(DType, IsNotFoundByAnythingElse) {
  for (std::string_view const name :
       {"", "<", "uint", "uint8 ", "UINT8", "float", "f3", "<<u2", "int128", "complex_int8"}) {
    EXPECT_EQ(dtype_from_string(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace terrazzo
