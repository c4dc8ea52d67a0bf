// SPDX-License-Identifier: Apache-2.0
//
// Files that have GeoKeys and nothing else, for the tests of this folder.
#pragma once

#include "geo/crs/geokeys.hpp"
#include "support/tiff_builder.hpp"
#include "tiff/format.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::geo {

class KeyFile {
 public:
  explicit KeyFile(std::uint16_t minor_revision = 1) : minor_revision_(minor_revision) {}

  KeyFile& code(std::uint16_t key, std::uint16_t value) { return entry(key, 0, 1, value); }
  KeyFile& number(std::uint16_t key, double value) {
    doubles_.push_back(value);
    return entry(key, tiff::tag::GeoDoubleParams, 1, static_cast<std::uint16_t>(doubles_.size() - 1));
  }
  KeyFile& text(std::uint16_t key, std::string const& value) {
    auto const offset = static_cast<std::uint16_t>(ascii_.size());
    ascii_ += value + "|";
    return entry(key, tiff::tag::GeoAsciiParams, static_cast<std::uint16_t>(value.size() + 1), offset);
  }

  // Adds the tags to a file that may have others.
  void add_to(testing::TiffBuilder& tiff) const {
    std::vector<std::uint16_t> shorts = {1, 1, minor_revision_, static_cast<std::uint16_t>(entries_.size() / 4)};
    shorts.insert(shorts.end(), entries_.begin(), entries_.end());
    tiff.shorts(tiff::tag::GeoKeyDirectory, shorts);
    if (!doubles_.empty()) { tiff.doubles(tiff::tag::GeoDoubleParams, doubles_); }
    if (!ascii_.empty()) { tiff.ascii(tiff::tag::GeoAsciiParams, ascii_); }
  }
  [[nodiscard]] GeoKeys keys() const {
    testing::TiffBuilder tiff;
    add_to(tiff);
    return GeoKeys::read(tiff.directory()).keys.value();
  }

 private:
  KeyFile& entry(std::uint16_t key, std::uint16_t where, std::uint16_t count, std::uint16_t value) {
    entries_.insert(entries_.end(), {key, where, count, value});
    return *this;
  }

  std::uint16_t minor_revision_;
  std::vector<std::uint16_t> entries_;
  std::vector<double> doubles_;
  std::string ascii_;
};

}  // namespace terrazzo::geo
