// SPDX-License-Identifier: Apache-2.0
#include "tiff/directory_writer.hpp"

#include "io/memory_source.hpp"
#include "support/failure.hpp"
#include "tiff/directory.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

namespace terrazzo::tiff {
namespace {

using testing::kind_of_failure;

// A file of directories only, one after the other.
std::vector<std::byte> file_of(std::vector<TagSet> const& directories, bool bigtiff) {
  std::vector<std::byte> file = encode_header(bigtiff, header_bytes(bigtiff));
  std::vector<std::byte> const chain = encode_chain(directories, bigtiff, file.size());
  EXPECT_EQ(chain.size(), chain_bytes(directories, bigtiff));
  file.insert(file.end(), chain.begin(), chain.end());
  return file;
}

Chain chain_of(std::vector<TagSet> const& directories, bool bigtiff) {
  return read_chain(std::make_shared<io::MemorySource>(file_of(directories, bigtiff), "written.tif"));
}

class DirectoryWriter : public ::testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] static bool bigtiff() { return GetParam(); }
  [[nodiscard]] static Directory read_back(TagSet const& tags) { return chain_of({tags}, bigtiff()).directories.at(0); }
};
INSTANTIATE_TEST_SUITE_P(Formats, DirectoryWriter, ::testing::Bool(),
                         [](auto const& format) { return format.param ? "BigTiff" : "Classic"; });

TEST_P(DirectoryWriter, WritesAHeaderTheReaderAccepts) {
  TagSet tags;
  tags.set_short(256, 1);
  Chain const chain = chain_of({tags}, bigtiff());
  EXPECT_EQ(chain.header.big, bigtiff());
  EXPECT_EQ(chain.header.order, std::endian::little);
  EXPECT_EQ(chain.header.first_ifd_bytes, bigtiff() ? 16U : 8U);
  EXPECT_TRUE(chain.warnings.empty());
  EXPECT_EQ(chain.directories.at(0).entries().size(), 1U);
}

TEST_P(DirectoryWriter, WritesTheOtherByteOrderToo) {
  TagSet first, second;
  first.set_short(256, 0x1234);
  first.set_shorts(258, std::vector<std::uint16_t>{1, 2, 0xFF00});
  first.set_long(257, 0x12345678);
  first.set_offsets(273, std::vector<std::uint64_t>{0x01020304, 7}, bigtiff());
  first.set_text(305, "a text of bytes");
  first.set_doubles(33550, std::vector<double>{0.1, -3});
  std::vector<std::byte> const raw{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}, std::byte{5}};
  first.set_bytes(347, FieldType::undefined, raw);
  TagValue ratio{FieldType::rational, 1, {}};
  for (int const b : {3, 0, 0, 0, 4, 0, 0, 0}) { ratio.bytes.push_back(static_cast<std::byte>(b)); }
  first.set(282, ratio);
  second.set_long(256, 9);

  std::vector<TagSet> const both{first, second};
  std::vector<std::byte> file = encode_header(bigtiff(), header_bytes(bigtiff()), std::endian::big);
  std::vector<std::byte> const chain_bytes = encode_chain(both, bigtiff(), file.size(), std::endian::big);
  file.insert(file.end(), chain_bytes.begin(), chain_bytes.end());
  Chain const chain = read_chain(std::make_shared<io::MemorySource>(file, "big-endian.tif"));
  EXPECT_EQ(chain.header.order, std::endian::big);
  EXPECT_EQ(chain.header.big, bigtiff());
  EXPECT_TRUE(chain.warnings.empty());
  ASSERT_EQ(chain.directories.size(), 2U);
  Directory const& read = chain.directories[0];
  EXPECT_EQ(read.unsigned_value(256), 0x1234U);
  EXPECT_EQ(read.unsigned_values(258, 9), (std::vector<std::uint64_t>{1, 2, 0xFF00}));
  EXPECT_EQ(read.unsigned_value(257), 0x12345678U);
  EXPECT_EQ(read.unsigned_values(273, 9), (std::vector<std::uint64_t>{0x01020304, 7}));
  EXPECT_EQ(read.text_value(305), "a text of bytes");
  EXPECT_EQ(read.real_values(33550, 9), (std::vector<double>{0.1, -3}));
  EXPECT_EQ(read.bytes_value(347), raw);
  EXPECT_EQ(read.real_value(282), 0.75);
  EXPECT_EQ(chain.directories[1].unsigned_value(256), 9U);
}

