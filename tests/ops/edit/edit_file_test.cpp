// SPDX-License-Identifier: Apache-2.0
#include "ops/edit/edit_file.hpp"

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

namespace terrazzo::ops {
namespace {

using testing::FailingCalls;
using testing::file_bytes;
using testing::TempFolder;

constexpr std::uint16_t kTextTag = 60001;

class EditedFileTest : public ::testing::Test {
 protected:
  std::string make(bool cog, BigTiff big = BigTiff::automatic) {
    WriteOptions options;
    options.tile_size = {32, 32};
    options.overview_factors = {{2, 4}};
    options.cog = cog;
    options.bigtiff = big;
    std::vector<std::uint8_t> pixels(std::size_t{150} * 130);
    for (std::size_t i = 0; i < pixels.size(); ++i) { pixels[i] = static_cast<std::uint8_t>(i * i >> 4); }
    static_cast<void>(write(path_, HostView{pixels.data(), DType::u8, 1, 130, 150, 0, 150, 1}, options));
    return path_;
  }
  // Gives the directories a text of this length.
  EditWay set_text(std::size_t length, std::vector<std::size_t> const& directories = {0},
                   EditOptions const& options = {}) {
    EditedFile file(path_, options);
    for (std::size_t const i : directories) {
      file.change(i, [&](tiff::TagSet& tags) { tags.set_text(kTextTag, std::string(length, 'x')); });
    }
    EditWay const way = file.write();
    EXPECT_EQ(file.size_bytes(), file_bytes(path_).size());
    return way;
  }
  [[nodiscard]] std::vector<std::size_t> text_lengths() const {
    std::vector<std::size_t> lengths;
    auto const source = std::make_shared<io::MemorySource>(file_bytes(path_), "memory");
    for (tiff::Directory const& directory : tiff::read_chain(source).directories) {
      lengths.push_back(directory.text_value(kTextTag).value_or("").size());
    }
    return lengths;
  }
  [[nodiscard]] std::vector<std::byte> pixels() const {
    Dataset const dataset = open(path_);
    std::vector<std::byte> all;
    for (std::uint32_t level = 0; level <= dataset.info().overviews.size(); ++level) {
      HostArray const array = read(dataset, {.level = level});
      all.insert(all.end(), array.bytes().begin(), array.bytes().end());
    }
    return all;
  }
  TempFolder folder_;
  std::string const path_ = folder_.path("a.tif");
};

TEST_F(EditedFileTest, UsesTheSlackOfACogToItsLastByte) {
  for (BigTiff const big : {BigTiff::never, BigTiff::always}) {
    static_cast<void>(make(true, big));
    std::vector<std::byte> const before = pixels();
    std::uint64_t const slack = validate(path_).slack_bytes;
    ASSERT_GT(slack, 100U);
    std::size_t length = slack + 10;
    // The longest text that fits.
    while (length > 0) {
      try {
        EXPECT_EQ(set_text(length), EditWay::in_place);
        break;
      } catch (Error const& error) {
        ASSERT_EQ(error.kind(), ErrorKind::usage);
        --length;
      }
    }
    EXPECT_GT(length + 40, slack);
    EXPECT_EQ(text_lengths(), (std::vector<std::size_t>{length, 0, 0}));
    EXPECT_TRUE(validate(path_, {.decode = true}).valid_cog);
    EXPECT_EQ(pixels(), before);
    EXPECT_EQ(set_text(1), EditWay::in_place);
    EXPECT_TRUE(validate(path_, {.decode = true}).valid_cog);
    EXPECT_GT(validate(path_).slack_bytes, slack - 100);
  }
}

TEST_F(EditedFileTest, AddsDirectoriesToAPlainFile) {
  for (BigTiff const big : {BigTiff::never, BigTiff::always}) {
    static_cast<void>(make(false, big));
    std::vector<std::byte> const before = pixels();
    EXPECT_EQ(set_text(3000), EditWay::appended);
    EXPECT_EQ(text_lengths(), (std::vector<std::size_t>{3000, 0, 0}));
    EXPECT_EQ(set_text(4000, {1}), EditWay::appended);
    EXPECT_EQ(text_lengths(), (std::vector<std::size_t>{3000, 4000, 0}));
    EXPECT_EQ(set_text(5000, {0, 2}), EditWay::appended);
    EXPECT_EQ(text_lengths(), (std::vector<std::size_t>{5000, 4000, 5000}));
    EXPECT_EQ(pixels(), before);
    EXPECT_TRUE(validate(path_).valid_tiff);
  }
}

TEST_F(EditedFileTest, WritesNothingWhenNothingChanges) {
  std::string const path = make(true);
  static_cast<void>(set_text(20));
  std::vector<std::byte> const before = file_bytes(path);
  EXPECT_EQ(set_text(20), EditWay::nothing);
  EXPECT_EQ(file_bytes(path), before);
}

TEST_F(EditedFileTest, RewritesWithoutRoom) {
  static_cast<void>(make(true));
  std::vector<std::byte> const before = pixels();
  EXPECT_EQ(set_text(5000, {0, 1, 2}, {.rewrite = true}), EditWay::rewritten);
  EXPECT_EQ(text_lengths(), (std::vector<std::size_t>{5000, 5000, 5000}));
  EXPECT_EQ(pixels(), before);
  EXPECT_TRUE(validate(path_, {.decode = true}).valid_cog);
  EXPECT_EQ(testing::count_temporary(folder_.path(".")), 0);
}

TEST_F(EditedFileTest, LeavesTheOldFileReadableWhateverFails) {
  struct Case {
    bool cog;
    EditOptions options;
  };
  for (Case const& one : {Case{false, {.durability = Durability::fsync}},
                          Case{true, {.rewrite = true, .durability = Durability::fsync}}}) {
    for (char const* const call : {"openat", "pwrite", "fsync", "ftruncate", "renameat"}) {
      for (int at = 0; at < 100; ++at) {
        static_cast<void>(make(one.cog));
        std::vector<std::byte> const before = pixels();
        bool struck = false;
        {
          FailingCalls const calls({.call = call, .at = at});
          try {
            static_cast<void>(set_text(3000, {0}, one.options));
          } catch (Error const&) {}
          struck = calls.struck();
        }
        EXPECT_EQ(pixels(), before) << call << ' ' << at;
        if (!struck) { break; }
      }
    }
  }
}

TEST_F(EditedFileTest, KeepsTheByteOrderInEveryWay) {
  for (bool const big : {false, true}) {
    for (EditWay const way : {EditWay::in_place, EditWay::appended, EditWay::rewritten}) {
      SCOPED_TRACE(::testing::Message() << (big ? "BigTIFF " : "classic ") << to_string(way));
      // A sample of two bytes, in the file's order, then the directory. In place: the old text had more room.
      testing::TiffBuilder builder(std::endian::big, big);
      std::uint64_t const at = builder.data({std::byte{0x12}, std::byte{0x34}});
      builder.longs(256, {1}).longs(257, {1}).shorts(258, {16}).shorts(262, {1});
      builder.longs(273, {static_cast<std::uint32_t>(at)}).longs(279, {2}).doubles(33550, {2, 3, 0});
      if (way == EditWay::in_place) { builder.ascii(33432, std::string(300, 'y')); }
      static_cast<void>(folder_.write("a.tif", builder.bytes()));
      auto const warnings = open(path_).info().warnings;
      EditOptions const options{.rewrite = way == EditWay::rewritten};
      EditedFile file(path_, options);
      file.change(0, [](tiff::TagSet& tags) {
        tags.erase(33432);
        tags.set_text(305, std::string(200, 'x'));
      });
      EXPECT_EQ(file.write(), way);
      Dataset const dataset = open(path_);
      EXPECT_TRUE(dataset.info().layout.big_endian);
      EXPECT_EQ(dataset.info().layout.bigtiff, big);
      EXPECT_EQ(dataset.info().warnings, warnings);
      EXPECT_EQ(*dataset.info().metadata.find("TIFFTAG_SOFTWARE"), std::string(200, 'x'));
      HostArray const pixels = read(dataset);
      EXPECT_EQ(std::to_integer<int>(pixels.bytes()[0]), 0x34);
      EXPECT_EQ(std::to_integer<int>(pixels.bytes()[1]), 0x12);
    }
  }
}

// A directory, then bytes that only a private tag refers to, then the strip: all where a COG has its front.
struct PrivateData {
  std::vector<std::byte> bytes{};
  std::size_t at = 0;
  static constexpr std::size_t kSize = 600;

