// SPDX-License-Identifier: Apache-2.0
#include "commands/each_file.hpp"

#include "output/json_output.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

namespace terrazzo::cli {
namespace {

struct Outcome {
  int code = -1;
  std::string out, err;
  std::vector<std::string> seen;
};

// A command that fails for files that begin with '!' and finds fault with those that begin with '?'.
Outcome run(std::vector<std::string> const& files, bool json, ErrorKind kind = ErrorKind::io) {
  Outcome outcome;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  try {
    outcome.code = run_each_file(files, json, [&](std::string const& file) -> FileResult {
      outcome.seen.push_back(file);
      if (file.starts_with('!')) { throw Error(kind, "cannot", {.source = file}); }
      return {{{"file", file}}, file.starts_with('?') ? 4 : kExitOk};
    });
  } catch (Error const& error) { outcome.err = "thrown: "; }
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.err += ::testing::internal::GetCapturedStderr();
  return outcome;
}

using Names = std::vector<std::string>;

TEST(RunEachFile, PrintsASingleResultAsItIs) {
  Outcome const one = run({"a"}, true);
  EXPECT_EQ(one.code, kExitOk);
  EXPECT_EQ(Json::parse(one.out), (Json{{"file", "a"}}));
  EXPECT_EQ(run({"?a"}, true).code, 4);
}

TEST(RunEachFile, ThrowsTheErrorOfASingleFile) { EXPECT_EQ(run({"!a"}, true).err, "thrown: "); }

TEST(RunEachFile, GoesOnBehindABadFileAndReturnsTheHighestCode) {
  Outcome const several = run({"a", "!b", "?c", "d"}, true);
  EXPECT_EQ(several.seen, (Names{"a", "!b", "?c", "d"}));
  EXPECT_EQ(several.code, 4);
  EXPECT_EQ(run({"?c", "!b"}, true).code, 4);
  EXPECT_EQ(run({"a", "!b"}, true).code, 3);
  EXPECT_NE(run({"a", "!b", "!c"}, false).err.find("2 of 3 files failed"), std::string::npos);
  Json const results = Json::parse(several.out);
  ASSERT_EQ(results.size(), 4U);
  EXPECT_EQ(results[0]["file"], "a");
  EXPECT_EQ(results[1]["file"], "!b");
  EXPECT_EQ(results[1]["error"]["kind"], "io");
  EXPECT_EQ(results[3]["file"], "d");
  EXPECT_NE(several.err.find("cannot"), std::string::npos) << "errors are told at once, too";
}

TEST(RunEachFile, PrintsNothingWithoutJson) {
  EXPECT_EQ(run({"a"}, false).out, "");
  EXPECT_EQ(run({"a", "b"}, false).out, "");
}

TEST(RunEachFile, StopsWhenItIsCancelled) {
  Outcome const cancelled = run({"a", "!b", "c"}, false, ErrorKind::cancelled);
  EXPECT_EQ(cancelled.err, "thrown: ");
  EXPECT_EQ(cancelled.seen, (Names{"a", "!b"}));
}

}  // namespace
}  // namespace terrazzo::cli
