// SPDX-License-Identifier: Apache-2.0
//
// What `masked` and `unpack` do to the values of a read: which pixels are missing by their value, what those become,
// and how the others are scaled.
#pragma once

#include "read/plan.hpp"
#include "tile/convert.hpp"

#include <optional>

namespace terrazzo::reading {

// Fills plan.missing and plan.transforms. REQUIRES: dataset, level, bands and dtype of the plan.
// Throws `usage` when the request's missing value is no value of the result's type.
void choose_transforms(ReadPlan::Impl& plan, ReadRequest const& request);

// Whether the plan's bands have pixels that are missing by their value: nodata, and no mask image.
[[nodiscard]] bool has_missing_values(ReadPlan::Impl const& plan);

// The nodata value of the first requested band that has one, as a value of the result. nullopt when no pixel of the
// result can have it, or when one that is not missing could: it would be lost. `unpack`: as in the request.
[[nodiscard]] std::optional<Nodata> unambiguous_nodata(ReadPlan::Impl const& plan, bool unpack);

// Whether a sample of type `stored` that is not missing could become the marker in a result of type `result`.
[[nodiscard]] bool may_become(tile::ValueTransform const& transform, DType stored, Nodata const& marker, DType result);

}  // namespace terrazzo::reading
