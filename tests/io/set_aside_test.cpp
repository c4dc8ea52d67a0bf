// SPDX-License-Identifier: Apache-2.0
#include "io/set_aside.hpp"

#include "support/failure.hpp"
#include "support/fault_injection.hpp"
#include "support/temp_folder.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <string>
#include <vector>

namespace terrazzo::io {
namespace {

namespace fs = std::filesystem;
using testing::FailingCalls;
using testing::Fault;
using testing::kind_of_failure;
using testing::TempFolder;

class SetAsideTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (auto const& entry : fs::directory_iterator(folder_.path(""))) { all.push_back(entry.path().filename()); }
    std::ranges::sort(all);
    return all;
  }

  TempFolder folder_;
  std::vector<Place> const places_ = find_target(folder_.path("dem.tif")).places;
};

TEST_F(SetAsideTest, MovesSidecarsAndNothingElse) {
  EXPECT_FALSE(set_aside(places_, "3"));
  for (char const* name : {"dem.tif", "dem.tif.ovr", "dem.tif.aux.xml", "dem.tif.txt"}) { folder_.write(name, name); }
  fs::create_directory(folder_.path("dem.tif.msk"));
  EXPECT_TRUE(set_aside(places_, "3"));
  EXPECT_EQ(names(), (std::vector<std::string>{".dem.tif.aux.xml.3.terrazzo-old", ".dem.tif.ovr.3.terrazzo-old",
                                               "dem.tif", "dem.tif.msk", "dem.tif.txt"}));
  put_back(places_, "2");
  EXPECT_FALSE(fs::exists(folder_.path("dem.tif.ovr")));
  put_back(places_, "3");
  EXPECT_EQ(names(),
            (std::vector<std::string>{"dem.tif", "dem.tif.aux.xml", "dem.tif.msk", "dem.tif.ovr", "dem.tif.txt"}));
  EXPECT_TRUE(set_aside(places_, "3"));
  drop(places_, "3");
  EXPECT_EQ(names(), (std::vector<std::string>{"dem.tif", "dem.tif.msk", "dem.tif.txt"}));
}

TEST_F(SetAsideTest, PutsNothingOverANewSidecar) {
  folder_.write("dem.tif.ovr", "old");
  EXPECT_TRUE(set_aside(places_, "0"));
  folder_.write("dem.tif.ovr", "newer");
  put_back(places_, "0");
  EXPECT_EQ(names(), std::vector<std::string>{"dem.tif.ovr"});
  EXPECT_EQ(fs::file_size(folder_.path("dem.tif.ovr")), 5U);
}

TEST_F(SetAsideTest, GivesBackWhatItMovedWhenOneCannotBeMoved) {
  for (char const* name : {"dem.tif.ovr", "dem.tif.aux.xml"}) { folder_.write(name, name); }
  auto const before = names();
  FailingCalls const failing(Fault{.call = "renameat", .at = 1, .error = EPERM});
  EXPECT_EQ(kind_of_failure([&] { (void)set_aside(places_, "0"); }), ErrorKind::io);
  EXPECT_EQ(names(), before);
}

TEST_F(SetAsideTest, TellsLongNamesApart) {
  std::string const start(NAME_MAX - 12, 'x');
  std::vector<Place> const a = find_target(folder_.path(start + "1.tif")).places;
  std::vector<Place> const b = find_target(folder_.path(start + "2.tif")).places;
  folder_.write(start + "1.tif.ovr", "1");
  folder_.write(start + "2.tif.ovr", "22");
  auto const before = names();
  EXPECT_TRUE(set_aside(a, "0"));
  EXPECT_TRUE(set_aside(b, "0"));
  EXPECT_EQ(names().size(), 2U);
  put_back(b, "0");
  put_back(a, "0");
  EXPECT_EQ(names(), before);
  EXPECT_EQ(fs::file_size(folder_.path(start + "2.tif.ovr")), 2U);
}

TEST_F(SetAsideTest, HidesNamesWithinTheLimit) {
  EXPECT_EQ(hidden_name("dem.tif", ".0.terrazzo-tmp"), ".dem.tif.0.terrazzo-tmp");
  std::string euros;
  while (euros.size() + 3 <= NAME_MAX) { euros += "\xE2\x82\xAC"; }
  std::string const name = hidden_name(euros, ".0.x");
  EXPECT_LE(name.size(), std::size_t{NAME_MAX});
  EXPECT_EQ((name.size() - 5) % 3, 0U) << "a character is cut";
}

}  // namespace
}  // namespace terrazzo::io
