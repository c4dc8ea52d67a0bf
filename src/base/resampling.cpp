// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/resampling.hpp"

#include "base/letter_case.hpp"

#include <algorithm>

namespace terrazzo {
namespace {

struct Name {
  Resampling method;
  std::string_view name;
};

// The first name of a method is its own; the others are GDAL's, and common ones.
constexpr Name kNames[] = {
    {Resampling::nearest, "nearest"},
    {Resampling::average, "average"},
    {Resampling::bilinear, "bilinear"},
    {Resampling::cubic, "cubic"},
    {Resampling::cubic_spline, "cubic-spline"},
    {Resampling::lanczos, "lanczos"},
    {Resampling::mode, "mode"},
    {Resampling::minimum, "min"},
    {Resampling::maximum, "max"},
    {Resampling::median, "median"},
    {Resampling::rms, "rms"},
    {Resampling::nearest, "near"},
    {Resampling::average, "mean"},
    {Resampling::cubic_spline, "cubicspline"},
    {Resampling::minimum, "minimum"},
    {Resampling::maximum, "maximum"},
    {Resampling::median, "med"},
};

// Ignores case; "_" equals "-".
bool is_name(std::string_view given, std::string_view known) noexcept {
  return std::ranges::equal(given, known, [](char a, char b) { return (a == '_' ? '-' : lower_case(a)) == b; });
}

}  // namespace

std::string_view to_string(Resampling method) noexcept {
  auto const found = std::ranges::find(kNames, method, &Name::method);
  return found != std::end(kNames) ? found->name : "unknown";
}

std::optional<Resampling> parse_resampling(std::string_view name) noexcept {
  for (Name const& known : kNames) {
    if (is_name(name, known.name)) { return known.method; }
  }
  return std::nullopt;
}

}  // namespace terrazzo
