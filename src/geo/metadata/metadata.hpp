// SPDX-License-Identifier: Apache-2.0
//
// Fills a Metadata by GDAL's rules: a repeated key keeps its place and gets the new value; keys that differ only in
// case are equal. Look-ups are hashed, so that the cost of a hostile document with a million items is linear in its
// size.
#pragma once

#include "terrazzo/info.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace terrazzo::geo {

// GDAL's domain for properties of the storage, and its item for premultiplied alpha.
inline constexpr char kImageStructure[] = "IMAGE_STRUCTURE", kAlphaItem[] = "ALPHA", kPremultiplied[] = "PREMULTIPLIED";

class MetadataBuilder {
 public:
  MetadataBuilder() = default;

  void set(std::string const& domain, std::string_view key, std::string value);

  // Sets the one document of an "xml:..." or "json:..." domain.
  void set_document(std::string const& domain, std::string document);

  // Adds all of `other`; its items have priority.
  void merge(Metadata const& other);

  [[nodiscard]] Metadata const& metadata() const noexcept { return metadata_; }
  [[nodiscard]] Metadata take() &&;

 private:
  Metadata metadata_;
  std::unordered_map<std::string, std::size_t> place_;  // domain, NUL, key in lower case -> index among the items
};

[[nodiscard]] bool is_document_domain(std::string_view domain) noexcept;

}  // namespace terrazzo::geo
