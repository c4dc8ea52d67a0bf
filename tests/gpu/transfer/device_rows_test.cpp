// SPDX-License-Identifier: Apache-2.0
#include "gpu/transfer/device_rows.hpp"

#include <gtest/gtest.h>

namespace terrazzo::gpu {
namespace {

// Looks at the addresses only.
DeviceView view_at(std::uintptr_t address, std::int64_t band, std::int64_t row, std::int64_t pixel) {
  return {reinterpret_cast<void*>(address), DType::f32, 2, 3, 5, band, row, pixel};
}

TEST(DeviceRows, AreAlignedWhenAddressAndAllStridesAre) {
  EXPECT_TRUE(is_aligned(view_at(64, 4, -40, 8), 4));
  EXPECT_TRUE(is_aligned(view_at(64, -16, 160, 32), 16));
  EXPECT_TRUE(is_aligned(view_at(63, 1, -41, 3), 1));
  EXPECT_FALSE(is_aligned(view_at(66, 4, 40, 8), 4)) << "address";
  EXPECT_FALSE(is_aligned(view_at(64, 2, 40, 8), 4)) << "bands";
  EXPECT_FALSE(is_aligned(view_at(64, 4, -42, 8), 4)) << "rows";
  EXPECT_FALSE(is_aligned(view_at(64, 4, 40, 9), 4)) << "pixels";
  EXPECT_FALSE(is_aligned(view_at(64, 4, 40, 8), 8)) << "half of a complex sample only";
}

}  // namespace
}  // namespace terrazzo::gpu
