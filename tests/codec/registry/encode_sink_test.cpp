// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/encode_sink.hpp"

#include "codec/support.hpp"

#include <gtest/gtest.h>

namespace terrazzo::codec::testing {
namespace {

TEST(EncodeSink, KeepsItsBytesWhenItGrows) {
  EncodedBlock block;
  EncodeSink sink(block, 10);
  Bytes const data = random_bytes(100'000, 3);
  for (std::size_t at = 0; at < data.size(); at += 1000) {
    ASSERT_TRUE(sink.append(std::span(data).subspan(at, 1000)));
  }
  sink.finish();
  EXPECT_TRUE(std::equal(block.bytes.begin(), block.bytes.end(), data.begin(), data.end()));
}

TEST(EncodeSink, WritesOverAndBeyondWhatIsThere) {
  EncodedBlock block;
  EncodeSink sink(block, 4);
  ASSERT_TRUE(sink.append(Bytes(4, std::byte{1})));
  ASSERT_TRUE(sink.write(1, Bytes(2, std::byte{2})));
  ASSERT_TRUE(sink.write(6, Bytes(1, std::byte{3})));
  sink.finish();
  Bytes const expected = {std::byte{1}, std::byte{2}, std::byte{2}, std::byte{1},
                          std::byte{0}, std::byte{0}, std::byte{3}};
  EXPECT_TRUE(std::equal(block.bytes.begin(), block.bytes.end(), expected.begin(), expected.end()));
}

}  // namespace
}  // namespace terrazzo::codec::testing
