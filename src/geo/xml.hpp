// SPDX-License-Identifier: Apache-2.0
//
// The few things asked of XML documents, on top of pugixml: names compared without regard to case, as GDAL's own parser
// compares them; text without leading white space, as it returns it; entities left alone but for the five of XML.
#pragma once

#include "base/memory_budget.hpp"

#include <pugixml.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace terrazzo::geo {

// False when the document does not parse or is larger than `max_bytes`. Document type declarations are skipped unread.
[[nodiscard]] bool parse_xml(std::string_view text, std::size_t max_bytes, pugi::xml_document& document);

// Counts, before a document is parsed, what its tree and what is made of it will hold: elements of four bytes take a
// hundred times as much. Throws `limit`, naming `what`.
void charge_xml(std::string_view text, std::string_view what, MemoryBudget& budget);

// The first child element of that name; null when there is none.
[[nodiscard]] pugi::xml_node child(pugi::xml_node parent, std::string_view name);

// An attribute, or else the text of a child element of that name.
[[nodiscard]] std::optional<std::string> value_of(pugi::xml_node element, std::string_view name);

// The text of an element that holds nothing but text; nullopt when it is empty or has child elements.
[[nodiscard]] std::optional<std::string> text_of(pugi::xml_node element);

// The element and all below it, as XML.
[[nodiscard]] std::string serialize(pugi::xml_node element);

// Replaces the entities of XML (&lt; &#65; ...) by their characters.
[[nodiscard]] std::string unescape_xml(std::string_view text);

// The inverse, for text and attributes. Control characters that no XML document may hold are left out.
[[nodiscard]] std::string escape_xml(std::string_view text);

}  // namespace terrazzo::geo
