// SPDX-License-Identifier: Apache-2.0
//
// Python objects as sources: a buffer (bytes, mmap, numpy array), and a function that reads many ranges at once.
#include "terrazzo/source.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "terrazzo/error.hpp"
#include "text.hpp"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::python {

namespace {

// A buffer of a Python object, which cannot move or shrink while it is held. Use with the GIL, except for the bytes.
class HeldBuffer {
 public:
  explicit HeldBuffer(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_C_CONTIGUOUS) != 0) { throw nb::python_error(); }
  }
  HeldBuffer(HeldBuffer const&) = delete;
  HeldBuffer& operator=(HeldBuffer const&) = delete;
  ~HeldBuffer() {
    if (!Py_IsInitialized()) { return; }
    nb::gil_scoped_acquire const acquired;
    PyBuffer_Release(&buffer_);
  }

  [[nodiscard]] std::span<std::byte const> bytes() const noexcept {
    return {static_cast<std::byte const*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }

 private:
  Py_buffer buffer_{};
};

class BufferSource final : public ByteSource {
 public:
  BufferSource(nb::handle object, std::string name) : buffer_(object), name_(std::move(name)) {}

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return buffer_.bytes().size(); }
  [[nodiscard]] std::span<std::byte const> in_memory() const noexcept override { return buffer_.bytes(); }
  [[nodiscard]] SourceHints hints() const noexcept override { return {.local = true}; }

  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override {
    for (RangeRead const& range : ranges) {
      std::memcpy(range.into.data(), buffer_.bytes().data() + range.offset_bytes, range.into.size());
    }
    return {};
  }

 private:
  HeldBuffer buffer_;
  std::string name_;
};

// Calls read_ranges([(offset, length), ...]) of Python, which returns a buffer for each range.
class RangesSource final : public ByteSource {
 public:
  RangesSource(nb::object read_ranges, std::string name, std::uint64_t size_bytes, SourceHints const& hints)
      : read_ranges_(std::move(read_ranges)), name_(std::move(name)), size_bytes_(size_bytes), hints_(hints) {}

  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] SourceHints hints() const noexcept override { return hints_; }

  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override {
    nb::gil_scoped_acquire const acquired;
    try {
      fill(ranges);
    } catch (nb::python_error& error) {
      std::string const message = "the source failed: " + describe(error);
      keep_failure(message, nb::borrow(error.value()));
      throw Error(ErrorKind::io, message, {.source = name_});
    }
    return {};
  }

 private:
  // Ranges that follow each other with small gaps, as the rows of an uncompressed block do, are one request.
  struct Request {
    std::uint64_t offset_bytes = 0, end_bytes = 0;
    std::span<RangeRead const> parts{};
  };
  [[nodiscard]] std::vector<Request> merge(std::span<RangeRead const> ranges) const {
    std::vector<Request> requests;
    std::size_t first = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      std::uint64_t const begin = ranges[i].offset_bytes, end = begin + ranges[i].into.size();
      bool const joins = !requests.empty() && begin >= requests.back().end_bytes &&
                         begin - requests.back().end_bytes <= hints_.merge_gap_bytes;
      if (!joins) {
        first = i;
        requests.push_back({begin, end, {}});
      }
      requests.back().end_bytes = end;
      requests.back().parts = ranges.subspan(first, i + 1 - first);
    }
    return requests;
  }

  void fill(std::span<RangeRead const> ranges) const {
    std::vector<Request> const requests = merge(ranges);
    nb::list asked;
    for (Request const& request : requests) {
      asked.append(nb::make_tuple(request.offset_bytes, request.end_bytes - request.offset_bytes));
    }
    nb::object const answers = read_ranges_.get()(asked);
    std::size_t index = 0;
    for (nb::handle const answer : answers) {
      if (index == requests.size()) { break; }
      scatter(requests[index++], HeldBuffer(answer));
    }
    if (index != requests.size()) {
      throw Error(ErrorKind::io,
                  "the source returned " + std::to_string(index) + " of " + std::to_string(requests.size()) + " ranges",
                  {.source = name_});
    }
  }

  void scatter(Request const& request, HeldBuffer const& buffer) const {
    std::uint64_t const size = request.end_bytes - request.offset_bytes;
    if (buffer.bytes().size() != size) {
      throw Error(ErrorKind::io,
                  "the source returned " + std::to_string(buffer.bytes().size()) + " bytes where " +
                      std::to_string(size) + " were asked for",
                  {.source = name_, .offset = request.offset_bytes});
    }
    for (RangeRead const& part : request.parts) {
      std::memcpy(part.into.data(), buffer.bytes().data() + (part.offset_bytes - request.offset_bytes),
                  part.into.size());
    }
  }

  SharedObject read_ranges_;
  std::string name_;
  std::uint64_t size_bytes_;
  SourceHints hints_;
};

}  // namespace

void bind_source(nb::module_& module) {
  nb::class_<SourceHints>(module, "SourceHints")
      .def(nb::init<>())
      .def_rw("merge_gap_bytes", &SourceHints::merge_gap_bytes)
      .def_rw("batch_bytes", &SourceHints::batch_bytes)
      .def_rw("read_ahead_bytes", &SourceHints::read_ahead_bytes)
      .def_rw("requests_in_flight", &SourceHints::requests_in_flight)
      .def_rw("local", &SourceHints::local)
      .def_rw("trusted", &SourceHints::trusted);
  nb::class_<ByteSource>(module, "ByteSource");
  module.def("buffer_source", [](nb::handle buffer, std::string name) -> std::shared_ptr<ByteSource> {
    return std::make_shared<BufferSource>(buffer, std::move(name));
  });
  module.def("ranges_source",
             [](nb::object read_ranges, std::string name, std::uint64_t size_bytes,
                SourceHints const& hints) -> std::shared_ptr<ByteSource> {
               return std::make_shared<RangesSource>(std::move(read_ranges), std::move(name), size_bytes, hints);
             });
}

}  // namespace terrazzo::python
