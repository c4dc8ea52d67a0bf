// SPDX-License-Identifier: Apache-2.0
//
// Sample types: those of GDAL 3.12. Stored samples of other sizes are widened: 1 to 8 bits become uint8, 9 to 16 bits
// uint16, 17 to 32 bits uint32, 24-bit floats float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)
namespace terrazzo {

enum class DType : std::uint8_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  u64,
  i64,
  f16,
  f32,
  f64,
  ci16,
  ci32,        // complex integers: two int16 / int32
  cf16,
  cf32,
  cf64,  // complex floats: two halves / floats / doubles
};

[[nodiscard]] std::size_t size_bytes(DType type) noexcept;         // of one sample; both parts of a complex one
[[nodiscard]] std::string_view to_string(DType type) noexcept;  // "uint8", "float32", "complex_int16", "complex64"
[[nodiscard]] std::optional<DType> dtype_from_string(std::string_view name) noexcept;  // also "f4", "<u2", "float32"
[[nodiscard]] bool is_floating(DType type) noexcept;  // f16, f32, f64
[[nodiscard]] bool is_complex(DType type) noexcept;
[[nodiscard]] bool is_integer(DType type) noexcept;  // real integers, not complex ones
[[nodiscard]] bool is_signed(DType type) noexcept;

}  // namespace terrazzo
#pragma GCC visibility pop
