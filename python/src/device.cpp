// SPDX-License-Identifier: Apache-2.0
//
// Results in GPU memory. Other libraries take them without a copy, by DLPack or __cuda_array_interface__.
#include "terrazzo/device.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "callbacks.hpp"
#include "requests.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace terrazzo::python {

namespace {

// The layouts of dlpack.h, as far as a capsule needs them to drop a tensor that nobody took.
struct ManagedTensor {
  nb::dlpack::dltensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};
struct ManagedTensorVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
};

// A receiver renames the capsule to "used_..." and calls the deleter itself.
template <class Tensor>
void drop_tensor(PyObject* capsule, char const* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) { return; }
  auto* const tensor = static_cast<Tensor*>(PyCapsule_GetPointer(capsule, name));
  tensor->deleter(tensor);
}

nb::object capsule_of(DLManagedTensor* tensor) {
  return nb::steal(
      PyCapsule_New(tensor, "dltensor", [](PyObject* capsule) { drop_tensor<ManagedTensor>(capsule, "dltensor"); }));
}
nb::object capsule_of(DLManagedTensorVersioned* tensor) {
  return nb::steal(PyCapsule_New(tensor, "dltensor_versioned", [](PyObject* capsule) {
    drop_tensor<ManagedTensorVersioned>(capsule, "dltensor_versioned");
  }));
}

// The stream argument of __dlpack__ for CUDA: None is the legacy default stream, -1 is no stream.
StreamView consumer_stream(std::optional<std::int64_t> stream) {
  if (!stream) { return StreamView::legacy_default(); }
  return *stream == -1 ? StreamView() : StreamView::from_address(static_cast<std::uintptr_t>(*stream));
}

nb::tuple shape_of(DeviceArray const& array) { return nb::make_tuple(array.bands(), array.height(), array.width()); }
nb::tuple shape_of(DeviceBatch const& batch) {
  return nb::make_tuple(batch.count(), batch.bands(), batch.height(), batch.width());
}

constexpr int kDlpackCuda = nb::device::cuda::value;

template <class Array>
nb::object to_dlpack(Array const& array, std::optional<std::int64_t> stream,
                     std::optional<std::pair<int, int>> max_version, std::optional<std::pair<int, int>> device,
                     std::optional<bool> copy) {
  if (copy && *copy) { throw nb::buffer_error("the memory is shared; copy it after the exchange"); }
  if (device && *device != std::pair(kDlpackCuda, array.device())) {
    throw nb::buffer_error("the array stays on its GPU; to_host() copies it to host memory");
  }
  if (max_version && max_version->first >= 1) { return capsule_of(array.to_dlpack_versioned(consumer_stream(stream))); }
  return capsule_of(array.to_dlpack(consumer_stream(stream)));
}

// numpy's name of a type, as "<f4".
std::string type_string(DType dtype) {
  char const kind = is_complex(dtype) ? 'c' : is_floating(dtype) ? 'f' : is_signed(dtype) ? 'i' : 'u';
  std::size_t const bytes = size_bytes(dtype);
  return std::string(bytes == 1 ? "|" : "<") + kind + std::to_string(bytes);
}

