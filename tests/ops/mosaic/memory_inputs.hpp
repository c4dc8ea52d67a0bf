// SPDX-License-Identifier: Apache-2.0
//
// Inputs of mosaics in memory: MosaicRequest::open finds them by name.
#pragma once

#include "support/raster.hpp"

#include "terrazzo/error.hpp"
#include "terrazzo/mosaic.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace terrazzo::testing {

// A raster of one row's height per strip, with pixels of 10 units. `column` and `row` are its place on the grid whose
// corner is (1000, 2000).
template <class T>
TiffBuilder placed_builder(double column, double row, std::uint32_t width, std::uint32_t height,
                           std::vector<T> const& samples, std::uint16_t bands = 1, double pixel = 10) {
  TiffBuilder builder = raster_builder<T>(width, height, samples, 1, bands);
  builder.raw(33550, 12, 3, as_bytes(std::vector<double>{pixel, pixel, 0}));
  builder.raw(33922, 12, 6, as_bytes(std::vector<double>{0, 0, 0, 1000 + 10 * column, 2000 - 10 * row, 0}));
  return builder;
}

class MemoryInputs {
 public:
  void add(std::string const& name, TiffBuilder const& builder) { add(name, builder.bytes()); }
  void add(std::string const& name, std::vector<std::byte> bytes) { files_[name] = std::move(bytes); }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (auto const& [name, bytes] : files_) { all.push_back(name); }
    return all;
  }

  // The request, with a function that opens these files. This object outlives it.
  [[nodiscard]] MosaicRequest opening(MosaicRequest request = {}) const {
    request.open = [this](std::string const& name) {
      auto const found = files_.find(name);
      if (found == files_.end()) { throw Error(ErrorKind::io, "cannot open", {.source = name}); }
      return open_memory(found->second, name);
    };
    return request;
  }

 private:
  std::map<std::string, std::vector<std::byte>> files_;
};

// The samples of an array, in its order.
template <class T>
std::vector<T> samples_of(HostArray const& array) {
  auto const all = array.as<T>();
  return {all.begin(), all.end()};
}

}  // namespace terrazzo::testing
