// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/source.hpp"

#include "terrazzo/error.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace terrazzo {
namespace {

std::exception_ptr failure(char const* message) { return std::make_exception_ptr(Error(ErrorKind::io, message)); }

TEST(ReadTicket, ThatIsDefaultIsComplete) {
  ReadTicket ticket;
  EXPECT_NO_THROW(ticket.wait());
  EXPECT_NO_THROW(ticket.wait());
}

TEST(ReadTicket, ThrowsItsFailureWhenWaitedFor) {
  ReadTicket ticket(failure("gone"));
  EXPECT_THROW(ticket.wait(), Error);
  EXPECT_NO_THROW(ticket.wait()) << "told once";
}

TEST(ReadTicket, ThrowsTheFailureOfAnotherThread) {
  std::promise<void> promise;
  ReadTicket ticket(promise.get_future());
  promise.set_exception(failure("later"));
  EXPECT_THROW(ticket.wait(), Error);
}

// Of another thread, and not at once.
class SlowRead {
 public:
  [[nodiscard]] ReadTicket ticket() { return ReadTicket(promise_.get_future()); }
  [[nodiscard]] bool is_done() const { return done_; }

 private:
  std::promise<void> promise_{};
  std::atomic<bool> done_{false};
  std::jthread reader_{[this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    done_ = true;
    promise_.set_value();
  }};
};

// A read that still runs when its ticket goes would write into memory that is no longer there.
TEST(ReadTicket, WaitsWhenItIsDropped) {
  SlowRead read;
  { ReadTicket const ticket = read.ticket(); }
  EXPECT_TRUE(read.is_done());
}

TEST(ReadTicket, WaitsForTheReadThatAnAssignmentReplaces) {
  SlowRead read;
  ReadTicket ticket = read.ticket();
  ticket = ReadTicket(failure("the next one"));
  EXPECT_TRUE(read.is_done());
  EXPECT_THROW(ticket.wait(), Error);
}

class OneRangeSource final : public ByteSource {
 public:
  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return 100; }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override {
    for (RangeRead const& range : ranges) {
      seen.push_back(range.offset_bytes);
      for (std::byte& byte : range.into) { byte = std::byte{42}; }
    }
    return fails ? ReadTicket(failure("no")) : ReadTicket();
  }
  mutable std::vector<std::uint64_t> seen;
  bool fails = false;

 private:
  std::string name_ = "one";
};

TEST(ByteSource, ReadIsASubmitOfOneRange) {
  OneRangeSource source;
  std::array<std::byte, 3> bytes{};
  source.read(17, bytes);
  EXPECT_EQ(source.seen, (std::vector<std::uint64_t>{17}));
  EXPECT_EQ(bytes[2], std::byte{42});
  source.fails = true;
  EXPECT_THROW(source.read(0, bytes), Error);
}

TEST(ByteSource, IsUntrustedRemoteAndNotInMemoryUnlessItSaysSo) {
  OneRangeSource const source;
  EXPECT_FALSE(source.hints().trusted);
  EXPECT_FALSE(source.hints().local);
  EXPECT_TRUE(source.identity().empty());
  EXPECT_TRUE(source.in_memory().empty());
}

}  // namespace
}  // namespace terrazzo
