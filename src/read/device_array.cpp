// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "read/device_engine.hpp"
#include "read/dlpack.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
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
  std::array<std::int64_t, 4> shape{};
  std::array<std::int64_t, 4> strides{};
};

// Of `shape`, in C order.
DLManagedTensor* export_tensor(std::shared_ptr<void> memory, void* data, DType dtype, int device,
                               std::initializer_list<std::uint32_t> shape) {
  auto exported = std::make_unique<Export>();
  DLTensor& tensor = exported->tensor.dl_tensor;
  tensor.data = data;
  tensor.device = {kDLCUDA, device};
  tensor.ndim = static_cast<std::int32_t>(shape.size());
  tensor.dtype = dlpack_type(dtype);
  std::ranges::copy(shape, exported->shape.begin());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    exported->strides[i] = stride;
    stride *= exported->shape[i];
  }
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
  exported->memory = std::move(memory);
  exported->tensor.manager_ctx = exported.get();
  exported->tensor.deleter = [](DLManagedTensor* self) { delete static_cast<Export*>(self->manager_ctx); };
  return &exported.release()->tensor;
}

std::uint64_t bytes_of(DeviceView const& view) noexcept {
  return std::uint64_t{view.bands} * view.height * view.width * size_bytes(view.dtype);
}

}  // namespace

DeviceArray::DeviceArray(std::shared_ptr<void> memory, DeviceView const& view, int device) noexcept
    : memory_(std::move(memory)), view_(view), device_(device) {}

std::uint64_t DeviceArray::size_bytes() const noexcept { return bytes_of(view_); }

DLManagedTensor* DeviceArray::to_dlpack() const {
  return export_tensor(memory_, view_.data, view_.dtype, device_, {view_.bands, view_.height, view_.width});
}

HostArray DeviceArray::to_host() const {
  HostArray result(view_.dtype, view_.bands, view_.height, view_.width);
  reading::copy_to_host(view_.data, result.bytes(), 0, nullptr);
  return result;
}

DeviceBatch::DeviceBatch(std::shared_ptr<void> memory, DeviceBatchView const& view, int device) noexcept
    : memory_(std::move(memory)), view_(view), device_(device) {}

std::uint64_t DeviceBatch::size_bytes() const noexcept { return view_.count * bytes_of(view_.item); }

DeviceArray DeviceBatch::item(std::uint32_t index) const noexcept {
  DeviceView one = view_.item;
  one.data = static_cast<std::byte*>(one.data) + index * view_.item_stride_bytes;
  return {memory_, one, device_};
}

DLManagedTensor* DeviceBatch::to_dlpack() const {
  DeviceView const& one = view_.item;
  return export_tensor(memory_, one.data, one.dtype, device_, {view_.count, one.bands, one.height, one.width});
}

}  // namespace terrazzo
