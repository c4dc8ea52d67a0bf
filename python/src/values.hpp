// SPDX-License-Identifier: Apache-2.0
//
// Values of the C++ API that are plain Python values: metadata as dicts, nodata as a number, sample types as names.
#pragma once

#include "bindings.hpp"
#include "terrazzo/dtype.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/info.hpp"
#include "text.hpp"

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace terrazzo::python {

[[nodiscard]] inline nb::dict items_dict(MetadataItems const& items) {
  nb::dict dict;
  for (auto const& [key, value] : items) { dict[to_str(key)] = to_str(value); }
  return dict;
}

[[nodiscard]] inline MetadataItems items_from(nb::dict const& dict) {
  MetadataItems items;
  for (auto const& [key, value] : dict) { items.emplace_back(nb::str(key).c_str(), nb::str(value).c_str()); }
  return items;
}

// {domain: {key: value}}; a domain that is an XML document is {domain: text}.
[[nodiscard]] inline nb::dict metadata_dict(Metadata const& metadata) {
  nb::dict dict;
  for (auto const& [domain, items] : metadata.domains) { dict[to_str(domain)] = items_dict(items); }
  for (auto const& [domain, document] : metadata.xml_domains) { dict[to_str(domain)] = to_str(document); }
  return dict;
}

[[nodiscard]] inline Metadata metadata_from(nb::dict const& dict) {
  Metadata metadata;
  for (auto const& [domain, items] : dict) {
    std::string const name = nb::str(domain).c_str();
    if (nb::isinstance<nb::dict>(items)) {
      metadata.domains[name] = items_from(nb::cast<nb::dict>(items));
    } else {
      metadata.xml_domains[name] = nb::str(items).c_str();
    }
  }
  return metadata;
}

// An int for a band of integers, if the value is one; else a float. None: no nodata.
[[nodiscard]] inline nb::object nodata_value(std::optional<Nodata> const& nodata, DType dtype) {
  if (!nodata) { return nb::none(); }
  if (nodata->exact_i64) { return nb::int_(*nodata->exact_i64); }
  if (nodata->exact_u64) { return nb::int_(*nodata->exact_u64); }
  double const value = nodata->value;
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (is_integer(dtype) && std::abs(value) <= kExact && value == std::floor(value)) {
    return nb::int_(static_cast<long long>(value));
  }
  return nb::float_(value);
}

[[nodiscard]] inline DType dtype_from(std::string_view name) {
  std::optional<DType> const dtype = dtype_from_string(name);
  if (!dtype) { throw Error(ErrorKind::usage, "'" + std::string(name) + "' is not a type of samples"); }
  return *dtype;
}

}  // namespace terrazzo::python
