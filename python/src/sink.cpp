// SPDX-License-Identifier: Apache-2.0
//
// Functions of Python as sinks. Their exceptions reach the caller unchanged, as all exceptions of sinks do.
#include "terrazzo/sink.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

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

// An object of a store: its bytes go to `append` in their order, and `publish` or `discard` ends it.
class StoreSink final : public ByteSink {
 public:
  StoreSink(std::string name, nb::object append, nb::object publish, nb::object discard)
      : name_(std::move(name)),
        append_(std::move(append)),
        publish_(std::move(publish)),
        discard_(std::move(discard)),
        inner_(append_sink(name_, [this](std::span<std::byte const> bytes) { call_with_bytes(append_, bytes); })) {}
  ~StoreSink() override { discard(); }

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  void open() override { inner_->open(); }
  [[nodiscard]] bool is_seekable() const noexcept override { return false; }
  void write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) override {
    inner_->write_at(offset_bytes, bytes);
  }

  // An object that could not be published is discarded.
  void publish(std::uint64_t size_bytes) override {
    inner_->publish(size_bytes);
    nb::gil_scoped_acquire const acquired;
    publish_.get()();
    ended_ = true;
  }

  void discard() noexcept override {
    if (std::exchange(ended_, true) || !Py_IsInitialized()) { return; }
    inner_->discard();
    nb::gil_scoped_acquire const acquired;
    try {
      discard_.get()();
    } catch (nb::python_error& error) { error.discard_as_unraisable("the discarding of an object"); }
  }

 private:
  std::string name_;
  SharedObject append_, publish_, discard_;
  std::shared_ptr<ByteSink> inner_;
  bool ended_ = false;
};

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
  module.def(
      "store_sink",
      [](std::string name, nb::object append, nb::object publish, nb::object discard) -> std::shared_ptr<ByteSink> {
        return std::make_shared<StoreSink>(std::move(name), std::move(append), std::move(publish), std::move(discard));
      });
}

}  // namespace terrazzo::python
