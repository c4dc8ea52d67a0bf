// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/citation.hpp"

#include <gtest/gtest.h>

namespace terrazzo::geo {
namespace {

constexpr char const* kImagine =
    "IMAGINE GeoTIFF Support\nCopyright 1991 - 2005 by Leica. All Rights Reserved\n@(#)$RCSfile: egtf.c $ $Date: x $\n"
    "Projection Name = Oregon\nUnits = international_FeeT\nGeoTIFF Units = international_FeeT";

TEST(Citation, NamesItsParts) {
  auto const citation =
      parse_citation("GCS Name = GRS 1980|Datum = D_x|Ellipsoid = E|Primem = Greenwich|AUnits = Degree|");
  EXPECT_TRUE(citation.structured);
  EXPECT_EQ(citation.geographic_name, "GRS 1980");
  EXPECT_EQ(citation.datum, "D_x");
  EXPECT_EQ(citation.ellipsoid, "E");
  EXPECT_EQ(citation.prime_meridian, "Greenwich");
  EXPECT_EQ(citation.angular_units, "Degree");
}

TEST(Citation, ReadsTheLinesOfImagine) {
  auto const citation = parse_citation(kImagine);
  EXPECT_EQ(citation.projected_name, "Oregon");
  EXPECT_EQ(citation.linear_units, "international_FeeT");
}

TEST(Citation, IsPlainTextOtherwise) {
  EXPECT_FALSE(parse_citation("WGS 84 / UTM zone 31N").structured);
  EXPECT_FALSE(parse_citation("").structured);
}

TEST(Citation, LosesTheBannerOfImagine) {
  EXPECT_EQ(clean_citation(kImagine),
            "Projection Name = Oregon Units = international_FeeT GeoTIFF Units = international_FeeT");
  EXPECT_EQ(clean_citation("  plain "), "plain");
}

TEST(Citation, MayHoldTheWktOfEsri) {
  EXPECT_EQ(esri_wkt("ESRI PE String = PROJCS[\"x\"]"), "PROJCS[\"x\"]");
  EXPECT_TRUE(esri_wkt("PROJCS[\"x\"]").empty());
}

}  // namespace
}  // namespace terrazzo::geo
