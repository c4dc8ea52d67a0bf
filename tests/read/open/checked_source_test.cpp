// SPDX-License-Identifier: Apache-2.0
#include "read/open/checked_source.hpp"

#include "read/images.hpp"
#include "support/failure.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <new>
#include <stdexcept>
#include <thread>

namespace terrazzo::reading {
namespace {

// A source that misbehaves as told.
class OddSource final : public ByteSource {
 public:
  using Answer = std::function<ReadTicket(std::span<RangeRead const>)>;

  explicit OddSource(std::vector<std::byte> content) : bytes(std::move(content)), said_bytes(bytes.size()) {}
  [[nodiscard]] std::string const& name() const noexcept override { return name_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return said_bytes; }
  [[nodiscard]] SourceHints hints() const noexcept override { return said_hints; }
  [[nodiscard]] std::span<std::byte const> in_memory() const noexcept override { return memory; }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override {
    ++submits;
    if (submits > good_submits) { return answer(ranges); }
    fill(ranges);
    return {};
  }
  void fill(std::span<RangeRead const> ranges) const {
    for (RangeRead const& range : ranges) {
      for (std::size_t i = 0; i < range.into.size(); ++i) {
        std::uint64_t const at = range.offset_bytes + i;
        range.into[i] = at < bytes.size() ? bytes[static_cast<std::size_t>(at)] : std::byte{0};
      }
    }
  }

  std::vector<std::byte> bytes;
  std::uint64_t said_bytes;
  SourceHints said_hints{};
  std::span<std::byte const> memory{};
  std::uint64_t good_submits = ~std::uint64_t{0};
  Answer answer{};
  mutable std::atomic<std::uint64_t> submits{0};

 private:
  std::string name_ = "odd";
};

Error failure_of_read(OddSource::Answer answer) {
  auto const source = std::make_shared<OddSource>(std::vector<std::byte>(100));
  source->good_submits = 0;
  source->answer = std::move(answer);
  CheckedSource const checked(source);
  std::array<std::byte, 10> into{};
  RangeRead const range{0, into};
  ReadTicket ticket = checked.submit({&range, 1});  // never throws by itself
  return failure_of([&] {
    ticket.wait();
    return 0;
  });
}

TEST(CheckedSource, TurnsEveryFailureIntoAnErrorThatNamesTheSource) {
  struct Case {
    OddSource::Answer answer;
    ErrorKind kind;
    char const* says;
  };
  auto const thrown = [](auto error) { return [error](std::span<RangeRead const>) -> ReadTicket { throw error; }; };
  auto const in_ticket = [](auto error) {
    return [error](std::span<RangeRead const>) { return ReadTicket(std::make_exception_ptr(error)); };
  };
  auto const later = [](auto error) {
    return [error](std::span<RangeRead const>) {
      return ReadTicket(std::async(std::launch::async, [error] { throw error; }));
    };
  };
  std::runtime_error const std_error("connection reset");
  Error const elsewhere(ErrorKind::io, "refused", {.source = "host 7"});
  std::vector<Case> const cases{
      {thrown(std_error), ErrorKind::io, "connection reset"},
      {in_ticket(std_error), ErrorKind::io, "connection reset"},
      {later(std_error), ErrorKind::io, "connection reset"},
      {thrown(42), ErrorKind::io, "unknown"},
      {later(42), ErrorKind::io, "unknown"},
      {thrown(std::bad_alloc()), ErrorKind::limit, "memory"},
      {later(std::bad_alloc()), ErrorKind::limit, "memory"},
      {thrown(elsewhere), ErrorKind::io, "host 7: refused"},
      {later(elsewhere), ErrorKind::io, "host 7: refused"},
      {later(Error(ErrorKind::malformed, "bad block")), ErrorKind::io, "bad block"},
      {later(Error(ErrorKind::usage, "no such object")), ErrorKind::io, "no such object"},
      {later(Error(ErrorKind::cancelled, "stopped")), ErrorKind::cancelled, "stopped"},
      {later(Error(ErrorKind::limit, "quota")), ErrorKind::limit, "quota"},
      {[](std::span<RangeRead const>) { return ReadTicket(std::promise<void>().get_future()); }, ErrorKind::io, ""},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Error const error = failure_of_read(cases[i].answer);
    EXPECT_EQ(error.kind(), cases[i].kind) << i;
    EXPECT_EQ(error.where().source, "odd") << i;
    EXPECT_NE(error.message().find(cases[i].says), std::string::npos) << i << ": " << error.message();
  }
}

TEST(CheckedSource, WaitsForAReadWhoseTicketIsDropped) {
  auto const source = std::make_shared<OddSource>(std::vector<std::byte>(100));
  std::atomic<bool> done{false};
  source->good_submits = 0;
  source->answer = [&](std::span<RangeRead const>) {
    return ReadTicket(std::async(std::launch::async, [&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      done = true;
      throw std::runtime_error("late");
    }));
  };
  CheckedSource const checked(source);
  std::array<std::byte, 10> into{};
  RangeRead const range{0, into};
  { ReadTicket const ticket = checked.submit({&range, 1}); }
  EXPECT_TRUE(done);
}

TEST(CheckedSource, KeepsRangesPastTheEndFromTheSource) {
  auto const source = std::make_shared<OddSource>(std::vector<std::byte>(100));
  CheckedSource const checked(source);
  std::array<std::byte, 10> into{};
  for (std::uint64_t const offset : {std::uint64_t{91}, std::uint64_t{100}, ~std::uint64_t{0}}) {
    Error const error = failure_of([&] {
      checked.read(offset, into);
      return 0;
    });
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.where().offset, offset);
    EXPECT_EQ(error.where().source, "odd");
  }
  EXPECT_EQ(source->submits, 0u);
}

TEST(CheckedSource, AsksForTheSizeOnce) {
  auto const source = std::make_shared<OddSource>(std::vector<std::byte>(100));
  CheckedSource const checked(source);
  source->said_bytes = 1000;
  source->said_hints.trusted = true;
  EXPECT_EQ(checked.size_bytes(), 100u);
  EXPECT_FALSE(checked.hints().trusted);
}

TEST(CheckedSource, RefusesMemoryOfAnotherSizeThanTheSource) {
  auto const source = std::make_shared<OddSource>(std::vector<std::byte>(100));
  source->memory = std::span(source->bytes).first(99);
  EXPECT_EQ(failure_of([&] { return open(source); }).kind(), ErrorKind::io);
}

TEST(CheckedSource, LeavesOurOwnSourcesAsTheyAre) {
  testing::TempFolder const folder;
  ByteSourcePtr const file = file_source(folder.write("a", "abc")), memory = memory_source(std::vector<std::byte>(3));
  EXPECT_EQ(checked(file), file);
  EXPECT_EQ(checked(memory), memory);
}

// ---------------------------------------------------------------------------------------------------------------
// Datasets of such sources

std::vector<std::byte> tiled_file(std::uint16_t compression) {
  return image<std::uint16_t>(
             {.width = 300, .height = 200, .tile_width = 32, .tile_height = 32, .compression = compression})
      .bytes();
}

TEST(OpenSource, ReadsThePixelsOfTheFile) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    std::vector<std::byte> const bytes = tiled_file(compression);
    auto const expected = read(open_memory(bytes));
    Dataset const dataset = open(std::make_shared<OddSource>(bytes));
    EXPECT_EQ(dataset.info().source, "odd");
    EXPECT_EQ(dataset.info().files, std::vector<std::string>{"odd"});
    EXPECT_TRUE(std::ranges::equal(read(dataset).bytes(), expected.bytes()));
    auto const read_at = [&](std::uint64_t offset, std::span<std::byte> into) {
      std::size_t const count = std::min<std::size_t>(into.size(), 1000);  // short answers
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
      return count;
    };
    for (std::uint32_t const lanes : {1u, 7u}) {
      Dataset const called = open(callback_source("toy", bytes.size(), read_at, {.requests_in_flight = lanes}));
      EXPECT_TRUE(std::ranges::equal(read(called).bytes(), expected.bytes())) << lanes;
    }
  }
}

