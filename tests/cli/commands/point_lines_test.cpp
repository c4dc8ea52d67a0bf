// SPDX-License-Identifier: Apache-2.0
#include "commands/point_lines.hpp"

#include "support/failure.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace terrazzo::cli {
namespace {

using testing::failure_of;

std::vector<Point> points_of(std::string const& text) {
  std::istringstream in(text);
  return PointLines(in, "p.csv").next(100);
}

TEST(PointLines, TakeCommasBlanksAndFurtherColumns) {
  std::vector<Point> const wanted = {{1.5, -2}, {3, 4}};
  for (auto const* text : {"1.5,-2\n3,4\n", "1.5 -2\n3 4", "1.5, -2\r\n3 , 4\r\n", "1.5;-2;hut\n3;4;col de x\n",
                           "1.5\t-2\n+3\t4\n", "\"1.5\",\"-2\"\n3,4,,\n",
                           "\xef\xbb\xbf"
                           "1.5,-2\n3,4\n"}) {
    EXPECT_EQ(points_of(text), wanted) << text;
  }
}

TEST(PointLines, SkipNamesCommentsAndEmptyLines) {
  EXPECT_EQ(points_of("lon,lat,name\n\n# huts\n1,2,a\n  \n3,4,b\n"), (std::vector<Point>{{1, 2}, {3, 4}}));
  EXPECT_TRUE(points_of("").empty());
  EXPECT_TRUE(points_of("x,y\n").empty());
}

TEST(PointLines, TakeTheColumnsThatTheFirstLineNames) {
  std::vector<Point> const wanted = {{9.5, 45}, {10, -46}};
  for (auto const* text :
       {"lat,lon\n45,9.5\n-46,10\n", "lat lon\n45,9.5\n-46 10\n", "id,x,y\n1,9.5,45\n2,10,-46\n",
        "name;Latitude;Longitude\nA;45;9.5\nB;-46;10\n", "big hut,lon,lat\nCol de x,9.5,45\n\"a, b\",10,-46\n",
        "\"\",\"x\",\"y\"\n0,9.5,45\n1,10,-46\n", "a\tEASTING\tNORTHING\n\t9.5\t45\nx y\t10\t-46\n",
        "x,y,lon,lat\n9.5,45,1,2\n10,-46,1,2\n"}) {
    EXPECT_EQ(points_of(text), wanted) << text;
  }
  Error const error = failure_of([&] { return points_of("id,x,y\n1,2\n"); });
  EXPECT_NE(error.message().find("p.csv:2: expected finite numbers for x in column 2 and y in column 3"),
            std::string::npos)
      << error.message();
}

TEST(PointLines, TakeTheListsOfRio) {
  EXPECT_EQ(points_of("[9.5, 45]\n[10, -46, 3]\n"), (std::vector<Point>{{9.5, 45}, {10, -46}}));
}

TEST(PointLines, AnInvalidLineIsAUsageErrorWithItsPlace) {
  struct Case {
    char const* text;
    char const* place;
  };
  for (auto const& [text, place] :
       {Case{"1,2\nx,y\n", "p.csv:2"}, Case{"x,y\n1,2\n3\n", "p.csv:3"}, Case{"1,nan\n", "p.csv:1"},
        Case{"inf,nan\n", "p.csv:1"}, Case{"nan,nan\n", "p.csv:1"}, Case{"1,2e\n", "p.csv:1"}, Case{",2\n", "p.csv:1"},
        Case{"1e999,0\n", "p.csv:1"}, Case{"# a\n\n1,,2\n", "p.csv:3"}}) {
    Error const error = failure_of([&] { return points_of(text); });
    EXPECT_EQ(error.kind(), ErrorKind::usage) << text;
    EXPECT_NE(error.message().find(place), std::string::npos) << error.message();
  }
}

TEST(PointLines, HaveABoundedLength) {
  std::string const blanks(65'530, ' ');
  EXPECT_EQ(points_of("1,2" + blanks + "\n3,4"), (std::vector<Point>{{1, 2}, {3, 4}}));
  EXPECT_EQ(points_of("1,2" + blanks), (std::vector<Point>{{1, 2}}));
  Error const error = failure_of([&] { return points_of("1,2\n1,2" + blanks + "      \n"); });
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(error.message().find("p.csv:2"), std::string::npos) << error.message();
}

TEST(PointLines, ComeInPortions) {
  std::istringstream in("x,y\n1,1\n2,2\n3,3\n");
  PointLines lines(in, "p.csv");
  EXPECT_EQ(lines.next(2), (std::vector<Point>{{1, 1}, {2, 2}}));
  EXPECT_EQ(lines.next(2), (std::vector<Point>{{3, 3}}));
  EXPECT_TRUE(lines.next(2).empty());
}

}  // namespace
}  // namespace terrazzo::cli
