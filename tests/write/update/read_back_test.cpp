// SPDX-License-Identifier: Apache-2.0
#include "write/update/read_back.hpp"

#include "support/failure.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"
#include "support/tiff_builder.hpp"

#include "terrazzo/write.hpp"
#include "write/update/tag_edit.hpp"

#include <gtest/gtest.h>

namespace terrazzo::writing {
namespace {

using testing::byte_pattern;
using testing::kind_of_failure;
using testing::TempFolder;
using testing::TiffBuilder;

TiffBuilder image(std::uint32_t strip_at, std::uint32_t side = 8) {
  TiffBuilder builder;
  static_cast<void>(builder.data(byte_pattern(64)));
  builder.longs(256, {side}).longs(257, {8}).shorts(258, {8}).shorts(262, {1}).longs(273, {strip_at});
  builder.longs(278, {8}).longs(279, {64}).doubles(33550, {1, 2, 3});
  return builder;
}

TEST(ReadBack, APatchedFileIsTheFileWithItsPatches) {
  TempFolder const folder;
  std::vector<std::byte> bytes = byte_pattern(10'000);
  std::string const path = folder.write("a.bin", bytes);
  std::vector<std::byte> const more = byte_pattern(100, 5);
  ByteSourcePtr const source = patched_file(path, {{50, more}, {9'980, {more.begin(), more.begin() + 20}}});
  std::ranges::copy(more, bytes.begin() + 50);
  std::copy_n(more.begin(), 20, bytes.begin() + 9'980);
  for (std::uint64_t const begin : {0U, 49U, 60U, 149U, 150U, 9'990U}) {
    for (std::uint64_t const end : {61U, 151U, 10'000U}) {
      if (end <= begin) { continue; }
      std::vector<std::byte> part(end - begin);
      source->read(begin, part);
      EXPECT_TRUE(std::ranges::equal(part, std::span(bytes).subspan(begin, end - begin))) << begin << ' ' << end;
    }
  }
}

TEST(ReadBack, APatchIsInTheFileOrItIsAnIoError) {
  TempFolder const folder;
  std::string const path = folder.write("a.bin", byte_pattern(1'000));
  std::vector<std::byte> const bytes = byte_pattern(1'000);
  Patch patch{100, {bytes.begin() + 100, bytes.begin() + 200}};
  require_bytes(path, patch);
  patch.bytes[50] ^= std::byte{1};
  EXPECT_EQ(kind_of_failure([&] {
              require_bytes(path, patch);
              return 0;
            }),
            ErrorKind::io);
  EXPECT_EQ(kind_of_failure([&] {
              require_bytes(path, {950, byte_pattern(100)});
              return 0;
            }),
            ErrorKind::io);
}

TEST(ReadBack, ACheckedSinkPublishesWhatPassesAndNothingElse) {
  TempFolder const folder;
  std::string const path = folder.path("a.bin");
  std::vector<std::byte> const bytes = byte_pattern(5'000);
  for (bool const good : {false, true}) {
    auto const sink = checked_sink(file_sink(path, Durability::none), [&](ByteSourcePtr const& source) {
      std::vector<std::byte> all(source->size_bytes());
      source->read(0, all);
      EXPECT_EQ(all, bytes);
      if (!good) { throw Error(ErrorKind::io, "not good"); }
    });
    sink->open();
    sink->write_at(0, bytes);
    EXPECT_EQ(kind_of_failure([&] { sink->publish(bytes.size()); }).has_value(), !good);
    if (!good) { sink->discard(); }
    EXPECT_EQ(testing::file_bytes(path), good ? bytes : std::vector<std::byte>{});
  }
  EXPECT_EQ(testing::count_temporary(folder.path(".")), 0);
}

TEST(ReadBack, DirectoriesAreComparedWithWhatWasAskedFor) {
  tiff::Directory const directory = image(8).directory();
  tiff::TagSet tags = tags_of(directory);
  EXPECT_NO_THROW(require_tags(directory, tags));
  tags.set_short(262, 0);
  EXPECT_EQ(kind_of_failure([&] { require_tags(directory, tags); }), ErrorKind::io);

  for (Values const values : {Values::compared, Values::in_place}) {
    EXPECT_NO_THROW(require_same(directory, image(8).directory(), values));
    EXPECT_EQ(kind_of_failure([&] { require_same(directory, image(9).directory(), values); }), ErrorKind::io);
    EXPECT_EQ(kind_of_failure([&] { require_same(directory, image(8).ascii(305, "x").directory(), values); }),
              ErrorKind::io);
  }
}

TEST(ReadBack, LevelsHaveTheirSizeAndTheirBlocksInPlace) {
  tiff::Directory const directory = image(8).directory();
  auto const failure = [&](WantedLevel const& wanted, std::uint64_t begin, std::uint64_t end) {
    return kind_of_failure([&] { require_level(directory, wanted, begin, end); });
  };
  EXPECT_FALSE(failure({8, 8}, 8, 72));
  EXPECT_EQ(failure({8, 8}, 9, 72), ErrorKind::io);
  EXPECT_EQ(failure({8, 8}, 8, 71), ErrorKind::io);
  EXPECT_EQ(failure({8, 9}, 8, 72), ErrorKind::io);
  EXPECT_EQ(failure({8, 8, true}, 8, 72), ErrorKind::io);
}

TEST(ReadBack, ChainsHaveAsManyDirectoriesAsWereWritten) {
  ByteSourcePtr const source = image(8).source();
  EXPECT_NO_THROW(static_cast<void>(read_back_chain(source, 1)));
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(read_back_chain(source, 2)); }), ErrorKind::io);
}

}  // namespace
}  // namespace terrazzo::writing
