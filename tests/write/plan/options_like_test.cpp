// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/write.hpp"

#include <gtest/gtest.h>

namespace terrazzo {
namespace {

Info one_band() {
  Info info;
  info.bands.resize(1);
  info.bands[0].dtype = DType::i16;
  info.bands[0].description = "heights";
  info.georeference.pixel_is_point = true;
  info.metadata.domains[""] = {{"A", "B"}};
  return info;
}

TEST(OptionsLike, TakesWhatDescribesTheRaster) {
  Info info = one_band();
  info.bands[0].nodata = make_nodata("-1", DType::i16);
  WriteOptions const options = options_like(info);
  EXPECT_EQ(options.dtype, DType::i16);
  EXPECT_EQ(options.bands, 1U);
  ASSERT_EQ(options.band_info.size(), 1U);
  EXPECT_EQ(options.band_info[0].description, "heights");
  EXPECT_TRUE(options.georeference.pixel_is_point);
  EXPECT_EQ(*options.metadata.find("A"), "B");
  ASSERT_TRUE(options.nodata.has_value());
  EXPECT_EQ(options.nodata->value, -1);
  EXPECT_FALSE(options.mask);
  EXPECT_FALSE(options.cog);
}

TEST(OptionsLike, WantsAMaskWhereTheRasterHasOne) {
  for (MaskKind const kind :
       {MaskKind::all_valid, MaskKind::nodata, MaskKind::alpha, MaskKind::internal, MaskKind::external}) {
    Info info = one_band();
    info.bands[0].mask = kind;
    EXPECT_EQ(options_like(info).mask, kind == MaskKind::internal || kind == MaskKind::external);
  }
}

// Files say -9999 of bytes; no pixel can be it, and it must not keep the file from being converted.
TEST(OptionsLike, LeavesOutNodataThatNoPixelCanHave) {
  Info info = one_band();
  info.bands[0].nodata = Nodata{};
  info.bands[0].nodata->value = 1e9;
  info.bands[0].nodata->representable = false;
  EXPECT_FALSE(options_like(info).nodata.has_value());
}

}  // namespace
}  // namespace terrazzo
