// SPDX-License-Identifier: Apache-2.0
#include "io/write_gather.hpp"

#include "support/file_bytes.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace terrazzo::io {
namespace {

using testing::byte_pattern;

// A file in memory, and how many parts each call brought.
struct File {
  std::vector<std::byte> bytes{};
  std::vector<std::size_t> parts{};

  [[nodiscard]] auto put() {
    return [this](std::uint64_t offset, std::span<Bytes const> written) {
      parts.push_back(written.size());
      for (Bytes const part : written) {
        bytes.resize(std::max<std::size_t>(bytes.size(), offset + part.size()));
        std::ranges::copy(part, bytes.begin() + static_cast<std::ptrdiff_t>(offset));
        offset += part.size();
      }
    };
  }
};

TEST(WriteGather, CollectsSmallPiecesAndPassesLargeOnes) {
  std::vector<std::byte> const bytes = byte_pattern(1000);
  File file;
  WriteGather gather(100, 50);
  for (std::size_t at = 0; at < 400; at += 10) { gather.write(at, Bytes(bytes).subspan(at, 10), file.put()); }
  EXPECT_EQ(file.parts.size(), 4U);
  gather.write(400, Bytes(bytes).subspan(400, 7), file.put());
  gather.write(407, Bytes(bytes).subspan(407), file.put());
  EXPECT_EQ(file.parts.size(), 6U) << "what waits goes first, then the large piece";
  EXPECT_EQ(file.bytes, bytes);
}

TEST(WriteGather, WritesHeldPiecesTogether) {
  std::vector<std::byte> const bytes = byte_pattern(1000);
  File file;
  WriteGather gather(100, 50);
  gather.hold();
  for (std::size_t at = 0; at < 1000; at += 200) {
    gather.write(at, Bytes(bytes).subspan(at, 4), file.put());
    gather.write(at + 4, Bytes(bytes).subspan(at + 4, 190), file.put());
    gather.write(at + 194, Bytes(bytes).subspan(at + 194, 6), file.put());
  }
  EXPECT_TRUE(file.parts.empty());
  gather.let_go(file.put());
  EXPECT_EQ(file.parts, (std::vector<std::size_t>{11})) << "a trailer and the leader behind it are one part";
  EXPECT_EQ(file.bytes, bytes);
}

TEST(WriteGather, KeepsSmallPiecesAcrossHolds) {
  std::vector<std::byte> const bytes = byte_pattern(80);
  File file;
  WriteGather gather(100, 50);
  for (std::size_t at = 0; at < 80; at += 10) {
    gather.hold();
    gather.write(at, Bytes(bytes).subspan(at, 10), file.put());
    gather.let_go(file.put());
  }
  EXPECT_TRUE(file.parts.empty());
  gather.flush(file.put());
  EXPECT_EQ(file.parts, (std::vector<std::size_t>{1}));
  EXPECT_EQ(file.bytes, bytes);
}

TEST(WriteGather, LosesNothingWhateverComes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> const bytes = byte_pattern(20'000);
    std::vector<std::byte> expected(30'000);
    File file;
    file.bytes.resize(expected.size());
    WriteGather gather(100 + random() % 500, 50 + random() % 200);
    std::uint64_t at = 0;
    for (int i = 0; i < 300; ++i) {
      if (random() % 10 == 0) { gather.hold(); }
      if (random() % 10 == 0) { gather.let_go(file.put()); }
      if (random() % 8 == 0) { at = random() % 20'000; }
      Bytes const part = Bytes(bytes).subspan(random() % 10'000, random() % 400);
      at = std::min<std::uint64_t>(at, expected.size() - part.size());
      gather.write(at, part, file.put());
      std::ranges::copy(part, expected.begin() + static_cast<std::ptrdiff_t>(at));
      at += part.size();
    }
    gather.flush(file.put());
    ASSERT_EQ(file.bytes, expected) << "round " << round;
  }
}

}  // namespace
}  // namespace terrazzo::io
