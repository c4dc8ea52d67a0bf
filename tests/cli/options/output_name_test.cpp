// SPDX-License-Identifier: Apache-2.0
#include "options/output_name.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

namespace terrazzo::cli {
namespace {

std::string told(std::function<void(std::string const&)> const& check, std::string const& path) {
  try {
    check(path);
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.message();
  }
  return "";
}

TEST(TiffName, OfAnotherFormatIsRefusedWithAHint) {
  EXPECT_EQ(
      told(check_tiff_name, "a/b.PNG"),
      "--out \"a/b.PNG\": this command writes TIFF, not .png; type \"terrazzo preview FILE --out NAME.png\" for a "
      "picture");
  EXPECT_NE(told(check_tiff_name, "b.jp2").find("gdal_translate -of JP2OpenJPEG"), std::string::npos);
  EXPECT_NE(told(check_tiff_name, "/vsistdout/").find("type \"--out -\""), std::string::npos);
  EXPECT_NE(told(check_array_name, "b.npz").find("type --out NAME.npy"), std::string::npos);
  EXPECT_NE(told(check_tiff_name, "b.npy").find("type \"terrazzo read FILE --out b.npy\""), std::string::npos);
  for (char const* const path : {"b.jpg", "b.txt", "b.csv", "b.json", "b.nc", "b.zip", "b.vrt", "b.tif.gz"}) {
    EXPECT_NE(told(check_tiff_name, path), "") << path;
  }
}

TEST(TiffName, OfATiffOrWithoutExtensionPasses) {
  for (char const* const path :
       {"b.tif", "b.TIFF", "b", "-", "/dev/stdout", "b.png.tif", "c.png/b", "b.ovr", "b.gtif"}) {
    EXPECT_EQ(told(check_tiff_name, path), "") << path;
  }
}

TEST(ArrayName, OfAPictureIsRefused) {
  EXPECT_NE(told(check_array_name, "b.png").find("terrazzo preview"), std::string::npos);
  EXPECT_EQ(told(check_array_name, "b.npy"), "");
  EXPECT_EQ(told(check_array_name, "b.raw"), "");
}

TEST(PngName, EndsInPng) {
  EXPECT_EQ(told(check_png_name, "b.PNG"), "");
  EXPECT_EQ(told(check_png_name, "-"), "");
  EXPECT_EQ(told(check_png_name, "x.y/b.jpg"),
            "preview writes PNG only, and --out \"x.y/b.jpg\" does not end in .png; type --out \"x.y/b.png\"");
  EXPECT_EQ(told(check_png_name, "x.y/b"),
            "preview writes PNG only, and --out \"x.y/b\" does not end in .png; type --out \"x.y/b.png\"");
}

TEST(NoClobber, KeepsFilesFoldersAndLinks) {
  std::filesystem::path const folder = std::filesystem::path(::testing::TempDir()) / "terrazzo_no_clobber";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::string const file = folder / "a.tif";
  EXPECT_EQ(told(check_no_clobber, file), "");
  std::ofstream(file) << "x";
  EXPECT_EQ(told(check_no_clobber, file),
            "\"" + file + "\" exists, and --no-clobber keeps it; type another name, or leave --no-clobber out");
  std::filesystem::create_symlink("nowhere", folder / "link");
  EXPECT_NE(told(check_no_clobber, folder / "link"), "");
  EXPECT_NE(told(check_no_clobber, folder), "");
  EXPECT_EQ(told(check_no_clobber, "-"), "");
  EXPECT_EQ(told(check_no_clobber, "/dev/null"), "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace terrazzo::cli
