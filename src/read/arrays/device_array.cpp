// SPDX-License-Identifier: Apache-2.0
#include "read/arrays/dlpack.hpp"
#include "read/device/engine.hpp"
#include "terrazzo/device.hpp"

#include <cstddef>
#include <memory>
#include <utility>

namespace terrazzo {

namespace {

std::uint64_t bytes_of(DeviceView const& view) noexcept {
  return std::uint64_t{view.bands} * view.height * view.width * size_bytes(view.dtype);
}

// The memory of a tensor that the consumer's stream will use. If the export throws, the recorded stream is superfluous
// but harmless.
std::shared_ptr<DeviceMemory> recorded(std::shared_ptr<DeviceMemory> const& memory, StreamView consumer) {
  if (consumer) { memory->record_stream(consumer); }
  return memory;
}

}  // namespace

DeviceArray::DeviceArray(std::shared_ptr<DeviceMemory> memory, DeviceView const& view, int device) noexcept
    : memory_(std::move(memory)), view_(view), device_(device) {}

std::uint64_t DeviceArray::size_bytes() const noexcept { return bytes_of(view_); }

DLManagedTensor* DeviceArray::to_dlpack(StreamView consumer) const {
  return reading::export_dlpack({recorded(memory_, consumer),
                                 view_.data,
                                 view_.dtype,
                                 {kDLCUDA, device_},
                                 {view_.bands, view_.height, view_.width}});
}

DLManagedTensorVersioned* DeviceArray::to_dlpack_versioned(StreamView consumer, DlpackFlags flags) const {
  return reading::export_dlpack_versioned({recorded(memory_, consumer),
                                           view_.data,
                                           view_.dtype,
                                           {kDLCUDA, device_},
                                           {view_.bands, view_.height, view_.width}},
                                          flags);
}

HostArray DeviceArray::to_host() const {
  auto const here = reading::choose_device(device_);
  HostArray result(view_.dtype, view_.bands, view_.height, view_.width);
  reading::copy_to_host(view_.data, result.bytes(), 0, {});
  return result;
}

DeviceBatch::DeviceBatch(std::shared_ptr<DeviceMemory> memory, DeviceBatchView const& view, int device) noexcept
    : memory_(std::move(memory)), view_(view), device_(device) {}

std::uint64_t DeviceBatch::size_bytes() const noexcept { return view_.count * bytes_of(view_.item); }

DeviceArray DeviceBatch::item(std::uint32_t index) const noexcept {
  DeviceView one = view_.item;
  one.data = static_cast<std::byte*>(one.data) + index * view_.item_stride_bytes;
  return {memory_, one, device_};
}

DLManagedTensor* DeviceBatch::to_dlpack(StreamView consumer) const {
  DeviceView const& one = view_.item;
  return reading::export_dlpack({recorded(memory_, consumer),
                                 one.data,
                                 one.dtype,
                                 {kDLCUDA, device_},
                                 {view_.count, one.bands, one.height, one.width}});
}

DLManagedTensorVersioned* DeviceBatch::to_dlpack_versioned(StreamView consumer, DlpackFlags flags) const {
  DeviceView const& one = view_.item;
  return reading::export_dlpack_versioned({recorded(memory_, consumer),
                                           one.data,
                                           one.dtype,
                                           {kDLCUDA, device_},
                                           {view_.count, one.bands, one.height, one.width}},
                                          flags);
}

}  // namespace terrazzo
