// SPDX-License-Identifier: Apache-2.0
//
// The XML functions that we need, on top of pugixml: names are compared without regard to case, as in GDAL's parser;
// text has no leading white space, as in GDAL's parser; only the five entities of XML are replaced.
#pragma once

#include "base/memory_budget.hpp"

#include <pugixml.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace terrazzo::geo {

// Returns false if the document does not parse or exceeds `max_bytes`. Document type declarations are skipped.
[[nodiscard]] bool parse_xml(std::string_view text, std::size_t max_bytes, pugi::xml_document& document);

// Estimates, before a document is parsed, the memory of its tree and its results: elements of four bytes take a hundred
// times as much. Throws `limit`, with `what` in the text.
void charge_xml(std::string_view text, std::string_view what, MemoryBudget& budget);

// The first child element of that name; null if there is none.
[[nodiscard]] pugi::xml_node child(pugi::xml_node parent, std::string_view name);

// An attribute, otherwise the text of a child element of that name.
[[nodiscard]] std::optional<std::string> value_of(pugi::xml_node element, std::string_view name);

// The text of an element that contains only text; nullopt if it is empty or has child elements.
[[nodiscard]] std::optional<std::string> text_of(pugi::xml_node element);

// The element and its descendants, as XML.
[[nodiscard]] std::string serialize(pugi::xml_node element);

// Replaces the entities of XML (&lt; &#65; ...) by their characters.
[[nodiscard]] std::string unescape_xml(std::string_view text);

// The inverse, for text and attributes. Omits control characters that XML does not allow.
[[nodiscard]] std::string escape_xml(std::string_view text);

}  // namespace terrazzo::geo
