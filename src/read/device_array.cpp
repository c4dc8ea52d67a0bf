// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "read/device_engine.hpp"
#include "read/dlpack.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"

#include <memory>
#include <utility>

namespace terrazzo {

namespace {

DLDataType dlpack_type(DType dtype) {
  auto const bits = static_cast<std::uint8_t>(size_bytes(dtype) * 8);
  switch (dtype) {
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64: return {kDLUInt, bits, 1};
    case DType::i8:
    case DType::i16:
    case DType::i32:
    case DType::i64: return {kDLInt, bits, 1};
    case DType::f16:
    case DType::f32:
    case DType::f64: return {kDLFloat, bits, 1};
    case DType::cf32:
    case DType::cf64: return {kDLComplex, bits, 1};
    default: throw Error(ErrorKind::unsupported, text("DLPack has no type for ", to_string(dtype)));
  }
}

// What the receiver's deleter frees.
struct Export {
  DLManagedTensor tensor{};
  std::shared_ptr<void> memory;
  std::int64_t shape[3]{};
  std::int64_t strides[3]{};
};

}  // namespace

DeviceArray::DeviceArray(std::shared_ptr<void> memory, DeviceView const& view, int device) noexcept
    : memory_(std::move(memory)), view_(view), device_(device) {}

std::uint64_t DeviceArray::size_bytes() const noexcept {
  return std::uint64_t{view_.bands} * view_.height * view_.width * terrazzo::size_bytes(view_.dtype);
}

DLManagedTensor* DeviceArray::to_dlpack() const {
  auto exported = std::make_unique<Export>();
  DLTensor& tensor = exported->tensor.dl_tensor;
  tensor.data = view_.data;
  tensor.device = {kDLCUDA, device_};
  tensor.ndim = 3;
  tensor.dtype = dlpack_type(view_.dtype);
  std::int64_t const width = view_.width, height = view_.height;
  exported->shape[0] = view_.bands;
  exported->shape[1] = height;
  exported->shape[2] = width;
  exported->strides[0] = height * width;
  exported->strides[1] = width;
  exported->strides[2] = 1;
  tensor.shape = exported->shape;
  tensor.strides = exported->strides;
  exported->memory = memory_;
  exported->tensor.manager_ctx = exported.get();
  exported->tensor.deleter = [](DLManagedTensor* self) { delete static_cast<Export*>(self->manager_ctx); };
  return &exported.release()->tensor;
}

HostArray DeviceArray::to_host() const {
  HostArray result(view_.dtype, view_.bands, view_.height, view_.width);
  reading::copy_to_host(view_.data, result.bytes(), 0, nullptr);
  return result;
}

}  // namespace terrazzo