  explicit PrivateData(std::uint16_t type) {
    tiff::TagSet tags;
    tags.set_long(256, 8);
    tags.set_long(257, 8);
    tags.set_short(258, 8);
    tags.set_short(262, 1);
    tags.set_long(278, 8);
    tags.set_long(279, 64);
    tags.set_text(305, std::string(100, 's'));
    auto const place = [&](std::uint32_t strip) {
      tags.set_long(273, strip);
      auto const offset = static_cast<std::uint32_t>(at);
      tags.set(65001, {static_cast<tiff::FieldType>(type),
                       type == 7 ? 4U : 1U,
                       {std::byte(offset & 255), std::byte(offset >> 8), {}, {}}});
      return tiff::encode_chain(std::span(&tags, 1), false, 8);
    };
    at = 8 + place(0).size();
    std::vector<std::byte> const header = tiff::encode_header(false, 8);
    std::vector<std::byte> const directory = place(static_cast<std::uint32_t>(at + kSize));
    bytes = header;
    bytes.insert(bytes.end(), directory.begin(), directory.end());
    bytes.resize(at + kSize, std::byte{'p'});
    bytes.resize(bytes.size() + 64, std::byte{9});
  }
};

TEST_F(EditedFileTest, LeavesBytesThatOnlyAPrivateTagRefersTo) {
  for (std::uint16_t const type : {std::uint16_t{4}, std::uint16_t{7}}) {
    for (std::size_t const length : {10U, 200U}) {
      PrivateData const file(type);
      static_cast<void>(folder_.write("a.tif", file.bytes));
      static_cast<void>(set_text(length));
      std::vector<std::byte> const now = file_bytes(path_);
      EXPECT_TRUE(std::ranges::equal(std::span(now).subspan(file.at, PrivateData::kSize),
                                     std::span(file.bytes).subspan(file.at, PrivateData::kSize)))
          << type << ' ' << length;
      EXPECT_EQ(text_lengths(), std::vector{length});
      EXPECT_EQ(pixels(), std::vector<std::byte>(64, std::byte{9}));
    }
  }
}

TEST_F(EditedFileTest, RefusesToRewriteAFileThatWouldLackWhatAPrivateTagRefersTo) {
  PrivateData const file(4);
  static_cast<void>(folder_.write("a.tif", file.bytes));
  try {
    static_cast<void>(set_text(10, {0}, {.rewrite = true}));
    ADD_FAILURE() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_EQ(error.where().tag, 65001);
  }
  EXPECT_EQ(file_bytes(path_), file.bytes);
}

TEST_F(EditedFileTest, LeavesWhatIsMissingOfACutFileMissing) {
  static_cast<void>(make(false));
  std::vector<std::byte> file = file_bytes(path_);
  file.resize(file.size() - 1000);
  static_cast<void>(folder_.write("a.tif", file));
  for (bool const rewrite : {false, true}) {
    try {
      static_cast<void>(set_text(3000, {0}, {.rewrite = rewrite}));
      ADD_FAILURE() << "no error";
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed);
      EXPECT_TRUE(error.where().ifd);
      EXPECT_TRUE(rewrite || error.where().tile);
    }
    EXPECT_EQ(file_bytes(path_), file);
  }
}

TEST_F(EditedFileTest, ChangesACutFileThatDoesNotGrow) {
  static_cast<void>(make(true));
  std::vector<std::byte> file = file_bytes(path_);
  file.resize(file.size() - 1000);
  static_cast<void>(folder_.write("a.tif", file));
  EXPECT_EQ(set_text(100), EditWay::in_place);
  EXPECT_EQ(text_lengths().front(), 100U);
  EXPECT_EQ(file_bytes(path_).size(), file.size());
  EXPECT_THROW(static_cast<void>(pixels()), Error);
  try {
    static_cast<void>(set_text(5000));
    ADD_FAILURE() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::malformed)
        << "a fresh file, as for other COGs without room, would not do either";
  }
}

