// SPDX-License-Identifier: Apache-2.0
#include "io/file_calls.hpp"

#include "support/fault_injection.hpp"
#include "support/file_bytes.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

namespace terrazzo::io {
namespace {

using testing::byte_pattern;
using testing::FailingCalls;
using testing::Fault;
using testing::TempFolder;

TEST(FileCalls, WriteAndReadAllBytes) {
  TempFolder const folder;
  Descriptor const file = open_unnamed(folder.path(""));
  ASSERT_TRUE(file);
  std::vector<std::byte> const bytes = byte_pattern(100'000);
  {
    FailingCalls const cutting(Fault{.short_bytes = 999});
    EXPECT_TRUE(write_all(file.get(), std::span(bytes).first(50'000)));
    EXPECT_TRUE(write_all_at(file.get(), 50'000, std::span(bytes).subspan(50'000)));
  }
  std::vector<std::byte> got(100'000);
  EXPECT_TRUE(read_all_at(file.get(), 0, got));
  EXPECT_EQ(got, bytes);
  EXPECT_FALSE(read_all_at(file.get(), 1, got));
  EXPECT_EQ(errno, ENODATA);
}

TEST(FileCalls, WriteManyPartsAtOnce) {
  TempFolder const folder;
  std::vector<std::byte> const bytes = byte_pattern(100'000);
  for (std::size_t const short_bytes : {std::size_t{0}, std::size_t{7}, std::size_t{333}}) {
    Descriptor const file = open_unnamed(folder.path(""));
    std::vector<std::span<std::byte const>> parts;
    for (std::size_t at = 0; at < bytes.size(); at += 250) { parts.push_back(std::span(bytes).subspan(at, 250)); }
    parts.insert(parts.begin() + 3, std::span<std::byte const>());
    parts.emplace_back();
    {
      FailingCalls const cutting(Fault{.at = 1'000'000, .short_bytes = short_bytes});
      EXPECT_TRUE(write_all_at(file.get(), 11, parts, Room::made));
    }
    std::vector<std::byte> got(bytes.size());
    EXPECT_TRUE(read_all_at(file.get(), 11, got));
    EXPECT_EQ(got, bytes);
    FailingCalls const failing(Fault{.call = "pwritev", .error = ENOSPC});
    EXPECT_FALSE(write_all_at(file.get(), 0, parts, Room::made));
    EXPECT_EQ(errno, ENOSPC);
  }
}

// Sizes of the calls that write the parts.
std::vector<std::size_t> call_sizes(std::span<std::span<std::byte const> const> parts, Room room) {
  static std::vector<std::size_t> sizes;
  sizes.clear();
  FileCalls const kept = file_calls;
  file_calls.pwrite = [](int, void const*, std::size_t size, off_t) {
    sizes.push_back(size);
    return static_cast<ssize_t>(size);
  };
  file_calls.pwritev = [](int, iovec const* of_call, int count, off_t) {
    sizes.push_back(0);
    for (int i = 0; i < count; ++i) { sizes.back() += of_call[i].iov_len; }
    return static_cast<ssize_t>(sizes.back());
  };
  EXPECT_TRUE(write_all_at(-1, 0, parts, room));
  file_calls = kept;
  return sizes;
}

TEST(FileCalls, AreLargeOnlyIntoRoomThatIsThere) {
  constexpr std::size_t kKiB = 1024;
  std::vector<std::byte> const bytes = byte_pattern(700 * kKiB);
  std::span<std::byte const> const one = bytes;
  std::vector<std::span<std::byte const>> const parts{one, one, one};
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(call_sizes(parts, Room::made), (Sizes{2100 * kKiB}));
  EXPECT_EQ(call_sizes(parts, Room::none), (Sizes{512 * kKiB, 512 * kKiB, 512 * kKiB, 512 * kKiB, 52 * kKiB}));
  EXPECT_EQ(call_sizes({&one, 1}, Room::made), (Sizes{700 * kKiB}));
  EXPECT_EQ(call_sizes({&one, 1}, Room::none), (Sizes{512 * kKiB, 188 * kKiB}));
}

TEST(FileCalls, RefuseOffsetsPastTheLargest) {
  TempFolder const folder;
  Descriptor const file = open_unnamed(folder.path(""));
  std::vector<std::byte> const bytes = byte_pattern(10);
  for (std::uint64_t const offset :
       {std::numeric_limits<std::uint64_t>::max(), std::uint64_t{std::numeric_limits<std::int64_t>::max()} - 5}) {
    EXPECT_FALSE(write_all_at(file.get(), offset, bytes));
    EXPECT_EQ(errno, EFBIG);
  }
}

TEST(FileCalls, MakeFilesWithoutAName) {
  TempFolder const folder;
  for (bool const old_kernel : {false, true}) {
    FailingCalls const failing(Fault{.call = "openat", .at = old_kernel ? 0 : 1000, .error = EOPNOTSUPP});
    Descriptor const file = open_unnamed(folder.path(""));
    ASSERT_TRUE(file);
    struct stat status {};
    ASSERT_EQ(fstat(file.get(), &status), 0);
    EXPECT_EQ(status.st_nlink, 0u);
    EXPECT_EQ(status.st_mode & 0777u, 0600u);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path("")));
  }
  EXPECT_FALSE(open_unnamed(folder.path("none")));
  EXPECT_EQ(errno, ENOENT);
}

TEST(FileCalls, DescriptorsCloseThemselves) {
  int number = -1;
  {
    Descriptor first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    number = first.get();
    Descriptor second = std::move(first);
    EXPECT_FALSE(first);  // NOLINT: what a move leaves is promised
    first = std::move(second);
    EXPECT_EQ(first.get(), number);
    EXPECT_GE(fcntl(number, F_GETFD), 0);
  }
  EXPECT_LT(fcntl(number, F_GETFD), 0);
}

}  // namespace
}  // namespace terrazzo::io
