// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "geo/crs/geokeys.hpp"
#include "terrazzo/error.hpp"
#include "tiff/format.hpp"

#include <limits>
#include <string>
#include <vector>

namespace terrazzo::geo {
namespace {

using tiff::tag::GeoAsciiParams, tiff::tag::GeoDoubleParams, tiff::tag::GeoKeyDirectory;

// Entries store indices and counts in 16 bits.
std::uint16_t as_short(std::size_t value) {
  if (value > std::numeric_limits<std::uint16_t>::max()) {
    throw Error(ErrorKind::limit, text("GeoKeys of ", value, " values or characters: 65535 are the most"));
  }
  return static_cast<std::uint16_t>(value);
}

}  // namespace

void GeoKeys::write(tiff::TagSet& tags) const {
  if (values_.empty()) { return; }
  constexpr std::size_t kEntryShorts = 4;
  std::vector<std::uint16_t> shorts{1, 1, static_cast<std::uint16_t>(revision_1_0_ ? 0 : 1), as_short(size())};
  std::vector<std::uint16_t> more_shorts;  // values of keys with several codes; they follow the entries
  std::vector<double> doubles;
  std::string ascii;
  auto const entry = [&](std::uint16_t key, std::uint16_t where, std::size_t count, std::size_t place) {
    for (std::uint16_t const part : {key, where, as_short(count), as_short(place)}) { shorts.push_back(part); }
  };
  for (auto const& [key, value] : values_) {
    if (auto const* codes = std::get_if<std::vector<std::uint16_t>>(&value)) {
      if (codes->size() == 1) {
        entry(key, 0, 1, codes->front());
      } else {
        entry(key, GeoKeyDirectory, codes->size(), (size() + 1) * kEntryShorts + more_shorts.size());
        more_shorts.insert(more_shorts.end(), codes->begin(), codes->end());
      }
    } else if (auto const* numbers = std::get_if<std::vector<double>>(&value)) {
      entry(key, GeoDoubleParams, numbers->size(), doubles.size());
      doubles.insert(doubles.end(), numbers->begin(), numbers->end());
    } else if (auto const* string = std::get_if<std::string>(&value)) {
      entry(key, GeoAsciiParams, string->size() + 1, ascii.size());
      ascii += *string + '|';
    }
  }
  shorts.insert(shorts.end(), more_shorts.begin(), more_shorts.end());
  tags.set_shorts(GeoKeyDirectory, shorts);
  if (!doubles.empty()) { tags.set_doubles(GeoDoubleParams, doubles); }
  if (!ascii.empty()) { tags.set_text(GeoAsciiParams, ascii); }
}

}  // namespace terrazzo::geo
