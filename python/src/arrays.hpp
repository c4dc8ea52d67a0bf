// SPDX-License-Identifier: Apache-2.0
//
// Arrays of Python programs as views, and results as numpy arrays that own the result's memory. No pixel is copied.
#pragma once

#include "bindings.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/dtype.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/view.hpp"

#include <nanobind/ndarray.h>

#include <optional>

namespace terrazzo::python {

// Any array of host or device memory: numpy, torch, CuPy, or an object with __dlpack__. The first may be written.
using AnyArray = nb::ndarray<>;
using AnyConstArray = nb::ndarray<nb::ro>;
using NumpyArray = nb::ndarray<nb::numpy>;

[[nodiscard]] nb::dlpack::dtype dlpack_dtype(DType dtype);  // complex integers have none: an `unsupported` error
[[nodiscard]] DType dtype_from_dlpack(nb::dlpack::dtype dtype);

// The type of a result in Python. numpy has neither complex integers nor complex float16: they become complex floats.
[[nodiscard]] DType python_dtype(DType dtype) noexcept;

[[nodiscard]] bool is_on_device(AnyArray const& array);
[[nodiscard]] bool is_on_device(AnyConstArray const& array);

// Views of [bands, height, width] or [height, width], with the array's strides. An array in the other kind of memory is
// a `usage` error.
[[nodiscard]] HostView host_view(AnyArray const& array);
[[nodiscard]] ConstHostView host_view(AnyConstArray const& array);
[[nodiscard]] DeviceView device_view(AnyArray const& array);
[[nodiscard]] ConstDeviceView device_view(AnyConstArray const& array);
// Views of [count, bands, height, width].
[[nodiscard]] HostBatchView host_batch_view(AnyArray const& array);
[[nodiscard]] DeviceBatchView device_batch_view(AnyArray const& array);

// A numpy array [bands, height, width] that owns `array`.
[[nodiscard]] NumpyArray to_numpy(HostArray&& array);
// A numpy array [count, bands, height, width] that owns `batch`.
[[nodiscard]] NumpyArray to_numpy(HostBatch&& batch);

}  // namespace terrazzo::python
