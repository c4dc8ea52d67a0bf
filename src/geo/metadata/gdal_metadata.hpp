// SPDX-License-Identifier: Apache-2.0
//
// The XML of tag 42112 (GDAL_METADATA): items of the file and of its bands, in domains, and the roles by which a band's
// scale, offset, unit, description and colour are stored. Entities in the document are neither expanded nor fetched.
#pragma once

#include "geo/metadata/metadata.hpp"
#include "terrazzo/info.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace terrazzo::geo {

inline constexpr std::size_t kMaxMetadataXmlBytes = std::size_t{16} << 20;

// Adds the items of `xml` to `dataset` and to `bands` (metadata builders, one per band), and sets the fields of `infos`
// that have a role; sets colours only if the caller uses them. A document that does not parse, or exceeds the limit,
// adds nothing. REQUIRES: as many builders as infos.
void add_gdal_metadata(std::string_view xml, MetadataBuilder& dataset, std::vector<MetadataBuilder>& bands,
                       std::vector<BandInfo>& infos, bool takes_colors = true);

}  // namespace terrazzo::geo
