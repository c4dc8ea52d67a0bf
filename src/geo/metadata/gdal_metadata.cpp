// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/gdal_metadata.hpp"

#include "base/letter_case.hpp"
#include "geo/metadata/color.hpp"
#include "geo/metadata/xml.hpp"
#include "geo/number.hpp"

#include <string>
#include <utility>

namespace terrazzo::geo {
namespace {

void set_band_item(BandInfo& info, MetadataBuilder& metadata, std::string_view role, std::string const& domain,
                   std::string const& key, std::string value) {
  if (equals_ignoring_case(role, "scale")) {
    info.scale = number_with_any_point(value);
    info.has_scale = true;
  } else if (equals_ignoring_case(role, "offset")) {
    info.offset = number_with_any_point(value);
    info.has_offset = true;
  } else if (equals_ignoring_case(role, "unittype")) {
    info.unit = std::move(value);
  } else if (equals_ignoring_case(role, "description")) {
    info.description = std::move(value);
  } else if (equals_ignoring_case(role, "colorinterp")) {
    set_color(info, value);
    if (info.color == ColorInterpretation::undefined && !equals_ignoring_case(value, "undefined")) {
      metadata.set("", "COLOR_INTERPRETATION", std::move(value));
    }
  } else if (is_document_domain(domain)) {
    metadata.set_document(domain, std::move(value));
  } else {
    metadata.set(domain, key, std::move(value));
  }
}

}  // namespace

void add_gdal_metadata(std::string_view xml, MetadataBuilder& dataset, std::vector<MetadataBuilder>& bands,
                       std::vector<BandInfo>& infos, bool takes_colors) {
  pugi::xml_document document;
  if (!parse_xml(xml, kMaxMetadataXmlBytes, document)) { return; }
  for (auto item : child(document, "GDALMetadata").children()) {
    if (item.type() != pugi::node_element || !equals_ignoring_case(item.name(), "Item")) { continue; }
    auto const key = value_of(item, "name");
    auto const raw = text_of(item);
    if (!key || !raw) { continue; }
    auto const domain = value_of(item, "domain").value_or("");
    // Tags describe the structure of the file; only the resampling of its overviews is new information.
    if (equals_ignoring_case(domain, kImageStructure) && !equals_ignoring_case(*key, "OVERVIEW_RESAMPLING")) {
      continue;
    }
    // GDAL escapes twice when it writes and unescapes twice when it reads.
    std::string value = unescape_xml(*raw);
    auto const sample_text = value_of(item, "sample");
    int const sample = sample_text ? integer_or_zero(*sample_text) : -1;
    if (sample < -1 || sample >= static_cast<int>(bands.size())) { continue; }
    if (sample >= 0) {
      auto const band = static_cast<std::size_t>(sample);
      auto const role = value_of(item, "role").value_or("");
      if (!takes_colors && equals_ignoring_case(role, "colorinterp")) { continue; }
      set_band_item(infos[band], bands[band], role, domain, *key, std::move(value));
    } else if (is_document_domain(domain)) {
      dataset.set_document(domain, std::move(value));
    } else {
      dataset.set(domain, *key, std::move(value));
    }
  }
}

}  // namespace terrazzo::geo
