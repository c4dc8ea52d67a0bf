// SPDX-License-Identifier: Apache-2.0
//
// Parts of requests and options that several headers share.
#pragma once

#include "bindings.hpp"
#include "callbacks.hpp"
#include "enums.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/resampling.hpp"
#include "terrazzo/sink.hpp"
#include "text.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace terrazzo::python {

inline constexpr Names<Engine, 3> kEngines{
    {{"automatic", Engine::automatic}, {"host", Engine::host}, {"device", Engine::device}}};
inline constexpr Names<BadTile, 2> kBadTiles{{{"error", BadTile::error}, {"fill", BadTile::fill}}};

[[nodiscard]] inline Resampling resampling_from(std::string_view name) {
  std::optional<Resampling> const method = parse_resampling(name);
  if (!method) { throw Error(ErrorKind::usage, "'" + std::string(name) + "' is not a method of resampling"); }
  return *method;
}

// A window as Python passes it: (column, row, width, height).
using WindowTuple = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
[[nodiscard]] inline Window window_from(WindowTuple const& window) {
  return {std::get<0>(window), std::get<1>(window), std::get<2>(window), std::get<3>(window)};
}
[[nodiscard]] inline WindowTuple to_tuple(Window const& window) {
  return {window.column, window.row, window.width, window.height};
}
[[nodiscard]] inline std::optional<WindowTuple> to_tuple(std::optional<Window> const& window) {
  return window ? std::optional(to_tuple(*window)) : std::nullopt;
}

// What read_windows() takes, from the pairs that Python passes.
using WindowItem = std::pair<Dataset, WindowTuple>;
[[nodiscard]] inline std::vector<WindowOf> windows_of(std::vector<WindowItem> const& items) {
  std::vector<WindowOf> windows;
  windows.reserve(items.size());
  for (auto const& [dataset, window] : items) { windows.push_back({dataset, window_from(window)}); }
  return windows;
}

// Where a file goes: a path, or a sink of Python.
using Target = std::variant<std::string, std::shared_ptr<ByteSink>>;

template <class Body>
auto with_target(Target const& target, Body&& body) {
  return std::visit([&](auto const& place) { return body(place); }, target);
}

// Adds the property of an enumeration that a table names.
template <auto field, class Class, class Table>
void def_enum(Class& bound, char const* name, Table const& names) {
  using Options = typename Class::Type;
  bound.def_prop_rw(
      name, [&names](Options const& options) { return to_str(name_of(names, options.*field)); },
      [&names, name](Options& options, std::string_view text) { options.*field = parse(names, name, text); });
}

// Adds the property `progress`, a function of (done, total) that cancels by returning False.
template <class Class>
void def_progress(Class& bound) {
  using Options = typename Class::Type;
  bound.def_prop_rw(
      "progress", [](Options const& options) { return progress_object(options.progress); },
      [](Options& options, nb::object const& function) { options.progress = progress_from(function); },
      nb::for_setter(nb::arg("function").none()));
}

}  // namespace terrazzo::python