template <class Array>
nb::dict cuda_array_interface(Array const& array) {
  static_cast<void>(dlpack_dtype(array.dtype()));  // refuses types that have no name
  nb::dict fields;
  fields["shape"] = shape_of(array);
  fields["typestr"] = type_string(array.dtype());
  fields["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), false);
  fields["strides"] = nb::none();
  fields["stream"] = nb::none();  // the pixels are ready
  fields["version"] = 3;
  return fields;
}

template <class Array>
nb::class_<Array> bind_array(nb::module_& module, char const* name) {
  return nb::class_<Array>(module, name)
      .def_prop_ro("shape", [](Array const& array) { return shape_of(array); })
      .def_prop_ro("dtype", [](Array const& array) { return to_str(to_string(array.dtype())); })
      .def_prop_ro("nbytes", [](Array const& array) { return array.size_bytes(); })
      .def_prop_ro("device", [](Array const& array) { return array.device(); })
      .def("record_stream",
           [](Array const& array, std::uintptr_t stream) { array.record_stream(StreamView::from_address(stream)); })
      .def("__dlpack__", &to_dlpack<Array>, nb::kw_only(), nb::arg("stream").none() = nb::none(),
           nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
           nb::arg("copy").none() = nb::none())
      .def("__dlpack_device__", [](Array const& array) { return nb::make_tuple(kDlpackCuda, array.device()); })
      .def_prop_ro("__cuda_array_interface__", &cuda_array_interface<Array>);
}

void bind_state(nb::module_& module) {
  nb::class_<DeviceLibrary>(module, "DeviceLibrary")
      .def_ro("name", &DeviceLibrary::name)
      .def_ro("purpose", &DeviceLibrary::purpose)
      .def_ro("found", &DeviceLibrary::found)
      .def_ro("path", &DeviceLibrary::path)
      .def_ro("version", &DeviceLibrary::version)
      .def_ro("hint", &DeviceLibrary::hint)
      .def_ro("refused", &DeviceLibrary::refused);
  nb::class_<DeviceState>(module, "DeviceState")
      .def_ro("built", &DeviceState::built)
      .def_ro("usable", &DeviceState::usable)
      .def_ro("reason", &DeviceState::reason)
      .def_ro("device", &DeviceState::device)
      .def_ro("name", &DeviceState::name)
      .def_ro("driver_version", &DeviceState::driver_version)
      .def_ro("runtime_version", &DeviceState::runtime_version)
      .def_ro("total_bytes", &DeviceState::total_bytes)
      .def_ro("free_bytes", &DeviceState::free_bytes)
      .def_ro("gds", &DeviceState::gds)
      .def_ro("libraries", &DeviceState::libraries);
  module.def("device_state", [] { return Work().run([] { return device_state(); }); });
  module.def("release_device_memory", [] { Work().run([] { release_device_memory(); }); });
}

using Item = std::pair<Dataset, WindowTuple>;

}  // namespace

void bind_device(nb::module_& module) {
  bind_state(module);
  bind_array<DeviceArray>(module, "DeviceArray").def("to_host", [](DeviceArray const& array) {
    return to_numpy(Work().run([&] { return array.to_host(); }));
  });
  bind_array<DeviceBatch>(module, "DeviceBatch").def("item", &DeviceBatch::item);
  module.def(
      "read_device",
      [](Dataset const& dataset, ReadRequest request, std::uintptr_t stream) {
        if (!request.dtype) { request.dtype = python_dtype(result_dtype(dataset, request)); }
        return Work(request).run([&] { return read_device(dataset, request, StreamView::from_address(stream)); });
      },
      nb::arg("dataset"), nb::arg("request"), nb::arg("stream") = 0);
  module.def(
      "read_into_device",
      [](Dataset const& dataset, ReadRequest request, AnyArray const& out, std::uintptr_t stream) {
        DeviceView const view = device_view(out);
        Work(request).run([&] { read_into(dataset, request, view, StreamView::from_address(stream)); });
      },
      nb::arg("dataset"), nb::arg("request"), nb::arg("out").noconvert(), nb::arg("stream") = 0);
  module.def(
      "read_windows_device",
      [](std::vector<Item> const& items, ReadRequest request, std::uintptr_t stream) {
        std::vector<WindowOf> windows;
        windows.reserve(items.size());
        for (auto const& [dataset, window] : items) { windows.push_back({dataset, window_from(window)}); }
        return Work(request).run(
            [&] { return read_windows_device(windows, request, StreamView::from_address(stream)); });
      },
      nb::arg("items"), nb::arg("request"), nb::arg("stream") = 0);
  module.def("is_on_device", [](AnyConstArray const& array) { return is_on_device(array); });
}

}  // namespace terrazzo::python
