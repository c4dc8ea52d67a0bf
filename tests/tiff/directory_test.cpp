// SPDX-License-Identifier: Apache-2.0
//
// The header, and the entries and values of one directory; directory_chain_test.cpp has how directories follow each
// other.
#include "tiff/directory.hpp"

#include "base/memory_budget.hpp"
#include "support/bytes.hpp"
#include "support/sources.hpp"
#include "support/tiff_builder.hpp"
#include "terrazzo/error.hpp"
#include "tiff/raw_file.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace terrazzo::tiff {
namespace {

using test::kind_of_failure;
using test::RawFile;
using testing::bytes_of;
using testing::TiffBuilder;

class EveryFormat : public test::EveryFormat {};
INSTANTIATE_TEST_SUITE_P(Tiff, EveryFormat, test::EveryFormat::formats(), test::EveryFormat::name_of);

// ---------------------------------------------------------------------------------------------------------------
// Header

TEST(Header, OfTooFewBytesIsRefused) {
  EXPECT_EQ(kind_of_failure({}), ErrorKind::malformed);
  EXPECT_EQ(kind_of_failure(bytes_of({'I', 'I', 42, 0, 8, 0, 0})), ErrorKind::malformed);
}

TEST(Header, OfAnotherKindOfFileIsRefused) {
  EXPECT_EQ(kind_of_failure(bytes_of({0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13})), ErrorKind::malformed);
  EXPECT_EQ(kind_of_failure(bytes_of({'I', 'M', 42, 0, 8, 0, 0, 0, 0, 0})), ErrorKind::malformed)
      << "mixed order marks";
  EXPECT_EQ(kind_of_failure(bytes_of({'I', 'I', 0, 42, 8, 0, 0, 0, 0, 0})), ErrorKind::malformed) << "42 the other way";
  EXPECT_EQ(kind_of_failure(bytes_of({'I', 'I', 44, 0, 8, 0, 0, 0, 0, 0})), ErrorKind::malformed);
}

TEST(Header, OfBigTiffMustDeclareEightByteOffsets) {
  EXPECT_EQ(kind_of_failure(bytes_of({'I', 'I', 43, 0, 4, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0})), ErrorKind::malformed);
  EXPECT_EQ(kind_of_failure(bytes_of({'I', 'I', 43, 0, 8, 0, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0})), ErrorKind::malformed);
  EXPECT_EQ(kind_of_failure(bytes_of({'I', 'I', 43, 0, 8, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0})), ErrorKind::malformed)
      << "15 bytes";
}

TEST(Header, WithoutADirectoryIsRefused) {
  EXPECT_EQ(kind_of_failure(bytes_of({'I', 'I', 42, 0, 0, 0, 0, 0})), ErrorKind::malformed);
}

TEST_P(EveryFormat, HeaderTellsOrderFormatAndFirstDirectory) {
  file_.count(1).entry(256, 4, 1, 7, 4).next(0);
  Header const header = file_.chain().header;
  EXPECT_EQ(header.order, GetParam().order);
  EXPECT_EQ(header.big, GetParam().big);
  EXPECT_EQ(header.first_ifd_bytes, file_.first_ifd());
}

// ---------------------------------------------------------------------------------------------------------------
// Entries

TEST_P(EveryFormat, EntriesOfEveryUnsignedTypeAreRead) {
  file_.count(6)
      .entry(1, 1, 1, 200, 1)
      .entry(2, 3, 1, 60'000, 2)
      .entry(3, 4, 1, 4'000'000'000, 4)
      .entry(4, 13, 1, 3'000'000'000, 4)
      .pointer(5, 16, 1, GetParam().big ? 0x0102030405060708 : 200)
      .pointer(6, 18, 1, GetParam().big ? 0x1112131415161718 : 208)
      .next(0)
      .pad_to(200)
      .put(0x0102030405060708, 8)
      .put(0x1112131415161718, 8);
  Directory const dir = file_.directory();
  EXPECT_EQ(dir.unsigned_value(1), 200u);
  EXPECT_EQ(dir.unsigned_value(2), 60'000u);
  EXPECT_EQ(dir.unsigned_value(3), 4'000'000'000u);
  EXPECT_EQ(dir.unsigned_value(4), 3'000'000'000u);
  EXPECT_EQ(dir.unsigned_value(5), 0x0102030405060708u);
  EXPECT_EQ(dir.unsigned_value(6), 0x1112131415161718u);
}

TEST_P(EveryFormat, EntriesOfSignedTypesAreUnsignedValuesWhenTheyAreNotNegative) {
  file_.count(5)
      .entry(1, 6, 1, 100, 1)
      .entry(2, 8, 1, 0xFFFE, 2)
      .entry(3, 9, 1, 70'000, 4)
      .entry(4, 9, 1, 0xFFFFFFFF, 4)
      .pointer(5, 17, 1, GetParam().big ? ~std::uint64_t{4} : 200)
      .next(0)
      .pad_to(200)
      .put(~std::uint64_t{4}, 8);
  Directory const dir = file_.directory();
  EXPECT_EQ(dir.unsigned_value(1), 100u);
  EXPECT_EQ(dir.unsigned_value(2), std::nullopt);
  EXPECT_EQ(dir.unsigned_value(3), 70'000u);
  EXPECT_EQ(dir.unsigned_value(4), std::nullopt);
  EXPECT_EQ(dir.real_value(2), -2);
  EXPECT_EQ(dir.real_value(4), -1);
  EXPECT_EQ(dir.real_value(5), -5);
}

TEST_P(EveryFormat, EntriesOfRealTypesAreRead) {
  std::uint64_t const at = 200;
  file_.count(5)
      .entry(1, 11, 1, std::bit_cast<std::uint32_t>(1.5f), 4)
      .pointer(2, 12, 2, at)
      .pointer(3, 5, 2, at + 16)
      .pointer(4, 10, 2, at + 32)
      .pointer(5, 5, 3, at + 16)
      .next(0)
      .pad_to(at)
      .put(std::bit_cast<std::uint64_t>(-2.25), 8)
      .put(std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity()), 8)
      .put(3, 4)
      .put(4, 4)
      .put(5, 4)
      .put(0, 4)
      .put(0xFFFFFFFD, 4)
      .put(2, 4)
      .put(1, 4)
      .put(0, 4);
  Directory const dir = file_.directory();
  EXPECT_EQ(dir.real_value(1), 1.5);
  EXPECT_EQ(dir.real_values(2, 9), (std::vector<double>{-2.25, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(dir.real_values(3, 9), (std::vector<double>{0.75, 0})) << "a denominator of 0 is 0, as in libtiff";
  EXPECT_EQ(dir.real_values(4, 9), (std::vector<double>{-1.5, 0}));
  EXPECT_EQ(dir.real_value(5, 1), 0);
  EXPECT_EQ(dir.unsigned_value(1), std::nullopt) << "a float is no count";
  EXPECT_EQ(dir.unsigned_values(2, 9).size(), 0u);
}

TEST_P(EveryFormat, EntriesThatAreOddDoNotDisturbTheNext) {
  file_.count(7)
      .entry(10, 0, 1, 0xDEADBEEF, 4)                   // type 0
      .entry(11, 14, 0xFFFFFFFF, 0xDEADBEEF, 4)         // a type between the known ones
      .entry(12, 999, 3, 0xDEADBEEF, 4)                 // an unknown type
      .entry(13, 3, 0, 0xDEADBEEF, 4)                   // no values at all
      .entry(14, 13, 1, 77, 4)                          // IFD
      .pointer(15, 2, GetParam().big ? ~std::uint64_t{0} : 0xFFFFFFFF, 0xFFFFFFFF)  // a text of 4 GiB or more
      .entry(256, 4, 1, 123, 4)
      .next(0);
  Directory const dir = file_.directory();
  ASSERT_EQ(dir.entries().size(), 7u) << "all are kept";
  EXPECT_EQ(dir.unsigned_value(256), 123u);
  EXPECT_EQ(dir.unsigned_value(14), 77u);
  for (std::uint16_t const odd : std::vector<std::uint16_t>{10, 11, 12, 13, 15}) {
    EXPECT_TRUE(dir.has(odd));
    EXPECT_EQ(dir.unsigned_value(odd), std::nullopt) << odd;
    EXPECT_EQ(dir.real_value(odd), std::nullopt) << odd;
    EXPECT_TRUE(dir.unsigned_values(odd, 100).empty()) << odd;
    EXPECT_TRUE(dir.bytes_value(odd).empty()) << odd;
    EXPECT_EQ(dir.text_value(odd), std::nullopt) << odd;
  }
}

TEST_P(EveryFormat, EntriesThatRepeatATagLoseToTheFirst) {
  file_.count(3).entry(256, 3, 1, 1, 2).entry(256, 3, 1, 2, 2).entry(256, 4, 1, 3, 4).next(0);
  Directory const dir = file_.directory();
  EXPECT_EQ(dir.unsigned_value(256), 1u);
  EXPECT_EQ(dir.entries().size(), 3u);
}

TEST_P(EveryFormat, EntriesMayComeInAnyOrder) {
  file_.count(3).entry(339, 3, 1, 1, 2).entry(256, 3, 1, 2, 2).entry(277, 3, 1, 3, 2).next(0);
  Directory const dir = file_.directory();
  EXPECT_EQ(dir.unsigned_value(256), 2u);
  EXPECT_EQ(dir.unsigned_value(277), 3u);
  EXPECT_EQ(dir.unsigned_value(339), 1u);
}

TEST_P(EveryFormat, ValuesThatFitTheEntryLieInIt) {
  // Four bytes fit both formats; the offset told is that of the value field.
  file_.count(1).entry(258, 3, 2, 0, 0).next(0);
  Directory const dir = file_.directory();
  std::size_t const count_bytes = GetParam().big ? 8 : 2;
  std::size_t const before_value = GetParam().big ? 12 : 8;
  EXPECT_EQ(dir.entries()[0].value_offset_bytes, file_.first_ifd() + count_bytes + before_value);
  EXPECT_EQ(dir.entries()[0].value_bytes, 4u);
}

TEST_P(EveryFormat, ValuesOfFiveBytesAreInlineInBigTiffOnly) {
  file_.count(1);
  if (GetParam().big) {
    file_.put16(270).put16(2).put(5, 8);
    for (char const c : {'h', 'e', 'l', 'l', '\0', 'x', 'x', 'x'}) { file_.put(static_cast<std::uint8_t>(c), 1); }
    file_.next(0);
  } else {
    file_.pointer(270, 2, 5, 100).next(0).pad_to(100);
    for (char const c : {'h', 'e', 'l', 'l', '\0'}) { file_.put(static_cast<std::uint8_t>(c), 1); }
  }
  EXPECT_EQ(file_.directory().text_value(270), "hell");
}

TEST_P(EveryFormat, ValuesPastTheEndOfTheFileAreAbsent) {
  file_.count(3).pointer(1, 4, 100, 60).pointer(2, 4, 100, 0xFFFFFFF0).entry(256, 4, 1, 5, 4).next(0);
  Directory const dir = file_.directory();
  for (std::uint16_t const tag : std::vector<std::uint16_t>{1, 2}) {
    EXPECT_TRUE(dir.has(tag));
    EXPECT_EQ(dir.unsigned_values(tag, 100).size(), 0u);
    EXPECT_TRUE(dir.bytes_value(tag).empty());
  }
  EXPECT_EQ(dir.unsigned_value(256), 5u);
}

TEST(DirectoryValues, WithACountThatOverflowsAreAbsent) {
  RawFile file({std::endian::little, true});
  // 2^61 doubles are 2^64 bytes; one value more wraps to eight.
  file.count(3)
      .pointer(1, 12, std::uint64_t{1} << 61, 16)
      .pointer(2, 12, (std::uint64_t{1} << 61) + 1, 16)
      .pointer(3, 16, ~std::uint64_t{0}, ~std::uint64_t{0})
      .next(0);
  Directory const dir = file.directory();
  for (std::uint16_t const tag : std::vector<std::uint16_t>{1, 2, 3}) {
    EXPECT_EQ(dir.entries()[tag - 1u].value_bytes, 0u);
    EXPECT_TRUE(dir.real_values(tag, 10).empty());
    EXPECT_EQ(dir.unsigned_value(tag), std::nullopt);
    EXPECT_EQ(dir.real_value(tag, ~std::uint64_t{0}), std::nullopt);
  }
}

TEST(DirectoryValues, WithAnOffsetThatOverflowsAreAbsent) {
  RawFile file({std::endian::big, true});
  file.count(1).pointer(1, 4, 1000, ~std::uint64_t{0} - 100).next(0);
  Directory const dir = file.directory();
  EXPECT_TRUE(dir.unsigned_values(1, 1000).empty());
  EXPECT_EQ(dir.unsigned_value(1, 999), std::nullopt) << "offset + index wraps";
}

TEST(DirectoryValues, PastTheirCountAreAbsent) {
  Directory const dir = TiffBuilder().shorts(258, {8, 9, 10}).directory();
  EXPECT_EQ(dir.unsigned_value(258, 2), 10u);
  EXPECT_EQ(dir.unsigned_value(258, 3), std::nullopt);
  EXPECT_EQ(dir.real_value(258, ~std::uint64_t{0}), std::nullopt);
  EXPECT_EQ(dir.unsigned_value(259), std::nullopt);
}

TEST(DirectoryValues, AreCutAtTheCountAskedFor) {
  Directory const dir = TiffBuilder().shorts(258, {8, 9, 10}).directory();
  EXPECT_EQ(dir.unsigned_values(258, 2), (std::vector<std::uint64_t>{8, 9}));
  EXPECT_EQ(dir.unsigned_values(258, 100).size(), 3u);
  EXPECT_TRUE(dir.unsigned_values(258, 0).empty());
  EXPECT_EQ(dir.real_values(258, 1), (std::vector<double>{8}));
}

TEST(DirectoryValues, OfTextEndAtTheFirstNul) {
  auto const text_of = [](std::vector<std::byte> raw) {
    std::uint64_t const n = raw.size();
    return TiffBuilder().raw(270, 2, n, std::move(raw)).directory().text_value(270);
  };
  EXPECT_EQ(text_of(bytes_of({'a', 'b', 0, 'c', 0})), "ab");
  EXPECT_EQ(text_of(bytes_of({'a', 'b', 'c', 'd', 'e'})), "abcde") << "no NUL at all";
  EXPECT_EQ(text_of(bytes_of({0})), "");
  EXPECT_EQ(TiffBuilder().shorts(270, {65}).directory().text_value(270), std::nullopt) << "not of bytes";
}

TEST(DirectoryValues, OfBytesComeInTheFilesOrder) {
  Directory const dir = TiffBuilder(std::endian::big).shorts(347, {0x0102, 0x0304}).directory();
  EXPECT_EQ(dir.bytes_value(347), bytes_of({1, 2, 3, 4}));
}

TEST(DirectoryValues, MayBeLarge) {
  std::vector<std::byte> xmp(3'000'000, std::byte{'x'});
  xmp[2'999'999] = std::byte{'y'};
  Directory const dir = TiffBuilder().raw(700, 1, xmp.size(), xmp).directory();
  EXPECT_EQ(dir.bytes_value(700), xmp);
}

// A sparse file of 1 TiB costs nobody anything; a tag that claims all of it must not cost us a TiB.
TEST(DirectoryValues, OfAbsurdSizeAreAbsentAlsoWhenTheFileIsThatLarge) {
  RawFile file({std::endian::little, true});
  std::uint64_t const size = std::uint64_t{1} << 40;
  file.count(1).pointer(700, 1, size - 1000, 500).next(0);
  auto const source =
      std::make_shared<testing::SyntheticSource>(file.bytes(), size, [](std::uint64_t) { return std::byte{}; });
  Directory const dir = read_chain(source).directories.at(0);
  EXPECT_TRUE(dir.bytes_value(700).empty());
  EXPECT_EQ(dir.text_value(700), std::nullopt);
  EXPECT_EQ(dir.unsigned_value(700, 5), 0u) << "one of its values is fine";
}

TEST(ReadChain, CountsItsMemory) {
  RawFile file({std::endian::little, true});
  file.count(1).pointer(700, 1, 8, 0).next(0);
  auto const source = std::make_shared<testing::SyntheticSource>(file.bytes(), file.bytes().size(),
                                                                 [](std::uint64_t) { return std::byte{}; });
  MemoryBudget enough(10'000), little(16);
  Chain const chain = read_chain(source, enough);
  EXPECT_EQ(enough.used_bytes(), held_bytes(chain.directories.at(0)));
  try {
    static_cast<void>(read_chain(source, little));
    FAIL() << "no error";
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::limit); }
}

}  // namespace
}  // namespace terrazzo::tiff
