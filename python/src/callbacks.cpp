// SPDX-License-Identifier: Apache-2.0
#include "callbacks.hpp"

#include <nanobind/stl/string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <exception>
#include <future>
#include <thread>

namespace terrazzo::python {

namespace {

// Time between two looks at pending signals: short for a person, long for the GIL.
constexpr std::chrono::milliseconds kSignalInterval{50};

struct Failure {
  std::string message;
  nb::object exception;
};
// Failures whose Error was swallowed, as by BadTile::fill, are never taken: only the newest are kept.
constexpr std::size_t kMaxFailures = 64;

// Never destroyed: the interpreter is gone when static destructors run. The GIL guards it.
std::deque<Failure>& failures() {
  static auto* const kept = new std::deque<Failure>();
  return *kept;
}

}  // namespace

SharedObject::SharedObject(nb::object object)
    : object_(new nb::object(std::move(object)), [](nb::object* dropped) {
        if (!Py_IsInitialized()) { return; }  // leaks the object: there is no interpreter to free it
        nb::gil_scoped_acquire const acquired;
        delete dropped;
      }) {}

std::string describe(nb::python_error const& error) {
  std::string const name = nb::cast<std::string>(error.type().attr("__name__"));
  std::string const text = nb::cast<std::string>(nb::str(error.value()));
  std::string const first_line = text.substr(0, text.find('\n'));
  return first_line.empty() ? name : name + ": " + first_line;
}

void keep_failure(std::string const& message, nb::object exception) {
  // The threads of one read often fail in the same way: one of their exceptions will do.
  for (Failure const& kept : failures()) {
    if (kept.message == message) { return; }
  }
  failures().push_back({message, std::move(exception)});
  if (failures().size() > kMaxFailures) { failures().pop_front(); }
}

nb::object take_failure(std::string const& message) {
  auto& kept = failures();
  for (auto failure = kept.begin(); failure != kept.end(); ++failure) {
    if (message.find(failure->message) == std::string::npos) { continue; }
    nb::object exception = std::move(failure->exception);
    kept.erase(failure);
    return exception;
  }
  return {};
}

PythonProgress::PythonProgress(nb::object function)
    : function_(std::move(function)), failure_(std::make_shared<std::optional<nb::python_error>>()) {}

bool PythonProgress::operator()(std::uint64_t done, std::uint64_t total) const {
  nb::gil_scoped_acquire const acquired;
  if (failure_->has_value()) { return false; }
  try {
    nb::object const answer = function_.get()(done, total);
    return answer.is_none() || nb::cast<bool>(nb::bool_(answer));
  } catch (nb::python_error& error) {
    failure_->emplace(std::move(error));
    return false;
  }
}

void PythonProgress::rethrow() const {
  if (failure_->has_value()) {
    nb::python_error error = std::move(**failure_);
    failure_->reset();
    throw error;
  }
}

void throw_from(nb::python_error& error) {
  nb::object const exception = nb::borrow(error.value());
  nb::object const base = nb::module_::import_("terrazzo.errors").attr("Error");
  if (PyObject_IsInstance(exception.ptr(), base.ptr()) != 1) { throw; }
  std::string const name = nb::cast<std::string>(nb::str(exception.attr("kind")));
  std::string message = nb::cast<std::string>(nb::str(exception));
  if (message.empty()) { message = name; }
  keep_failure(message, exception);
  for (ErrorKind const kind : {ErrorKind::malformed, ErrorKind::unsupported, ErrorKind::usage, ErrorKind::limit,
                               ErrorKind::device, ErrorKind::cancelled}) {
    if (to_string(kind) == name) { throw Error(kind, message); }
  }
  throw Error(ErrorKind::io, message);
}

Progress progress_from(nb::object const& progress) {
  if (progress.is_none()) { return {}; }
  nb::object const function = nb::module_::import_("terrazzo._progress").attr("progress_function")(progress);
  return function.is_none() ? Progress{} : PythonProgress(function);
}

nb::object progress_object(Progress const& progress) {
  auto const* const python = progress.target<PythonProgress>();
  return python == nullptr ? nb::none() : python->function();
}

bool Work::is_main_thread() noexcept { return ::getpid() == static_cast<pid_t>(::syscall(SYS_gettid)); }

void Work::run_on_thread(std::function<void()> const& body) {
  std::promise<void> done;
  std::future<void> result = done.get_future();
  std::thread worker([&] {
    try {
      body();
      done.set_value();
    } catch (...) { done.set_exception(std::current_exception()); }
  });
  std::optional<nb::python_error> interrupted;
  {
    nb::gil_scoped_release const released;
    while (result.wait_for(kSignalInterval) != std::future_status::ready) {
      nb::gil_scoped_acquire const acquired;
      if (!interrupted && PyErr_CheckSignals() != 0) {
        interrupted.emplace();
        cancel_.store(true);
      }
    }
    worker.join();
  }
  if (interrupted) {
    try {
      result.get();
    } catch (Error const& error) {
      if (error.kind() != ErrorKind::cancelled) { throw; }
    }
    throw std::move(*interrupted);
  }
  result.get();
}

}  // namespace terrazzo::python
