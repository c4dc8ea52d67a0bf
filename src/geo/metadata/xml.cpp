// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/xml.hpp"

#include "base/letter_case.hpp"
#include "geo/metadata/utf8.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <sstream>
#include <system_error>
#include <utility>

namespace terrazzo::geo {
namespace {

constexpr unsigned kParse = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_eol;

void append_utf8(std::string& out, std::uint32_t code) {
  auto const put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

std::optional<std::uint32_t> numeric_entity(std::string_view body) {
  if (!body.starts_with('#')) { return std::nullopt; }
  body.remove_prefix(1);
  int base = 10;
  if (body.starts_with('x') || body.starts_with('X')) {
    base = 16;
    body.remove_prefix(1);
  }
  std::uint32_t code = 0;
  auto const [end, error] = std::from_chars(body.data(), body.data() + body.size(), code, base);
  bool const whole = error == std::errc{} && end == body.data() + body.size();
  bool const character = code != 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return whole && character ? std::optional(code) : std::nullopt;
}

constexpr std::array<std::pair<std::string_view, char>, 5> kNamed = {
    {{"lt", '<'}, {"gt", '>'}, {"amp", '&'}, {"quot", '"'}, {"apos", '\''}}};

}  // namespace

bool parse_xml(std::string_view text, std::size_t max_bytes, pugi::xml_document& document) {
  if (text.size() > max_bytes) { return false; }
  text = text.substr(0, text.find('\0'));
  std::string const utf8 = is_utf8(text) ? std::string() : to_utf8(std::string(text));
  if (!utf8.empty()) { text = utf8; }
  auto const result = document.load_buffer(text.data(), text.size(), kParse, pugi::encoding_utf8);
  return result.status == pugi::status_ok;
}

void charge_xml(std::string_view text, std::string_view what, MemoryBudget& budget) {
  // Memory of pugixml: 64 bytes for an element and for the text after it, 40 for an attribute. The same again for the
  // result (a metadata item with its index entry, a control point, a name), which exists twice while sidecars and tags
  // are merged. Escaped brackets count: a document may contain another.
  constexpr std::uint64_t kNodeBytes = 256, kAttributeBytes = 64;
  std::uint64_t nodes = 0, attributes = 0;
  for (char const c : text) {
    nodes += c == '<' || c == '&' ? 1U : 0U;
    attributes += c == '=' ? 1U : 0U;
  }
  budget.charge(4 * text.size() + nodes * kNodeBytes + attributes * kAttributeBytes, what);
}

pugi::xml_node child(pugi::xml_node parent, std::string_view name) {
  for (auto node : parent.children()) {
    if (node.type() == pugi::node_element && equals_ignoring_case(node.name(), name)) { return node; }
  }
  return {};
}

std::optional<std::string> text_of(pugi::xml_node element) {
  std::string text;
  for (auto node : element.children()) {
    if (node.type() == pugi::node_element) { return std::nullopt; }
    if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata) { text += node.value(); }
  }
  text.erase(0, std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  if (text.empty()) { return std::nullopt; }
  return to_utf8(std::move(text));  // numeric entities can name invalid characters
}

std::optional<std::string> value_of(pugi::xml_node element, std::string_view name) {
  for (auto attribute : element.attributes()) {
    if (equals_ignoring_case(attribute.name(), name)) { return to_utf8(attribute.value()); }
  }
  return text_of(child(element, name));
}

std::string serialize(pugi::xml_node element) {
  std::ostringstream out;
  element.print(out, "",
                pugi::format_raw);  // indentation would make deep documents grow with the square of their depth
  return to_utf8(std::move(out).str());
}

std::string unescape_xml(std::string_view text) {
  constexpr std::size_t kLongestEntity = 10;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    auto const ampersand = std::min(text.find('&'), text.size());
    out += text.substr(0, ampersand);
    text.remove_prefix(ampersand);
    if (text.empty()) { break; }
    auto const semicolon = text.substr(0, kLongestEntity).find(';');
    std::string_view const body = semicolon == std::string_view::npos ? "" : text.substr(1, semicolon - 1);
    auto const* named = std::find_if(kNamed.begin(), kNamed.end(), [&](auto const& e) { return e.first == body; });
    if (named != kNamed.end()) {
      out.push_back(named->second);
      text.remove_prefix(semicolon + 1);
    } else if (auto const code = numeric_entity(body)) {
      append_utf8(out, *code);
      text.remove_prefix(semicolon + 1);
    } else {
      out.push_back('&');
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string escape_xml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char const c : text) {
    auto const* named = std::find_if(kNamed.begin(), kNamed.end(), [&](auto const& e) { return e.second == c; });
    if (named != kNamed.end() && c != '\'') {
      out.append("&").append(named->first).append(";");
    } else if (c == '\r') {
      out += "&#13;";  // otherwise parsers turn it into a line feed
    } else if (static_cast<unsigned char>(c) >= 0x20 || c == '\t' || c == '\n') {
      out.push_back(c);
    }
  }
  return out;
}

}  // namespace terrazzo::geo
