// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/version.hpp"

#define TERRAZZO_TEXT_OF(value) #value
#define TERRAZZO_TEXT(value) TERRAZZO_TEXT_OF(value)

namespace terrazzo {

std::string_view version() noexcept {
  return TERRAZZO_TEXT(TERRAZZO_VERSION_MAJOR) "." TERRAZZO_TEXT(TERRAZZO_VERSION_MINOR) "." TERRAZZO_TEXT(
      TERRAZZO_VERSION_PATCH);
}

}  // namespace terrazzo
