// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/overviews.hpp"

#include "support/call_log.hpp"
#include "support/fault_injection.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"
#include "support/tiff_builder.hpp"
#include "support/without_ghost.hpp"

#include "terrazzo/edit.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/validate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace terrazzo {
namespace {

using testing::FailingCalls;
using testing::file_bytes;
using testing::TempFolder;

constexpr std::uint32_t kWidth = 301, kHeight = 203;

class AddOverviews : public ::testing::Test {
 protected:
  static WriteOptions plain() {
    WriteOptions options;
    options.dtype = DType::u16;
    options.tile_size = {64, 64};
    options.compression = Compression::deflate;
    return options;
  }
  std::string make(std::string const& name, WriteOptions const& options = plain()) {
    std::vector<std::uint16_t> pixels(std::size_t{kWidth} * kHeight);
    std::iota(pixels.begin(), pixels.end(), std::uint16_t{0});
    std::string const path = folder_.path(name);
    static_cast<void>(write(path, HostView{pixels.data(), DType::u16, 1, kHeight, kWidth, 0, 2 * kWidth, 2}, options));
    return path;
  }
  // What a file written with its overviews at once holds.
  std::vector<std::vector<std::byte>> expected(std::vector<std::uint32_t> const& factors) {
    WriteOptions options = plain();
    options.overview_factors = factors;
    return levels(make("expected.tif", options));
  }
  static std::vector<std::vector<std::byte>> levels(std::string const& path) {
    Dataset const dataset = open(path);
    std::vector<std::vector<std::byte>> all;
    for (std::uint32_t level = 0; level <= dataset.info().overviews.size(); ++level) {
      HostArray const array = read(dataset, {.level = level});
      all.emplace_back(array.bytes().begin(), array.bytes().end());
    }
    return all;
  }
  TempFolder folder_;
};

TEST_F(AddOverviews, MakesThoseThatTheWriterMakes) {
  std::string const path = make("a.tif");
  OverviewReport const report = add_overviews(path, {.factors = {{2, 3, 4, 8}}});
  EXPECT_EQ(report.overviews.size(), 4U);
  EXPECT_EQ(report.write.bytes_written, std::filesystem::file_size(path));
  EXPECT_EQ(levels(path), expected({2, 3, 4, 8}));
  EXPECT_TRUE(validate(path).valid_tiff);
}

TEST_F(AddOverviews, MakesAFileBesideThatHoldsOnlyThem) {
  std::string const path = make("a.tif");
  std::vector<std::byte> const before = file_bytes(path);
  OverviewReport const report = add_overviews(path, {.factors = {{2, 4}}, .place = OverviewPlace::external});
  EXPECT_EQ(file_bytes(path), before);
  EXPECT_EQ(levels(path), expected({2, 4}));
  Info const info = open(report.file).info();
  EXPECT_EQ(info.width, (kWidth + 1) / 2);
  EXPECT_EQ(info.overviews.size(), 1U);
}

TEST_F(AddOverviews, ChangesOnlyOnePointerOfWhatWasThere) {
  std::string const path = make("a.tif");
  std::vector<std::byte> const before = file_bytes(path);
  static_cast<void>(add_overviews(path, {.factors = {{2}}}));
  std::vector<std::byte> after = file_bytes(path);
  after.resize(before.size());
  std::size_t first = before.size(), last = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] != after[i]) {
      first = std::min(first, i);
      last = i;
    }
  }
  EXPECT_LE(last - first, 3U);
}

TEST_F(AddOverviews, ReplacesKeepsAndRemoves) {
  std::string const path = make("a.tif");
  static_cast<void>(add_overviews(path, {.factors = {{2, 4}}}));
  EXPECT_EQ(add_overviews(path, {.factors = {{4, 8}}, .keep = true}).overviews.size(), 3U);
  OverviewReport const replaced = add_overviews(path, {.factors = {{3}}});
  ASSERT_EQ(replaced.overviews.size(), 1U);
  EXPECT_EQ(replaced.overviews[0].width, 101U);
  EXPECT_TRUE(add_overviews(path, {.factors = std::vector<std::uint32_t>{}}).overviews.empty());
}

TEST_F(AddOverviews, KeepsOneOfASizeInASidecar) {
  std::string const path = make("a.tif");
  static_cast<void>(add_overviews(path, {.factors = {{2, 400}}, .place = OverviewPlace::external}));
  OverviewReport const kept = add_overviews(path, {.factors = {{500}}, .place = OverviewPlace::external, .keep = true});
  ASSERT_EQ(kept.overviews.size(), 2U);
  EXPECT_EQ(kept.overviews[1].width, 1U);
}

