// SPDX-License-Identifier: Apache-2.0
//
// Boxes in messages.
#pragma once

#include "geo/number.hpp"
#include "terrazzo/coordinates.hpp"

#include <string>

namespace terrazzo::geo {

// "9.1, 45.2, 9.4, 45.5": xmin, ymin, xmax, ymax.
[[nodiscard]] inline std::string box_text(BoundingBox const& box) {
  return format_significant(box.xmin, 12) + ", " + format_significant(box.ymin, 12) + ", " +
         format_significant(box.xmax, 12) + ", " + format_significant(box.ymax, 12);
}

}  // namespace terrazzo::geo
