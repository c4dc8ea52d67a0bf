// SPDX-License-Identifier: Apache-2.0
#include "geo/encode.hpp"
#include "geo/written_tags.hpp"
#include "terrazzo/write.hpp"

#include <gtest/gtest.h>

namespace terrazzo::geo {
namespace {

TEST(EncodeNodata, IsReadBack) {
  for (auto const* text : {"-9999", "0", "0.10000000000000001", "inf", "-3.4028234663852886e+38"}) {
    Nodata const given = make_nodata(text, DType::f64);
    tiff::TagSet tags;
    encode_nodata(given, tags);
    Info info;
    info.bands.resize(1);
    info.bands[0].dtype = DType::f64;
    MemoryBudget budget(std::uint64_t{1} << 30);
    static_cast<void>(describe(written(tags), {}, info, budget));
    EXPECT_EQ(info.bands[0].nodata->value, given.value);
    EXPECT_EQ(info.bands[0].nodata->text, text);
  }
}

}  // namespace
}  // namespace terrazzo::geo
