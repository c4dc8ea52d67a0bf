// SPDX-License-Identifier: Apache-2.0
#include "tiff/metadata_reader.hpp"

#include "io/memory_source.hpp"
#include "support/sources.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace terrazzo::tiff {
namespace {

using testing::CountingSource;
using testing::SyntheticSource;

std::byte pattern(std::uint64_t at) { return static_cast<std::byte>(at * 2654435761u >> 13); }

std::shared_ptr<CountingSource> counted(std::uint64_t bytes) {
  return std::make_shared<CountingSource>(std::make_shared<SyntheticSource>(std::vector<std::byte>{}, bytes, pattern));
}

void expect_pattern(std::uint64_t offset, std::span<std::byte const> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) { ASSERT_EQ(bytes[i], pattern(offset + i)) << offset + i; }
}

TEST(MetadataReader, GivesTheRightBytesAcrossPages) {
  auto const source = counted(100'000);
  MetadataReader const reader(source);
  for (std::uint64_t const offset : {0u, 1u, 4090u, 4095u, 4096u, 16380u, 16384u, 50'000u, 94'999u}) {
    std::vector<std::byte> bytes(5001);
    reader.read(offset, bytes);
    expect_pattern(offset, bytes);
  }
}

TEST(MetadataReader, FetchesTheFrontInOneRead) {
  auto const source = counted(1 << 20);
  MetadataReader const reader(source);
  std::array<std::byte, 8> bytes;
  for (std::uint64_t offset = 0; offset + 8 <= MetadataReader::kFirstReadBytes; offset += 8) {
    reader.read(offset, bytes);
  }
  EXPECT_EQ(source->submits, 1u);
  EXPECT_EQ(source->bytes, MetadataReader::kFirstReadBytes);
}

TEST(MetadataReader, FetchesAPageOnce) {
  auto const source = counted(1 << 20);
  MetadataReader const reader(source);
  std::array<std::byte, 16> bytes;
  for (int i = 0; i < 100; ++i) { reader.read(500'000 + static_cast<std::uint64_t>(i), bytes); }
  EXPECT_EQ(source->submits, 1u);
  EXPECT_EQ(source->bytes, MetadataReader::kPageBytes);
}

// Of 2 MiB, counted; its hint is given.
std::shared_ptr<CountingSource> reading_ahead(std::uint64_t read_ahead_bytes) {
  auto const read_at = [](std::uint64_t offset, std::span<std::byte> into) {
    for (std::size_t i = 0; i < into.size(); ++i) { into[i] = pattern(offset + i); }
    return into.size();
  };
  return std::make_shared<CountingSource>(
      callback_source("far", 2 << 20, read_at, {.read_ahead_bytes = read_ahead_bytes}));
}

TEST(MetadataReader, ReadsAheadAsFarAsTheSourceHints) {
  auto const source = reading_ahead(100'000);  // 25 pages
  MetadataReader const reader(source);
  std::array<std::byte, 16> bytes;
  for (std::uint64_t const start : {std::uint64_t{0}, std::uint64_t{1} << 20}) {
    source->submits = source->bytes = 0;
    for (std::uint64_t at = start; at + 16 <= start + 25 * MetadataReader::kPageBytes; at += 1000) {
      reader.read(at, bytes);
      expect_pattern(at, bytes);
    }
    EXPECT_EQ(source->submits, 1u);
    EXPECT_EQ(source->bytes, 25 * MetadataReader::kPageBytes);
  }
  reader.read((2 << 20) - 16, bytes);
  expect_pattern((2 << 20) - 16, bytes);
}

TEST(MetadataReader, ReadsAheadNoFurtherThanItCanKeep) {
  auto const source = reading_ahead(~std::uint64_t{0});
  MetadataReader const reader(source);
  std::array<std::byte, 16> bytes;
  reader.read(0, bytes);
  EXPECT_EQ(source->bytes, MetadataReader::kMaxReadAheadBytes);
}

TEST(MetadataReader, NeverReadsLessThanWithoutAHint) {
  auto const source = reading_ahead(1);
  MetadataReader const reader(source);
  std::array<std::byte, 16> bytes;
  reader.read(0, bytes);
  EXPECT_EQ(source->bytes, MetadataReader::kFirstReadBytes);
}

TEST(MetadataReader, NeverAsksPastTheEnd) {
  auto const source = counted(5000);  // the first page is cut, so is the last
  MetadataReader const reader(source);
  std::vector<std::byte> bytes(5000);
  reader.read(0, bytes);
  expect_pattern(0, bytes);
  reader.read(4999, std::span(bytes).first(1));
  EXPECT_EQ(bytes[0], pattern(4999));
  EXPECT_EQ(source->bytes, 5000u);
}

TEST(MetadataReader, RefusesARangePastTheEndAndSaysWhere) {
  MetadataReader const reader(counted(5000));
  std::array<std::byte, 2> bytes;
  for (std::uint64_t const offset :
       {std::uint64_t{4999}, std::uint64_t{5000}, std::uint64_t{6000}, ~std::uint64_t{0}}) {
    try {
      reader.read(offset, bytes);
      ADD_FAILURE() << offset;
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::malformed);
      EXPECT_EQ(error.where().offset, offset);
      EXPECT_EQ(error.where().source, "synthetic.tif");
    }
  }
}

TEST(MetadataReader, OfAnEmptySourceReadsNothing) {
  MetadataReader const reader(counted(0));
  std::array<std::byte, 1> bytes;
  EXPECT_THROW(reader.read(0, bytes), Error);
  EXPECT_NO_THROW(reader.read(0, {}));
  EXPECT_EQ(reader.read_some(0, bytes), 0u);
}

TEST(MetadataReader, ReadsSomeUpToTheEnd) {
  MetadataReader const reader(counted(5000));
  std::array<std::byte, 16> bytes;
  EXPECT_EQ(reader.read_some(4990, bytes), 10u);
  expect_pattern(4990, std::span(bytes).first(10));
  EXPECT_EQ(reader.read_some(4984, bytes), 16u);
  EXPECT_EQ(reader.read_some(5000, bytes), 0u);
  EXPECT_EQ(reader.read_some(~std::uint64_t{0}, bytes), 0u);
}

TEST(MetadataReader, ReadsLargeValuesPastTheCache) {
  auto const source = counted(10 << 20);
  MetadataReader const reader(source);
  std::vector<std::byte> large(1 << 20);
  reader.read(123'456, large);
  expect_pattern(123'456, large);
  EXPECT_EQ(source->submits, 1u);
  EXPECT_EQ(source->bytes, large.size());
}

TEST(MetadataReader, DropsTheOldestPagesAndFetchesThemAgain) {
  auto const source = counted(std::uint64_t{1} << 32);
  MetadataReader const reader(source);
  std::array<std::byte, 4> bytes;
  auto const touch = [&](std::uint64_t page) {
    reader.read(page * MetadataReader::kPageBytes, bytes);
    expect_pattern(page * MetadataReader::kPageBytes, bytes);
  };
  for (std::uint64_t page = 1; page <= MetadataReader::kMaxCachedPages; ++page) { touch(page); }
  EXPECT_EQ(source->submits, MetadataReader::kMaxCachedPages);
  touch(1);  // now the most recent
  EXPECT_EQ(source->submits, MetadataReader::kMaxCachedPages);
  touch(10'000);  // pushes out page 2, the oldest
  touch(1);
  EXPECT_EQ(source->submits, MetadataReader::kMaxCachedPages + 1);
  touch(2);
  EXPECT_EQ(source->submits, MetadataReader::kMaxCachedPages + 2);
}

TEST(MetadataReader, PassesAFailureOnAndRecovers) {
  auto const source = counted(1 << 20);
  MetadataReader const reader(source);
  std::array<std::byte, 4> bytes;
  source->fails = true;
  EXPECT_THROW(reader.read(8192, bytes), Error);
  source->fails = false;
  reader.read(8192, bytes);
  expect_pattern(8192, bytes);
}

TEST(MetadataReader, ServesManyThreads) {
  MetadataReader const reader(counted(std::uint64_t{1} << 30));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::array<std::byte, 8> bytes;
      for (std::uint64_t i = 0; i < 300; ++i) {
        std::uint64_t const offset = (i * 7919 + t * 104'729) * 641 % ((1u << 30) - 8);
        reader.read(offset, bytes);
        wrong += bytes[7] != pattern(offset + 7);
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace terrazzo::tiff
