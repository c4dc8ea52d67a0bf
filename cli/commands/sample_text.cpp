// SPDX-License-Identifier: Apache-2.0
#include "commands/sample_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <complex>
#include <concepts>
#include <stdexcept>

namespace terrazzo::cli {
namespace {

template <class T>
std::string number_text(T value) {
  if constexpr (std::floating_point<T>) {
    if (std::isnan(value)) { return "nan"; }  // without its sign
  }
  std::array<char, 64> buffer;
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

template <class T>
std::string number_text(std::complex<T> value) {
  std::string const imaginary = number_text(value.imag());
  return number_text(value.real()) + (imaginary.starts_with('-') ? "" : "+") + imaginary + "j";
}

template <class T>
Json number_json(T value) {
  if constexpr (std::floating_point<T>) {
    return number(value);
  } else {
    return value;
  }
}

template <class T>
Json number_json(std::complex<T> value) {
  return Json::array({number(value.real()), number(value.imag())});
}

// work(value), with the value's C++ type.
template <class Work>
auto with_sample(HostArray const& values, std::uint32_t band, std::size_t point, Work const& work) {
  auto const at = [&]<class T>(T) { return work(values.view<T>()(band, 0, static_cast<std::uint32_t>(point))); };
  switch (values.dtype()) {
    case DType::u8: return at(std::uint8_t{});
    case DType::i8: return at(std::int8_t{});
    case DType::u16: return at(std::uint16_t{});
    case DType::i16: return at(std::int16_t{});
    case DType::u32: return at(std::uint32_t{});
    case DType::i32: return at(std::int32_t{});
    case DType::u64: return at(std::uint64_t{});
    case DType::i64: return at(std::int64_t{});
    case DType::f32: return at(float{});
    case DType::f64: return at(double{});
    case DType::cf32: return at(std::complex<float>{});
    case DType::cf64: return at(std::complex<double>{});
    case DType::f16:
    case DType::ci16:
    case DType::ci32:
    case DType::cf16: break;
  }
  throw std::logic_error("samples of a type that has no printed form");
}

}  // namespace

DType printed_dtype(DType dtype) noexcept {
  switch (dtype) {
    case DType::f16: return DType::f32;
    case DType::ci16:
    case DType::cf16: return DType::cf32;
    case DType::ci32: return DType::cf64;
    default: return dtype;
  }
}

std::string sample_to_text(SampleResult const& samples, std::uint32_t band, std::size_t point) {
  switch (samples.state(band, point)) {
    case SampleState::outside: return "";
    case SampleState::missing: return "nodata";
    case SampleState::valid: break;
  }
  return with_sample(samples.values, band, point, [](auto value) { return number_text(value); });
}

Json sample_to_json(SampleResult const& samples, std::uint32_t band, std::size_t point) {
  if (samples.state(band, point) != SampleState::valid) { return {}; }
  return with_sample(samples.values, band, point, [](auto value) { return number_json(value); });
}

}  // namespace terrazzo::cli
