// SPDX-License-Identifier: Apache-2.0
//
// Sinks of every kind, for tests of what writes to them.
#pragma once

#include "base/byte_sink.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"
#include "terrazzo/write.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::testing {

enum class Place { file, memory, seekable, append };
constexpr Place kPlaces[] = {Place::file, Place::memory, Place::seekable, Place::append};

// A sink of each kind, and what arrived in it.
struct Target {
  explicit Target(Place where) : place(where) {
    switch (place) {
      case Place::file: sink = file_sink(path); break;
      case Place::memory: sink = memory_sink(bytes); break;
      case Place::seekable:
        sink = seekable_sink("callback", [this](std::uint64_t offset, std::span<std::byte const> part) {
          bytes.resize(std::max<std::size_t>(bytes.size(), offset + part.size()));
          std::copy(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        });
        break;
      case Place::append:
        sink = append_sink("callback", [this](std::span<std::byte const> part) {
          bytes.insert(bytes.end(), part.begin(), part.end());
        });
        break;
    }
  }
  Target(Target const&) = delete;
  Target& operator=(Target const&) = delete;

  [[nodiscard]] std::vector<std::byte> arrived() const { return place == Place::file ? file_bytes(path) : bytes; }

  Place place;
  TempFolder folder{};
  std::string path = folder.path("out.tif");
  std::vector<std::byte> bytes{};
  std::shared_ptr<ByteSink> sink{};
};

}  // namespace terrazzo::testing
