// SPDX-License-Identifier: Apache-2.0
//
// How a call fails.
#pragma once

#include "terrazzo/error.hpp"

#include <optional>

namespace terrazzo::testing {

// Nothing when it does not.
template <class Work>
[[nodiscard]] std::optional<ErrorKind> kind_of_failure(Work const& work) {
  try {
    static_cast<void>(work());
  } catch (Error const& error) { return error.kind(); }
  return std::nullopt;
}

}  // namespace terrazzo::testing
