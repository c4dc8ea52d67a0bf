// SPDX-License-Identifier: Apache-2.0
//
// The folder tests/data. TERRAZZO_TEST_DATA_FOLDER names it on a machine to which the binary was copied.
#pragma once

#include <filesystem>

namespace terrazzo::testing {

std::filesystem::path data_folder();

}  // namespace terrazzo::testing
