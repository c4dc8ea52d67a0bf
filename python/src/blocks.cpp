// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/blocks.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "callbacks.hpp"
#include "requests.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace terrazzo::python {

namespace {

// The blocks of a request, with the flag that stops its reads. The request names a type that numpy has.
class PythonRowBlocks {
 public:
  PythonRowBlocks(Dataset const& dataset, ReadRequest request, std::uint64_t block_bytes)
      : request_(std::move(request)), work_(request_) {
    blocks_ = work_.run([&] { return std::optional<RowBlocks>(std::in_place, dataset, request_, block_bytes); });
  }
  PythonRowBlocks(PythonRowBlocks const&) = delete;
  PythonRowBlocks& operator=(PythonRowBlocks const&) = delete;

  [[nodiscard]] RowBlocks const& blocks() const { return *blocks_; }

  [[nodiscard]] NumpyArray read(std::uint64_t index) {
    return to_numpy(work_.run_interruptible([&] {
      std::optional<HostArray> rows;
      static_cast<void>(blocks_->read(index, rows));
      return std::move(*rows);
    }));
  }

 private:
  ReadRequest request_;
  Work work_;
  std::optional<RowBlocks> blocks_;
};

}  // namespace

void bind_blocks(nb::module_& module) {
  nb::class_<PythonRowBlocks>(module, "RowBlocks")
      .def(nb::init<Dataset const&, ReadRequest, std::uint64_t>())
      .def_prop_ro("count", [](PythonRowBlocks const& rows) { return rows.blocks().count(); })
      .def_prop_ro("width", [](PythonRowBlocks const& rows) { return rows.blocks().width(); })
      .def_prop_ro("height", [](PythonRowBlocks const& rows) { return rows.blocks().height(); })
      .def("window",
           [](PythonRowBlocks const& rows, std::uint64_t index) { return to_tuple(rows.blocks().window(index)); })
      .def("read", &PythonRowBlocks::read);
}

}  // namespace terrazzo::python