TEST_F(EditedFileTest, KnowsACogThatHasNoGhostArea) {
  static_cast<void>(make(true));
  static_cast<void>(folder_.write("a.tif", testing::without_ghost(file_bytes(path_))));
  ASSERT_TRUE(validate(path_).valid_cog);
  std::vector<std::byte> const before = file_bytes(path_), pixels_before = pixels();
  try {
    static_cast<void>(set_text(3000));
    ADD_FAILURE() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(error.message().find("EditOptions::rewrite"), std::string::npos);
  }
  EXPECT_EQ(file_bytes(path_), before);
  EXPECT_EQ(set_text(3000, {0}, {.rewrite = true}), EditWay::rewritten);
  EXPECT_TRUE(validate(path_, {.decode = true}).valid_cog);
  EXPECT_EQ(pixels(), pixels_before);
}

TEST_F(EditedFileTest, TellsOfASmallRasterThatWasACogByItsLayout) {
  WriteOptions options;
  options.tile_size = {32, 32};
  std::vector<std::uint8_t> raster(std::size_t{64} * 64);
  static_cast<void>(write(path_, HostView{raster.data(), DType::u8, 1, 64, 64, 64 * 64, 64, 1}, options));
  ASSERT_TRUE(validate(path_).valid_cog);
  EditReport const report = edit(path_, {.set = {{"A", std::string(500, 'x')}}});
  EXPECT_EQ(report.way, EditWay::appended);
  EXPECT_TRUE(report.no_longer_cog);
  EXPECT_FALSE(validate(path_).valid_cog);
  EXPECT_FALSE(edit(path_, {.set = {{"A", std::string(600, 'x')}}}).no_longer_cog) << "it was none any more";
  EXPECT_FALSE(edit(path_, {}, {.rewrite = true}).no_longer_cog);
  EXPECT_TRUE(validate(path_).valid_cog);
}

