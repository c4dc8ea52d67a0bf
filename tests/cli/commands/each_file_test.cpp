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

// A command that fails for files that begin with '!', finds fault with those that begin with '?', and has nothing to do
// for those that begin with '='. It writes 1 KiB for each.
Outcome run(std::vector<std::string> const& files, bool json, ErrorKind kind = ErrorKind::io,
            std::optional<FinalTable> const& table = {}) {
  Outcome outcome;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  try {
    outcome.code = run_each_file(
        files, json,
        [&](std::string const& file) -> FileResult {
          outcome.seen.push_back(file);
          if (file.starts_with('!')) { throw Error(kind, "cannot", {.source = file}); }
          return {{{"file", file}}, file.starts_with('?') ? 4 : kExitOk, file.starts_with('='), 1024};
        },
        table);
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

TEST(RunEachFile, EndsWithATableIfAsked) {
  Outcome const several = run({"a", "!b", "=c", "d"}, false, ErrorKind::io, FinalTable{"old"});
  EXPECT_NE(several.out.find("done     2      2.00 KiB"), std::string::npos) << several.out;
  EXPECT_NE(several.out.find("skipped  1"), std::string::npos) << several.out;
  EXPECT_NE(several.out.find("old\n"), std::string::npos) << several.out;
  EXPECT_NE(several.out.find("failed   1"), std::string::npos) << several.out;
  EXPECT_EQ(several.err.find("files failed"), std::string::npos) << "the table tells it";
  EXPECT_EQ(run({"a"}, false, ErrorKind::io, FinalTable{}).out, "") << "of several files only";
  EXPECT_EQ(Json::parse(run({"a", "b"}, true, ErrorKind::io, FinalTable{}).out).size(), 2U);
}

TEST(RunEachFile, StopsWhenItIsCancelled) {
  Outcome const cancelled = run({"a", "!b", "c"}, false, ErrorKind::cancelled);
  EXPECT_EQ(cancelled.err, "thrown: ");
  EXPECT_EQ(cancelled.seen, (Names{"a", "!b"}));
}

}  // namespace
}  // namespace terrazzo::cli
