// SPDX-License-Identifier: Apache-2.0
#include "options/habits.hpp"

#include "options/options.hpp"
#include "options/write_options.hpp"

#include "terrazzo/error.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace terrazzo::cli {
namespace {

// A program with the commands convert, info, stats, edit and overviews, as ours.
class Habits : public ::testing::Test {
 protected:
  Habits() : app_("", "terrazzo") {
    CLI::App& convert = *app_.add_subcommand("convert", "");
    add_file(convert, file_);
    convert.add_option("-o,--out", text_, "")->type_name("PATH");
    add_conversion_choices(convert, choices_, selection_, true);
    add_common(convert, common_);
    CLI::App& info = *app_.add_subcommand("info", "");
    add_file(info, file_);
    add_common(info, common_);
    app_.add_subcommand("cog", "")->add_option("--compression", text_, "");
    app_.add_subcommand("stats", "");
    CLI::App& edit = *app_.add_subcommand("edit", "");
    edit.add_option("--nodata", text_, "");
    edit.add_option("--set", text_, "");
    edit.add_option("--band", text_, "");
    edit.add_option("--scale", text_, "");
    edit.add_option("--offset", text_, "");
    CLI::App& overviews = *app_.add_subcommand("overviews", "");
    add_file(overviews, file_);
    add_overview_choices(overviews, choices_, "--factors");
    overviews.add_flag("--external", flag_, "");
    app_.add_subcommand("plain", "")->add_option("--window", text_, "")->type_name("COL,ROW,W,H");
    app_.add_subcommand("boxed", "")->add_option("--bbox", text_, "")->type_name("XMIN,YMIN,XMAX,YMAX");
    app_.add_subcommand("bench", "")->add_subcommand("read", "")->add_option("--bands", text_, "")->type_name("LIST");
  }

  std::vector<std::string> words_for(std::vector<char const*> const& words) const {
    return translate_habits(app_, words);
  }
  // The error, without its beginning "terrazzo COMMAND has no option".
  std::string told_of(std::vector<char const*> const& words) const {
    try {
      (void)translate_habits(app_, words);
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      std::string const& message = error.message();
      std::size_t const at = message.find(" has no option");
      EXPECT_NE(at, std::string::npos) << message;
      return message.substr(at + 14);
    }
    return "";
  }

