// SPDX-License-Identifier: Apache-2.0
//
// Bytes to write, and the contents of a file or folder.
#pragma once

#include "io/temporary_file.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::testing {

inline std::vector<std::byte> byte_pattern(std::size_t size, unsigned seed = 0) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) { bytes[i] = static_cast<std::byte>((i + seed) * 2654435761u >> 11); }
  return bytes;
}

inline std::vector<std::byte> file_bytes(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  std::string const text((std::istreambuf_iterator<char>(in)), {});
  auto const bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// The number of writers' temporary files in a folder.
inline int count_temporary(std::string const& folder) {
  int count = 0;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    count += entry.path().string().ends_with(io::TemporaryFile::kSuffix) ? 1 : 0;
  }
  return count;
}

}  // namespace terrazzo::testing
