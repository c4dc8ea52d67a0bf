// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/edit.hpp"

#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"

#include "terrazzo/error.hpp"
#include "terrazzo/validate.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace terrazzo {
namespace {

using testing::file_bytes;
using testing::TempFolder;

class Edit : public ::testing::TestWithParam<bool> {
 protected:
  Edit() {
    WriteOptions options;
    options.dtype = DType::i16;
    options.bands = 2;
    options.tile_size = {32, 32};
    options.overview_factors = {{2}};
    options.cog = true;
    options.georeference.crs = Crs{.epsg = 32633};
    options.georeference.transform = {{100, 2, 0, 200, 0, -2}};
    options.metadata.domains[""] = {{"KEEP", "me"}};
    std::vector<std::int16_t> pixels(std::size_t{90} * 70 * 2);
    for (std::size_t i = 0; i < pixels.size(); ++i) { pixels[i] = static_cast<std::int16_t>(i % 1000); }
    static_cast<void>(write(path_, HostView{pixels.data(), DType::i16, 2, 70, 90, 2 * 90 * 70, 2 * 90, 2}, options));
  }
  [[nodiscard]] EditReport change(FileEdit const& changes) const {
    EditReport const report = edit(path_, changes, {.rewrite = GetParam()});
    EXPECT_EQ(report.way, GetParam() ? EditWay::rewritten : EditWay::in_place);
    EXPECT_EQ(report.file_bytes, file_bytes(path_).size());
    EXPECT_TRUE(validate(path_, {.decode = true}).valid_cog);
    return report;
  }
  [[nodiscard]] Info info() const { return open(path_).info(); }

  TempFolder folder_;
  std::string const path_ = folder_.path("a.tif");
};

TEST_P(Edit, ChangesNodataAndRemovesIt) {
  static_cast<void>(change({.nodata = "-5"}));
  EXPECT_EQ(info().bands[1].nodata->value, -5);
  static_cast<void>(change({.nodata = ""}));
  EXPECT_FALSE(info().bands[0].nodata);
}

TEST_P(Edit, ChangesCrsAndTransformApart) {
  static_cast<void>(change({.crs = Crs{.epsg = 25832}}));
  EXPECT_EQ(info().georeference.crs->epsg, 25832);
  EXPECT_EQ(info().georeference.transform, (std::array<double, 6>{100, 2, 0, 200, 0, -2}));
  static_cast<void>(change({.transform = {{1, 3, 0, 4, 0, -3}}}));
  EXPECT_EQ(info().georeference.crs->epsg, 25832);
  EXPECT_EQ(info().georeference.transform, (std::array<double, 6>{1, 3, 0, 4, 0, -3}));
  static_cast<void>(change({.remove_crs = true, .remove_transform = true}));
  EXPECT_FALSE(info().georeference.transform);
  EXPECT_FALSE(info().georeference.crs);
}

TEST_P(Edit, ChangesItemsAndWhatIsSaidOfBands) {
  FileEdit changes{.set = {{"A", "b"}, {"C", "d"}}, .unset = {"KEEP"}};
  changes.bands = {{.band = 2, .description = "slope", .unit = "deg", .scale = 0.5, .offset = 2, .set = {{"E", "f"}}}};
  static_cast<void>(change(changes));
  EXPECT_EQ(*info().metadata.find("C"), "d");
  EXPECT_EQ(info().metadata.find("KEEP"), nullptr);
  BandInfo const band = info().bands[1];
  EXPECT_EQ(band.description, "slope");
  EXPECT_EQ(band.unit, "deg");
  EXPECT_EQ(band.scale, 0.5);
  EXPECT_EQ(band.offset, 2);
  EXPECT_EQ(*band.metadata.find("E"), "f");
  EXPECT_TRUE(info().bands[0].description.empty());
}

TEST_P(Edit, MakesPointsOfPixelsWhereTheyAre) {
  auto const transform = info().georeference.transform;
  std::string const wkt = open(path_).detailed_info().georeference.crs->wkt;
  static_cast<void>(change({.set = {{"area_or_point", "POINT"}}}));
  EXPECT_TRUE(info().georeference.pixel_is_point);
  EXPECT_EQ(*info().metadata.find("AREA_OR_POINT"), "Point");
  EXPECT_EQ(info().georeference.transform, transform) << "of corners, as before";
  EXPECT_EQ(open(path_).detailed_info().georeference.crs->wkt, wkt);
  EXPECT_EQ(*info().metadata.find("KEEP"), "me");
  // With another transform in the same edit.
  static_cast<void>(change({.transform = {{1, 3, 0, 4, 0, -3}}, .set = {{"AREA_OR_POINT", "Area"}}}));
  EXPECT_FALSE(info().georeference.pixel_is_point);
  EXPECT_EQ(info().georeference.transform, (std::array<double, 6>{1, 3, 0, 4, 0, -3}));
}

TEST_P(Edit, RemovesItemsThatAreSetToNothing) {
  static_cast<void>(change({.set = {{"A", "b"}, {"TIFFTAG_SOFTWARE", "me"}}}));
  EXPECT_NE(info().metadata.find("TIFFTAG_SOFTWARE"), nullptr);
  static_cast<void>(change({.set = {{"A", ""}, {"TIFFTAG_SOFTWARE", ""}, {"NOT_THERE", ""}}}));
  EXPECT_EQ(info().metadata.find("A"), nullptr);
  EXPECT_EQ(info().metadata.find("TIFFTAG_SOFTWARE"), nullptr);
  EXPECT_EQ(info().metadata.find("NOT_THERE"), nullptr);
}

INSTANTIATE_TEST_SUITE_P(InPlaceAndRewritten, Edit, ::testing::Bool());

using EditOnce = Edit;

TEST_P(EditOnce, RefusesWhatMakesNoSenseAndLeavesTheFileAlone) {
  std::vector<std::byte> const before = file_bytes(path_);
  for (FileEdit const& changes :
       {FileEdit{.nodata = "40000"}, FileEdit{.set = {{"", "x"}}}, FileEdit{.bands = {{.band = 3, .unit = "m"}}},
        FileEdit{.set = {{"AREA_OR_POINT", "Line"}}}, FileEdit{.set = {{"AREA_OR_POINT", ""}}},
        FileEdit{.unset = {"AREA_OR_POINT"}}, FileEdit{.bands = {{.set = {{"AREA_OR_POINT", "Area"}}}}},
        FileEdit{.bands = {{.scale = std::nan("")}}}, FileEdit{.bands = {{.offset = INFINITY}}},
        FileEdit{.transform = {{1, 0, 0, 4, 0, -3}}}, FileEdit{.transform = {{1, 2, 4, 4, 1, 2}}},
        FileEdit{.transform = {{std::nan(""), 1, 0, 4, 0, -3}}}}) {
    try {
      static_cast<void>(edit(path_, changes, {.rewrite = GetParam()}));
      ADD_FAILURE() << "no error";
    } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::usage); }
  }
  EXPECT_EQ(file_bytes(path_), before);
}

