// SPDX-License-Identifier: Apache-2.0
//
// Errors and notes of the library name fields of its API ("EditOptions::rewrite"). This file translates them into
// options of the command line ("--rewrite").
#pragma once

#include "terrazzo/error.hpp"

#include <string>
#include <string_view>

namespace terrazzo::cli {

// `message` with every known API name replaced by its option.
[[nodiscard]] std::string with_option_names(std::string_view message);

[[nodiscard]] Error with_option_names(Error const& error);

}  // namespace terrazzo::cli
