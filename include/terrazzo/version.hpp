// SPDX-License-Identifier: Apache-2.0
//
// The version of the library. CMakeLists.txt reads the three numbers below; they are written nowhere else.
#pragma once

#include <string_view>

#define TERRAZZO_VERSION_MAJOR 0
#define TERRAZZO_VERSION_MINOR 1
#define TERRAZZO_VERSION_PATCH 0

namespace terrazzo {

// Of the library that was linked, "0.1.0"; the macros are those of the headers that were compiled against.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace terrazzo