TEST_P(EditOnce, TellsWhenASidecarWins) {
  static_cast<void>(folder_.write("a.tif.aux.xml", std::string_view("<PAMDataset><Metadata><MDI key=\"A\">other</MDI>"
                                                                    "</Metadata></PAMDataset>")));
  EXPECT_TRUE(edit(path_, {.set = {{"A", "b"}}}).hidden_by_sidecar);
  EXPECT_FALSE(edit(path_, {.set = {{"B", "b"}}}).hidden_by_sidecar);
  EXPECT_TRUE(edit(path_, {.unset = {"A"}}).hidden_by_sidecar) << "readers still find it";
  EXPECT_FALSE(edit(path_, {.unset = {"B"}}).hidden_by_sidecar);
}

TEST_P(EditOnce, TellsOfSidecarsThatWinInWhatWasChangedOnly) {
  static_cast<void>(folder_.write(
      "a.tif.aux.xml", std::string_view("<PAMDataset><PAMRasterBand band=\"2\"><Description>other</Description>"
                                        "<NoDataValue>7</NoDataValue></PAMRasterBand></PAMDataset>")));
  EXPECT_TRUE(edit(path_, {.bands = {{.band = 2, .description = "mine"}}}).hidden_by_sidecar);
  EXPECT_FALSE(edit(path_, {.bands = {{.band = 2, .unit = "m"}}}).hidden_by_sidecar);
  EXPECT_FALSE(edit(path_, {.bands = {{.band = 1, .description = "mine"}}}).hidden_by_sidecar);
  EXPECT_TRUE(edit(path_, {.nodata = "3"}).hidden_by_sidecar) << "of the second band";
}

INSTANTIATE_TEST_SUITE_P(InPlace, EditOnce, ::testing::Values(false));

}  // namespace
}  // namespace terrazzo
