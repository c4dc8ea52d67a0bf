// SPDX-License-Identifier: Apache-2.0
//
// LZW made by many threads at once: the parts of the device's encoder, for host and device, so that the host's tests
// cover them. The streams are those of coding/lzw/encode.hpp with additional Clears.
//
// A tile is divided into parts of kLzwPartBytes, which are encoded independently, separated by Clears. One thread
// encodes a part (each string depends on the previous one) into plain codes: the width of a code and its first bit
// depend only on its place, so a thread per word of the stream packs them. The table is small, so that many fit in a
// multiprocessor's shared memory: buckets of four entries, read in one load.
//
// The price is longer streams. Parts of 16 / 32 / 64 KiB compared to whole tiles, 512 px: float32 elevations with
// predictor 3, -0.1 / +0.05 / +0.04 %; uint16 with predictor 2, +0.9 / +0.02 / +0.02 %; 8-bit RGB with predictor 2,
// +0.8 / +0.1 / +0.1 %. Constant tiles shrink to 1.2 / 0.9 / 0.6 % of their size instead of 0.2 %.
#pragma once

#include "base/host_device.hpp"
#include "coding/lzw/codes.hpp"
#include "coding/lzw/decode.hpp"
#include "coding/lzw/segments.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::coding {

// The shortest part, a constant one, is 256 codes: with fewer than 256 bytes per segment the device's decoder would
// leave the tile to the host (lzw_segment_capacity).
inline constexpr std::uint32_t kLzwPartBytes = 32768;

[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t lzw_part_count(std::uint64_t tile_bytes) noexcept {
  return (tile_bytes + kLzwPartBytes - 1) / kLzwPartBytes;
}

// A part's symbols: its codes, a Clear after each full table, and the code after the last one, Clear or EOI. Their
// positions depend only on their number. A table and its Clear:
inline constexpr std::uint32_t kLzwTableCodes = static_cast<std::uint32_t>(kLzwCodesPerTable);
inline constexpr std::uint32_t kLzwTableBits = lzw_code_offset(kLzwTableCodes + 1, LzwBitOrder::msb_first);

// Bits of a part with so many codes. Only a tile's last part has EOI after the Clear of a table that is just full.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t lzw_part_bits(std::uint32_t code_count, bool last) noexcept {
  std::uint32_t const rest = code_count % kLzwTableCodes;
  std::uint32_t const behind = rest != 0 || last ? 1 : 0;
  return code_count / kLzwTableCodes * kLzwTableBits + lzw_code_offset(rest + behind, LzwBitOrder::msb_first);
}

// Upper bound for the stream of a tile, in whole words of 4 bytes, as the stream is written: a code per byte.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint64_t lzw_parts_bound(std::uint64_t tile_bytes) noexcept {
  std::uint64_t const bits = kLzwMinWidth + tile_bytes / kLzwPartBytes * lzw_part_bits(kLzwPartBytes, true) +
                             lzw_part_bits(static_cast<std::uint32_t>(tile_bytes % kLzwPartBytes), true);
  return (bits + 31) / 32 * 4;
}

// Four entries, the newest first: prefix << 20 | byte << 12 | code, all ones if empty (no prefix is 4095). Strings of a
// full bucket continue in the next.
struct alignas(16) LzwBucket {
  std::uint32_t entries[4];
};
inline constexpr std::uint32_t kLzwNoEntry = 0xFFFFFFFF;

// 11 tables, with 128 bytes of input and the 1 KiB that the system reserves for each, fill an H200's multiprocessor.
// Buckets read per byte: 1.14 (elevations), 1.20 (RGB, predictor 2), 1.27 (noise); with 1024 buckets 1.7 to 2.4.
inline constexpr std::uint32_t kLzwBucketCount = 1248;

namespace lzw_part {

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t home_of(std::uint32_t prefix, std::uint32_t byte) noexcept {
  std::uint32_t const mixed = prefix * 0x9E3779B1U + byte * 0x85EBCA6BU;
#if defined(__CUDA_ARCH__)
  return __umulhi(mixed, kLzwBucketCount);
#else
  return static_cast<std::uint32_t>((std::uint64_t{mixed} * kLzwBucketCount) >> 32);
#endif
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t key_of(std::uint32_t prefix, std::uint32_t byte) noexcept {
  return prefix << 20 | byte << kLzwMaxWidth;
}

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t lesser(std::uint32_t a, std::uint32_t b) noexcept {
  return a < b ? a : b;
}

// The code of the string, or kLzwTableSize or more if it is not here: the XOR leaves the code for an entry of this key,
// and a larger number for any other.
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t find(LzwBucket const& bucket, std::uint32_t key) noexcept {
  return lesser(lesser(bucket.entries[0] ^ key, bucket.entries[1] ^ key),
                lesser(bucket.entries[2] ^ key, bucket.entries[3] ^ key));
}

}  // namespace lzw_part

// Encodes one part, of at least one byte:
//   part.start();
//   do { all entries of the table become kLzwNoEntry; } while (part.fill_table(table));
//   code_count = part.finish();
// Input: start() comes first; front() is the next byte, or any value if it is empty(); pop().
// Table: load(slot), store(slot, bucket), of kLzwBucketCount.
template <class Input>
class LzwPartEncoder {
 public:
  // `codes` has room for one per byte.
  TERRAZZO_HOST_DEVICE LzwPartEncoder(Input const& in, std::uint16_t* codes) noexcept : in_(in), codes_(codes) {}

