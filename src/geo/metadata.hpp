// SPDX-License-Identifier: Apache-2.0
//
// Filling a Metadata by GDAL's rules: a repeated key keeps its place and takes the new value; keys that differ only in
// case are the same key. Look-ups are hashed, so that a hostile document with a million items costs no more than its
// size.
#pragma once

#include "terrazzo/info.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace terrazzo::geo {

// GDAL's domain of what follows from the pixels' storage, and its item of alpha by which the colours are multiplied.
inline constexpr char kImageStructure[] = "IMAGE_STRUCTURE", kAlphaItem[] = "ALPHA", kPremultiplied[] = "PREMULTIPLIED";

class MetadataBuilder {
 public:
  MetadataBuilder() = default;

  void set(std::string const& domain, std::string_view key, std::string value);

  // The one document of an "xml:..." or "json:..." domain.
  void set_document(std::string const& domain, std::string document);

  // All of `other`; its items win.
  void merge(Metadata const& other);

  [[nodiscard]] Metadata const& metadata() const noexcept { return metadata_; }
  [[nodiscard]] Metadata take() &&;

 private:
  Metadata metadata_;
  std::unordered_map<std::string, std::size_t> place_;  // domain, NUL, key in lower case -> index among the items
};

[[nodiscard]] bool is_document_domain(std::string_view domain) noexcept;

}  // namespace terrazzo::geo
