// SPDX-License-Identifier: Apache-2.0
//
// How directories follow each other: the chain of a file, and SubIFDs.
#include "support/bytes.hpp"
#include "support/sources.hpp"
#include "support/tiff_builder.hpp"
#include "tiff/directory.hpp"
#include "tiff/raw_file.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace terrazzo::tiff {
namespace {

using test::Format;
using test::kind_of_failure;
using test::RawFile;
using test::source_of;
using testing::bytes_of;
using testing::TiffBuilder;

class EveryFormatsChain : public test::EveryFormat {};
INSTANTIATE_TEST_SUITE_P(Tiff, EveryFormatsChain, test::EveryFormat::formats(), test::EveryFormat::name_of);

TEST_P(EveryFormatsChain, ListsDirectoriesInOrder) {
  std::size_t const second = file_.first_ifd() + file_.ifd_bytes(1);
  file_.count(1).entry(256, 4, 1, 11, 4).next(second).count(1).entry(256, 4, 1, 22, 4).next(0);
  Chain const chain = file_.chain();
  ASSERT_EQ(chain.directories.size(), 2u);
  EXPECT_EQ(chain.directories[0].unsigned_value(256), 11u);
  EXPECT_EQ(chain.directories[1].unsigned_value(256), 22u);
  EXPECT_EQ(chain.directories[1].index(), 1u);
  EXPECT_EQ(chain.directories[1].offset_bytes(), second);
  EXPECT_TRUE(chain.warnings.empty());
}

TEST_P(EveryFormatsChain, ThatLoopsToItselfEndsWithAWarning) {
  file_.count(1).entry(256, 4, 1, 1, 4).next(file_.first_ifd());
  Chain const chain = file_.chain();
  EXPECT_EQ(chain.directories.size(), 1u);
  EXPECT_EQ(chain.warnings.size(), 1u);
}

TEST_P(EveryFormatsChain, ThatLoopsToAnEarlierOneEndsWithAWarning) {
  std::size_t const step = file_.ifd_bytes(1), first = file_.first_ifd();
  file_.count(1).entry(256, 4, 1, 1, 4).next(first + step);
  file_.count(1).entry(256, 4, 1, 2, 4).next(first + 2 * step);
  file_.count(1).entry(256, 4, 1, 3, 4).next(first + step);
  Chain const chain = file_.chain();
  EXPECT_EQ(chain.directories.size(), 3u);
  ASSERT_EQ(chain.warnings.size(), 1u);
  EXPECT_NE(chain.warnings[0].find("loop"), std::string::npos);
}

TEST_P(EveryFormatsChain, ThatLinksPastTheEndKeepsWhatItHas) {
  for (std::uint64_t const link : {std::uint64_t{1'000'000}, std::uint64_t{0xFFFFFFFF}, std::uint64_t{1}}) {
    RawFile file(GetParam());
    file.count(1).entry(256, 4, 1, 1, 4).next(link);
    Chain const chain = file.chain();
    EXPECT_EQ(chain.directories.size(), 1u) << link;
    EXPECT_EQ(chain.warnings.size(), 1u) << link;
  }
}

TEST_P(EveryFormatsChain, WhoseFirstDirectoryIsBrokenIsRefused) {
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

TEST_P(EveryFormatsChain, MayEndWithoutItsLastLink) {
  file_.count(1).entry(256, 4, 1, 9, 4);
  EXPECT_EQ(file_.directory().next_bytes(), 0u);
  file_.put(1, 1);  // a byte of a link
  EXPECT_EQ(file_.directory().unsigned_value(256), 9u);
  EXPECT_EQ(file_.directory().next_bytes(), 0u);
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

TEST_P(EveryFormatsChain, SubDirectoriesAreReadFromEveryOffsetType) {
  for (std::uint16_t const type : std::vector<std::uint16_t>{4, 13, 16, 18}) {
    bool const wide = type >= 16;
    if (wide && !GetParam().big) { continue; }
    RawFile file(GetParam());
    std::size_t const child = file.first_ifd() + file.ifd_bytes(1);
    file.count(1).entry(330, type, 1, child, wide ? 8 : 4).next(0).count(1).entry(256, 4, 1, 64, 4).next(0);
    auto const subs = read_sub_directories(file.directory());
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
  auto const subs = read_sub_directories(file.directory());
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
  EXPECT_LE(read_sub_directories(file.directory()).size(), 1u);
}

TEST(SubDirectories, OfADirectoryWithoutThemAreNone) {
  EXPECT_TRUE(read_sub_directories(TiffBuilder().longs(256, {1}).directory()).empty());
}

}  // namespace
}  // namespace terrazzo::tiff