  TERRAZZO_HOST_DEVICE void start() noexcept {
    in_.start();
    prefix_ = in_.front();
    in_.pop();
  }

  // Returns true if the table is full: clear it and call again.
  template <class Table>
  TERRAZZO_HOST_DEVICE bool fill_table(Table const& table) noexcept {
    std::uint32_t const full_at = count_ + kLzwTableCodes;
    std::uint32_t const to_entry = kLzwFirstFree - count_;
    while (!in_.empty()) {
      std::uint32_t const byte = in_.front();
      std::uint32_t slot = lzw_part::home_of(prefix_, byte);
      LzwBucket bucket = table.load(slot);
      in_.pop();
      std::uint32_t const key = lzw_part::key_of(prefix_, byte);
      std::uint32_t code = lzw_part::find(bucket, key);
      while (code >= kLzwTableSize && bucket.entries[3] != kLzwNoEntry) {
        slot = slot + 1 < kLzwBucketCount ? slot + 1 : 0;
        bucket = table.load(slot);
        code = lzw_part::find(bucket, key);
      }
      if (code < kLzwTableSize) {
        prefix_ = code;
      } else {
        table.store(slot, {{key | (count_ + to_entry), bucket.entries[0], bucket.entries[1], bucket.entries[2]}});
        codes_[count_++] = static_cast<std::uint16_t>(prefix_);
        prefix_ = byte;
        if (count_ == full_at) { return true; }
      }
    }
    return false;
  }

  // Writes the last string. Returns the number of codes of the part.
  TERRAZZO_HOST_DEVICE std::uint32_t finish() noexcept {
    codes_[count_++] = static_cast<std::uint16_t>(prefix_);
    return count_;
  }

 private:
  Input in_;
  std::uint16_t* codes_;
  std::uint32_t count_ = 0;
  std::uint32_t prefix_ = 0;  // the string that is not written yet
};

// The code that covers a bit of a segment, and the number of its bits before it.
struct LzwCodePlace {
  std::uint32_t k;
  std::uint32_t bits_before;
};
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr LzwCodePlace lzw_code_at(std::uint32_t bit) noexcept {
  std::uint32_t first = 0;
  std::uint32_t first_bit = 0;
  std::uint32_t width = kLzwMinWidth;
  for (; width < kLzwMaxWidth; ++width) {
    std::uint32_t const next = (1U << width) - kLzwFirstFree;  // the first wider code
    std::uint32_t const next_bit = lzw_code_offset(next, LzwBitOrder::msb_first);
    if (bit < next_bit) { break; }
    first = next;
    first_bit = next_bit;
  }
  return {.k = first + (bit - first_bit) / width, .bits_before = (bit - first_bit) % width};
}

// A tile's stream, joined from the codes of its parts.
struct LzwPartJoin {
  std::uint16_t const* codes;  // codes of the tile; the parts are kLzwPartBytes codes apart
  std::uint64_t const* start_bits;  // start of each part after the first Clear, and the end of the last one
  std::uint64_t part_count;

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t start_bit(std::uint64_t part) const noexcept {
    return kLzwMinWidth + start_bits[part];
  }

  // The words [first, end) of the stream belong to part `part`: those that begin in it; part 0 also has the first word,
  // which begins in the Clear.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t first_word(std::uint64_t part) const noexcept {
    return part == 0 ? 0 : (start_bit(part) + 31) / 32;
  }
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint64_t end_word(std::uint64_t part) const noexcept {
    return (start_bit(part + 1) + 31) / 32;
  }

  // Word `index` of the stream, which belongs to part `part`, the first bit the highest. Zeros after the end.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t word(std::uint64_t index, std::uint64_t part) const noexcept {
    bool const at_front = index == 0;
    std::uint64_t value = at_front ? kLzwClear : 0;
    std::uint32_t filled = at_front ? kLzwMinWidth : 0;
    auto bit = static_cast<std::uint32_t>(at_front ? 0 : index * 32 - start_bit(part));
    auto part_bits = static_cast<std::uint32_t>(start_bits[part + 1] - start_bits[part]);
    std::uint32_t table = bit / kLzwTableBits;
    LzwCodePlace place = lzw_code_at(bit % kLzwTableBits);
    bit -= place.bits_before;
    for (;;) {
      std::uint32_t const width = lzw_code_width(place.k, LzwBitOrder::msb_first);
      std::uint32_t symbol = kLzwClear;
      bit += width;
      bool const last_of_part = bit == part_bits;
      if (last_of_part) {
        if (part + 1 == part_count) { symbol = kLzwEndOfInformation; }
      } else if (place.k != kLzwTableCodes) {
        symbol = codes[part * kLzwPartBytes + table * kLzwTableCodes + place.k];
      }
      std::uint32_t const bits = width - place.bits_before;
      value = value << bits | (symbol & ((1U << bits) - 1));
      filled += bits;
      if (filled >= 32) { return static_cast<std::uint32_t>(value >> (filled - 32)); }
      place.bits_before = 0;
      if (last_of_part) {
        if (++part == part_count) { return static_cast<std::uint32_t>(value << (32 - filled)); }
        part_bits = static_cast<std::uint32_t>(start_bits[part + 1] - start_bits[part]);
        bit = 0;
        table = 0;
        place.k = 0;
      } else if (place.k == kLzwTableCodes) {
        ++table;
        place.k = 0;
      } else {
        ++place.k;
      }
    }
  }
};

}  // namespace terrazzo::coding
