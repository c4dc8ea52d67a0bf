// SPDX-License-Identifier: Apache-2.0
//
// A folder for a test; removed with the object.
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace terrazzo::testing {

class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "terrazzo-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) { throw std::runtime_error("no temporary folder"); }
    path_ = name;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(TempFolder const&) = delete;
  TempFolder& operator=(TempFolder const&) = delete;

  [[nodiscard]] std::string path(std::string_view name) const { return (path_ / name).string(); }

  std::string write(std::string_view name, std::span<std::byte const> bytes) const {
    std::string const file = path(name);
    std::ofstream(file, std::ios::binary)
        .write(reinterpret_cast<char const*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return file;
  }
  std::string write(std::string_view name, std::string_view content) const {
    return write(name, std::as_bytes(std::span(content)));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace terrazzo::testing
