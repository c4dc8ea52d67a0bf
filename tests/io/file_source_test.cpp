// SPDX-License-Identifier: Apache-2.0
#include "io/file_source.hpp"

#include "support/temp_folder.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <limits>
#include <thread>
#include <vector>

namespace terrazzo::io {
namespace {

using testing::TempFolder;

std::vector<std::byte> pattern(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) { bytes[i] = static_cast<std::byte>(i * 2654435761u >> 11); }
  return bytes;
}

Error failure_of(std::string const& path) {
  try {
    FileSource const source(path);
  } catch (Error const& error) { return error; }
  ADD_FAILURE() << "opened " << path;
  return Error(ErrorKind::device, "");
}

class FileSourceOf100KiB : public ::testing::Test {
 protected:
  TempFolder folder_;
  std::vector<std::byte> const bytes_ = pattern(100 * 1024);
  std::string const path_ = folder_.write("data.bin", bytes_);
};

TEST_F(FileSourceOf100KiB, KnowsItsNameAndSize) {
  FileSource const source(path_);
  EXPECT_EQ(source.name(), path_);
  EXPECT_EQ(source.size_bytes(), bytes_.size());
  EXPECT_TRUE(source.hints().local);
  EXPECT_TRUE(source.hints().trusted);
  EXPECT_TRUE(source.in_memory().empty());
}

TEST_F(FileSourceOf100KiB, ReadsAnyRange) {
  FileSource const source(path_);
  for (auto const& [offset, size] : std::vector<std::pair<std::size_t, std::size_t>>{
           {0, 1}, {0, 102'400}, {102'399, 1}, {4095, 4098}, {77, 0}, {102'400, 0}}) {
    std::vector<std::byte> into(size);
    source.read(offset, into);
    EXPECT_TRUE(std::equal(into.begin(), into.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset)));
  }
}

// More ranges than one call of the system takes; some follow one another, some go back, some overlap, some are empty.
TEST_F(FileSourceOf100KiB, ReadsManyRangesInOneCall) {
  FileSource const source(path_);
  std::vector<std::pair<std::uint64_t, std::size_t>> wanted;
  for (std::uint64_t i = 0; i < 1000; ++i) { wanted.emplace_back(i * 20, 20); }
  for (std::uint64_t i = 0; i < 500; ++i) { wanted.emplace_back(90'000 - i * 100, 150); }
  for (std::uint64_t i = 0; i < 600; ++i) { wanted.emplace_back(50'000 + i, i % 3 == 0 ? 0 : 1); }
  std::size_t total = 0;
  for (auto const& [offset, size] : wanted) { total += size; }
  std::vector<std::byte> buffer(total, std::byte{0xEE});
  std::vector<RangeRead> ranges;
  std::size_t at = 0;
  for (auto const& [offset, size] : wanted) {
    ranges.push_back({offset, std::span(buffer).subspan(at, size)});
    at += size;
  }
  source.submit(ranges).wait();
  for (RangeRead const& range : ranges) {
    ASSERT_TRUE(std::equal(range.into.begin(), range.into.end(),
                           bytes_.begin() + static_cast<std::ptrdiff_t>(range.offset_bytes)))
        << range.offset_bytes;
  }
}

TEST_F(FileSourceOf100KiB, TakesNoRangesAndEmptyOnes) {
  FileSource const source(path_);
  EXPECT_NO_THROW(source.submit({}).wait());
  std::vector<RangeRead> const empty(1000, RangeRead{std::numeric_limits<std::uint64_t>::max(), {}});
  EXPECT_NO_THROW(source.submit(empty).wait());
}

TEST_F(FileSourceOf100KiB, RefusesARangePastTheEndWhenWaitedFor) {
  FileSource const source(path_);
  std::array<std::byte, 16> into{};
  for (std::uint64_t const offset : {std::uint64_t{102'385}, std::uint64_t{102'400}, std::uint64_t{1} << 40,
                                     std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max(),
                                     static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())}) {
    RangeRead const range{offset, into};
    ReadTicket ticket = source.submit({&range, 1});
    try {
      ticket.wait();
      ADD_FAILURE() << offset;
    } catch (Error const& error) {
      EXPECT_EQ(error.kind(), ErrorKind::io);
      EXPECT_EQ(error.where().source, path_);
      EXPECT_TRUE(error.where().offset) << error.what();
    }
  }
}

TEST_F(FileSourceOf100KiB, GivesAnErrorWhenTheFileShrinksWhileItIsOpen) {
  FileSource const source(path_);
  std::vector<std::byte> into(1000);
  source.read(50'000, into);
  std::filesystem::resize_file(path_, 50'500);
  EXPECT_EQ(source.size_bytes(), bytes_.size()) << "as it was opened";
  try {
    source.read(50'000, into);
    FAIL() << "a short read";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.where().offset, 50'500u) << "where the bytes end";
  }
  EXPECT_NO_THROW(source.read(0, into));
  std::filesystem::resize_file(path_, 0);
  EXPECT_THROW(source.read(0, into), Error);
}

TEST_F(FileSourceOf100KiB, KeepsReadingAFileThatIsReplaced) {
  FileSource const source(path_);
  std::filesystem::remove(path_);
  folder_.write("data.bin", "something else");
  std::vector<std::byte> into(bytes_.size());
  source.read(0, into);
  EXPECT_EQ(into, bytes_);
}

TEST_F(FileSourceOf100KiB, ServesManyThreads) {
  FileSource const source(path_);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::byte> into(777);
      for (std::size_t i = 0; i < 200; ++i) {
        std::size_t const offset = (i * 7919 + t * 104'729) % (bytes_.size() - into.size());
        source.read(offset, into);
        wrong += !std::equal(into.begin(), into.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  EXPECT_EQ(wrong, 0);
}

TEST(FileSource, OfAnEmptyFileHasNoBytes) {
  TempFolder const folder;
  FileSource const source(folder.write("empty", ""));
  EXPECT_EQ(source.size_bytes(), 0u);
  std::array<std::byte, 1> into{};
  EXPECT_THROW(source.read(0, into), Error);
}

TEST(FileSource, OfAMissingFileIsAnIoError) {
  TempFolder const folder;
  Error const error = failure_of(folder.path("missing.tif"));
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_EQ(error.where().source, folder.path("missing.tif"));
}

TEST(FileSource, OfADirectoryIsAUsageError) {
  TempFolder const folder;
  Error const error = failure_of(folder.path(""));
  EXPECT_EQ(error.kind(), ErrorKind::usage);
  EXPECT_NE(error.message().find("directory"), std::string::npos);
}

TEST(FileSource, OfADeviceIsAUsageError) { EXPECT_EQ(failure_of("/dev/null").kind(), ErrorKind::usage); }

// A pipe that nobody writes to would keep open() waiting for ever.
TEST(FileSource, OfANamedPipeIsAUsageErrorAtOnce) {
  TempFolder const folder;
  std::string const path = folder.path("pipe.tif");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(failure_of(path).kind(), ErrorKind::usage);
}

TEST(FileSource, GivesItsDescriptorBack) {
  TempFolder const folder;
  std::string const path = folder.write("data", "x");
  auto const open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  auto const before = open_files();
  for (int i = 0; i < 20; ++i) {
    FileSource const source(path);
    static_cast<void>(failure_of(folder.path("")));
  }
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace terrazzo::io
