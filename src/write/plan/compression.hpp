// SPDX-License-Identifier: Apache-2.0
//
// Chooses a compression for an existing raster.
#pragma once

#include "terrazzo/write.hpp"
#include "tiff/image.hpp"

#include <optional>

namespace terrazzo::writing {

// The choice that writes tiles like those of the image; nullopt if we cannot write them.
[[nodiscard]] std::optional<Compression> compression_like(tiff::Image const& image) noexcept;

// The compression for rasters whose own compression cannot be written.
[[nodiscard]] Compression fallback_compression() noexcept;

// True if `convert` replaces an alpha band by a mask, because the codec would change alpha.
[[nodiscard]] bool turns_alpha_into_mask(Compression compression) noexcept;

}  // namespace terrazzo::writing
