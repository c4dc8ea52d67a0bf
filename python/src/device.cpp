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

// A result of read_device(). `one_band`: a single band was asked for, so the array has no axis of bands, as on the
// host.
struct Result {
  DeviceArray array;
  bool one_band = false;
};

// The layouts of dlpack.h.
struct ManagedTensor {
  nb::dlpack::dltensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};
struct ManagedTensorVersioned {
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(ManagedTensorVersioned*);
  std::uint64_t flags;
  nb::dlpack::dltensor tensor;
};

ManagedTensor* layout_of(DLManagedTensor* tensor) { return reinterpret_cast<ManagedTensor*>(tensor); }
ManagedTensorVersioned* layout_of(DLManagedTensorVersioned* tensor) {
  return reinterpret_cast<ManagedTensorVersioned*>(tensor);
}

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

DeviceArray const& array_of(Result const& result) { return result.array; }
DeviceBatch const& array_of(DeviceBatch const& batch) { return batch; }

nb::tuple shape_of(Result const& result) {
  DeviceArray const& array = result.array;
  return result.one_band ? nb::make_tuple(array.height(), array.width())
                         : nb::make_tuple(array.bands(), array.height(), array.width());
}
nb::tuple shape_of(DeviceBatch const& batch) {
  return nb::make_tuple(batch.count(), batch.bands(), batch.height(), batch.width());
}

// The tensor's shape and strides belong to its context, so an axis is dropped by stepping over it.
template <class Tensor>
Tensor* with_axes_of(Result const& result, Tensor* tensor) {
  if (result.one_band) {
    nb::dlpack::dltensor& layout = layout_of(tensor)->tensor;
    --layout.ndim;
    ++layout.shape;
    ++layout.strides;
  }
  return tensor;
}
template <class Tensor>
Tensor* with_axes_of(DeviceBatch const& /*batch*/, Tensor* tensor) {
  return tensor;
}

constexpr int kDlpackCuda = nb::device::cuda::value;

template <class Owner>
nb::object to_dlpack(Owner const& owner, std::optional<std::int64_t> stream,
                     std::optional<std::pair<int, int>> max_version, std::optional<std::pair<int, int>> device,
                     std::optional<bool> copy) {
  auto const& array = array_of(owner);
  if (copy && *copy) { throw nb::buffer_error("the memory is shared; copy it after the exchange"); }
  if (device && *device != std::pair(kDlpackCuda, array.device())) {
    throw nb::buffer_error("the array stays on its GPU; to_host() copies it to host memory");
  }
  StreamView const consumer = consumer_stream(stream);
  if (max_version && max_version->first >= 1) {
    return capsule_of(with_axes_of(owner, array.to_dlpack_versioned(consumer)));
  }
  return capsule_of(with_axes_of(owner, array.to_dlpack(consumer)));
}

// numpy's name of a type, as "<f4".
std::string type_string(DType dtype) {
  char const kind = is_complex(dtype) ? 'c' : is_floating(dtype) ? 'f' : is_signed(dtype) ? 'i' : 'u';
  std::size_t const bytes = size_bytes(dtype);
  return std::string(bytes == 1 ? "|" : "<") + kind + std::to_string(bytes);
}

template <class Owner>
nb::dict cuda_array_interface(Owner const& owner) {
  auto const& array = array_of(owner);
  static_cast<void>(dlpack_dtype(array.dtype()));  // refuses types that have no name
  nb::dict fields;
  fields["shape"] = shape_of(owner);
  fields["typestr"] = type_string(array.dtype());
  fields["data"] = nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), false);
  fields["strides"] = nb::none();
  fields["stream"] = nb::none();  // the pixels are ready
  fields["version"] = 3;
  return fields;
}

template <class Owner>
nb::class_<Owner> bind_array(nb::module_& module, char const* name) {
  return nb::class_<Owner>(module, name)
      .def_prop_ro("shape", [](Owner const& owner) { return shape_of(owner); })
      .def_prop_ro("dtype", [](Owner const& owner) { return to_str(to_string(array_of(owner).dtype())); })
      .def_prop_ro("nbytes", [](Owner const& owner) { return array_of(owner).size_bytes(); })
      .def_prop_ro("device", [](Owner const& owner) { return array_of(owner).device(); })
      .def("record_stream",
           [](Owner const& owner, std::uintptr_t stream) {
             array_of(owner).record_stream(StreamView::from_address(stream));
           })
      .def("__dlpack__", &to_dlpack<Owner>, nb::kw_only(), nb::arg("stream").none() = nb::none(),
           nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
           nb::arg("copy").none() = nb::none())
      .def("__dlpack_device__",
           [](Owner const& owner) { return nb::make_tuple(kDlpackCuda, array_of(owner).device()); })
      .def_prop_ro("__cuda_array_interface__", &cuda_array_interface<Owner>);
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

}  // namespace

void bind_device(nb::module_& module) {
  bind_state(module);
  bind_array<Result>(module, "DeviceArray").def("to_host", [](Result const& result) {
    nb::object const pixels = nb::cast(to_numpy(Work().run([&] { return result.array.to_host(); })));
    return result.one_band ? nb::object(pixels[0]) : pixels;
  });
  bind_array<DeviceBatch>(module, "DeviceBatch").def("item", [](DeviceBatch const& batch, std::uint32_t index) {
    if (index >= batch.count()) { throw nb::index_error("the batch has no such item"); }
    return Result{batch.item(index)};
  });
  module.def(
      "read_device",
      [](Dataset const& dataset, ReadRequest request, std::uintptr_t stream, bool one_band, ReadReport* report) {
        if (!request.dtype) { request.dtype = python_dtype(result_dtype(dataset, request)); }
        StreamView const queue = StreamView::from_address(stream);
        return Result{Work(request).run([&] { return read_device(dataset, request, queue, report); }), one_band};
      },
      nb::arg("dataset"), nb::arg("request"), nb::arg("stream") = 0, nb::arg("one_band") = false,
      nb::arg("report").none() = nb::none());
  module.def(
      "read_into_device",
      [](Dataset const& dataset, ReadRequest request, AnyArray const& out, std::uintptr_t stream, ReadReport* report) {
        DeviceView const view = device_view(out);
        StreamView const queue = StreamView::from_address(stream);
        Work(request).run([&] { read_into(dataset, request, view, queue, report); });
      },
      nb::arg("dataset"), nb::arg("request"), nb::arg("out").noconvert(), nb::arg("stream") = 0,
      nb::arg("report").none() = nb::none());
  module.def(
      "read_windows_device",
      [](std::vector<WindowItem> const& items, ReadRequest request, std::uintptr_t stream, ReadReport* report) {
        std::vector<WindowOf> const windows = windows_of(items);
        StreamView const queue = StreamView::from_address(stream);
        return Work(request).run([&] { return read_windows_device(windows, request, queue, report); });
      },
      nb::arg("items"), nb::arg("request"), nb::arg("stream") = 0, nb::arg("report").none() = nb::none());
  module.def(
      "read_windows_into_device",
      [](std::vector<WindowItem> const& items, ReadRequest request, AnyArray const& out, std::uintptr_t stream,
         ReadReport* report) {
        std::vector<WindowOf> const windows = windows_of(items);
        DeviceBatchView const view = device_batch_view(out);
        StreamView const queue = StreamView::from_address(stream);
        Work(request).run([&] { read_windows(windows, request, view, queue, report); });
      },
      nb::arg("items"), nb::arg("request"), nb::arg("out").noconvert(), nb::arg("stream") = 0,
      nb::arg("report").none() = nb::none());
}

}  // namespace terrazzo::python
