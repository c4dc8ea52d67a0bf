// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/crs_text.hpp"

#include "base/letter_case.hpp"
#include "geo/crs/wkt.hpp"
#include "geo/metadata/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace terrazzo::geo {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 10;  // the longest definitions in use have some 20 KiB
constexpr int kMaxJsonDepth = 32;
constexpr std::string_view kSpace = " \t\r\n";

bool is_one_of(std::string_view word, auto const& words) {
  return std::ranges::any_of(words, [&](std::string_view w) { return equals_ignoring_case(word, w); });
}

bool has_only(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           others.find(c) != std::string_view::npos;
  });
}

std::string_view trimmed(std::string_view text) {
  auto const first = text.find_first_not_of(kSpace);
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Splits off the text before the first of `marks`.
std::string_view take_until(std::string_view& text, std::string_view marks) {
  auto const end = std::min(text.find_first_of(marks), text.size());
  std::string_view const part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

// Names without a folder or a scheme: PROJ finds them only among its own data.
bool is_plain_file_name(std::string_view name) { return has_only(name, "_.,@-") && name.find("..") == name.npos; }

// Parameters of a projection: numbers and words. Excludes those that name files (grids, init, model, ...).
constexpr std::array<std::string_view, 62> kProjParameters = {
    "proj",    "a",       "b",       "r",       "f",        "rf",        "es",      "e",       "k",
    "k_0",     "x_0",     "y_0",     "z_0",     "lat_0",    "lat_1",     "lat_2",   "lat_3",   "lat_b",
    "lat_t",   "lat_ts",  "lon_0",   "lon_1",   "lon_2",    "lon_3",     "lonc",    "alpha",   "gamma",
    "azi",     "tilt",    "theta",   "zone",    "south",    "units",     "h",       "h_0",     "vunits",
    "ellps",   "pm",      "towgs84", "no_defs", "wktext",   "over",      "type",    "axis",    "sweep",
    "m",       "n",       "w",       "lsat",    "path",     "o_proj",    "o_lat_p", "o_lon_p", "o_alpha",
    "o_lon_c", "o_lat_c", "no_rot",  "no_uoff", "to_meter", "vto_meter", "r_a",     "guam"};

// PROJ parses such a text in a separate context, to which our rules do not apply (WKT's EXTENSION).
bool is_harmless_proj_string(std::string_view text) {
  while (!(text = trimmed(text)).empty()) {
    std::string_view item = take_until(text, kSpace);
    if (item.starts_with('+')) { item.remove_prefix(1); }
    std::string_view const key = take_until(item, "=");
    std::string_view const value = item;
    bool const known = is_one_of(key, kProjParameters) && has_only(value, "_.,-");
    bool const no_grid = equals_ignoring_case(key, "nadgrids") && value == "@null";
    bool const no_shift = equals_ignoring_case(key, "datum") && (value == "WGS84" || value == "NAD83");
    if (!known && !no_grid && !no_shift) { return false; }
  }
  return true;
}

constexpr std::array<std::string_view, 22> kWktRoots = {
    "PROJCS",   "PROJCRS",        "PROJECTEDCRS", "GEOGCS",       "GEOGCRS",     "GEOGRAPHICCRS",
    "GEODCRS",  "GEODETICCRS",    "GEOCCS",       "COMPD_CS",     "COMPOUNDCRS", "VERT_CS",
    "VERTCS",   "VERTCRS",        "VERTICALCRS",  "LOCAL_CS",     "ENGCRS",      "ENGINEERINGCRS",
    "BOUNDCRS", "DERIVEDPROJCRS", "TIMECRS",      "PARAMETRICCRS"};

std::string_view value_of(WktNode const& node) { return node.keyword.empty() ? node.text : node.keyword; }

// REQUIRES: an element.
bool is_harmless_element(WktNode const& node) {
  auto const child = [&](std::size_t i) { return i < node.children.size() ? value_of(node.children[i]) : ""; };
  if (equals_ignoring_case(node.keyword, "EXTENSION")) {
    if (equals_ignoring_case(child(0), "PROJ4")) { return is_harmless_proj_string(child(1)); }
    if (equals_ignoring_case(child(0), "PROJ4_GRIDS")) { return is_plain_file_name(child(1)); }
    return true;
  }
  if (equals_ignoring_case(node.keyword, "PARAMETERFILE")) { return is_plain_file_name(child(1)); }
  if (is_one_of(node.keyword, std::array<std::string_view, 2>{"METHOD", "PROJECTION"})) {
    return !starts_with_ignoring_case(child(0), "PROJ-based");  // a PROJ string follows
  }
  return true;
}

bool is_harmless_tree(WktNode const& node) {
  // Bare words are numbers, dates and names of the standard. PROJ might interpret any other word, such as printed
  // quotes, differently than we do.
  if (!node.keyword.empty() && !has_only(node.keyword, "_.+:-")) { return false; }
  return is_harmless_element(node) && std::ranges::all_of(node.children, is_harmless_tree);
}

bool is_wkt(std::string_view text) {
  auto const bracket = text.find('[');
  if (bracket == std::string_view::npos || !is_one_of(trimmed(text.substr(0, bracket)), kWktRoots)) { return false; }
  auto const tree = parse_wkt(text);
  return tree && is_harmless_tree(*tree);
}

// The strings of a JSON document, in order, with the position of each.
class JsonScan {
 public:
  explicit JsonScan(std::string_view text) : text_(text) {}

  // True if the document is an object of bounded depth whose type is that of a CRS.
  bool is_crs() {
    bool has_type = false;
    for (; at_ < text_.size(); ++at_) {
      char const c = text_[at_];
      if (c == '{' || c == '[') {
        if (++depth_ > kMaxJsonDepth) { return false; }
      } else if (c == '}' || c == ']') {
        if (--depth_ < 0) { return false; }
      } else if (c == '"') {
        auto const key = string();
        if (!key) { return false; }
        if (depth_ != 1 || !follows(':')) { continue; }
        if (key->find('\\') != std::string_view::npos) { return false; }
        if (*key != "type") { continue; }
        if (!follows('"')) { return false; }
        auto const type = string();
        if (!type || !type->ends_with("CRS")) { return false; }
        has_type = true;
      }
    }
    return has_type && depth_ == 0;
  }

 private:
  // Reads the string whose opening quote is at at_; leaves at_ at its closing quote.
  std::optional<std::string_view> string() {
    std::size_t const first = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') { at_ += text_[at_] == '\\' ? 2U : 1U; }
    if (at_ >= text_.size()) { return std::nullopt; }
    return text_.substr(first, at_ - first);
  }
  // Skips white space and moves to the next character if that is `wanted`.
  bool follows(char wanted) {
    std::size_t const next = text_.find_first_not_of(kSpace, at_ + 1);
    if (next == std::string_view::npos || text_[next] != wanted) { return false; }
    at_ = next;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// "EPSG:4326", "EPSG:2393+5717", "ESRI:103668+EPSG:5703".
bool is_code(std::string_view text) {
  auto const is_word = [](std::string_view word) { return !word.empty() && has_only(word, "_.-"); };
  auto const is_pair = [&](std::string_view part) {
    std::string_view code = part;
    std::string_view const authority = take_until(code, ":");
    return is_word(authority) && is_word(code);
  };
  std::string_view second = text;
  std::string_view const first = take_until(second, "+");
  bool const compound = first.size() != text.size();
  return is_pair(first) && (!compound || is_word(second) || is_pair(second));
}

bool is_urn(std::string_view text) {
  return has_only(text, ":_.,-") &&
         (starts_with_ignoring_case(text, "urn:ogc:def:crs:") || starts_with_ignoring_case(text, "urn:ogc:def:crs,") ||
          starts_with_ignoring_case(text, "urn:x-ogc:def:crs:"));
}

// PROJ accepts "+init=", "init=", "+ init = " and, between other parameters, any of them.
bool says_init(std::string_view text) {
  std::string plain = lower_case(text);
  std::erase_if(plain, [](char c) { return kSpace.find(c) != std::string_view::npos; });
  return plain.find("init=") != std::string::npos;
}

}  // namespace

bool is_crs_definition(std::string_view text) {
  if (text.size() > kMaxBytes || text.find('\0') != std::string_view::npos) { return false; }
  text = trimmed(text);
  if (text.starts_with('{')) { return JsonScan(text).is_crs(); }
  return is_code(text) || is_urn(text) || is_wkt(text);
}

bool is_proj_string(std::string_view text) {
  return text.size() <= kMaxBytes && text.find("proj=") != std::string_view::npos && is_harmless_proj_string(text);
}

bool is_crs_name(std::string_view text) { return text.find_first_of("[{:=") == std::string_view::npos; }

std::string typed_crs(std::string_view text) {
  constexpr std::size_t kMaxTypedBytes = std::size_t{1} << 20;  // PROJJSON of a file's CRS is longer than its WKT
  text = trimmed(text);
  if (is_crs_definition(text)) { return std::string(text); }
  if (text.size() > kMaxTypedBytes || text.find('\0') != std::string_view::npos || says_init(text)) { return {}; }
  std::string typed(text);
  // PROJ parses a PROJ string as an operation unless it contains "+type=crs".
  bool const is_operation = text.find("proj=") != std::string_view::npos && !text.starts_with('{') &&
                            text.find('[') == std::string_view::npos;
  if (is_operation && text.find("type=crs") == std::string_view::npos) { typed += " +type=crs"; }
  return typed;
}

std::string quoted_crs_text(std::string_view text) {
  constexpr std::size_t kShown = 120;
  text = trimmed(text);
  bool const cut = text.size() > kShown;
  return '"' + to_utf8(std::string(text.substr(0, kShown))) + (cut ? "...\"" : "\"");
}

}  // namespace terrazzo::geo