  CLI::App app_;
  std::string file_, text_;
  bool flag_ = false;
  WriteChoices choices_;
  Selection selection_;
  CommonOptions common_;
};

TEST_F(Habits, OfTheOwnProgramAreLeftAlone) {
  EXPECT_EQ(words_for({"convert", "a.tif", "-o", "b.tif", "--nodata", "-9999", "-q"}),
            (std::vector<std::string>{"convert", "a.tif", "-o", "b.tif", "--nodata", "-9999", "-q"}));
  EXPECT_EQ(told_of({"convert", "a.tif", "-ob.tif"}), "");
  EXPECT_EQ(told_of({"convert", "a.tif", "--nodata=-1", "--", "-ot"}), "");
  EXPECT_EQ(told_of({"convert", "a.tif", "--out", "-co"}), "");
  EXPECT_EQ(told_of({"convert", "--colour"}), "");
  EXPECT_EQ(told_of({"steal", "-ot"}), "");
  EXPECT_EQ(told_of({}), "");
}

TEST_F(Habits, WithTheSameMeaningAreAccepted) {
  EXPECT_EQ(
      words_for({"convert", "a.tif", "--output", "b.tif", "--bidx=1,2", "--blocksize", "256", "-quiet"}),
      (std::vector<std::string>{"convert", "a.tif", "--out", "b.tif", "--bands=1,2", "--tile-size", "256", "--quiet"}));
  EXPECT_EQ(words_for({"info", "a.tif", "--bidx", "1"}), (std::vector<std::string>{"info", "a.tif", "--bidx", "1"}));
  EXPECT_EQ(words_for({"bench", "read", "--bidx", "1"}), (std::vector<std::string>{"bench", "read", "--bands", "1"}));
}

TEST_F(Habits, OfAskingForTheVersionAfterACommandAreAccepted) {
  EXPECT_EQ(words_for({"convert", "a.tif", "-V"}), (std::vector<std::string>{"--version"}));
  EXPECT_EQ(words_for({"bench", "read", "--version"}), (std::vector<std::string>{"--version"}));
  EXPECT_EQ(words_for({"convert", "--", "-V"}), (std::vector<std::string>{"convert", "--", "-V"}));
}

TEST_F(Habits, AreAnsweredWithTheValuesThatWereTyped) {
  EXPECT_EQ(told_of({"convert", "-srcwin", "0", "0", "512", "256", "a.tif"}),
            " -srcwin; type \"--window 0,0,512,256\"");
  EXPECT_EQ(told_of({"convert", "-ot", "Byte"}), " -ot; type \"--dtype uint8\"");
  EXPECT_EQ(told_of({"convert", "-a_nodata", "-9999"}), " -a_nodata; type \"--nodata -9999\"");
  EXPECT_EQ(told_of({"convert", "--a_srs=EPSG:4326"}), " --a_srs; type \"--crs EPSG:4326\"");
  EXPECT_EQ(told_of({"convert", "-a_srs", "+proj=utm +zone=32"}), " -a_srs; type \"--crs '+proj=utm +zone=32'\"");
  EXPECT_EQ(told_of({"convert", "-tr", "10", "20"}), " -tr; type \"--target-resolution 10,20\"");
  EXPECT_EQ(told_of({"convert", "-b", "3", "-b", "2", "-b", "1"}), " -b; type \"--bands 3,2,1\"");
  EXPECT_EQ(told_of({"overviews", "a.tif", "-r", "near"}), " -r; type \"--resampling nearest\"");
  EXPECT_EQ(told_of({"overviews", "-ro", "a.tif"}), " -ro; type \"--external\"");
  EXPECT_EQ(told_of({"edit", "-b", "2"}), " -b; type \"--band 2\"");
  EXPECT_EQ(told_of({"edit", "-unsetnodata"}), " -unsetnodata; type \"--nodata none\"");
  EXPECT_EQ(told_of({"edit", "-scale", "0.1"}), " -scale; type \"--band 1 --scale 0.1\"");
}

TEST_F(Habits, AreAnsweredTogether) {
  EXPECT_EQ(told_of({"convert", "-srcwin", "1", "2", "3", "4", "-ot", "Int16", "a.tif"}),
            "s -srcwin and -ot; type \"--window 1,2,3,4 --dtype int16\"");
}

TEST_F(Habits, WithOtherValuesShowTheFormOfOurs) {
  EXPECT_EQ(told_of({"convert", "-outsize", "50%", "50%"}), " -outsize; type \"--target-size W,H\"");
  EXPECT_EQ(told_of({"convert", "-outsize", "512", "0"}), " -outsize; type \"--target-size W,H\"");
  EXPECT_EQ(told_of({"convert", "-outsize", "512", "256"}), " -outsize; type \"--target-size 512,256\"");
  EXPECT_EQ(told_of({"convert", "-srcwin", "0", "0"}), " -srcwin; type \"--window COL,ROW,W,H\"");
  EXPECT_EQ(told_of({"plain", "-projwin", "0", "9", "9", "0"}), " -projwin; type \"--window COL,ROW,W,H\"");
}

TEST_F(Habits, PreferABoundingBoxWhereThereIsOne) {
  EXPECT_EQ(told_of({"boxed", "-projwin", "0", "9", "8", "1"}), " -projwin; type \"--bbox 0,1,8,9\"");
  EXPECT_EQ(told_of({"boxed", "--bounds", "-3,-1,8,9"}), " --bounds; type \"--bbox -3,-1,8,9\"");
  EXPECT_EQ(told_of({"boxed", "-te", "0", "-1", "8", "9"}), " -te; type \"--bbox 0,-1,8,9\"");
}

TEST_F(Habits, OfCreationOptionsBecomeOptions) {
  EXPECT_EQ(told_of({"convert", "-co", "COMPRESS=ZSTD", "-co", "PREDICTOR=2", "-co", "ZSTD_LEVEL=15"}),
            " -co; type \"--compression zstd --predictor 2 --compression-level 15\"");
  EXPECT_EQ(told_of({"convert", "--co", "compress=LERC_ZSTD", "--co", "MAX_Z_ERROR=0.1"}),
            " --co; type \"--compression lerc-zstd --max-error 0.1\"");
  EXPECT_EQ(told_of({"convert", "-co", "BLOCKXSIZE=256", "-co", "BLOCKYSIZE=128", "-co", "TILED=YES"}),
            " -co; type \"--tile-size 256x128\", and leave out \"-co TILED=YES\", the default here");
  EXPECT_EQ(told_of({"convert", "-co", "BLOCKYSIZE=1"}), " -co; type \"--strips 1\"");
  EXPECT_EQ(told_of({"convert", "-co", "tiled=true"}), " -co; leave out \"-co tiled=true\", the default here");
  EXPECT_EQ(told_of({"convert", "-co", "BIGTIFF=IF_SAFER"}), " -co; type \"--bigtiff auto\"");
  EXPECT_EQ(told_of({"convert", "-co", "PREDICTOR=1"}), " -co; type \"--predictor none\"");
  EXPECT_EQ(told_of({"convert", "--profile", "deflate"}), " --profile; type \"--compression deflate\"");
  EXPECT_EQ(told_of({"convert", "-p", "raw"}), " -p; type \"--compression none\"");
  EXPECT_EQ(told_of({"convert", "-co", "COPY_SRC_OVERVIEWS=YES", "a.tif"}),
            " -co; type \"terrazzo cog a.tif --out PATH\"");
  EXPECT_EQ(told_of({"convert", "-co", "NBITS=4"}),
            " -co; -co NBITS=4: no option of this command does that; leave it out, or use gdal_translate");
  EXPECT_EQ(
      told_of({"convert", "-co", "TFW=YES", "-co", "COMPRESS=JPEG", "-co", "PHOTOMETRIC=YCBCR"}),
      " -co; -co TFW=YES: no option of this command does that; leave it out, or use gdal_translate; for the rest, "
      "type \"--compression jpeg\", and leave out \"-co PHOTOMETRIC=YCBCR\", the default here");
}

TEST_F(Habits, OfWarpingNameTheTool) {
  EXPECT_EQ(told_of({"convert", "-t_srs", "EPSG:3857", "a.tif"}),
            " -t_srs; Terrazzo does not warp; type \"gdalwarp -t_srs EPSG:3857 IN.tif OUT.tif\" first, and use OUT.tif "
            "here");
  EXPECT_EQ(told_of({"convert", "--t_srs", "EPSG:3857", "-tr", "1", "1"}),
            "s --t_srs and -tr; --t_srs: Terrazzo does not warp; type \"gdalwarp -t_srs EPSG:3857 IN.tif OUT.tif\" "
            "first, and use OUT.tif here; for the rest, type \"--target-resolution 1,1\"");
}

TEST_F(Habits, AreAnsweredByOptionsThatCanBeTyped) {
  EXPECT_EQ(told_of({"convert", "-scale", "0", "1000"}), " -scale; type \"--scale 0,1000,0,255\"");
  EXPECT_EQ(told_of({"convert", "-a_nodata", "0", "-a_nodata", "1"}), " -a_nodata; type \"--nodata 1\"");
  EXPECT_EQ(told_of({"edit", "-scale", "0.1", "-offset", "5"}),
            "s -scale and -offset; type \"--band 1 --scale 0.1 --offset 5\"");
  EXPECT_EQ(told_of({"boxed", "--bounds", "0 0 1 1"}), " --bounds; type \"--bbox 0,0,1,1\"");
  EXPECT_EQ(told_of({"boxed", "--bounds", "[0, 0, 1, 1]"}), " --bounds; type \"--bbox 0,0,1,1\"");
  EXPECT_EQ(told_of({"convert", "--res", "highest"}), " --res; type \"--target-resolution R\"");
  EXPECT_EQ(told_of({"convert", "-co", "NUM_THREADS=2", "--config", "GDAL_NUM_THREADS=4"}),
            "s -co and --config; type \"--threads 4\"");
  EXPECT_EQ(told_of({"convert", "-mask", "none"}),
            " -mask; the command copies the mask; use gdal_translate -mask none to drop it");
  EXPECT_EQ(told_of({"info", "--format=json"}), " --format; type \"--json\"");
}

// CLI11 would take the letters for options: -h prints the help, and -o writes a file.
TEST_F(Habits, AreNoLettersOfOurOptions) {
  EXPECT_EQ(told_of({"info", "-hidenodata", "a.tif"}),
            " -hidenodata; type \"terrazzo info --help\" to list its options");
  EXPECT_EQ(told_of({"convert", "-ouput", "b.tif"}), " -ouput; type \"terrazzo convert --help\" to list its options");
  EXPECT_EQ(told_of({"convert", "-bands", "1"}), " -bands; type \"--bands\"");
  EXPECT_EQ(told_of({"convert", "a.tif", "-o-"}), "");
}

TEST_F(Habits, OfCommandsBelowACommandNameOurs) {
  auto const told = [&](std::vector<char const*> const& words) {
    return testing::failure_of([&] { return translate_habits(app_, words); }).message();
  };
  EXPECT_EQ(told({"cog", "create", "a.tif", "b.tif"}),
            "terrazzo cog has no command \"create\"; type \"terrazzo cog FILE --out PATH\"");
  EXPECT_EQ(told({"overviews", "delete", "a.tif"}),
            "terrazzo overviews has no command \"delete\"; type \"terrazzo overviews FILE --factors none\"");
  EXPECT_EQ(words_for({"overviews", "a.tif", "delete"}), (std::vector<std::string>{"overviews", "a.tif", "delete"}));
}

TEST_F(Habits, OfOtherCommandsNameThem) {
  EXPECT_EQ(told_of({"info", "-stats", "a.tif"}), " -stats; type \"terrazzo stats a.tif\"");
  EXPECT_EQ(told_of({"info", "a.tif", "-mm"}), " -mm; type \"terrazzo stats a.tif\"");
  EXPECT_EQ(told_of({"convert", "-stats"}), " -stats; type \"--statistics\"");
  EXPECT_EQ(told_of({"convert", "a.tif", "-of", "COG"}), " -of; type \"terrazzo cog a.tif --out PATH\"");
  EXPECT_EQ(told_of({"convert", "a.tif", "-of", "COG", "-o", "b.tif", "-co", "COMPRESS=LZW", "-co", "BIGTIFF=YES"}),
            "s -of and -co; type \"terrazzo cog a.tif --out b.tif --compression lzw\"");
  EXPECT_EQ(told_of({"convert", "a.tif", "-co"}), " -co; type \"--compression NAME\"");
  EXPECT_EQ(told_of({"convert", "-of", "GTiff"}), " -of; leave out \"-of GTiff\", the default here");
  EXPECT_EQ(told_of({"convert", "-of", "netCDF"}),
            " -of; Terrazzo writes GeoTIFF, COG, PNG and .npy only; use gdal_translate -of netCDF");
  EXPECT_EQ(told_of({"info", "-srcwin", "0", "0", "8", "8"}),
            " -srcwin; \"--window 0,0,8,8\" is an option of these commands: convert, plain");
}

TEST_F(Habits, OfCommandsNameOurs) {
  EXPECT_EQ(command_for_habit(app_, "gdal_translate"), command_for_habit(app_, "translate"));
  EXPECT_NE(command_for_habit(app_, "gdal_translate").find("terrazzo convert FILE"), std::string::npos);
  EXPECT_EQ(command_for_habit(app_, "gdal_edit.py"), "type \"terrazzo edit FILE --help\"");
  EXPECT_EQ(command_for_habit(app_, "addo"), "type \"terrazzo overviews FILE\"");
  EXPECT_NE(command_for_habit(app_, "warp").find("gdalwarp"), std::string::npos);
  EXPECT_NE(command_for_habit(app_, "stack").find("gdalbuildvrt"), std::string::npos);
  EXPECT_NE(command_for_habit(app_, "rasterize").find("gdal_rasterize"), std::string::npos);
  EXPECT_NE(command_for_habit(app_, "clip").find("terrazzo convert FILE --out PATH --"), std::string::npos);
  EXPECT_EQ(command_for_habit(app_, "dem.tif"), "type \"terrazzo info dem.tif\"");
  EXPECT_EQ(command_for_habit(app_, "teleport"), "");
}

}  // namespace
}  // namespace terrazzo::cli
