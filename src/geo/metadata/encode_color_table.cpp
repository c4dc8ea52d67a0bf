// SPDX-License-Identifier: Apache-2.0
#include "base/text.hpp"
#include "geo/encode.hpp"
#include "terrazzo/error.hpp"
#include "tiff/format.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::geo {

void encode_color_table(std::vector<ColorEntry> const& entries, std::uint32_t bits, tiff::TagSet& tags) {
  constexpr unsigned kTo16Bits = 257;  // 255 becomes 65535
  if (bits != 8 && bits != 16) {
    throw Error(ErrorKind::usage, text("a colour table belongs to 8 or 16 bits, not ", bits));
  }
  std::size_t const count = std::size_t{1} << bits;
  if (entries.size() > count) {
    throw Error(ErrorKind::usage, text("a colour table of ", entries.size(), " entries for ", bits, " bits"));
  }
  std::vector<std::uint16_t> map(3 * count);  // reds, greens, blues; missing entries are black
  for (std::size_t i = 0; i < entries.size(); ++i) {
    map[i] = static_cast<std::uint16_t>(entries[i].red * kTo16Bits);
    map[count + i] = static_cast<std::uint16_t>(entries[i].green * kTo16Bits);
    map[2 * count + i] = static_cast<std::uint16_t>(entries[i].blue * kTo16Bits);
  }
  tags.set_shorts(tiff::tag::ColorMap, map);
}

}  // namespace terrazzo::geo