// Every field type with 1 to 20 values: inline ones, those that just fit and those that just do not.
TEST_P(DirectoryWriter, KeepsEveryFieldTypeAtEveryCount) {
  for (std::uint16_t type = 1; type <= 18; ++type) {
    std::size_t const unit = field_type_bytes(type);
    if (unit == 0 || (!bigtiff() && type >= 16)) { continue; }
    TagSet tags;
    for (std::uint16_t count = 1; count <= 20; ++count) {
      TagValue value{static_cast<FieldType>(type), count, std::vector<std::byte>(count * unit)};
      for (std::size_t i = 0; i < value.bytes.size(); ++i) { value.bytes[i] = static_cast<std::byte>(i * 7 + count); }
      tags.set(static_cast<std::uint16_t>(1000 + count), value);
    }
    Directory const directory = read_back(tags);
    ASSERT_EQ(directory.entries().size(), 20U);
    for (std::uint16_t count = 1; count <= 20; ++count) {
      auto const tag = static_cast<std::uint16_t>(1000 + count);
      Entry const* entry = directory.find(tag);
      ASSERT_NE(entry, nullptr);
      EXPECT_EQ(entry->type, type);
      EXPECT_EQ(entry->count, count);
      EXPECT_EQ(directory.bytes_value(tag), tags.find(tag)->bytes) << "type " << type << ", count " << count;
      EXPECT_EQ(entry->value_offset_bytes % 2, 0U);
    }
  }
}

TEST_P(DirectoryWriter, KeepsNumbersAndTexts) {
  TagSet tags;
  tags.set_short(256, 65535);
  tags.set_shorts(258, std::vector<std::uint16_t>{8, 9, 10});
  tags.set_long(257, 0xfedcba98U);
  tags.set_offsets(324, std::vector<std::uint64_t>{1, 0xffffffffU, 3}, bigtiff());
  tags.set_doubles(33550, std::vector<double>{std::numbers::pi, -0.0, std::numeric_limits<double>::infinity()});
  tags.set_text(270, "Höhe über dem Meer");
  tags.set_text(305, "");
  tags.set_bytes(700, FieldType::undefined, std::vector<std::byte>(3, std::byte{0xab}));
  Directory const directory = read_back(tags);
  EXPECT_EQ(directory.unsigned_value(256), 65535U);
  EXPECT_EQ(directory.unsigned_values(258, 10), (std::vector<std::uint64_t>{8, 9, 10}));
  EXPECT_EQ(directory.unsigned_value(257), 0xfedcba98U);
  EXPECT_EQ(directory.unsigned_values(324, 10), (std::vector<std::uint64_t>{1, 0xffffffffU, 3}));
  EXPECT_EQ(directory.find(324)->type, bigtiff() ? 16 : 4);
  std::vector<double> const reals = directory.real_values(33550, 3);
  ASSERT_EQ(reals.size(), 3U);
  EXPECT_EQ(reals[0], std::numbers::pi);
  EXPECT_TRUE(std::signbit(reals[1]));
  EXPECT_EQ(reals[2], std::numeric_limits<double>::infinity());
  EXPECT_EQ(directory.text_value(270), "Höhe über dem Meer");
  EXPECT_EQ(directory.find(305)->count, 1U);
  EXPECT_EQ(directory.bytes_value(700), std::vector<std::byte>(3, std::byte{0xab}));
}

TEST_P(DirectoryWriter, CutsATextAtItsFirstNul) {
  TagSet tags;
  tags.set_text(270, std::string_view("before\0after", 12));
  EXPECT_EQ(read_back(tags).find(270)->count, 7U);
  EXPECT_EQ(read_back(tags).text_value(270), "before");
}

TEST_P(DirectoryWriter, SortsTagsByNumber) {
  TagSet tags;
  for (auto const tag : std::vector<std::uint16_t>{42113, 256, 34735, 1, 65535}) { tags.set_short(tag, tag); }
  Directory const directory = read_back(tags);
  std::vector<int> order;
  for (Entry const& entry : directory.entries()) { order.push_back(entry.tag); }
  EXPECT_EQ(order, (std::vector<int>{1, 256, 34735, 42113, 65535}));
}

