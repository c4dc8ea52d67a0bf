// SPDX-License-Identifier: Apache-2.0
#include "arrays.hpp"

#include "terrazzo/error.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace terrazzo::python {

namespace {

using Code = nb::dlpack::dtype_code;

struct Sizes {
  std::uint32_t bands = 0, height = 0, width = 0;
  std::int64_t band_stride = 0, row_stride = 0, pixel_stride = 0;  // bytes
};

std::uint32_t axis(std::size_t size) {
  if (size > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorKind::usage,
                "an axis of the array has " + std::to_string(size) + " elements; 2^32 - 1 are the most");
  }
  return static_cast<std::uint32_t>(size);
}

// Of the last three axes, or the last two, of an array.
template <class Array>
Sizes sizes_of(Array const& array, std::size_t first_axis = 0) {
  std::size_t const axes = array.ndim() - first_axis;
  if (axes != 2 && axes != 3) {
    throw Error(ErrorKind::usage, "the array has " + std::to_string(array.ndim()) +
                                      " axes; a raster has [height, width] or [bands, height, width]");
  }
  auto const bytes = static_cast<std::int64_t>(array.itemsize());
  std::size_t const row = array.ndim() - 2;
  Sizes sizes{.bands = axes == 3 ? axis(array.shape(first_axis)) : 1,
              .height = axis(array.shape(row)),
              .width = axis(array.shape(row + 1)),
              .band_stride = axes == 3 ? array.stride(first_axis) * bytes : 0,
              .row_stride = array.stride(row) * bytes,
              .pixel_stride = array.stride(row + 1) * bytes};
  // numpy gives an axis of one element any stride, also 0; three zeros would mean "packed" to a View.
  if (sizes.width == 1) { sizes.pixel_stride = bytes; }
  return sizes;
}

template <class View>
constexpr bool kOnDevice = false;
template <class Void>
constexpr bool kOnDevice<View<MemoryKind::device, Void>> = true;

bool on_device(int device_type) {
  if (device_type == nb::device::cpu::value || device_type == nb::device::cuda_host::value) { return false; }
  if (device_type == nb::device::cuda::value || device_type == nb::device::cuda_managed::value) { return true; }
  throw Error(ErrorKind::unsupported, "the array is in memory of DLPack device type " + std::to_string(device_type) +
                                          "; host memory and CUDA work");
}

template <class View, class Array>
View view_of(Array const& array, std::size_t first_axis = 0) {
  if (on_device(array.device_type()) != kOnDevice<View>) {
    throw Error(ErrorKind::usage, kOnDevice<View> ? "the array is in host memory, and this call works in GPU memory"
                                                  : "the array is in GPU memory, and this call works in host memory");
  }
  Sizes const sizes = sizes_of(array, first_axis);
  return {array.data(),     dtype_from_dlpack(array.dtype()),
          sizes.bands,      sizes.height,
          sizes.width,      sizes.band_stride,
          sizes.row_stride, sizes.pixel_stride};
}

template <class BatchView, class View>
BatchView batch_view_of(AnyArray const& array) {
  if (array.ndim() != 4) {
    throw Error(ErrorKind::usage,
                "the array has " + std::to_string(array.ndim()) + " axes; windows need [count, bands, height, width]");
  }
  return {.item = view_of<View>(array, 1),
          .count = axis(array.shape(0)),
          .item_stride_bytes = array.stride(0) * static_cast<std::int64_t>(array.itemsize())};
}

template <class Owner, std::size_t axes>
NumpyArray numpy_of(Owner&& owner, void* (*data)(Owner&), std::array<std::size_t, axes> const& shape, DType dtype) {
  auto* const kept = new Owner(std::move(owner));
  nb::capsule const capsule(kept, [](void* memory) noexcept { delete static_cast<Owner*>(memory); });
  return NumpyArray(data(*kept), axes, shape.data(), capsule, nullptr, dlpack_dtype(dtype));
}

}  // namespace

nb::dlpack::dtype dlpack_dtype(DType dtype) {
  auto const bits = static_cast<std::uint8_t>(8 * size_bytes(dtype));
  Code code = Code::UInt;
  switch (dtype) {
    case DType::ci16:
    case DType::ci32:
    case DType::cf16:
      throw Error(ErrorKind::unsupported,
                  "arrays of " + std::string(to_string(dtype)) + " do not exist in numpy and DLPack");
    case DType::cf32:
    case DType::cf64: code = Code::Complex; break;
    default: code = is_floating(dtype) ? Code::Float : is_signed(dtype) ? Code::Int : Code::UInt;
  }
  return {static_cast<std::uint8_t>(code), bits, 1};
}

DType dtype_from_dlpack(nb::dlpack::dtype dtype) {
  auto const code = static_cast<Code>(dtype.code);
  if (code == Code::Bool && dtype.bits == 8) { return DType::u8; }
  constexpr std::array kTypes{DType::u8,  DType::i8,  DType::u16, DType::i16, DType::u32,  DType::i32, DType::u64,
                              DType::i64, DType::f16, DType::f32, DType::f64, DType::cf32, DType::cf64};
  for (DType const type : kTypes) {
    nb::dlpack::dtype const candidate = dlpack_dtype(type);
    if (candidate.code == dtype.code && candidate.bits == dtype.bits && dtype.lanes == 1) { return type; }
  }
  throw Error(ErrorKind::unsupported, "no raster has samples of the array's type (DLPack type code " +
                                          std::to_string(dtype.code) + ", " + std::to_string(dtype.bits) + " bits)");
}

DType python_dtype(DType dtype) noexcept {
  switch (dtype) {
    case DType::ci16:
    case DType::cf16: return DType::cf32;
    case DType::ci32: return DType::cf64;
    default: return dtype;
  }
}

bool is_on_device(AnyArray const& array) { return on_device(array.device_type()); }
bool is_on_device(AnyConstArray const& array) { return on_device(array.device_type()); }

HostView host_view(AnyArray const& array) { return view_of<HostView>(array); }
ConstHostView host_view(AnyConstArray const& array) { return view_of<ConstHostView>(array); }
DeviceView device_view(AnyArray const& array) { return view_of<DeviceView>(array); }
ConstDeviceView device_view(AnyConstArray const& array) { return view_of<ConstDeviceView>(array); }
HostBatchView host_batch_view(AnyArray const& array) { return batch_view_of<HostBatchView, HostView>(array); }
DeviceBatchView device_batch_view(AnyArray const& array) { return batch_view_of<DeviceBatchView, DeviceView>(array); }

NumpyArray to_numpy(HostArray&& array) {
  std::array<std::size_t, 3> const shape{array.bands(), array.height(), array.width()};
  DType const dtype = array.dtype();
  return numpy_of<HostArray>(
      std::move(array), [](HostArray& kept) { return kept.view().data; }, shape, dtype);
}

NumpyArray to_numpy(HostBatch&& batch) {
  std::array<std::size_t, 4> const shape{batch.count(), batch.bands(), batch.height(), batch.width()};
  DType const dtype = batch.dtype();
  return numpy_of<HostBatch>(
      std::move(batch), [](HostBatch& kept) { return kept.view().item.data; }, shape, dtype);
}

}  // namespace terrazzo::python
