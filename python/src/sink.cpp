// SPDX-License-Identifier: Apache-2.0
//
// Functions of Python as sinks. Their exceptions reach the caller unchanged, as all exceptions of sinks do.
#include "terrazzo/sink.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <span>
#include <string>

namespace terrazzo::python {

namespace {

// The bytes as a memoryview, which is released after the call: the memory is the library's.
template <class... Before>
void call_with_bytes(SharedObject const& function, std::span<std::byte const> bytes, Before... before) {
  nb::gil_scoped_acquire const acquired;
  nb::object const view =
      nb::steal(PyMemoryView_FromMemory(const_cast<char*>(reinterpret_cast<char const*>(bytes.data())),
                                        static_cast<Py_ssize_t>(bytes.size()), PyBUF_READ));
  if (!view.is_valid()) { throw nb::python_error(); }
  function.get()(before..., view);
  view.attr("release")();
}

}  // namespace

void bind_sink(nb::module_& module) {
  nb::class_<ByteSink>(module, "ByteSink");
  module.def("seekable_sink", [](std::string name, nb::object write_at) {
    return seekable_sink(std::move(name), [function = SharedObject(std::move(write_at))](
                                              std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
      call_with_bytes(function, bytes, offset_bytes);
    });
  });
  module.def("append_sink", [](std::string name, nb::object append) {
    return append_sink(std::move(name), [function = SharedObject(std::move(append))](std::span<std::byte const> bytes) {
      call_with_bytes(function, bytes);
    });
  });
}

}  // namespace terrazzo::python