TEST_F(AddOverviews, TakesThePromiseOfACogBack) {
  WriteOptions options = plain();
  options.cog = true;
  std::string const path = make("a.tif", options);
  EXPECT_TRUE(open(path).info().layout.cog);
  EXPECT_TRUE(add_overviews(path, {.factors = {{2}}}).no_longer_cog);
  EXPECT_FALSE(open(path).info().layout.cog);
  EXPECT_FALSE(add_overviews(path, {.factors = {{2}}}).no_longer_cog);
}

TEST_F(AddOverviews, TellsOfASidecarThatIsHiddenNow) {
  std::string const path = make("a.tif");
  static_cast<void>(add_overviews(path, {.factors = {{2}}, .place = OverviewPlace::external}));
  EXPECT_TRUE(add_overviews(path, {.factors = {{4}}}).hides_sidecar);
}

TEST_F(AddOverviews, LeavesTheOldFileReadableWhateverFails) {
  std::vector<std::vector<std::byte>> const with = expected({2, 4});
  for (char const* const call : {"openat", "pwrite", "fsync", "ftruncate"}) {
    for (int at = 0;; ++at) {
      std::string const path = make("a.tif");
      bool struck = false;
      {
        FailingCalls const calls({.call = call, .at = at});
        try {
          static_cast<void>(add_overviews(path, {.factors = {{2, 4}}, .durability = Durability::fsync}));
        } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::io); }
        struck = calls.struck();
      }
      std::vector<std::vector<std::byte>> const now = levels(path);
      EXPECT_TRUE(now.size() == 1 || now == with) << call << ' ' << at;
      EXPECT_EQ(now.front(), with.front());
      if (!struck) { break; }
      ASSERT_LT(at, 100);
    }
  }
}

TEST_F(AddOverviews, GivesTheFileBackWhenItIsCancelled) {
  std::string const path = make("a.tif");
  std::vector<std::byte> const before = file_bytes(path);
  OverviewOptions options{.factors = {{2, 4}}};
  options.progress = [](std::uint64_t done, std::uint64_t) { return done < 3; };
  EXPECT_THROW(static_cast<void>(add_overviews(path, options)), Error);
  EXPECT_EQ(file_bytes(path), before);
}

TEST_F(AddOverviews, RefusesAFileThatEndsInsideItsLastDirectory) {
  // A strip, then a directory without values; the last bytes are the pointer to the next one.
  testing::TiffBuilder builder;
  auto const at = static_cast<std::uint32_t>(builder.data(std::vector<std::byte>(64 * 64, std::byte{3})));
  builder.longs(256, {64}).longs(257, {64}).shorts(258, {8}).shorts(262, {1}).longs(273, {at});
  builder.longs(278, {64}).longs(279, {64 * 64});
  for (std::size_t const cut : {1U, 2U, 4U}) {
    std::vector<std::byte> bytes = builder.bytes();
    bytes.resize(bytes.size() - cut);
    std::string const path = folder_.write("a.tif", bytes);
    try {
      static_cast<void>(add_overviews(path, {.factors = {{2}}}));
      ADD_FAILURE() << "no error";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed);
      EXPECT_EQ(error.where().source, path);
      EXPECT_EQ(error.where().ifd, 0U);
    }
    EXPECT_EQ(file_bytes(path), bytes);
    EXPECT_EQ(add_overviews(path, {.factors = {{2}}, .place = OverviewPlace::external}).overviews.size(), 1U);
    std::filesystem::remove(path + ".ovr");
    // An edit writes the directory anew, with its pointer.
    EXPECT_EQ(edit(path, {.set = {{"A", std::string(300, 'x')}}}).way, EditWay::appended);
    EXPECT_EQ(add_overviews(path, {.factors = {{2}}}).overviews.size(), 1U);
  }
}

