// SPDX-License-Identifier: Apache-2.0
#include "support/data_folder.hpp"

#include <cstdlib>

namespace terrazzo::testing {

std::filesystem::path data_folder() {
  char const* const moved = std::getenv("TERRAZZO_TEST_DATA_FOLDER");
  return moved != nullptr ? moved : TERRAZZO_TEST_DATA;
}

}  // namespace terrazzo::testing
