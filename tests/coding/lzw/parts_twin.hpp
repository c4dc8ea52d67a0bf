// SPDX-License-Identifier: Apache-2.0
//
// The device's LZW encoder on one thread of the host: the same parts, the same bytes.
#pragma once

#include "coding/lzw/parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::coding::test {

class PartInput {
 public:
  explicit PartInput(std::vector<std::byte> const& bytes) : bytes_(&bytes) {}
  void start() {}
  [[nodiscard]] bool empty() const { return position_ >= bytes_->size(); }
  [[nodiscard]] std::uint32_t front() const {
    return empty() ? 0xA5 : static_cast<std::uint32_t>((*bytes_)[position_]);
  }
  void pop() { ++position_; }

 private:
  std::vector<std::byte> const* bytes_;
  std::size_t position_ = 0;
};

struct PartTable {
  LzwBucket* buckets;
  [[nodiscard]] LzwBucket load(std::uint32_t slot) const { return buckets[slot]; }
  void store(std::uint32_t slot, LzwBucket const& bucket) const { buckets[slot] = bucket; }
};

// The device's parts have kLzwPartBytes; smaller ones end at more places.
inline std::vector<std::byte> encode_in_parts(std::vector<std::byte> const& data,
                                              std::size_t part_bytes = kLzwPartBytes) {
  std::size_t const part_count = (data.size() + part_bytes - 1) / part_bytes;
  if (part_count == 0) { return {}; }
  // The size is exact, so that a sanitizer sees more.
  std::vector<std::uint16_t> codes((part_count - 1) * kLzwPartBytes + data.size() - (part_count - 1) * part_bytes);
  std::vector<std::uint64_t> start_bits = {0};
  std::vector<LzwBucket> table(kLzwBucketCount);
  for (std::size_t part = 0; part < part_count; ++part) {
    std::size_t const begin = part * part_bytes;
    std::size_t const size = std::min(part_bytes, data.size() - begin);
    std::vector<std::byte> const in(data.begin() + static_cast<std::ptrdiff_t>(begin),
                                    data.begin() + static_cast<std::ptrdiff_t>(begin + size));
    LzwPartEncoder encoder(PartInput(in), codes.data() + part * kLzwPartBytes);
    encoder.start();
    do {
      std::fill(table.begin(), table.end(), LzwBucket{{kLzwNoEntry, kLzwNoEntry, kLzwNoEntry, kLzwNoEntry}});
    } while (encoder.fill_table(PartTable{table.data()}));
    start_bits.push_back(start_bits.back() + lzw_part_bits(encoder.finish(), part + 1 == part_count));
  }
  LzwPartJoin const join{.codes = codes.data(), .start_bits = start_bits.data(), .part_count = part_count};
  std::vector<std::byte> stream;
  for (std::size_t part = 0; part < part_count; ++part) {
    for (std::uint64_t word = join.first_word(part); word < join.end_word(part); ++word) {
      EXPECT_EQ(word, stream.size() / 4);
      std::uint32_t const value = join.word(word, part);
      for (std::uint32_t shift = 32; shift != 0; shift -= 8) {
        stream.push_back(static_cast<std::byte>(value >> (shift - 8) & 0xFF));
      }
    }
  }
  stream.resize((join.start_bit(part_count) + 7) / 8);
  return stream;
}

}  // namespace terrazzo::coding::test
