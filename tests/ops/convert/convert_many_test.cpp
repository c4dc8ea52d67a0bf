// SPDX-License-Identifier: Apache-2.0
#include "support/file_bytes.hpp"
#include "support/raster.hpp"
#include "support/temp_folder.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/validate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace terrazzo {
namespace {

using testing::TempFolder;

class ConvertMany : public ::testing::Test {
 protected:
  std::string make_source(std::string const& name, std::uint32_t side = 64) {
    std::vector<std::uint16_t> samples(std::size_t{side} * side);
    std::iota(samples.begin(), samples.end(), std::uint16_t{0});
    std::string const path =
        folder_.write(name, testing::raster_builder<std::uint16_t>(side, side, samples, 16).bytes());
    // Older than whatever is made from it, whatever the clock of the file system.
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::seconds(10));
    return path;
  }
  [[nodiscard]] ConvertJob job(std::string const& name) { return {make_source(name), folder_.path("out/" + name)}; }

  TempFolder folder_;
};

TEST_F(ConvertMany, WritesValidCogsAndMakesTheirFolder) {
  std::vector<ConvertJob> const jobs{job("a.tif"), job("b.tif"), job("c.tif")};
  auto const outcomes = convert_many(jobs, {.jobs = 3});
  ASSERT_EQ(outcomes.size(), 3U);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(outcomes[i].index, i);
    EXPECT_EQ(outcomes[i].state, ConvertState::done);
    EXPECT_TRUE(validate(jobs[i].out).valid_cog);
  }
}

TEST_F(ConvertMany, SkipsOutputsThatAreNewerThanTheirSources) {
  std::vector<ConvertJob> const jobs{job("a.tif"), job("b.tif")};
  static_cast<void>(convert_many({jobs[0]}));
  auto const outcomes = convert_many(jobs);
  EXPECT_EQ(outcomes[0].state, ConvertState::skipped);
  EXPECT_EQ(outcomes[1].state, ConvertState::done);
  EXPECT_EQ(convert_many(jobs, {.overwrite = true})[0].state, ConvertState::done);
}

TEST_F(ConvertMany, RedoesOutputsThatHaveOtherOptions) {
  std::vector<ConvertJob> const jobs{job("a.tif")};
  auto const state = [&](std::string const& text) { return convert_many(jobs, {.options_text = text})[0].state; };
  EXPECT_EQ(state(""), ConvertState::done);
  EXPECT_EQ(state("cog"), ConvertState::done) << "the output has no options";
  EXPECT_EQ(state("cog"), ConvertState::skipped);
  EXPECT_EQ(state("cog --dtype int16"), ConvertState::done);
  EXPECT_EQ(state("cog"), ConvertState::done);
  EXPECT_EQ(state(""), ConvertState::skipped) << "times decide";
  MetadataItems const items = open(jobs[0].out).info().metadata.domains.at("");
  EXPECT_EQ(std::ranges::count(items, kOptionsItem, &MetadataItems::value_type::first), 1);
  Dataset const output = open(jobs[0].out);
  WriteOptions const next = conversion_options(output);
  auto const left = next.metadata.domains.find("");
  EXPECT_TRUE(left == next.metadata.domains.end() ||
              std::ranges::count(left->second, kOptionsItem, &MetadataItems::value_type::first) == 0)
      << "they describe another conversion";
}

TEST_F(ConvertMany, RedoesOutputsThatAreOlderThanTheirSourcesOrSidecars) {
  std::vector<ConvertJob> const jobs{job("a.tif"), job("b.tif")};
  static_cast<void>(convert_many(jobs));
  auto const later = std::filesystem::file_time_type::clock::now() + std::chrono::seconds(10);
  std::filesystem::last_write_time(jobs[0].source, later);
  std::filesystem::last_write_time(folder_.write("b.tif.aux.xml", std::string_view("<PAMDataset/>")), later);
  auto const outcomes = convert_many(jobs);
  EXPECT_EQ(outcomes[0].state, ConvertState::done);
  EXPECT_EQ(outcomes[1].state, ConvertState::done);
}

