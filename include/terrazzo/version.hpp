// SPDX-License-Identifier: Apache-2.0
//
// The version of the library. CMakeLists.txt reads the three numbers below; this file is their only source.
#pragma once

#include <string_view>

#define TERRAZZO_VERSION_MAJOR 0
#define TERRAZZO_VERSION_MINOR 1
#define TERRAZZO_VERSION_PATCH 0

#pragma GCC visibility push(default)
namespace terrazzo {

// Version of the linked library, "0.1.0". The macros give the version of the headers.
[[nodiscard]] std::string_view version() noexcept;

}  // namespace terrazzo
#pragma GCC visibility pop
