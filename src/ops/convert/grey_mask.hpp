// SPDX-License-Identifier: Apache-2.0
//
// Finds masks with shades of grey: masks of 8 bits with values other than 0 and 255.
#pragma once

#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

#include <cstdint>

namespace terrazzo::ops {

// The bits that keep the mask of `read`: 8 if it has shades, else 1. TIFF defines masks of one bit, and not every
// reader takes more, so 8 bits are for masks that need them. A source with a mask of 8 bits, such as a .msk file, is
// therefore read up to the first shade.
[[nodiscard]] std::uint32_t needed_mask_bits(Dataset const& source, ReadRequest const& read,
                                             WriteOptions const& options);

}  // namespace terrazzo::ops