TEST(OpenSource, IsUntrustedUnlessTheSourceOrTheCallerSaysSo) {
  auto const source = std::make_shared<OddSource>(tiled_file(kNone));
  EXPECT_FALSE(open(source).shared_impl()->trusted);
  EXPECT_TRUE(open(source, {.trust = Trust::trusted}).shared_impl()->trusted);
  source->said_hints.trusted = true;
  EXPECT_EQ(open(source).shared_impl()->trust(), SourceTrust::assumed);
  EXPECT_FALSE(open(source, {.trust = Trust::untrusted}).shared_impl()->trusted);
}

TEST(OpenSource, RefusesANullPointer) {
  EXPECT_EQ(failure_of([] { return open(ByteSourcePtr()); }).kind(), ErrorKind::usage);
}

// Every read of the source fails in turn: an `io` error each time, from open() or from the read.
TEST(OpenSource, GivesAnIoErrorWhicheverReadOfTheSourceFails) {
  for (std::uint16_t const compression : {kNone, kPackBits}) {
    auto const source = std::make_shared<OddSource>(tiled_file(compression));
    static_cast<void>(read(open(source)));
    std::uint64_t const all = source->submits;
    ASSERT_GT(all, 1u);
    source->answer = [](std::span<RangeRead const>) -> ReadTicket { throw std::runtime_error("gone"); };
    for (std::uint64_t good = 0; good < std::min<std::uint64_t>(all, 20); ++good) {
      source->submits = 0;
      source->good_submits = good;
      Error const error = failure_of([&] { return read(open(source), {.threads = 1}); });
      EXPECT_EQ(error.kind(), ErrorKind::io) << good;
      EXPECT_EQ(error.where().source, "odd") << good;
    }
  }
}

TEST(OpenSource, OfALyingSizeIsAnErrorAndNeverACrash) {
  std::vector<std::byte> const bytes = tiled_file(kPackBits);
  for (std::uint64_t const said :
       {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{100}, bytes.size() - 4000, bytes.size() / 2}) {
    auto const source = std::make_shared<OddSource>(bytes);
    source->said_bytes = said;
    EXPECT_THROW(static_cast<void>(read(open(source))), Error) << said;
  }
  // Longer than the truth: the function has nothing to give there, and nothing asks for it.
  auto const source = std::make_shared<OddSource>(bytes);
  source->said_bytes = ~std::uint64_t{0};
  EXPECT_TRUE(std::ranges::equal(read(open(source)).bytes(), read(open_memory(bytes)).bytes()));
}

TEST(OpenSource, KeepsTheSourceAliveAsLongAsTheDataset) {
  auto source = std::make_shared<OddSource>(tiled_file(kNone));
  std::weak_ptr<OddSource> const watch = source;
  {
    Dataset const dataset = open(std::move(source));
    EXPECT_FALSE(watch.expired());
    static_cast<void>(read(dataset));
  }
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace terrazzo::reading
