// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/epsg_kinds.hpp"

#include "geo/crs/proj_library.hpp"

#include <gtest/gtest.h>

namespace terrazzo::geo {
namespace {

TEST(EpsgKind, IsKnownForCommonCodes) {
  for (int const code : {2154, 3857, 27700, 32601, 32660, 32761, 25832, 3035, 2000}) {
    EXPECT_EQ(epsg_kind(code), EpsgKind::projected) << code;
  }
  for (int const code : {4326, 4258, 4269, 4267, 4807, 7844}) {
    EXPECT_EQ(epsg_kind(code), EpsgKind::geographic_2d) << code;
  }
  for (int const code : {4979, 4978, 5773, 7415, 4937}) { EXPECT_EQ(epsg_kind(code), EpsgKind::other) << code; }
}

TEST(EpsgKind, IsUnknownForWhatIsNoCode) {
  for (int const code : {-1, 0, 1, 1024, 1999, 32699, 32767, 32768, 900913, 2147483647}) {
    EXPECT_EQ(epsg_kind(code), EpsgKind::unknown) << code;
  }
}

// PROJ's database may be older than the table, and codes have been withdrawn; but where both know, they agree.
TEST(EpsgKind, AgreesWithProj) {
  if (proj_api() == nullptr || !ProjSession().has_database()) { GTEST_SKIP() << "PROJ is not installed"; }
  ProjSession const proj;
  int known = 0;
  for (int code = 2000; code < 32767; code += 7) {
    PjPtr const crs = proj.from_epsg(code, PJ_CATEGORY_CRS);
    if (!crs) { continue; }
    ++known;
    auto const type = proj.api().proj_get_type(crs.get());
    EXPECT_EQ(epsg_kind(code) == EpsgKind::projected, type == PJ_TYPE_PROJECTED_CRS) << code;
    EXPECT_EQ(epsg_kind(code) == EpsgKind::geographic_2d, type == PJ_TYPE_GEOGRAPHIC_2D_CRS) << code;
  }
  EXPECT_GT(known, 500);
}

}  // namespace
}  // namespace terrazzo::geo