TEST_F(EditedFileTest, TellsOfALargeRasterWithoutOverviewsThatWasACogByItsLayout) {
  WriteOptions options;
  options.tile_size = {64, 64};
  std::vector<std::uint8_t> raster(std::size_t{600} * 600);
  for (bool const strips : {false, true}) {
    if (strips) { options.strip_rows = 16; }
    static_cast<void>(write(path_, HostView{raster.data(), DType::u8, 1, 600, 600, 600 * 600, 600, 1}, options));
    ASSERT_TRUE(validate(path_).valid_cog) << "with warnings";
    EXPECT_TRUE(edit(path_, {.set = {{"A", std::string(500, 'x')}}}).no_longer_cog);
    EXPECT_FALSE(validate(path_).valid_cog);
    EXPECT_EQ(edit(path_, {}, {.rewrite = true}).way, EditWay::rewritten);
    EXPECT_TRUE(validate(path_).valid_cog);
  }
}

TEST_F(EditedFileTest, SyncsNewDirectoriesBeforeThePointerToThem) {
  for (Durability const durability : {Durability::none, Durability::fsync}) {
    static_cast<void>(make(false));
    std::size_t const size = file_bytes(path_).size();
    testing::CallLog const log;
    EXPECT_EQ(set_text(3000, {0}, {.durability = durability}), EditWay::appended);
    EXPECT_TRUE(log.syncs_before_writes_inside(size));
  }
}

TEST_F(EditedFileTest, SyncsAFreshFileBeforeItReplacesTheOldOne) {
  static_cast<void>(make(true));
  testing::CallLog const log;
  EXPECT_EQ(set_text(3000, {0}, {.rewrite = true}), EditWay::rewritten);
  EXPECT_EQ(log.calls().back().name, "sync");
}

TEST_F(EditedFileTest, PutsTheOldBytesBackWhenAWriteInPlaceFails) {
  for (char const* const call : {"pwrite", "fsync"}) {
    static_cast<void>(make(true));
    std::vector<std::byte> const before = file_bytes(path_);
    {
      FailingCalls const calls({.call = call});
      EXPECT_THROW(static_cast<void>(set_text(200, {0}, {.durability = Durability::fsync})), Error);
    }
    EXPECT_EQ(file_bytes(path_), before) << call;
  }
}

TEST_F(EditedFileTest, RefusesToMoveAHeaderThatIsPixelsToo) {
  testing::TiffBuilder builder;
  builder.longs(256, {8}).longs(257, {8}).shorts(258, {8}).shorts(262, {1});
  builder.longs(273, {1}).longs(278, {8}).longs(279, {64});
  std::vector<std::byte> const file = builder.bytes();
  static_cast<void>(folder_.write("a.tif", file));
  EXPECT_THROW(static_cast<void>(set_text(3000)), Error);
  EXPECT_EQ(file_bytes(path_), file);
}

}  // namespace
}  // namespace terrazzo::ops
