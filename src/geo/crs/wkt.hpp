// SPDX-License-Identifier: Apache-2.0
//
// Well-known text as a tree; elements are not interpreted.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::geo {

// KEYWORD["text",1.5,CHILD[...],NORTH]: values and elements in the order of the text.
struct WktNode {
  std::string keyword{};              // of an element; empty for a quoted text; the word itself for a number or name
  std::string text{};                 // contents of a quoted text
  std::vector<WktNode> children{};

  // The first child element of that keyword, or null.
  [[nodiscard]] WktNode const* child(std::string_view name) const noexcept;
  // The first quoted text among the children: the element's name.
  [[nodiscard]] std::string_view name() const noexcept;
  // Child `index` as a number; nullopt if it is not a number.
  [[nodiscard]] std::optional<double> number(std::size_t index) const;
  // The code in AUTHORITY["EPSG","4326"]; 0 if there is none.
  [[nodiscard]] int epsg() const;
};

// nullopt if brackets or quotes do not match, or elements are nested more than 32 deep.
[[nodiscard]] std::optional<WktNode> parse_wkt(std::string_view text);

// WKT 1 without its AXIS elements, and so without an order of coordinates.
[[nodiscard]] std::string wkt_without_axes(std::string wkt);

}  // namespace terrazzo::geo
