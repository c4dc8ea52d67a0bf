// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <set>
#include <string>
#include <thread>
#include <type_traits>

namespace terrazzo {
namespace {

using Kind = ErrorKind;

TEST(ErrorKindNames, AreAllDifferentAndKnown) {
  std::set<std::string_view> names;
  for (Kind const kind :
       {Kind::io, Kind::malformed, Kind::unsupported, Kind::usage, Kind::limit, Kind::device, Kind::cancelled}) {
    EXPECT_NE(to_string(kind), "unknown");
    EXPECT_TRUE(names.insert(to_string(kind)).second) << to_string(kind);
  }
}

TEST(ErrorKindNames, OfANumberThatIsNoKindAreUnknown) { EXPECT_EQ(to_string(static_cast<Kind>(200)), "unknown"); }

TEST(Error, WithoutAPlaceSaysItsMessageOnly) {
  Error const error(Kind::usage, "the window is empty");
  EXPECT_STREQ(error.what(), "the window is empty");
  EXPECT_EQ(error.message(), "the window is empty");
  EXPECT_EQ(error.kind(), Kind::usage);
}

TEST(Error, NamesEveryPartOfItsPlaceFromTheOutside) {
  Error const error(Kind::malformed, "LZW code 499 is past the table",
                    {.source = "dem.tif", .ifd = 2, .tag = 324, .tile = TileId{17, 4, 0}, .offset = 81920});
  EXPECT_STREQ(error.what(), "dem.tif: IFD 2: tag 324: tile (17, 4): LZW code 499 is past the table (at byte 81920)");
}

TEST(Error, NamesThePlaneOfATileWhenThereAreSeveral) {
  Error const error(Kind::malformed, "bad", {.tile = TileId{1, 2, 3}});
  EXPECT_STREQ(error.what(), "tile (1, 2, plane 3): bad");
}

TEST(Error, TellsIfdAndOffsetZeroFromUnknown) {
  Error const error(Kind::malformed, "bad", {.ifd = 0, .offset = 0});
  EXPECT_STREQ(error.what(), "IFD 0: bad (at byte 0)");
}

TEST(Error, LocatedFillsWhatIsUnknown) {
  Error const outer = Error(Kind::io, "short read", {.offset = 7})
                          .located({.source = "a.tif", .ifd = 3, .tag = 273, .tile = TileId{5, 6, 0}, .offset = 99});
  EXPECT_EQ(outer.kind(), Kind::io);
  EXPECT_EQ(outer.message(), "short read");
  EXPECT_EQ(outer.where().source, "a.tif");
  EXPECT_EQ(outer.where().ifd, 3u);
  EXPECT_EQ(outer.where().tag, 273);
  EXPECT_EQ(outer.where().tile, (TileId{5, 6, 0}));
  EXPECT_EQ(outer.where().offset, 7u) << "what the inner layer knew wins";
}

TEST(Error, LocatedKeepsWhatIsKnown) {
  Error const inner(Kind::io, "x", {.source = "inner", .ifd = 1, .tag = 2, .tile = TileId{3, 3, 3}, .offset = 4});
  Error const outer = inner.located({.source = "outer", .ifd = 9, .tag = 9, .tile = TileId{9, 9, 9}, .offset = 9});
  EXPECT_STREQ(outer.what(), inner.what());
}

TEST(Error, LocatedTwiceBuildsTheTextOnce) {
  Error const error = Error(Kind::io, "x").located({.ifd = 1}).located({.source = "f"}).located({.source = "g"});
  EXPECT_STREQ(error.what(), "f: IFD 1: x");
}

TEST(Error, IsCaughtAsAStandardExceptionAndKeepsItsText) {
  try {
    throw Error(Kind::limit, "too much", {.source = "f"});
  } catch (std::exception const& caught) { EXPECT_STREQ(caught.what(), "f: too much"); }
}

TEST(Error, IsAValueThatOutlivesItsOriginal) {
  std::optional<Error> copy;
  {
    Error const original(Kind::device, std::string(200, 'x'), {.source = std::string(100, 'f')});
    copy = original;
  }
  EXPECT_EQ(copy->message(), std::string(200, 'x'));
  EXPECT_EQ(std::string(copy->what()), std::string(100, 'f') + ": " + std::string(200, 'x'));
  static_assert(std::is_copy_assignable_v<Error> && std::is_nothrow_move_constructible_v<Error>);
}

TEST(Error, PassesBetweenThreads) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      throw Error(Kind::cancelled, "stopped");
    } catch (...) { failure = std::current_exception(); }
  }).join();
  try {
    std::rethrow_exception(failure);
  } catch (Error const& error) { EXPECT_EQ(error.kind(), Kind::cancelled); }
}

}  // namespace
}  // namespace terrazzo
