// SPDX-License-Identifier: Apache-2.0
#include "ops/edit_file.hpp"

#include "support/fault_injection.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"
#include "support/tiff_builder.hpp"

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
    static_cast<void>(write(path_, {pixels.data(), DType::u8, 1, 130, 150, 0, 150, 1}, options));
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
      // A sample of two bytes, in the file's order, then the directory. In place: there is room behind that.
      testing::TiffBuilder builder(std::endian::big, big);
      std::uint64_t const at = builder.data({std::byte{0x12}, std::byte{0x34}});
      builder.longs(256, {1}).longs(257, {1}).shorts(258, {16}).shorts(262, {1});
      builder.longs(273, {static_cast<std::uint32_t>(at)}).longs(279, {2}).doubles(33550, {2, 3, 0});
      std::vector<std::byte> bytes = builder.bytes();
      if (way == EditWay::in_place) { bytes.resize(bytes.size() + 4096); }
      static_cast<void>(folder_.write("a.tif", bytes));
      auto const warnings = open(path_).info().warnings;
      EditOptions const options{.rewrite = way == EditWay::rewritten};
      EditedFile file(path_, options);
      file.change(0, [](tiff::TagSet& tags) { tags.set_text(305, std::string(200, 'x')); });
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

}  // namespace
}  // namespace terrazzo::ops
