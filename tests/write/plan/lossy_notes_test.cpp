// SPDX-License-Identifier: Apache-2.0
#include "write/plan/lossy_notes.hpp"

#include "terrazzo/settings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::writing {
namespace {

// Each note is logged once per process, so every test makes messages of its own: by codec, or by its nodata.
class LossyNotes : public ::testing::Test {
 protected:
  LossyNotes() {
    set_log([this](std::string_view message) { told_.emplace_back(message); });
  }
  ~LossyNotes() override { set_log({}); }

  static WriteOptions of(DType dtype, std::uint32_t bands, Compression compression) {
    WriteOptions options;
    options.dtype = dtype;
    options.bands = bands;
    options.compression = compression;
    options.overview_factors = {{2}};
    return options;
  }

  static WriteOptions with_alpha(DType dtype, std::uint32_t bands, Compression compression) {
    WriteOptions options = of(dtype, bands, compression);
    options.band_info.resize(bands);
    options.band_info.back().color = ColorInterpretation::alpha;
    options.lossless = false;
    options.jpeg2000_rate = 10;
    return options;
  }

  static void note(WriteOptions const& options) { note_blurred_validity(plan_file(64, 64, options)); }

  std::vector<std::string> told_;
};

TEST_F(LossyNotes, TellOfNodataThatIsBlurred) {
  WriteOptions options = of(DType::u8, 3, Compression::webp);
  options.nodata = make_nodata("7", DType::u8);
  note(options);  // without loss
  options.lossless = false;
  options.nodata.reset();
  note(options);  // without nodata
  EXPECT_TRUE(told_.empty());
  options.nodata = make_nodata("7", DType::u8);
  note(options);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("webp is lossy"), std::string::npos) << told_[0];
  EXPECT_NE(told_[0].find("WriteOptions::mask"), std::string::npos) << told_[0];
}

TEST_F(LossyNotes, TellOfAlphaThatIsBlurred) {
  WriteOptions options = of(DType::u8, 4, Compression::deflate);
  note(options);  // without loss
  options.compression = Compression::webp;
  options.lossless = false;
  note(options);  // alpha without loss
  options.compression = Compression::jpeg;
  options.mask = true;
  note(options);  // readers use the mask, which is exact
  options.mask = false;
  options.band_info.resize(4);
  note(options);  // no alpha
  EXPECT_TRUE(told_.empty());
  options.band_info[3].color = ColorInterpretation::alpha;
  note(options);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("ReadRequest::bands 1-3 and WriteOptions::mask"), std::string::npos) << told_[0];
  // Five bands: readers do not use this alpha as a mask, so the note does not advise one.
  options.planar = PlanarLayout::separate;
  options.bands = 5;
  options.band_info.resize(5);
  note(options);
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_NE(told_[1].find("alpha"), std::string::npos) << told_[1];
  EXPECT_EQ(told_[1].find("WriteOptions::mask"), std::string::npos) << told_[1];
}

TEST_F(LossyNotes, AdviseAMaskOnlyWhereAlphaIsOne) {
  note(with_alpha(DType::i16, 2, Compression::jpeg2000));
  note(with_alpha(DType::u16, 2, Compression::jpeg2000));
  ASSERT_EQ(told_.size(), 2U);
  EXPECT_EQ(told_[0].find("WriteOptions::mask"), std::string::npos) << told_[0];
  EXPECT_NE(told_[1].find("ReadRequest::bands 1 and WriteOptions::mask"), std::string::npos) << told_[1];
}

TEST_F(LossyNotes, OfOverviewsAloneAdviseNothing) {
  WriteOptions options = of(DType::u8, 3, Compression::jpeg);
  options.nodata = make_nodata("9", DType::u8);
  note_blurred_validity(plan_overviews(64, 64, options));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_NE(told_[0].find("nodata (9)"), std::string::npos) << told_[0];
  EXPECT_EQ(told_[0].find("::"), std::string::npos) << told_[0];
  // Four bands, so that the advice would be one that no other test has logged.
  options = with_alpha(DType::u8, 4, Compression::jpeg2000);
  note_blurred_validity(plan_overviews(64, 64, options));
  for (std::string const& note : told_) { EXPECT_EQ(note.find("::"), std::string::npos) << note; }
}

TEST_F(LossyNotes, AreNotTakenWhileAPlanIsTriedOut) {
  WriteOptions options = of(DType::u8, 3, Compression::jpeg);
  options.nodata = make_nodata("11", DType::u8);
  (void)plan_file(64, 64, options);
  EXPECT_TRUE(told_.empty());
}

}  // namespace
}  // namespace terrazzo::writing
