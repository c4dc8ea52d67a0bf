// SPDX-License-Identifier: Apache-2.0
#include "io/callback_source.hpp"

#include "support/failure.hpp"
#include "support/file_bytes.hpp"
#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <latch>
#include <stdexcept>
#include <thread>

namespace terrazzo::io {
namespace {

using testing::byte_pattern;
using testing::failure_of;

std::vector<std::byte> const kBytes = byte_pattern(10'000);

// Copies from kBytes, at most `most` at a time.
ReadAt reader(std::size_t most = 1 << 20) {
  return [most](std::uint64_t offset, std::span<std::byte> into) {
    std::size_t const count = std::min(most, into.size());
    std::copy_n(kBytes.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
    return count;
  };
}

// A submit() of `count` ranges of 100 bytes each.
struct Ranges {
  explicit Ranges(std::size_t count) : buffer(100 * count) {
    for (std::size_t i = 0; i < count; ++i) {
      list.push_back({(i * 997) % 9'900, std::span(buffer).subspan(i * 100, 100)});
    }
  }
  void expect_filled() const {
    for (RangeRead const& range : list) {
      EXPECT_TRUE(std::equal(range.into.begin(), range.into.end(),
                             kBytes.begin() + static_cast<std::ptrdiff_t>(range.offset_bytes)));
    }
  }
  std::vector<std::byte> buffer;
  std::vector<RangeRead> list{};
};

class EveryCallbackSource : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  [[nodiscard]] CallbackSource source(ReadAt read_at) const {
    return CallbackSource("toy", kBytes.size(), std::move(read_at), {.requests_in_flight = GetParam()});
  }
};
INSTANTIATE_TEST_SUITE_P(Lanes, EveryCallbackSource, ::testing::Values(0, 1, 2, 64, 4'000'000'000u));

TEST_P(EveryCallbackSource, ReadsManyRanges) {
  CallbackSource const source = this->source(reader());
  EXPECT_EQ(source.name(), "toy");
  EXPECT_EQ(source.size_bytes(), kBytes.size());
  EXPECT_EQ(source.hints().requests_in_flight, GetParam());
  Ranges const ranges(300);
  source.submit(ranges.list).wait();
  ranges.expect_filled();
  EXPECT_NO_THROW(source.submit({}).wait());
}

TEST_P(EveryCallbackSource, AsksForTheRestOfAShortAnswer) {
  CallbackSource const source = this->source(reader(7));
  Ranges const ranges(5);
  source.submit(ranges.list).wait();
  ranges.expect_filled();
}

TEST_P(EveryCallbackSource, ServesManyThreads) {
  CallbackSource const source = this->source(reader());
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Ranges const ranges(20);
        source.submit(ranges.list).wait();
        ranges.expect_filled();
      }
    });
  }
}

TEST_P(EveryCallbackSource, FailsWhereTheFunctionReturnsNothing) {
  CallbackSource const source = this->source([](std::uint64_t offset, std::span<std::byte> into) {
    return offset < 5'000 ? std::min<std::size_t>(into.size(), 5'000 - offset) : 0;
  });
  std::array<std::byte, 100> into{};
  Error const error = failure_of([&] {
    source.read(4'950, into);
    return 0;
  });
  EXPECT_EQ(error.kind(), ErrorKind::io);
  EXPECT_EQ(error.where().source, "toy");
  EXPECT_EQ(error.where().offset, 5'000u);
}

TEST_P(EveryCallbackSource, FailsWhereTheFunctionReturnsTooMuch) {
  CallbackSource const source = this->source([](std::uint64_t, std::span<std::byte> into) { return into.size() + 1; });
  std::array<std::byte, 100> into{};
  EXPECT_EQ(failure_of([&] {
              source.read(0, into);
              return 0;
            }).kind(),
            ErrorKind::io);
}

TEST_P(EveryCallbackSource, RefusesARangePastTheEndWithoutACall) {
  std::atomic<int> calls{0};
  CallbackSource const source = this->source([&](std::uint64_t, std::span<std::byte> into) {
    ++calls;
    return into.size();
  });
  std::array<std::byte, 100> into{};
  for (std::uint64_t const offset : {std::uint64_t{9'901}, std::uint64_t{10'000}, ~std::uint64_t{0}}) {
    RangeRead const range{offset, into};
    ReadTicket ticket = source.submit({&range, 1});
    EXPECT_EQ(failure_of([&] {
                ticket.wait();
                return 0;
              })
                  .where()
                  .offset,
              offset);
  }
  EXPECT_EQ(calls, 0);
}

TEST_P(EveryCallbackSource, ThrowsTheExceptionOfTheFirstRangeThatFails) {
  CallbackSource const source = this->source([](std::uint64_t offset, std::span<std::byte> into) -> std::size_t {
    if (offset >= 2'000) { throw std::out_of_range(std::to_string(offset)); }
    return into.size();
  });
  std::vector<std::byte> buffer(100);
  std::vector<RangeRead> ranges;
  for (std::uint64_t offset = 0; offset < 9'900; offset += 100) { ranges.push_back({offset, buffer}); }
  ReadTicket ticket = source.submit(ranges);
  try {
    ticket.wait();
    ADD_FAILURE();
  } catch (std::out_of_range const& error) { EXPECT_STREQ(error.what(), "2000"); }
}

TEST(CallbackSource, ServesAsManyRequestsAtOnceAsItHasLanes) {
  std::latch all_run(16);  // no request returns before sixteen run
  auto const read_at = [&](std::uint64_t, std::span<std::byte> into) {
    all_run.arrive_and_wait();
    return into.size();
  };
  CallbackSource const source("toy", 10'000, read_at, {.requests_in_flight = 16});
  Ranges const ranges(16);
  ReadTicket first = source.submit(std::span(ranges.list).first(8)),
             second = source.submit(std::span(ranges.list).last(8));
  EXPECT_TRUE(first.is_pending());
  first.wait();
  second.wait();
}

TEST(CallbackSource, WaitsForReadsWhoseTicketIsDropped) {
  std::atomic<int> done{0};
  auto const read_at = [&](std::uint64_t, std::span<std::byte> into) {
    std::this_thread::yield();
    ++done;
    return into.size();
  };
  CallbackSource const source("toy", 10'000, read_at, {.requests_in_flight = 4});
  Ranges const ranges(50);
  { ReadTicket const ticket = source.submit(ranges.list); }
  EXPECT_EQ(done, 50);
}

TEST(CallbackSource, WithoutAFunctionIsAUsageError) {
  EXPECT_EQ(failure_of([] { return callback_source("toy", 1, nullptr); }).kind(), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo::io
