// SPDX-License-Identifier: Apache-2.0
#include "geo/crs/geokeys.hpp"
#include "geo/written_tags.hpp"
#include "tiff/format.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::geo {
namespace {

GeoKeys read_back(GeoKeys const& keys) {
  tiff::TagSet tags;
  keys.write(tags);
  auto const result = GeoKeys::read(written(tags));
  EXPECT_FALSE(result.broken);
  return result.keys.value();
}

TEST(GeoKeysWriter, KeepsCodesNumbersAndTexts) {
  GeoKeys keys;
  keys.set_code(key::GTModelType, 1);
  keys.set_text(key::GTCitation, "first");
  keys.set_text(key::GeodeticCitation, "GCS Name = Réunion|Datum = x|");
  keys.set_text(key::ProjectedCitation, "");
  keys.set_number(key::ProjCenterLat, 52.5);
  keys.set_numbers(key::GeogTOWGS84, {1, 2, 3, 4, 5, 6, 7});
  GeoKeys const read = read_back(keys);
  EXPECT_EQ(read.size(), 6U);
  EXPECT_EQ(read.code(key::GTModelType), 1);
  EXPECT_EQ(*read.text(key::GTCitation), "first");
  EXPECT_EQ(*read.text(key::GeodeticCitation), "GCS Name = Réunion|Datum = x|");
  EXPECT_EQ(*read.text(key::ProjectedCitation), "");
  EXPECT_EQ(read.number(key::ProjCenterLat), 52.5);
  EXPECT_EQ(read.numbers(key::GeogTOWGS84), (std::vector<double>{1, 2, 3, 4, 5, 6, 7}));
}

TEST(GeoKeysWriter, StatesTheRevision) {
  for (bool const old : {true, false}) {
    GeoKeys keys;
    keys.set_code(key::GTModelType, 2);
    keys.set_revision_1_0(old);
    EXPECT_EQ(read_back(keys).is_revision_1_0(), old);
  }
}

TEST(GeoKeysWriter, SortsKeysAsTheSpecificationWants) {
  GeoKeys keys;
  keys.set_code(key::ProjectedCRS, 32631);
  keys.set_code(key::GTModelType, 1);
  tiff::TagSet tags;
  keys.write(tags);
  auto const shorts = written(tags).unsigned_values(tiff::tag::GeoKeyDirectory, 100);
  EXPECT_EQ(shorts, (std::vector<std::uint64_t>{1, 1, 1, 2, 1024, 0, 1, 1, 3072, 0, 1, 32631}));
}

TEST(GeoKeysWriter, WritesNothingWithoutKeys) {
  tiff::TagSet tags;
  GeoKeys().write(tags);
  EXPECT_TRUE(tags.values().empty());
}

TEST(GeoKeysWriter, RefusesTextsThatEntriesCannotAddress) {
  GeoKeys keys;
  keys.set_text(key::GTCitation, std::string(65535, 'x'));
  tiff::TagSet tags;
  EXPECT_EQ(kind_of_failure([&] { keys.write(tags); }), ErrorKind::limit);
}

}  // namespace
}  // namespace terrazzo::geo
