// SPDX-License-Identifier: Apache-2.0
#include "output/option_names.hpp"

#include <cstddef>

namespace terrazzo::cli {
namespace {

struct OptionName {
  std::string_view api, option;
};

constexpr OptionName kOptionNames[] = {
    {"BigTiff::always", "--bigtiff yes"},
    {"BigTiff::automatic", "--bigtiff auto"},
    {"EditOptions::rewrite", "--rewrite"},
    {"MosaicRequest::bands", "--bands"},
    {"MosaicRequest::dtype", "--dtype"},
    {"OverviewPlace::external", "--external"},
    {"with OverviewPlace::internal", "without --external"},
    {"ReadRequest::bands", "--bands"},
    {"ReadRequest::dtype", "--dtype"},
    {"ReadRequest::unpack", "`terrazzo convert --unpack`"},
    {"WriteOptions::mask", "--mask"},
    {"WriteOptions::nodata", "--nodata"},
    {"WriteOptions::overview_factors", "`terrazzo convert --overviews`"},
    {"device_state()", "`terrazzo doctor`"},
};

}  // namespace

std::string with_option_names(std::string_view message) {
  std::string result(message);
  for (auto const& [api, option] : kOptionNames) {
    for (std::size_t at = result.find(api); at != std::string::npos; at = result.find(api, at + option.size())) {
      result.replace(at, api.size(), option);
    }
  }
  return result;
}

Error with_option_names(Error const& error) {
  return Error(error.kind(), with_option_names(error.message()), error.where());
}

}  // namespace terrazzo::cli
