// SPDX-License-Identifier: Apache-2.0
#include "io/callback_sinks.hpp"

#include "support/failure.hpp"
#include "support/file_bytes.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace terrazzo::io {
namespace {

using testing::byte_pattern;
using testing::kind_of_failure;

struct Received {
  std::vector<std::byte> bytes{};
  int calls = 0;

  WriteAt write_at() {
    return [this](std::uint64_t offset, std::span<std::byte const> part) {
      ++calls;
      bytes.resize(std::max<std::size_t>(bytes.size(), offset + part.size()));
      std::copy(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
    };
  }
  Append append() {
    return [this](std::span<std::byte const> part) {
      ++calls;
      bytes.insert(bytes.end(), part.begin(), part.end());
    };
  }
};

TEST(SeekableSink, HandsOverEveryByteInFewCalls) {
  Received received;
  SeekableSink sink("s3", received.write_at());
  sink.open();
  EXPECT_TRUE(sink.is_seekable());
  EXPECT_EQ(sink.name(), "s3");
  std::vector<std::byte> expected = byte_pattern(10'000'000);
  for (std::size_t at = 0; at < expected.size(); at += 10'000) {
    sink.write_at(at, std::span(expected).subspan(at, 10'000));
  }
  std::vector<std::byte> const patch = byte_pattern(100, 9);
  sink.write_at(9'999'000, patch);  // over bytes that still wait
  std::copy(patch.begin(), patch.end(), expected.begin() + 9'999'000);
  sink.publish(10'000'100);
  expected.resize(10'000'100);
  EXPECT_TRUE(received.bytes == expected);
  EXPECT_LT(received.calls, 8);
}

TEST(SeekableSink, RefusesToShorten) {
  Received received;
  SeekableSink sink("s3", received.write_at());
  sink.open();
  sink.write_at(0, byte_pattern(10));
  EXPECT_EQ(kind_of_failure([&] { sink.publish(9); }), ErrorKind::usage);
}

TEST(AppendSink, HandsOverEveryByteInOrder) {
  Received received;
  AppendSink sink("pipe", received.append());
  sink.open();
  EXPECT_FALSE(sink.is_seekable());
  std::vector<std::byte> expected = byte_pattern(3'000'000);
  sink.write_at(0, std::span(expected).first(10));
  sink.write_at(10, std::span(expected).subspan(10, 2'500'000));
  sink.write_at(2'500'010, std::span(expected).subspan(2'500'010));
  sink.publish(3'010'000);
  expected.resize(3'010'000);
  EXPECT_TRUE(received.bytes == expected);
}

TEST(AppendSink, RefusesAnyPlaceButItsEnd) {
  Received received;
  AppendSink sink("pipe", received.append());
  sink.open();
  sink.write_at(0, byte_pattern(10));
  for (std::uint64_t const offset : {0u, 9u, 11u}) {
    EXPECT_EQ(kind_of_failure([&] { sink.write_at(offset, byte_pattern(1)); }), ErrorKind::usage);
  }
  EXPECT_EQ(kind_of_failure([&] { sink.publish(9); }), ErrorKind::usage);
}

TEST(CallbackSinks, LetExceptionsThroughAsTheyAre) {
  auto const seekable =
      seekable_sink("s", [](std::uint64_t, std::span<std::byte const>) { throw std::out_of_range("x"); });
  seekable->open();
  EXPECT_THROW(seekable->write_at(0, byte_pattern(2'000'000)), std::out_of_range);
  auto const append = append_sink("a", [](std::span<std::byte const>) { throw std::out_of_range("x"); });
  append->open();
  append->write_at(0, byte_pattern(10));
  EXPECT_THROW(append->publish(10), std::out_of_range);
  append->discard();
}

TEST(CallbackSinks, HandNothingOverAfterDiscard) {
  Received received;
  AppendSink sink("pipe", received.append());
  sink.open();
  sink.write_at(0, byte_pattern(10));
  sink.discard();
  EXPECT_EQ(received.calls, 0);
}

TEST(CallbackSinks, AreGoodForOneFileAndNeedAFunction) {
  Received received;
  SeekableSink sink("s", received.write_at());
  sink.open();
  EXPECT_EQ(kind_of_failure([&] { sink.open(); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([] { seekable_sink("s", {})->open(); }), ErrorKind::usage);
  EXPECT_EQ(kind_of_failure([] { append_sink("a", {})->open(); }), ErrorKind::usage);
}

}  // namespace
}  // namespace terrazzo::io
