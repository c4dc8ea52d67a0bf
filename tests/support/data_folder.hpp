// SPDX-License-Identifier: Apache-2.0
//
// Where tests/data is. A binary that was carried to another machine, to one with a GPU, is told by
// TERRAZZO_TEST_DATA_FOLDER.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace terrazzo::testing {

inline std::filesystem::path data_folder() {
  char const* const moved = std::getenv("TERRAZZO_TEST_DATA_FOLDER");
  return moved != nullptr ? moved : TERRAZZO_TEST_DATA;
}

}  // namespace terrazzo::testing
