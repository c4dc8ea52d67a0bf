// SPDX-License-Identifier: Apache-2.0
//
// Calls between Python and the library's threads: work without the GIL, Python objects that any thread may drop,
// Python functions as callbacks, and the way back of their exceptions.
#pragma once

#include "bindings.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace terrazzo::python {

// A Python object that any thread may copy and drop, with or without the GIL. Use the object with the GIL only.
class SharedObject {
 public:
  explicit SharedObject(nb::object object);
  [[nodiscard]] nb::object const& get() const noexcept { return *object_; }

 private:
  std::shared_ptr<nb::object> object_;
};

// "ConnectionError: the cable is out": the class and the first line of the text. Call with the GIL held.
[[nodiscard]] std::string describe(nb::python_error const& error);

// Keeps an exception of a callback until its text comes back as the message of a terrazzo::Error; the library turns
// exceptions of sources into Errors and keeps only the text. Call both with the GIL held.
void keep_failure(std::string const& message, nb::object exception);
[[nodiscard]] nb::object take_failure(std::string const& message);  // null object: there is none

// Throws an exception of terrazzo.errors as the library's Error of its kind, and any other one as it is. For functions
// of Python that the library calls for a file of many: call in the handler of `error`, with the GIL held.
[[noreturn]] void throw_from(nb::python_error& error);

// The exception of terrazzo.errors for an error of the library. Call with the GIL held.
[[nodiscard]] nb::object make_exception(Error const& error);

// A Python function as Progress. The first exception it raises cancels the work; Work raises it again.
class PythonProgress {
 public:
  explicit PythonProgress(nb::object function);
  bool operator()(std::uint64_t done, std::uint64_t total) const;
  // Throws the exception that the function has raised, if any. Call with the GIL held.
  void rethrow() const;
  [[nodiscard]] nb::object const& function() const noexcept { return function_.get(); }

 private:
  SharedObject function_;
  std::shared_ptr<std::optional<nb::python_error>> failure_;
};

// What `progress=` takes: a function of (done, total), True for a bar, an object like tqdm's; None and False for none.
[[nodiscard]] Progress progress_from(nb::object const& progress);
[[nodiscard]] nb::object progress_object(Progress const& progress);

// The fields that Work needs, for calls whose options lack one of them.
struct Watch {
  Progress progress{};
  std::atomic<bool> const* cancel = nullptr;
};

// One call of the library: it runs without the GIL, and signals (Ctrl-C) cancel it if `options` have a `cancel` field.
class Work {
 public:
  // Sets `options.cancel`. `options` must outlive the work.
  template <class Options>
  explicit Work(Options& options) : progress_(options.progress.template target<PythonProgress>()) {
    options.cancel = &cancel_;
  }
  // Work that cannot be cancelled.
  Work() = default;

  // Runs `body` in this thread: for work that takes milliseconds, and for CUDA, whose current device belongs to the
  // thread.
  template <class Body>
  std::invoke_result_t<Body> run(Body&& body) {
    return finish([&] {
      nb::gil_scoped_release const released;
      return body();
    });
  }

  // As run(), and answers signals while it waits if this is the main thread.
  template <class Body>
  std::invoke_result_t<Body> run_interruptible(Body&& body) {
    using Result = std::invoke_result_t<Body>;
    if (!is_main_thread()) { return run(std::forward<Body>(body)); }
    return finish([&] {
      if constexpr (std::is_void_v<Result>) {
        run_on_thread(body);
      } else {
        std::optional<Result> result;
        run_on_thread([&] { result.emplace(body()); });
        return std::move(*result);
      }
    });
  }

 private:
  [[nodiscard]] static bool is_main_thread() noexcept;
  void run_on_thread(std::function<void()> const& body);

  template <class Body>
  std::invoke_result_t<Body> finish(Body&& body) const {
    try {
      return body();
    } catch (Error const& error) {
      if (progress_ != nullptr && error.kind() == ErrorKind::cancelled) { progress_->rethrow(); }
      throw;
    }
  }

  std::atomic<bool> cancel_{false};
  PythonProgress const* progress_ = nullptr;
};

}  // namespace terrazzo::python
