// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/rpc.hpp"

#include "base/letter_case.hpp"
#include "geo/number.hpp"
#include "tiff/format.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::geo {
namespace {

constexpr std::array<char const*, 12> kScalars = {"ERR_BIAS",   "ERR_RAND",  "LINE_OFF",   "SAMP_OFF",
                                                  "LAT_OFF",    "LONG_OFF",  "HEIGHT_OFF", "LINE_SCALE",
                                                  "SAMP_SCALE", "LAT_SCALE", "LONG_SCALE", "HEIGHT_SCALE"};
constexpr std::array<char const*, 4> kPolynomials = {"LINE_NUM_COEFF", "LINE_DEN_COEFF", "SAMP_NUM_COEFF",
                                                     "SAMP_DEN_COEFF"};
constexpr std::size_t kTerms = 20;
constexpr std::size_t kValues = kScalars.size() + kPolynomials.size() * kTerms;
constexpr int kDigits = 15;
constexpr std::size_t kErrorTerms = 2;  // the first two scalars
constexpr double kUnknownError = -1;

std::string const* find(MetadataItems const& items, std::string_view name) {
  for (auto const& [key, value] : items) {
    if (equals_ignoring_case(key, name)) { return &value; }
  }
  return nullptr;
}

// Numbers separated by white space, in their order.
std::vector<double> numbers_in(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<double> numbers;
  for (auto at = text.find_first_not_of(kSpace); at != std::string_view::npos; at = text.find_first_not_of(kSpace)) {
    text.remove_prefix(at);
    auto const end = std::min(text.find_first_of(kSpace), text.size());
    auto const number = leading_number(text.substr(0, end));
    if (!number) { return {}; }
    numbers.push_back(*number);
    text.remove_prefix(end);
  }
  return numbers;
}

}  // namespace

MetadataItems rpc_from_tags(tiff::Directory const& dir) {
  auto const values = dir.real_values(tiff::tag::RPCCoefficients, kValues + 1);
  if (values.size() != kValues) { return {}; }
  MetadataItems items;
  std::size_t next = 0;
  for (char const* name : kScalars) { items.emplace_back(name, format_significant(values[next++], kDigits)); }
  for (char const* name : kPolynomials) {
    std::string terms;
    for (std::size_t i = 0; i < kTerms; ++i) {
      if (i > 0) { terms += ' '; }
      terms += format_significant(values[next++], kDigits);
    }
    items.emplace_back(name, std::move(terms));
  }
  return items;
}

bool rpc_to_tags(MetadataItems const& rpc, tiff::TagSet& tags) {
  std::vector<double> values;
  for (std::size_t i = 0; i < kScalars.size(); ++i) {
    std::string const* const text = find(rpc, kScalars[i]);
    auto const number = text == nullptr ? std::nullopt : leading_number(*text);
    if (!number && i >= kErrorTerms) { return false; }
    values.push_back(number.value_or(kUnknownError));
  }
  for (char const* name : kPolynomials) {
    std::string const* const text = find(rpc, name);
    auto const terms = text == nullptr ? std::vector<double>{} : numbers_in(*text);
    if (terms.size() != kTerms) { return false; }
    values.insert(values.end(), terms.begin(), terms.end());
  }
  tags.set_doubles(tiff::tag::RPCCoefficients, values);
  return true;
}

}  // namespace terrazzo::geo
