// SPDX-License-Identifier: Apache-2.0
#include "tiff/directory.hpp"

#include "base/byte_view.hpp"
#include "io/memory_source.hpp"
#include "support/sources.hpp"
#include "support/tiff_builder.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

namespace terrazzo::tiff {
namespace {

using testing::TiffBuilder;

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int const v : values) { bytes.push_back(static_cast<std::byte>(v)); }
  return bytes;
}

ByteSourcePtr source_of(std::vector<std::byte> bytes) {
  return std::make_shared<io::MemorySource>(std::move(bytes), "raw.tif");
}

ErrorKind kind_of_failure(std::vector<std::byte> bytes) {
  try {
    static_cast<void>(read_chain(source_of(std::move(bytes))));
  } catch (Error const& error) { return error.kind(); }
  ADD_FAILURE() << "no error";
  return ErrorKind::device;
}

// Raw directories: bytes are put where the test wants them, in either byte order and either format.
struct Format {
  std::endian order;
  bool big;
};

class RawFile {
 public:
  explicit RawFile(Format format) : format_(format) {
    put16(format.order == std::endian::little ? 0x4949 : 0x4d4d);
    put16(format.big ? 43 : 42);
    if (format.big) {
      put16(8);
      put16(0);
    }
    word(format.big ? 16 : 8);
  }
  RawFile& count(std::uint64_t entries) {
    if (format_.big) {
      put(entries, 8);
    } else {
      put(entries, 2);
    }
    return *this;
  }
  // An entry whose value field holds `value` as an integer of `value_bytes`, at its front.
  RawFile& entry(std::uint16_t tag, std::uint16_t type, std::uint64_t n, std::uint64_t value, std::size_t value_bytes) {
    put16(tag);
    put16(type);
    word(n);
    put(value, value_bytes);
    put(0, word_bytes() - value_bytes);
    return *this;
  }
  RawFile& pointer(std::uint16_t tag, std::uint16_t type, std::uint64_t n, std::uint64_t offset) {
    return entry(tag, type, n, offset, word_bytes());
  }
  RawFile& next(std::uint64_t offset) {
    word(offset);
    return *this;
  }
  RawFile& pad_to(std::size_t size) {
    bytes_.resize(std::max(bytes_.size(), size));
    return *this;
  }
  RawFile& put(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      std::size_t const shift = 8 * (format_.order == std::endian::little ? i : size - 1 - i);
      bytes_.push_back(static_cast<std::byte>(value >> shift));
    }
    return *this;
  }
  RawFile& put16(std::uint16_t value) { return put(value, 2); }
  [[nodiscard]] std::size_t word_bytes() const { return format_.big ? 8 : 4; }
  [[nodiscard]] std::size_t first_ifd() const { return format_.big ? 16 : 8; }
  [[nodiscard]] std::size_t ifd_bytes(std::size_t entries) const {
    return format_.big ? 8 + 20 * entries + 8 : 2 + 12 * entries + 4;
  }
  [[nodiscard]] std::vector<std::byte> const& bytes() const { return bytes_; }
  [[nodiscard]] Chain chain() const { return read_chain(source_of(bytes_)); }

 private:
  void word(std::uint64_t value) { put(value, word_bytes()); }
  Format format_;
  std::vector<std::byte> bytes_;
};

class EveryFormat : public ::testing::TestWithParam<Format> {};

INSTANTIATE_TEST_SUITE_P(Tiff, EveryFormat,
                         ::testing::Values(Format{std::endian::little, false}, Format{std::endian::big, false},
                                           Format{std::endian::little, true}, Format{std::endian::big, true}),
                         [](auto const& test) {
                           return std::string(test.param.big ? "Big" : "Classic") +
                                  (test.param.order == std::endian::little ? "LittleEndian" : "BigEndian");
                         });

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
  RawFile file(GetParam());
  file.count(1).entry(256, 4, 1, 7, 4).next(0);
  Header const header = file.chain().header;
  EXPECT_EQ(header.order, GetParam().order);
  EXPECT_EQ(header.big, GetParam().big);
  EXPECT_EQ(header.first_ifd_bytes, file.first_ifd());
}

