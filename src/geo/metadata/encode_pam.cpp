// SPDX-License-Identifier: Apache-2.0
#include "geo/encode.hpp"
#include "geo/metadata/utf8.hpp"
#include "geo/metadata/xml.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace terrazzo::geo {
namespace {

// The tag has no alpha, and only the first band can have one. Readers make the entry of the nodata value transparent.
bool needs_pam(BandInfo const& band, std::size_t index) {
  auto const is_nodata = [&](std::size_t entry) {
    return band.nodata && band.nodata->value == static_cast<double>(entry);
  };
  for (std::size_t i = 0; i < band.color_table.size(); ++i) {
    if (index > 0 || band.color_table[i].alpha != (is_nodata(i) ? 0 : 255)) { return true; }
  }
  return false;
}

std::string color_table_xml(std::vector<ColorEntry> const& table) {
  std::string xml = "    <ColorTable>\n";
  auto const level = [](int number, std::uint8_t value) {
    return " c" + std::to_string(number) + "=\"" + std::to_string(value) + '"';
  };
  for (auto const& entry : table) {
    xml += "      <Entry" + level(1, entry.red) + level(2, entry.green) + level(3, entry.blue) + level(4, entry.alpha) +
           " />\n";
  }
  return xml + "    </ColorTable>\n";
}

std::string categories_xml(std::vector<std::string> const& names) {
  std::string xml = "    <CategoryNames>\n";
  for (auto const& name : names) { xml += "      <Category>" + escape_xml(to_utf8(name)) + "</Category>\n"; }
  return xml + "    </CategoryNames>\n";
}

}  // namespace

std::string encode_pam(std::vector<BandInfo> const& bands, std::string const& crs_wkt) {
  std::string xml;
  if (!crs_wkt.empty()) {
    // Coordinates are east before north, for any order of the CRS's axes.
    xml += "  <SRS dataAxisToSRSAxisMapping=\"1,2\">" + escape_xml(crs_wkt) + "</SRS>\n";
  }
  for (std::size_t i = 0; i < bands.size(); ++i) {
    std::string band;
    if (!bands[i].category_names.empty()) { band += categories_xml(bands[i].category_names); }
    if (needs_pam(bands[i], i)) { band += color_table_xml(bands[i].color_table); }
    if (band.empty()) { continue; }
    xml += "  <PAMRasterBand band=\"" + std::to_string(i + 1) + "\">\n" + band + "  </PAMRasterBand>\n";
  }
  return xml.empty() ? std::string() : "<PAMDataset>\n" + xml + "</PAMDataset>\n";
}

}  // namespace terrazzo::geo
