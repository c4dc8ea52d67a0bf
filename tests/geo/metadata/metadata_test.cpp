// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/metadata.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace terrazzo::geo {
namespace {

TEST(MetadataBuilder, ReplacesAKeyThatDiffersOnlyInCaseAndKeepsItsPlace) {
  MetadataBuilder builder;
  builder.set("", "Alpha", "1");
  builder.set("", "Beta", "2");
  builder.set("", "ALPHA", "3");
  auto const metadata = std::move(builder).take();
  MetadataItems const expected = {{"ALPHA", "3"}, {"Beta", "2"}};
  EXPECT_EQ(metadata.domains.at(""), expected);
}

TEST(MetadataBuilder, KeepsTheSameKeyOfTwoDomainsApart) {
  MetadataBuilder builder;
  builder.set("D", "A", "1");
  builder.set("", "DA", "2");
  builder.set("", "A", "3");
  EXPECT_EQ(*builder.metadata().find("A", "D"), "1");
  EXPECT_EQ(*builder.metadata().find("A"), "3");
}

TEST(MetadataBuilder, MergesWithTheOtherSideWinning) {
  MetadataBuilder builder;
  builder.set("", "A", "old");
  builder.set_document("xml:X", "<old/>");
  Metadata other;
  other.domains[""] = {{"a", "new"}, {"B", "2"}};
  other.xml_domains["xml:X"] = "<new/>";
  builder.merge(other);
  EXPECT_EQ(*builder.metadata().find("a"), "new");
  EXPECT_EQ(builder.metadata().find("A"), nullptr);
  EXPECT_EQ(*builder.metadata().find("B"), "2");
  EXPECT_EQ(builder.metadata().xml_domains.at("xml:X"), "<new/>");
}

TEST(MetadataBuilder, TakesManyItemsInTimeThatGrowsWithTheirNumber) {
  constexpr int kItems = 50'000;  // pairwise comparison would take many seconds
  MetadataBuilder builder;
  for (int i = 0; i < kItems; ++i) { builder.set("", "key" + std::to_string(i), "v"); }
  EXPECT_EQ(builder.metadata().domains.at("").size(), static_cast<std::size_t>(kItems));
}

TEST(MetadataBuilder, KnowsDomainsThatHoldADocument) {
  EXPECT_TRUE(is_document_domain("xml:ESRI"));
  EXPECT_TRUE(is_document_domain("JSON:stac"));
  EXPECT_FALSE(is_document_domain("xmlESRI"));
}

}  // namespace
}  // namespace terrazzo::geo
