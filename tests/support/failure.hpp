// SPDX-License-Identifier: Apache-2.0
//
// The failure of a call.
#pragma once

#include "terrazzo/error.hpp"

#include <optional>
#include <stdexcept>

namespace terrazzo::testing {

// nullopt if the call succeeds.
template <class Work>
[[nodiscard]] std::optional<ErrorKind> kind_of_failure(Work const& work) {
  try {
    static_cast<void>(work());
  } catch (Error const& error) { return error.kind(); }
  return std::nullopt;
}

// The error itself; throws std::logic_error if there is none.
template <class Work>
[[nodiscard]] Error failure_of(Work const& work) {
  try {
    static_cast<void>(work());
  } catch (Error const& error) { return error; }
  throw std::logic_error("no error was thrown");
}

}  // namespace terrazzo::testing
