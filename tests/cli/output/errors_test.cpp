// SPDX-License-Identifier: Apache-2.0
#include "output/errors.hpp"

#include "output/exit_code.hpp"
#include "output/json_output.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>

namespace terrazzo::cli {
namespace {

std::string stderr_of(std::function<int()> const& command, bool json, int& code) {
  ::testing::internal::CaptureStderr();
  code = run_guarded(command, json);
  return ::testing::internal::GetCapturedStderr();
}

TEST(RunGuarded, EveryKindHasItsExitCode) {
  std::pair<ErrorKind, int> const codes[] = {
      {ErrorKind::usage, 2}, {ErrorKind::io, 3},     {ErrorKind::malformed, 4}, {ErrorKind::unsupported, 5},
      {ErrorKind::limit, 6}, {ErrorKind::device, 7}, {ErrorKind::cancelled, 8}};
  for (auto const& [kind, code] : codes) {
    int actual = 0;
    std::string const text = stderr_of([k = kind]() -> int { throw Error(k, "because"); }, false, actual);
    EXPECT_EQ(actual, code);
    EXPECT_EQ(text.find("terrazzo: error: because\n"), 0U);
  }
}

TEST(RunGuarded, DeviceErrorsPointToTheDoctor) {
  int code = 0;
  std::string const text =
      stderr_of([]() -> int { throw Error(ErrorKind::device, "no GPU can be used: why"); }, false, code);
  EXPECT_NE(text.find("hint: `terrazzo doctor`"), std::string::npos) << text;
  EXPECT_NE(text.find("TERRAZZO_ENGINE=host"), std::string::npos) << "not every command has --host\n" << text;
}

TEST(RunGuarded, RemoteSourcesArePiped) {
  for (char const* const source : {"https://x.org/a.tif", "/vsicurl/https://x.org/a.tif"}) {
    int code = 0;
    std::string const text =
        stderr_of([=]() -> int { throw Error(ErrorKind::unsupported, "no", {.source = source}); }, false, code);
    EXPECT_NE(text.find("curl -s URL | terrazzo info -"), std::string::npos) << text;
  }
}

TEST(RunGuarded, ErrorsAreOneLineOfJsonWithTheirPlace) {
  int code = 0;
  std::string const text = stderr_of(
      []() -> int {
        throw Error(ErrorKind::malformed, "bad",
                    {.source = "a.tif", .ifd = 2, .tag = {}, .tile = TileId{3, 4, 0}, .offset = 99});
      },
      true, code);
  EXPECT_EQ(code, 4);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  Json const error = Json::parse(text).at("error");
  EXPECT_EQ(error.at("kind"), "malformed");
  EXPECT_EQ(error.at("message"), "bad");
  EXPECT_EQ(error.at("file"), "a.tif");
  EXPECT_EQ(error.at("ifd"), 2);
  EXPECT_TRUE(error.at("tag").is_null());
  EXPECT_EQ(error.at("tile").at("column"), 3);
  EXPECT_EQ(error.at("offset"), 99);
}

TEST(RunGuarded, OutOfMemoryIsALimitAndTheUnexpectedIsOne) {
  int code = 0;
  (void)stderr_of([]() -> int { throw std::bad_alloc(); }, false, code);
  EXPECT_EQ(code, 6);
  std::string const text = stderr_of([]() -> int { throw std::runtime_error("odd"); }, true, code);
  EXPECT_EQ(code, 1);
  EXPECT_EQ(Json::parse(text).at("error").at("kind"), "unexpected");
}

TEST(BadTileToText, NamesTheTileAndWhatIsWrong) {
  std::string const text = bad_tile_to_text({{3, 4, 1}, ErrorKind::malformed, "lzw: the block ends early"});
  EXPECT_NE(text.find("lzw: the block ends early"), std::string::npos) << text;
  EXPECT_NE(text.find('3'), std::string::npos) << text;
  EXPECT_NE(text.find('4'), std::string::npos) << text;
}

TEST(JsonOutput, NumbersJsonLacksAreText) {
  EXPECT_EQ(number(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(number(1.5), 1.5);
}

TEST(JsonOutput, TextThatIsNoUtf8IsStillPrinted) { EXPECT_NE(to_line(Json("a\xff")).find("a"), std::string::npos); }

}  // namespace
}  // namespace terrazzo::cli
