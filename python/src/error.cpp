// SPDX-License-Identifier: Apache-2.0
//
// terrazzo::Error becomes the class of its kind in terrazzo/errors.py.
#include "terrazzo/error.hpp"

#include "bindings.hpp"
#include "callbacks.hpp"
#include "text.hpp"

#include <nanobind/stl/string.h>

#include <exception>
#include <string>

namespace terrazzo::python {

namespace {

template <class Number>
nb::object or_none(std::optional<Number> const& number) {
  return number ? nb::cast(*number) : nb::none();
}

}  // namespace

nb::object make_exception(Error const& error) {
  Where const& where = error.where();
  nb::object tile = nb::none();
  if (where.tile) { tile = nb::make_tuple(where.tile->column, where.tile->row, where.tile->plane); }
  nb::object const make = nb::module_::import_("terrazzo.errors").attr("make_error");
  return make(to_str(to_string(error.kind())), to_str(error.what()), to_file_name(where.source), or_none(where.ifd),
              or_none(where.tag), tile, or_none(where.offset));
}

namespace {

// True for an exception of terrazzo.errors of the same kind.
bool is_error(nb::object const& exception, Error const& error) {
  nb::object const base = nb::module_::import_("terrazzo.errors").attr("Error");
  return PyObject_IsInstance(exception.ptr(), base.ptr()) == 1 &&
         nb::cast<std::string>(nb::str(exception.attr("kind"))) == to_string(error.kind());
}

void raise(Error const& error) {
  nb::object cause = take_failure(error.message());
  // KeyboardInterrupt and SystemExit of a callback are no failures of the source: they go on unchanged. So does an
  // error of this kind that has come through a callback.
  if (cause.is_valid() && (PyErr_GivenExceptionMatches(cause.ptr(), PyExc_Exception) == 0 || is_error(cause, error))) {
    PyErr_SetObject(cause.type().ptr(), cause.ptr());
    return;
  }
  nb::object const exception = make_exception(error);
  if (cause.is_valid()) { PyException_SetCause(exception.ptr(), cause.release().ptr()); }
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
}

}  // namespace

void bind_error(nb::module_& /*module*/) {
  nb::register_exception_translator([](std::exception_ptr const& pending, void* /*payload*/) {
    try {
      std::rethrow_exception(pending);
    } catch (Error const& error) { raise(error); }
  });
}

}  // namespace terrazzo::python
