// SPDX-License-Identifier: Apache-2.0
#include "output/npy.hpp"

namespace terrazzo::cli {
namespace {

constexpr std::size_t kAlignment = 64;

struct NumpyType {
  char const* name;
  bool parts = false;  // two numbers per sample
};

NumpyType numpy_type(DType dtype) {
  switch (dtype) {
    case DType::u8: return {"|u1"};
    case DType::i8: return {"|i1"};
    case DType::u16: return {"<u2"};
    case DType::i16: return {"<i2"};
    case DType::u32: return {"<u4"};
    case DType::i32: return {"<i4"};
    case DType::u64: return {"<u8"};
    case DType::i64: return {"<i8"};
    case DType::f16: return {"<f2"};
    case DType::f32: return {"<f4"};
    case DType::f64: return {"<f8"};
    case DType::ci16: return {"<i2", true};
    case DType::ci32: return {"<i4", true};
    case DType::cf16: return {"<f2", true};
    case DType::cf32: return {"<c8"};
    case DType::cf64: return {"<c16"};
  }
  return {"|u1"};
}

}  // namespace

std::string npy_header(DType dtype, std::vector<std::uint64_t> shape) {
  NumpyType const type = numpy_type(dtype);
  if (type.parts) { shape.push_back(2); }
  std::string dictionary = std::string("{'descr': '") + type.name + "', 'fortran_order': False, 'shape': (";
  for (std::uint64_t extent : shape) { dictionary += std::to_string(extent) + ", "; }
  dictionary += "), }";

  std::string header("\x93NUMPY\x01\x00", 8);
  std::size_t const unpadded = header.size() + 2 + dictionary.size() + 1;
  dictionary.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  dictionary += '\n';
  header += static_cast<char>(dictionary.size() & 0xff);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

}  // namespace terrazzo::cli