// ---------------------------------------------------------------------------------------------------------------
// Entries

TEST_P(EveryFormat, EntriesOfEveryUnsignedTypeAreRead) {
  RawFile file(GetParam());
  file.count(6)
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
  Directory const dir = file.chain().directories.at(0);
  EXPECT_EQ(dir.unsigned_value(1), 200u);
  EXPECT_EQ(dir.unsigned_value(2), 60'000u);
  EXPECT_EQ(dir.unsigned_value(3), 4'000'000'000u);
  EXPECT_EQ(dir.unsigned_value(4), 3'000'000'000u);
  EXPECT_EQ(dir.unsigned_value(5), 0x0102030405060708u);
  EXPECT_EQ(dir.unsigned_value(6), 0x1112131415161718u);
}

TEST_P(EveryFormat, EntriesOfSignedTypesAreUnsignedValuesWhenTheyAreNotNegative) {
  RawFile file(GetParam());
  file.count(5)
      .entry(1, 6, 1, 100, 1)
      .entry(2, 8, 1, 0xFFFE, 2)
      .entry(3, 9, 1, 70'000, 4)
      .entry(4, 9, 1, 0xFFFFFFFF, 4)
      .pointer(5, 17, 1, GetParam().big ? ~std::uint64_t{4} : 200)
      .next(0)
      .pad_to(200)
      .put(~std::uint64_t{4}, 8);
  Directory const dir = file.chain().directories.at(0);
  EXPECT_EQ(dir.unsigned_value(1), 100u);
  EXPECT_EQ(dir.unsigned_value(2), std::nullopt);
  EXPECT_EQ(dir.unsigned_value(3), 70'000u);
  EXPECT_EQ(dir.unsigned_value(4), std::nullopt);
  EXPECT_EQ(dir.real_value(2), -2);
  EXPECT_EQ(dir.real_value(4), -1);
  EXPECT_EQ(dir.real_value(5), -5);
}

TEST_P(EveryFormat, EntriesOfRealTypesAreRead) {
  RawFile file(GetParam());
  std::uint64_t const at = 200;
  file.count(5)
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
  Directory const dir = file.chain().directories.at(0);
  EXPECT_EQ(dir.real_value(1), 1.5);
  EXPECT_EQ(dir.real_values(2, 9), (std::vector<double>{-2.25, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(dir.real_values(3, 9), (std::vector<double>{0.75, 0})) << "a denominator of 0 is 0, as in libtiff";
  EXPECT_EQ(dir.real_values(4, 9), (std::vector<double>{-1.5, 0}));
  EXPECT_EQ(dir.real_value(5, 1), 0);
  EXPECT_EQ(dir.unsigned_value(1), std::nullopt) << "a float is no count";
  EXPECT_EQ(dir.unsigned_values(2, 9).size(), 0u);
}

TEST_P(EveryFormat, EntriesThatAreOddDoNotDisturbTheNext) {
  RawFile file(GetParam());
  file.count(7)
      .entry(10, 0, 1, 0xDEADBEEF, 4)                   // type 0
      .entry(11, 14, 0xFFFFFFFF, 0xDEADBEEF, 4)         // a type between the known ones
      .entry(12, 999, 3, 0xDEADBEEF, 4)                 // an unknown type
      .entry(13, 3, 0, 0xDEADBEEF, 4)                   // no values at all
      .entry(14, 13, 1, 77, 4)                          // IFD
      .pointer(15, 2, GetParam().big ? ~std::uint64_t{0} : 0xFFFFFFFF, 0xFFFFFFFF)  // a text of 4 GiB or more
      .entry(256, 4, 1, 123, 4)
      .next(0);
  Directory const dir = file.chain().directories.at(0);
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
  RawFile file(GetParam());
  file.count(3).entry(256, 3, 1, 1, 2).entry(256, 3, 1, 2, 2).entry(256, 4, 1, 3, 4).next(0);
  Directory const dir = file.chain().directories.at(0);
  EXPECT_EQ(dir.unsigned_value(256), 1u);
  EXPECT_EQ(dir.entries().size(), 3u);
}

TEST_P(EveryFormat, EntriesMayComeInAnyOrder) {
  RawFile file(GetParam());
  file.count(3).entry(339, 3, 1, 1, 2).entry(256, 3, 1, 2, 2).entry(277, 3, 1, 3, 2).next(0);
  Directory const dir = file.chain().directories.at(0);
  EXPECT_EQ(dir.unsigned_value(256), 2u);
  EXPECT_EQ(dir.unsigned_value(277), 3u);
  EXPECT_EQ(dir.unsigned_value(339), 1u);
}

TEST_P(EveryFormat, ValuesThatFitTheEntryLieInIt) {
  RawFile file(GetParam());
  // Four bytes fit both formats; the offset told is that of the value field.
  file.count(1).entry(258, 3, 2, 0, 0).next(0);
  Directory const dir = file.chain().directories.at(0);
  std::size_t const count_bytes = GetParam().big ? 8 : 2;
  std::size_t const before_value = GetParam().big ? 12 : 8;
  EXPECT_EQ(dir.entries()[0].value_offset_bytes, file.first_ifd() + count_bytes + before_value);
  EXPECT_EQ(dir.entries()[0].value_bytes, 4u);
}

TEST_P(EveryFormat, ValuesOfFiveBytesAreInlineInBigTiffOnly) {
  RawFile file(GetParam());
  file.count(1);
  if (GetParam().big) {
    file.put16(270).put16(2).put(5, 8);
    for (char const c : {'h', 'e', 'l', 'l', '\0', 'x', 'x', 'x'}) { file.put(static_cast<std::uint8_t>(c), 1); }
    file.next(0);
  } else {
    file.pointer(270, 2, 5, 100).next(0).pad_to(100);
    for (char const c : {'h', 'e', 'l', 'l', '\0'}) { file.put(static_cast<std::uint8_t>(c), 1); }
  }
  EXPECT_EQ(file.chain().directories.at(0).text_value(270), "hell");
}

TEST_P(EveryFormat, ValuesPastTheEndOfTheFileAreAbsent) {
  RawFile file(GetParam());
  file.count(3).pointer(1, 4, 100, 60).pointer(2, 4, 100, 0xFFFFFFF0).entry(256, 4, 1, 5, 4).next(0);
  Directory const dir = file.chain().directories.at(0);
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
  Directory const dir = file.chain().directories.at(0);
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
  Directory const dir = file.chain().directories.at(0);
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

// ---------------------------------------------------------------------------------------------------------------
// Chains

TEST_P(EveryFormat, ChainListsDirectoriesInOrder) {
  RawFile file(GetParam());
  std::size_t const second = file.first_ifd() + file.ifd_bytes(1);
  file.count(1).entry(256, 4, 1, 11, 4).next(second).count(1).entry(256, 4, 1, 22, 4).next(0);
  Chain const chain = file.chain();
  ASSERT_EQ(chain.directories.size(), 2u);
  EXPECT_EQ(chain.directories[0].unsigned_value(256), 11u);
  EXPECT_EQ(chain.directories[1].unsigned_value(256), 22u);
  EXPECT_EQ(chain.directories[1].index(), 1u);
  EXPECT_EQ(chain.directories[1].offset_bytes(), second);
  EXPECT_TRUE(chain.warnings.empty());
}

TEST_P(EveryFormat, ChainThatLoopsToItselfEndsWithAWarning) {
  RawFile file(GetParam());
  file.count(1).entry(256, 4, 1, 1, 4).next(file.first_ifd());
  Chain const chain = file.chain();
  EXPECT_EQ(chain.directories.size(), 1u);
  EXPECT_EQ(chain.warnings.size(), 1u);
}

TEST_P(EveryFormat, ChainThatLoopsToAnEarlierOneEndsWithAWarning) {
  RawFile file(GetParam());
  std::size_t const step = file.ifd_bytes(1), first = file.first_ifd();
  file.count(1).entry(256, 4, 1, 1, 4).next(first + step);
  file.count(1).entry(256, 4, 1, 2, 4).next(first + 2 * step);
  file.count(1).entry(256, 4, 1, 3, 4).next(first + step);
  Chain const chain = file.chain();
  EXPECT_EQ(chain.directories.size(), 3u);
  ASSERT_EQ(chain.warnings.size(), 1u);
  EXPECT_NE(chain.warnings[0].find("loop"), std::string::npos);
}

TEST_P(EveryFormat, ChainThatLinksPastTheEndKeepsWhatItHas) {
  for (std::uint64_t const link : {std::uint64_t{1'000'000}, std::uint64_t{0xFFFFFFFF}, std::uint64_t{1}}) {
    RawFile file(GetParam());
    file.count(1).entry(256, 4, 1, 1, 4).next(link);
    Chain const chain = file.chain();
    EXPECT_EQ(chain.directories.size(), 1u) << link;
    EXPECT_EQ(chain.warnings.size(), 1u) << link;
  }
}

TEST_P(EveryFormat, ChainWhoseFirstDirectoryIsBrokenIsRefused) {
  Format const format = GetParam();
  RawFile empty(format), past_end(format), cut(format);
  empty.count(0).next(0);
  past_end.count(3).entry(256, 4, 1, 1, 4).next(0);
  cut.put(1, 1);
  EXPECT_EQ(kind_of_failure(empty.bytes()), ErrorKind::malformed);
  EXPECT_EQ(kind_of_failure(past_end.bytes()), ErrorKind::malformed) << "more entries than the file has";
  EXPECT_EQ(kind_of_failure(cut.bytes()), ErrorKind::malformed) << "half a count";
}

TEST(Chain, RefusesAbsurdCountsOfBigTiff) {
  for (std::uint64_t const n :
       {std::uint64_t{65'536}, std::uint64_t{1} << 40, ~std::uint64_t{0}, (~std::uint64_t{0} / 20) + 1}) {
    RawFile file({std::endian::little, true});
    file.count(n).entry(256, 4, 1, 1, 4).next(0).pad_to(2'000'000);
    EXPECT_EQ(kind_of_failure(file.bytes()), ErrorKind::malformed) << n;
  }
}

TEST_P(EveryFormat, ChainMayEndWithoutItsLastLink) {
  RawFile file(GetParam());
  file.count(1).entry(256, 4, 1, 9, 4);
  EXPECT_EQ(file.chain().directories.at(0).next_bytes(), 0u);
  file.put(1, 1);  // a byte of a link
  EXPECT_EQ(file.chain().directories.at(0).unsigned_value(256), 9u);
  EXPECT_EQ(file.chain().directories.at(0).next_bytes(), 0u);
}

TEST(Chain, StopsAtTheNumberAskedFor) {
  TiffBuilder builder;
  for (std::uint32_t i = 0; i < 5; ++i) {
    if (i != 0) { builder.next_ifd(); }
    builder.longs(256, {i});
  }
  Chain const chain = read_chain(builder.source(), 3);
  EXPECT_EQ(chain.directories.size(), 3u);
  EXPECT_EQ(chain.warnings.size(), 1u);
  EXPECT_EQ(read_chain(builder.source(), 5).warnings.size(), 0u);
}

TEST(Chain, MayStartAtAnOddOffset) {
  std::vector<std::byte> bytes = bytes_of({'I', 'I', 42, 0, 9, 0, 0, 0, 0xEE, 1, 0});
  for (int const b : {0, 1, 4, 0, 1, 0, 0, 0, 33, 0, 0, 0, 0, 0, 0, 0}) { bytes.push_back(static_cast<std::byte>(b)); }
  EXPECT_EQ(read_chain(source_of(bytes)).directories.at(0).unsigned_value(256), 33u);
}

// 8,192 directories of 65,535 entries each, one four bytes behind the other, in a file of 0.9 MiB: taken at their word
// they would be 17 GB of entries.
TEST(Chain, DoesNotMultiplyDirectoriesThatOverlap) {
  constexpr std::size_t kDirectories = 8192, kEntries = 65'535;
  std::vector<std::byte> bytes(8 + 4 * kDirectories + 2 + 12 * kEntries + 8, std::byte{0xFF});
  auto const put32 = [&](std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i) { bytes[at + i] = static_cast<std::byte>(value >> (8 * i)); }
  };
  put32(0, 0x002A4949);
  put32(4, 8);
  for (std::uint32_t i = 0; i + 1 < kDirectories; ++i) {
    std::uint32_t const at = 8 + 4 * i;
    put32(at + 2 + 12 * kEntries, at + 4);
  }
  Chain const chain = read_chain(source_of(bytes));
  EXPECT_EQ(chain.directories.size(), 1u) << "they do not fit the file side by side";
  ASSERT_EQ(chain.warnings.size(), 1u);
  EXPECT_NE(chain.warnings[0].find("overlap"), std::string::npos);
}

TEST(Chain, PassesOnAFailureOfTheSource) {
  TiffBuilder builder;
  builder.longs(256, {1}).next_ifd().longs(256, {2});
  auto const source = std::make_shared<testing::CountingSource>(builder.source());
  source->fails = true;
  try {
    static_cast<void>(read_chain(source));
    FAIL();
  } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::io); }
}

TEST(Chain, OfACloudOptimizedFileIsOneRead) {
  TiffBuilder builder;
  for (std::uint32_t level = 0; level < 6; ++level) {
    if (level != 0) { builder.next_ifd(); }
    builder.longs(256, {level}).longs(257, {level}).ascii(42113, "-9999").doubles(33550, {1, 1, 0});
  }
  auto const source = std::make_shared<testing::CountingSource>(builder.source());
  Chain const chain = read_chain(source);
  for (Directory const& dir : chain.directories) { EXPECT_EQ(dir.text_value(42113), "-9999"); }
  EXPECT_EQ(source->submits, 1u);
}

// ---------------------------------------------------------------------------------------------------------------
// SubIFDs

TEST_P(EveryFormat, SubDirectoriesAreReadFromEveryOffsetType) {
  for (std::uint16_t const type : std::vector<std::uint16_t>{4, 13, 16, 18}) {
    bool const wide = type >= 16;
    if (wide && !GetParam().big) { continue; }
    RawFile file(GetParam());
    std::size_t const child = file.first_ifd() + file.ifd_bytes(1);
    file.count(1).entry(330, type, 1, child, wide ? 8 : 4).next(0).count(1).entry(256, 4, 1, 64, 4).next(0);
    auto const subs = read_sub_directories(file.chain().directories.at(0));
    ASSERT_EQ(subs.size(), 1u) << type;
    EXPECT_EQ(subs[0].unsigned_value(256), 64u);
    EXPECT_EQ(subs[0].index(), 0u) << "told as part of its parent";
  }
}

TEST(SubDirectories, ThatAreBrokenAreLeftOut) {
  RawFile file({std::endian::little, false});
  std::size_t const child = file.first_ifd() + file.ifd_bytes(1);
  std::size_t const list = child + file.ifd_bytes(1);
  file.count(1).pointer(330, 4, 5, list).next(0).count(1).entry(256, 4, 1, 64, 4).next(0);
  file.put(0, 4).put(file.first_ifd(), 4).put(5'000'000, 4).put(child, 4).put(list + 18, 4);
  auto const subs = read_sub_directories(file.chain().directories.at(0));
  ASSERT_EQ(subs.size(), 1u) << "not nothing, not the parent, not past the end, not a count of 0";
  EXPECT_EQ(subs[0].offset_bytes(), child);
}

TEST(SubDirectories, ThatRepeatDoNotMultiply) {
  constexpr std::size_t kEntries = 60'000, kRepeats = 1000;
  RawFile file({std::endian::little, false});
  std::size_t const child = file.first_ifd() + file.ifd_bytes(1);
  std::size_t const list = child + file.ifd_bytes(kEntries);
  file.count(1).pointer(330, 4, kRepeats, list).next(0).count(kEntries).pad_to(list);
  for (std::size_t i = 0; i < kRepeats; ++i) { file.put(child, 4); }
  EXPECT_LE(read_sub_directories(file.chain().directories.at(0)).size(), 1u);
}

TEST(SubDirectories, OfADirectoryWithoutThemAreNone) {
  EXPECT_TRUE(read_sub_directories(TiffBuilder().longs(256, {1}).directory()).empty());
}

}  // namespace
}  // namespace terrazzo::tiff
