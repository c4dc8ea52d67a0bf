// SPDX-License-Identifier: Apache-2.0
//
// Byte literals.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <vector>

namespace terrazzo::testing {

inline std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int const value : values) { bytes.push_back(static_cast<std::byte>(value)); }
  return bytes;
}

}  // namespace terrazzo::testing
