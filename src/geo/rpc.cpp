// SPDX-License-Identifier: Apache-2.0
#include "geo/rpc.hpp"

#include "geo/number.hpp"
#include "tiff/format.hpp"

#include <array>
#include <cstddef>
#include <string>
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

}  // namespace terrazzo::geo
