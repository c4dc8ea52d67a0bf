// SPDX-License-Identifier: Apache-2.0
//
// The effect of `masked`, `unpack`, `scale` and `missing` on the values of a read: the values that are missing, their
// replacement, and the scaling of the others.
#pragma once

#include "read/plan/plan.hpp"
#include "tile/convert.hpp"

#include <cstddef>
#include <optional>

namespace terrazzo::reading {

// Sets plan.missing and plan.transforms. REQUIRES: dataset, level, bands and dtype of the plan.
// Throws `usage` if the result's type cannot represent the request's missing value, and for a scale that is no map of
// numbers to numbers.
void choose_transforms(ReadPlan::Impl& plan, ReadRequest const& request);

// True if the plan's bands have pixels that are missing by their value: nodata, and no mask image.
[[nodiscard]] bool has_missing_values(ReadPlan::Impl const& plan);

// True if `unpack` may change a pixel's value: a band is scaled, or values beside nodata get another type, in which a
// valid value could be rounded or clamped to nodata.
[[nodiscard]] bool unpacking_changes_values(ReadPlan::Impl const& plan);

// True if the marker is an end of the result's integer type or of the request's scale, and values beyond that end
// exist, which are clamped to it.
[[nodiscard]] bool clamps_to(ReadPlan::Impl const& plan, Nodata const& marker, ReadRequest const& request);

// The nodata value of the first requested band that has one, as a value of the result. nullopt if no pixel of the
// result can have it, or if a valid pixel could have it too and would be lost.
[[nodiscard]] std::optional<Nodata> unambiguous_nodata(ReadPlan::Impl const& plan, ReadRequest const& request);

// The nodata value of the first requested band with pixels that are missing by their value; null if there is none.
[[nodiscard]] Nodata const* first_nodata(ReadPlan::Impl const& plan);

// A nodata value of type `stored` as a value of another type: rounded and clamped as a pixel is. A finite value stays
// finite in a float, as in GDAL.
[[nodiscard]] Nodata nearest_nodata(Nodata const& nodata, DType stored, DType result);

// True if a valid pixel of the result may equal the marker.
[[nodiscard]] bool a_valid_pixel_may_become(ReadPlan::Impl const& plan, Nodata const& marker,
                                            ReadRequest const& request);

// Writes the value of a missing pixel of the index-th requested band: a sample of the stored type.
void stored_fill(ReadPlan::Impl const& plan, std::size_t band_index, std::byte* out) noexcept;

// Writes a nodata value as a sample of type `dtype`.
void store_nodata(Nodata const& nodata, DType dtype, std::byte* out) noexcept;

// True if a valid sample of type `stored` could become the marker in a result of type `result`.
[[nodiscard]] bool may_become(tile::ValueTransform const& transform, DType stored, Nodata const& marker, DType result);

}  // namespace terrazzo::reading
