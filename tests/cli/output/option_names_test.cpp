// SPDX-License-Identifier: Apache-2.0
#include "output/option_names.hpp"

#include <gtest/gtest.h>

namespace terrazzo::cli {
namespace {

TEST(OptionNames, ReplaceEveryNameOfTheApi) {
  EXPECT_EQ(with_option_names("set WriteOptions::nodata or WriteOptions::mask; WriteOptions::mask is exact"),
            "set --nodata or --mask; --mask is exact");
  EXPECT_EQ(with_option_names("replace them with OverviewPlace::internal"), "replace them without --external");
}

TEST(OptionNames, LeaveOtherTextsAlone) {
  EXPECT_EQ(with_option_names(""), "");
  EXPECT_EQ(with_option_names("EditOptions and rewrite"), "EditOptions and rewrite");
}

TEST(OptionNames, KeepKindAndPlaceOfAnError) {
  Error const error(ErrorKind::limit, "use BigTiff::automatic", {.source = "a.tif", .ifd = 2});
  Error const told = with_option_names(error);
  EXPECT_EQ(told.kind(), ErrorKind::limit);
  EXPECT_EQ(told.message(), "use --bigtiff auto");
  EXPECT_EQ(told.where().source, "a.tif");
  EXPECT_EQ(told.where().ifd, 2U);
}

}  // namespace
}  // namespace terrazzo::cli
