// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/metadata.hpp"

#include "base/letter_case.hpp"

#include <utility>

namespace terrazzo::geo {

void MetadataBuilder::set(std::string const& domain, std::string_view key, std::string value) {
  MetadataItems& items = metadata_.domains[domain];
  std::string place_key = domain;
  place_key.push_back('\0');
  place_key += lower_case(key);
  auto const [place, added] = place_.try_emplace(std::move(place_key), items.size());
  if (added) {
    items.emplace_back(std::string(key), std::move(value));
  } else {
    items[place->second] = {std::string(key), std::move(value)};
  }
}

void MetadataBuilder::set_document(std::string const& domain, std::string document) {
  metadata_.xml_domains[domain] = std::move(document);
}

void MetadataBuilder::merge(Metadata const& other) {
  for (auto const& [domain, items] : other.domains) {
    for (auto const& [key, value] : items) { set(domain, key, value); }
  }
  for (auto const& [domain, document] : other.xml_domains) { set_document(domain, document); }
}

Metadata MetadataBuilder::take() && {
  place_.clear();
  return std::move(metadata_);
}

bool is_document_domain(std::string_view domain) noexcept {
  return starts_with_ignoring_case(domain, "xml:") || starts_with_ignoring_case(domain, "json:");
}

}  // namespace terrazzo::geo