TEST_P(DirectoryWriter, ReplacesAndErasesTags) {
  TagSet tags;
  tags.set_text(270, "old and long");
  tags.set_text(270, "new");
  tags.set_short(256, 1);
  tags.erase(256);
  EXPECT_FALSE(tags.has(256));
  EXPECT_EQ(tags.find(256), nullptr);
  EXPECT_EQ(read_back(tags).text_value(270), "new");
  EXPECT_EQ(read_back(tags).entries().size(), 1U);
}

TEST_P(DirectoryWriter, ChainsDirectories) {
  std::vector<TagSet> directories(5);
  for (std::uint16_t i = 0; i < 5; ++i) {
    directories[i].set_short(256, i);
    directories[i].set_text(270, std::string(i * 3 + 1, 'x'));  // odd and even sizes
  }
  Chain const chain = chain_of(directories, bigtiff());
  EXPECT_TRUE(chain.warnings.empty());
  ASSERT_EQ(chain.directories.size(), 5U);
  for (std::uint16_t i = 0; i < 5; ++i) {
    EXPECT_EQ(chain.directories[i].unsigned_value(256), i);
    EXPECT_EQ(chain.directories[i].text_value(270)->size(), i * 3 + 1U);
  }
  EXPECT_EQ(chain.directories.back().next_bytes(), 0U);
}

TEST_P(DirectoryWriter, KeepsSizesAligned) {
  for (std::size_t length = 0; length < 24; ++length) {
    TagSet tags;
    tags.set_text(270, std::string(length, 'x'));
    tags.set_text(305, std::string(length / 2, 'y'));
    EXPECT_EQ(directory_bytes(tags, bigtiff()) % (bigtiff() ? 8 : 2), 0U);
  }
}

TEST_P(DirectoryWriter, RefusesValuesThatDoNotMatchTheirCount) {
  TagSet tags;
  EXPECT_EQ(kind_of_failure([&] { tags.set(1, {FieldType::short_, 2, std::vector<std::byte>(3)}); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { tags.set(1, {FieldType::short_, 0, {}}); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { tags.set(1, {static_cast<FieldType>(14), 1, {std::byte{}}}); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { tags.set(1, {FieldType::double_, std::uint64_t{1} << 61, {}}); }), ErrorKind::usage);
  EXPECT_FALSE(tags.has(1));
}

TEST_P(DirectoryWriter, RefusesOddPlaces) {
  TagSet tags;
  tags.set_short(256, 1);
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_directory(tags, bigtiff(), 17, 0)); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_directory(tags, bigtiff(), 16, 33)); }), ErrorKind::usage);
  EXPECT_NO_THROW(static_cast<void>(encode_directory(tags, bigtiff(), 16, 32)));
}

TEST_P(DirectoryWriter, RefusesADirectoryWithoutTags) {
  EXPECT_EQ(kind_of_failure([] { static_cast<void>(encode_directory({}, bigtiff(), 16, 0)); }), ErrorKind::usage);
}

TEST(ClassicDirectory, EndsAtFourGigabytes) {
  TagSet tags;
  tags.set_text(270, std::string(99, 'x'));
  std::uint64_t const size = directory_bytes(tags, false);
  std::uint64_t const limit = std::uint64_t{1} << 32;
  EXPECT_EQ(encode_directory(tags, false, limit - 2 - size, limit - 2).size(), size);
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_directory(tags, false, limit - size, 0)); }),
            ErrorKind::limit);
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_directory(tags, false, 8, limit)); }), ErrorKind::limit);
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_header(false, limit)); }), ErrorKind::limit);
  EXPECT_EQ(kind_of_failure([&] {
              tags.set_offsets(324, std::vector<std::uint64_t>{1, limit}, false);
            }),
            ErrorKind::limit);
  EXPECT_EQ(encode_directory(tags, true, limit, 2 * limit).size(), directory_bytes(tags, true));
}

TEST(ClassicDirectory, RefusesValuesOf64Bits) {
  for (FieldType const type : {FieldType::long8, FieldType::slong8, FieldType::ifd8}) {
    TagSet tags;
    tags.set(65000, {type, 1, std::vector<std::byte>(8)});
    EXPECT_EQ(kind_of_failure([&] { static_cast<void>(encode_directory(tags, false, 8, 0)); }), ErrorKind::usage);
    EXPECT_EQ(encode_directory(tags, true, 16, 0).size(), 40U);  // count 8, entry 20, next 8, padding to 8
  }
}

}  // namespace
}  // namespace terrazzo::tiff