TEST_F(ConvertMany, GoesOnAfterAFailure) {
  std::vector<ConvertJob> jobs{job("a.tif"), {folder_.path("none.tif"), folder_.path("out/none.tif")}, job("c.tif")};
  static_cast<void>(folder_.write("bad.tif", std::string_view("no TIFF")));
  jobs.insert(jobs.begin() + 2, {folder_.path("bad.tif"), folder_.path("out/bad.tif")});
  auto const outcomes = convert_many(jobs);
  EXPECT_EQ(outcomes[0].state, ConvertState::done);
  EXPECT_EQ(outcomes[1].state, ConvertState::failed);
  EXPECT_EQ(outcomes[1].error->kind(), ErrorKind::io);
  EXPECT_EQ(outcomes[2].error->kind(), ErrorKind::malformed);
  EXPECT_EQ(outcomes[2].error->where().source, jobs[2].source);
  EXPECT_EQ(outcomes[3].state, ConvertState::done);
  EXPECT_FALSE(std::filesystem::exists(jobs[1].out));
}

TEST_F(ConvertMany, TellsOutcomesAndProgressOverAllFiles) {
  std::vector<ConvertJob> const jobs{job("a.tif"), job("b.tif")};
  std::vector<ConvertProgress> seen;
  std::size_t finished = 0;
  ConvertManyOptions options;
  options.progress = [&](ConvertProgress const& progress) {
    seen.push_back(progress);
    return true;
  };
  options.finished = [&](ConvertOutcome const& outcome) { finished += outcome.index + 1; };
  static_cast<void>(convert_many(jobs, options));
  EXPECT_EQ(finished, 3U);
  ASSERT_FALSE(seen.empty());
  for (std::size_t i = 1; i < seen.size(); ++i) { EXPECT_GE(seen[i].bytes_done, seen[i - 1].bytes_done); }
  EXPECT_EQ(seen.back().files_done, 2U);
  EXPECT_EQ(seen.back().files_total, 2U);
  EXPECT_EQ(seen.back().bytes_done, seen.back().bytes_total);
  EXPECT_EQ(seen.back().bytes_total, 2 * std::filesystem::file_size(jobs[0].source));
}

TEST_F(ConvertMany, StopsWhenToldAndLeavesNoTemporaryFiles) {
  std::vector<ConvertJob> const jobs{job("a.tif"), job("b.tif"), job("c.tif")};
  ConvertManyOptions options;
  options.progress = [](ConvertProgress const& progress) { return progress.files_done < 1; };
  auto const outcomes = convert_many(jobs, options);
  EXPECT_EQ(outcomes[0].state, ConvertState::done);
  EXPECT_EQ(outcomes[1].state, ConvertState::cancelled);
  EXPECT_EQ(outcomes[2].state, ConvertState::cancelled);
  EXPECT_FALSE(std::filesystem::exists(jobs[1].out));
  EXPECT_EQ(testing::count_temporary(folder_.path("out")), 0);
}

TEST_F(ConvertMany, IsCancelledInTheMiddleOfAFile) {
  std::vector<ConvertJob> const jobs{{make_source("large.tif", 1500), folder_.path("out/large.tif")}};
  ConvertManyOptions options;
  options.progress = [](ConvertProgress const& progress) { return progress.bytes_done == 0; };
  EXPECT_EQ(convert_many(jobs, options)[0].state, ConvertState::cancelled);
  EXPECT_EQ(testing::count_temporary(folder_.path("out")), 0);
  EXPECT_FALSE(std::filesystem::exists(jobs[0].out));
}

TEST_F(ConvertMany, ThrowsOnWhatIsNoErrorOfTheLibrary) {
  ConvertManyOptions options;
  options.setup = [](Dataset const&) -> ConvertSetup { throw std::logic_error("a defect"); };
  EXPECT_THROW(static_cast<void>(convert_many({job("a.tif")}, options)), std::logic_error);
}

}  // namespace
}  // namespace terrazzo