TEST_F(AddOverviews, WithoutFactorsLeavesThoseOfASmallRaster) {
  WriteOptions options;
  options.tile_size = {32, 32};
  std::vector<std::uint8_t> raster(std::size_t{100} * 100);
  for (OverviewPlace const place : {OverviewPlace::internal, OverviewPlace::external}) {
    std::string const path = folder_.path(place == OverviewPlace::internal ? "in.tif" : "ex.tif");
    static_cast<void>(write(path, HostView{raster.data(), DType::u8, 1, 100, 100, 100 * 100, 100, 1}, options));
    EXPECT_TRUE(add_overviews(path, {.place = place}).overviews.empty());
    EXPECT_EQ(add_overviews(path, {.factors = {{2}}, .place = place}).overviews.size(), 1U);
    std::vector<std::byte> const before = file_bytes(path);
    EXPECT_EQ(add_overviews(path, {.place = place}).overviews.size(), 1U);
    EXPECT_EQ(add_overviews(path, {.place = place, .keep = true}).overviews.size(), 1U);
    EXPECT_EQ(file_bytes(path), before);
    EXPECT_TRUE(add_overviews(path, {.factors = std::vector<std::uint32_t>{}, .place = place}).overviews.empty())
        << "asked for";
  }
}

TEST_F(AddOverviews, LeavesWhatIsMissingOfACutFileMissing) {
  WriteOptions options = plain();
  options.compression = Compression::none;
  std::string const path = make("a.tif", options);
  std::vector<std::byte> file = file_bytes(path);
  file.resize(file.size() / 2);
  static_cast<void>(folder_.write("a.tif", file));
  OverviewOptions how{.factors = {{2}}};
  how.bad_tile = BadTile::fill;
  try {
    static_cast<void>(add_overviews(path, how));
    ADD_FAILURE() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed);
    EXPECT_EQ(error.where().ifd, 0U);
    EXPECT_TRUE(error.where().tile);
  }
  EXPECT_EQ(file_bytes(path), file);
  how.place = OverviewPlace::external;
  OverviewReport const beside = add_overviews(path, how);
  EXPECT_EQ(beside.overviews.size(), 1U);
  EXPECT_FALSE(beside.read.bad_tiles.empty());
  EXPECT_EQ(file_bytes(path), file);
}

TEST_F(AddOverviews, RemovesThoseOfACutFile) {
  WriteOptions options = plain();
  options.overview_factors = {{2}};
  std::string const path = make("a.tif", options);
  std::vector<std::byte> file = file_bytes(path);
  file.resize(file.size() - 10);
  static_cast<void>(folder_.write("a.tif", file));
  EXPECT_TRUE(add_overviews(path, {.factors = std::vector<std::uint32_t>{}}).overviews.empty());
  EXPECT_EQ(file_bytes(path).size(), file.size());
}

TEST_F(AddOverviews, SyncsWhatItAddsBeforeThePointersToIt) {
  WriteOptions cog = plain();
  cog.cog = true;
  for (bool const replaces : {false, true}) {
    std::string const path = make("a.tif", replaces ? plain() : cog);
    if (replaces) { static_cast<void>(add_overviews(path, {.factors = {{2, 4}}})); }
    std::size_t const size = file_bytes(path).size();
    testing::CallLog const log;
    EXPECT_EQ(add_overviews(path, {.factors = {{2}}}).overviews.size(), 1U);
    EXPECT_TRUE(log.syncs_before_writes_inside(size));
  }
}

TEST_F(AddOverviews, GivesTheWholeFileBackWhenItFailsAfterPublishing) {
  WriteOptions cog = plain();
  cog.cog = true;
  std::string const path = make("a.tif", cog);
  std::vector<std::byte> const before = file_bytes(path);
  // The last writes are the promise that is taken back, and the pointer.
  int writes = 0;
  {
    FailingCalls const calls({.call = "pwrite", .at = 1'000'000});
    static_cast<void>(add_overviews(path, {.factors = {{2}}}));
    writes = calls.count();
  }
  for (int const last : {1, 2}) {
    static_cast<void>(folder_.write("a.tif", before));
    {
      FailingCalls const calls({.call = "pwrite", .at = writes - last});
      EXPECT_THROW(static_cast<void>(add_overviews(path, {.factors = {{2}}})), Error);
    }
    EXPECT_EQ(file_bytes(path), before) << "also the promise of a COG";
  }
}

TEST_F(AddOverviews, TellsOfACogWithoutAGhostArea) {
  WriteOptions cog = plain();
  cog.cog = true;
  cog.overview_factors = {{2}};
  std::string const path = make("a.tif", cog);
  static_cast<void>(folder_.write("a.tif", testing::without_ghost(file_bytes(path))));
  EXPECT_TRUE(add_overviews(path, {.factors = {{2, 4}}}).no_longer_cog);
  EXPECT_FALSE(add_overviews(path, {.factors = {{2, 4}}}).no_longer_cog);
}

}  // namespace
}  // namespace terrazzo
