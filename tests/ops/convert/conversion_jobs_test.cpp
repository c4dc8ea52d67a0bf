// SPDX-License-Identifier: Apache-2.0
#include "support/failure.hpp"
#include "support/temp_folder.hpp"

#include "terrazzo/convert.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

namespace terrazzo {
namespace {

using testing::TempFolder;

// Names of outputs, from the folder of outputs.
std::vector<std::string> out_names(std::vector<ConvertJob> const& jobs, std::string const& out_folder) {
  std::vector<std::string> names;
  for (ConvertJob const& job : jobs) {
    names.push_back(std::filesystem::path(job.out).lexically_relative(out_folder).string());
  }
  return names;
}

std::optional<ErrorKind> kind_of(std::vector<std::string> const& inputs, std::string const& out_folder) {
  return testing::kind_of_failure([&] { return conversion_jobs(inputs, out_folder); });
}

class ConversionJobs : public ::testing::Test {
 protected:
  ConversionJobs() {
    std::filesystem::create_directories(folder_.path("in/deep"));
    std::filesystem::create_directories(folder_.path("in/.hidden"));
    for (char const* name :
         {"in/b.tif", "in/a.TIFF", "in/deep/a.tif", "in/notes.txt", "in/.c.tif", "in/.hidden/d.tif", "in/b.tif.ovr"}) {
      static_cast<void>(folder_.write(name, std::string_view("x")));
    }
  }
  TempFolder folder_;
  std::string const out_ = folder_.path("out");
};

TEST_F(ConversionJobs, TakeTheTiffFilesOfAFolderSortedAndKeepItsFolders) {
  EXPECT_EQ(out_names(conversion_jobs({folder_.path("in")}, out_), out_),
            (std::vector<std::string>{"a.TIFF", "b.tif", "deep/a.tif"}));
}

TEST_F(ConversionJobs, ExpandPatternsThatTheShellLeftAlone) {
  auto const jobs = conversion_jobs({folder_.path("in/*.tif")}, out_);
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].source, folder_.path("in/b.tif"));
}

TEST_F(ConversionJobs, LeaveOutTheFolderOfOutputs) {
  std::string const inside = folder_.path("in/deep");
  EXPECT_EQ(out_names(conversion_jobs({folder_.path("in")}, inside), inside),
            (std::vector<std::string>{"a.TIFF", "b.tif"}));
}

TEST_F(ConversionJobs, TakeAFileThatIsNamedTwiceOnce) {
  EXPECT_EQ(conversion_jobs({folder_.path("in/b.tif"), folder_.path("in/../in/b.tif")}, out_).size(), 1U);
}

TEST_F(ConversionJobs, KeepAFileThatDoesNotExist) {
  EXPECT_EQ(conversion_jobs({folder_.path("none.tif")}, out_).size(), 1U);
}

TEST_F(ConversionJobs, RefuseTwoSourcesOfOneOutput) {
  EXPECT_EQ(
      kind_of({folder_.path("in/b.tif"), folder_.path("in/deep/../deep/a.tif"), folder_.path("deep/b.tif")}, out_),
      ErrorKind::usage);
}

TEST_F(ConversionJobs, RefuseOutputsThatAreSources) {
  EXPECT_EQ(kind_of({folder_.path("in/b.tif")}, folder_.path("in")), ErrorKind::usage);
}

TEST_F(ConversionJobs, RefuseInputsWithoutAnyFile) {
  EXPECT_EQ(kind_of({folder_.path("in/*.nothing")}, out_), ErrorKind::usage);
  std::filesystem::create_directories(folder_.path("empty"));
  EXPECT_EQ(kind_of({folder_.path("empty")}, out_), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo
