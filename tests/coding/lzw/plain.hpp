// SPDX-License-Identifier: Apache-2.0
//
// LZW by its definition, for the encoders' tests: codes one by one into a stream of single bits, strings in a map.
#pragma once

#include "coding/lzw/codes.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace terrazzo::coding {

using Bytes = std::vector<std::byte>;

// Codes, most significant bit first, as wide as the table has come to need; the table's Clear when it is full.
class PlainLzwStream {
 public:
  PlainLzwStream() { put(kLzwClear); }

  // A code of a string or a byte, for which the decoder makes an entry. True when the table has been cleared.
  bool put_string(std::size_t code) {
    put(code);
    if (++next_ < kLzwFirstFree + kLzwCodesPerTable) { return false; }
    clear();
    return true;
  }

  void clear() {
    put(kLzwClear);
    next_ = kLzwFirstFree;
  }

  [[nodiscard]] bool empty() const noexcept { return next_ == kLzwFirstFree; }
  [[nodiscard]] std::size_t next() const noexcept { return next_; }  // the code of the next entry

  [[nodiscard]] Bytes finish() {
    put(kLzwEndOfInformation);
    Bytes stream((bits_.size() + 7) / 8);
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      if (bits_[i]) { stream[i / 8] |= std::byte{0x80} >> (i % 8); }
    }
    return stream;
  }

 private:
  void put(std::size_t code) {
    std::size_t const table_size = empty() ? 0 : next_;
    for (unsigned width = std::max(kLzwMinWidth, static_cast<std::uint32_t>(std::bit_width(table_size)));
         width-- > 0;) {
      bits_.push_back((code >> width & 1U) != 0);
    }
  }

  std::vector<bool> bits_;
  std::size_t next_ = kLzwFirstFree;
};

inline Bytes plain_lzw_stream(Bytes const& in) {
  PlainLzwStream stream;
  std::map<std::pair<std::size_t, std::byte>, std::size_t> table;
  std::size_t prefix = 0;
  bool has_prefix = false;
  for (std::byte const byte : in) {
    if (auto const found = table.find({prefix, byte}); has_prefix && found != table.end()) {
      prefix = found->second;
      continue;
    }
    if (has_prefix) {
      table[{prefix, byte}] = stream.next();
      if (stream.put_string(prefix)) { table.clear(); }
    }
    prefix = std::to_integer<std::size_t>(byte);
    has_prefix = true;
  }
  if (has_prefix) { stream.put_string(prefix); }
  return stream.finish();
}

// Differences of neighbouring uint16, low byte first: 1.5 to 2 bytes a code.
inline Bytes lzw_differences(std::size_t count, double deviation, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> difference(0, deviation);
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; i += 2) {
    auto const value = static_cast<std::uint16_t>(static_cast<std::int32_t>(difference(engine)));
    bytes[i] = static_cast<std::byte>(value & 0xFF);
    if (i + 1 < count) { bytes[i + 1] = static_cast<std::byte>(value >> 8); }
  }
  return bytes;
}

// Rows of noise, each the one above but for one byte in `one_changed_of`; 0: none.
inline Bytes lzw_repeated_rows(std::size_t count, std::size_t row_bytes, unsigned one_changed_of, std::uint32_t seed) {
  std::mt19937 engine(seed);
  Bytes bytes(count);
  for (std::size_t i = 0; i < count; ++i) {
    bool const is_new = i < row_bytes || (one_changed_of > 0 && engine() % one_changed_of == 0);
    bytes[i] = is_new ? static_cast<std::byte>(engine() & 0xFF) : bytes[i - row_bytes];
  }
  return bytes;
}

}  // namespace terrazzo::coding
