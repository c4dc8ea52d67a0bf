// SPDX-License-Identifier: Apache-2.0
#include "io/memory_sink.hpp"

#include "support/file_bytes.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace terrazzo::io {
namespace {

using testing::byte_pattern;

class MemorySinkTest : public ::testing::Test {
 protected:
  MemorySinkTest() { sink_.open(); }
  std::vector<std::byte> const old_ = byte_pattern(10, 5);
  std::vector<std::byte> target_ = old_;
  MemorySink sink_{target_};
};

TEST_F(MemorySinkTest, ReplacesTheVectorWhenPublished) {
  std::vector<std::byte> const bytes = byte_pattern(1000);
  sink_.write_at(0, std::span(bytes).first(600));
  sink_.write_at(600, std::span(bytes).subspan(600));
  EXPECT_EQ(target_, old_);
  sink_.publish(1000);
  EXPECT_EQ(target_, bytes);
}

TEST_F(MemorySinkTest, FillsGapsAndTheEndWithZeros) {
  std::vector<std::byte> const bytes = byte_pattern(10, 1);
  sink_.write_at(20, bytes);
  sink_.write_at(5, std::span(bytes).first(2));
  sink_.write_at(100, {});
  sink_.publish(35);
  std::vector<std::byte> expected(35);
  std::copy(bytes.begin(), bytes.end(), expected.begin() + 20);
  std::copy_n(bytes.begin(), 2, expected.begin() + 5);
  EXPECT_EQ(target_, expected);
}

TEST_F(MemorySinkTest, CutsToTheSize) {
  sink_.write_at(0, byte_pattern(100));
  sink_.publish(40);
  EXPECT_EQ(target_, byte_pattern(40));
}

TEST_F(MemorySinkTest, MovesUpWhatItHolds) {
  std::vector<std::byte> const bytes = byte_pattern(100);
  EXPECT_TRUE(sink_.insert_front(3));  // of nothing
  sink_.write_at(0, bytes);
  EXPECT_EQ(sink_.insert_unit_bytes(), 1u);
  EXPECT_TRUE(sink_.insert_front(7));
  std::vector<std::byte> got(100);
  sink_.read_at(7, got);
  EXPECT_EQ(got, bytes);
  EXPECT_THROW(sink_.read_at(8, got), Error);
}

TEST_F(MemorySinkTest, LeavesTheVectorAloneWhenDiscarded) {
  sink_.write_at(0, byte_pattern(100));
  sink_.discard();
  EXPECT_EQ(target_, old_);
}

TEST_F(MemorySinkTest, RefusesWhatNoMemoryHolds) {
  for (std::uint64_t const offset : {std::uint64_t{1} << 63, std::numeric_limits<std::uint64_t>::max() - 3}) {
    try {
      sink_.write_at(offset, byte_pattern(10));
      ADD_FAILURE() << "no error";
    } catch (Error const& error) { EXPECT_TRUE(error.kind() == ErrorKind::limit || error.kind() == ErrorKind::usage); }
  }
  EXPECT_EQ(target_, old_);
}

TEST_F(MemorySinkTest, IsGoodForOneFile) { EXPECT_THROW(sink_.open(), Error); }

}  // namespace
}  // namespace terrazzo::io
