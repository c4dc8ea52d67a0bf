// SPDX-License-Identifier: Apache-2.0
#include "io/spool.hpp"

#include "io/file_calls.hpp"
#include "support/fault_injection.hpp"
#include "support/file_bytes.hpp"
#include "support/sinks.hpp"

#include <gtest/gtest.h>

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace terrazzo::io {
namespace {

using testing::byte_pattern;
using testing::FailingCalls;
using testing::Place;
using testing::Target;

struct OpenTarget : Target {
  explicit OpenTarget(Place where) : Target(where) { sink->open(); }
};

// A small file of three parts, as the writer makes one: a front, a spool of overviews, a spool of the full resolution.
struct Parts {
  std::vector<std::byte> front, overviews, full;

  std::vector<std::byte> whole() const {
    std::vector<std::byte> all = front;
    all.insert(all.end(), overviews.begin(), overviews.end());
    all.insert(all.end(), full.begin(), full.end());
    return all;
  }
};

// Returns the way the full resolution went.
SpoolWay write_parts(ByteSink& sink, Parts const& parts, std::uint64_t quota_bytes, SpoolWay way,
                     std::size_t piece_bytes) {
  SpoolQuota quota{.limit_bytes = quota_bytes};
  SpoolWay came_to{};
  {
    Spool full(sink, quota, way, true);
    Spool overviews(sink, quota, way, false);
    auto const append = [piece_bytes](Spool& spool, std::span<std::byte const> bytes) {
      std::uint64_t at = 0;
      while (!bytes.empty()) {
        std::span<std::byte const> const piece = bytes.first(std::min(piece_bytes, bytes.size()));
        EXPECT_EQ(spool.append(piece), at);
        at += piece.size();
        bytes = bytes.subspan(piece.size());
        EXPECT_EQ(spool.size_bytes(), at);
      }
    };
    append(full, parts.full);
    append(overviews, parts.overviews);
    came_to = full.way();
    EXPECT_LE(quota.used_bytes, quota_bytes);
    std::uint64_t const head_bytes = parts.front.size() + parts.overviews.size();
    if (sink.is_seekable()) { full.place(head_bytes); }
    sink.write_at(0, parts.front);
    overviews.place(parts.front.size());
    if (!sink.is_seekable()) { full.place(head_bytes); }
  }
  EXPECT_EQ(quota.used_bytes, 0u);
  sink.publish(parts.front.size() + parts.overviews.size() + parts.full.size());
  return came_to;
}

TEST(Spool, GivesTheSameBytesByEveryWay) {
  struct Sizes {
    std::size_t front, overviews, full, piece;
  };
  for (Sizes const& sizes : {Sizes{192, 0, 1, 1}, Sizes{100, 28, 1000, 17}, Sizes{65'536, 65'536, 3'000'000, 40'000},
                             Sizes{65'536 + 8, 12'345, 9'000'001, 1'300'000}, Sizes{4096, 0, 0, 1}}) {
    Parts const parts{byte_pattern(sizes.front, 1), byte_pattern(sizes.overviews, 2), byte_pattern(sizes.full, 3)};
    for (Place const place : {Place::file, Place::memory, Place::seekable, Place::append}) {
      for (SpoolWay const way : {SpoolWay::automatic, SpoolWay::memory, SpoolWay::in_place, SpoolWay::unnamed_file}) {
        for (std::uint64_t const quota : {std::uint64_t{0}, std::uint64_t{500'000}, std::uint64_t{1} << 30}) {
          if (way == SpoolWay::memory && quota < sizes.overviews + sizes.full) { continue; }
          OpenTarget target(place);
          if (way == SpoolWay::in_place && target.sink->insert_unit_bytes() == 0) { continue; }
          SpoolWay const came_to = write_parts(*target.sink, parts, quota, way, sizes.piece);
          if (way != SpoolWay::automatic) { EXPECT_EQ(came_to, way); }
          ASSERT_TRUE(target.arrived() == parts.whole())
              << "place " << static_cast<int>(place) << ", way " << static_cast<int>(way) << ", quota " << quota
              << ", front " << sizes.front;
        }
      }
    }
  }
}

TEST(Spool, LeavesMemoryWhenTheQuotaIsPassed) {
  for (Place const place : {Place::file, Place::memory, Place::append}) {
    OpenTarget target(place);
    SpoolQuota quota{.limit_bytes = 1000};
    Spool spool(*target.sink, quota, SpoolWay::automatic, true);
    spool.append(byte_pattern(1000, 0));
    EXPECT_EQ(spool.way(), SpoolWay::memory);
    EXPECT_EQ(quota.used_bytes, 1000u);
    spool.append(byte_pattern(1, 0));
    EXPECT_EQ(spool.way(), target.sink->insert_unit_bytes() != 0 ? SpoolWay::in_place : SpoolWay::unnamed_file);
    EXPECT_EQ(quota.used_bytes, 0u);
  }
}

// The writer holds its blocks while it hands them over; what a spool has of its own goes at once.
TEST(Spool, LeavesMemoryWhileTheSinkIsHeld) {
  std::vector<std::byte> const piece = byte_pattern(700'000);
  OpenTarget target(Place::file);
  SpoolQuota quota{.limit_bytes = 4 * piece.size()};
  Spool spool(*target.sink, quota, SpoolWay::automatic, true);
  for (int i = 0; i < 10; ++i) {
    target.sink->hold();
    static_cast<void>(spool.append(piece));
    target.sink->let_go();
  }
  EXPECT_NE(spool.way(), SpoolWay::memory);
  spool.place(0);
  target.sink->publish(10 * piece.size());
  std::vector<std::byte> const got = target.arrived();
  ASSERT_EQ(got.size(), 10 * piece.size());
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(std::ranges::equal(piece, std::span(got).subspan(i * piece.size(), piece.size()))) << "piece " << i;
  }
}

// Pages are made ahead of use, but not many that a spool may never fill.
TEST(Spool, TakesLittleMoreMemoryThanItHolds) {
  auto const resident_bytes = [] {
    std::uint64_t whole = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> whole >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  };
  constexpr std::uint64_t kMiB = 1 << 20;
  std::vector<std::byte> const piece = byte_pattern(300'000);
  OpenTarget target(Place::memory);
  for (std::uint64_t const size : {6 * kMiB, 22 * kMiB, 60 * kMiB}) {
    SpoolQuota quota{.limit_bytes = 1 << 30};
    Spool spool(*target.sink, quota, SpoolWay::memory, false);
    ::malloc_trim(0);  // what earlier tests freed would be taken again, and not be counted
    std::uint64_t const before = resident_bytes();
    ASSERT_GT(before, 0u);
    while (spool.size_bytes() < size) { spool.append(piece); }
    EXPECT_LE(resident_bytes(), before + size + size / 2 + 6 * kMiB) << size;
  }
}

TEST(Spool, SharesItsQuota) {
  OpenTarget target(Place::memory);
  SpoolQuota quota{.limit_bytes = 1000};
  {
    Spool first(*target.sink, quota, SpoolWay::automatic, false);
    Spool second(*target.sink, quota, SpoolWay::automatic, false);
    first.append(byte_pattern(600, 0));
    second.append(byte_pattern(400, 0));
    EXPECT_EQ(second.way(), SpoolWay::memory);
    second.append(byte_pattern(1, 0));
    EXPECT_EQ(second.way(), SpoolWay::unnamed_file);
    EXPECT_EQ(first.way(), SpoolWay::memory);
    EXPECT_EQ(quota.used_bytes, 600u);
  }
  EXPECT_EQ(quota.used_bytes, 0u);
}

TEST(Spool, RefusesToPassTheQuotaWhenToldToStayInMemory) {
  OpenTarget target(Place::memory);
  SpoolQuota quota{.limit_bytes = 1000};
  Spool spool(*target.sink, quota, SpoolWay::memory, true);
  spool.append(byte_pattern(1000, 0));
  try {
    spool.append(byte_pattern(1, 0));
    FAIL() << "no error";
  } catch (Error const& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_NE(error.message().find("spool_bytes"), std::string::npos);
  }
}

TEST(Spool, RefusesToWaitInPlaceWhereNothingCanBeInserted) {
  for (Place const place : {Place::seekable, Place::append}) {
    OpenTarget target(place);
    SpoolQuota quota{.limit_bytes = 1000};
    try {
      Spool const spool(*target.sink, quota, SpoolWay::in_place, true);
      FAIL() << "no error";
    } catch (Error const& error) { EXPECT_EQ(error.kind(), ErrorKind::unsupported); }
    EXPECT_NO_THROW(Spool(*target.sink, quota, SpoolWay::in_place, false));
  }
}

TEST(Spool, MovesBytesWhenInsertionIsRefusedAfterAll) {
  Parts const parts{byte_pattern(65'536, 1), byte_pattern(65'536, 2), byte_pattern(5'000'000, 3)};
  OpenTarget target(Place::file);
  if (target.sink->insert_unit_bytes() == 0) { GTEST_SKIP() << "this file system inserts nothing"; }
  FailingCalls const failing({.call = "fallocate", .error = EOPNOTSUPP, .times = 1000});
  EXPECT_EQ(write_parts(*target.sink, parts, 0, SpoolWay::in_place, 100'000), SpoolWay::in_place);
  EXPECT_GT(failing.count(), 0);
  EXPECT_TRUE(target.arrived() == parts.whole());
}

TEST(Spool, ReadsAndWritesWhereTheKernelDoesNotCopy) {
  Parts const parts{byte_pattern(1000, 1), byte_pattern(2000, 2), byte_pattern(5'000'000, 3)};
  for (int const error : {EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EINTR}) {
    OpenTarget target(Place::file);
    FailingCalls const failing({.call = "copy_file_range", .error = error, .times = error == EINTR ? 1 : 1000});
    EXPECT_EQ(write_parts(*target.sink, parts, 0, SpoolWay::unnamed_file, 100'000), SpoolWay::unnamed_file);
    EXPECT_GT(failing.count(), 0);
    EXPECT_TRUE(target.arrived() == parts.whole());
  }
}

}  // namespace
}  // namespace terrazzo::io
