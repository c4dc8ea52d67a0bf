// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/dtype.hpp"

#include <array>

namespace terrazzo {

namespace {

struct Row {
  DType type;
  std::size_t bytes;
  std::string_view name;   // rasterio's and numpy's name; GDAL's complex integers have none in numpy
  std::string_view code;   // numpy's short code
};

constexpr std::array<Row, 16> kTypes{{
    {DType::u8, 1, "uint8", "u1"},
    {DType::i8, 1, "int8", "i1"},
    {DType::u16, 2, "uint16", "u2"},
    {DType::i16, 2, "int16", "i2"},
    {DType::u32, 4, "uint32", "u4"},
    {DType::i32, 4, "int32", "i4"},
    {DType::u64, 8, "uint64", "u8"},
    {DType::i64, 8, "int64", "i8"},
    {DType::f16, 2, "float16", "f2"},
    {DType::f32, 4, "float32", "f4"},
    {DType::f64, 8, "float64", "f8"},
    {DType::ci16, 4, "complex_int16", ""},
    {DType::ci32, 8, "complex_int32", ""},
    {DType::cf16, 4, "complex_float16", ""},
    {DType::cf32, 8, "complex64", "c8"},
    {DType::cf64, 16, "complex128", "c16"},
}};

constexpr Row const& row(DType type) noexcept { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::size_t size_bytes(DType type) noexcept { return row(type).bytes; }
std::string_view to_string(DType type) noexcept { return row(type).name; }

std::optional<DType> dtype_from_string(std::string_view name) noexcept {
  // A full name has priority over a code: "u8" is numpy's eight-byte integer, "uint8" is one byte.
  for (Row const& r : kTypes) {
    if (name == r.name) { return r.type; }
  }
  if (!name.empty() && (name.front() == '<' || name.front() == '|' || name.front() == '=')) { name.remove_prefix(1); }
  for (Row const& r : kTypes) {
    if (!r.code.empty() && name == r.code) { return r.type; }
  }
  return std::nullopt;
}

bool is_floating(DType type) noexcept { return type == DType::f16 || type == DType::f32 || type == DType::f64; }
bool is_complex(DType type) noexcept { return type >= DType::ci16; }
bool is_integer(DType type) noexcept { return type <= DType::i64; }
bool is_signed(DType type) noexcept {
  return type == DType::i8 || type == DType::i16 || type == DType::i32 || type == DType::i64 || !is_integer(type);
}

}  // namespace terrazzo
