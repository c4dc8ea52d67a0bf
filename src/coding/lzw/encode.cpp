// SPDX-License-Identifier: Apache-2.0
//
// Strings are in a hash table with buckets of two entries, keyed by prefix code and byte. The address is prefix XOR a
// value that depends only on the byte, so the critical path from one code to the next is one XOR and one load. Runs of
// zeros, which are common in predicted rows, are not looked up byte by byte: the codes of runs are kept by length. If a
// table took few bytes, and its later codes not many more than its first, the next tables use the lanes.
#include "coding/lzw/encode.hpp"

#include "tile/byte_swap.hpp"

#include <algorithm>
#include <cstring>

namespace terrazzo::coding {
namespace {

constexpr std::uint32_t kCodeBits = 12;
constexpr std::uint32_t kEmptyEntry = ~std::uint32_t{0};
constexpr std::uint64_t kEmptyBucket = ~std::uint64_t{0};
// The distance to the next bucket if one is full: odd, so that every bucket is reached, and not 1, because neighbours
// are full together.
constexpr std::uint32_t kProbeStep = 721;

// Runs of at least this many zeros are handled at once: shorter ones are as fast one by one.
constexpr std::ptrdiff_t kZerosPassed = 8;

// Samples the bytes of the next table for runs of zeros: the search for runs costs time if there are none.
bool has_zeros(std::byte const* from, std::byte const* stop) noexcept {
  constexpr std::ptrdiff_t kStep = 200, kMost = 8192;
  std::byte const* const end = from + std::min(stop - from, kMost);
  for (; end - from >= kStep; from += kStep) {
    if (tile::load_unaligned<std::uint64_t>(from) == 0) { return true; }
  }
  return false;
}

}  // namespace

struct LzwEncoder::Progress {
  std::byte const* next;
  std::byte const* end;
  std::uint32_t prefix;  // the string that is not written yet
  std::size_t codes = 0;  // entries of codes_
  std::byte const* half_table = nullptr;  // value of `next` at half of the codes
  bool few_repeats = true;  // according to the lanes so far
};

// The place of a string in the table, or the place to insert it.
struct LzwEncoder::Entry {
  std::uint32_t code;  // kLzwTableSize or more if there is none
  std::uint32_t key, slot;
  std::uint64_t bucket;
};

inline LzwEncoder::Entry LzwEncoder::look_up(std::uint32_t prefix, std::uint32_t byte) const noexcept {
  std::uint32_t const key = prefix << 20 | byte << kCodeBits;
  // The XOR leaves the code for an entry of this key, and a larger number for any other. One comparison for both
  // entries: the branch predictor cannot predict whether the string is in the table, and need not predict the half of
  // the bucket.
  auto const code_in = [key](std::uint64_t bucket) {
    return std::min(static_cast<std::uint32_t>(bucket) ^ key, static_cast<std::uint32_t>(bucket >> 32) ^ key);
  };
  std::uint32_t slot = prefix ^ kLzwSpread[byte];
  std::uint64_t bucket = buckets_[slot];
  std::uint32_t code = code_in(bucket);
  while (code >= kLzwTableSize && (bucket >> 32) != kEmptyEntry) [[unlikely]] {
    slot = (slot + kProbeStep) % kLzwBuckets;
    bucket = buckets_[slot];
    code = code_in(bucket);
  }
  return {code, key, slot, bucket};
}

// The zero before `next` is the prefix, and more zeros follow: advances to the longest run that has a code.
void LzwEncoder::pass_zeros(Progress& at) noexcept {
  // Each run entered the table after the run that is one zero shorter.
  for (;;) {
    std::uint32_t const code = look_up(zeros_[longest_zeros_], 0).code;
    if (code >= kLzwTableSize) { break; }
    zeros_[++longest_zeros_] = static_cast<std::uint16_t>(code);
  }
  std::byte const* const first = at.next - 1;
  std::size_t const most = std::min(longest_zeros_, static_cast<std::size_t>(at.end - first));
  std::size_t length = kZerosPassed;
  while (length + 8 <= most && tile::load_unaligned<std::uint64_t>(first + length) == 0) { length += 8; }
  while (length < most && first[length] == std::byte{0}) { ++length; }
  length = std::min(length, most);
  at.next = first + length;
  at.prefix = zeros_[length];
}

template <bool PassesZeros>
void LzwEncoder::add_codes(Progress& at, std::byte const* const stop, std::size_t const most) noexcept {
  std::byte const* next = at.next;
  std::uint32_t prefix = at.prefix;
  std::size_t count = at.codes;
  if (count == most) { return; }
  while (PassesZeros ? next < stop : next != stop) {
    auto const byte = static_cast<std::uint32_t>(*next++);
    Entry const entry = look_up(prefix, byte);
    if (entry.code < kLzwTableSize) {
      prefix = entry.code;
      continue;
    }
    buckets_[entry.slot] = entry.bucket << 32 | entry.key | static_cast<std::uint32_t>(kLzwFirstFree + count);
    codes_[count++] = static_cast<std::uint16_t>(prefix);
    prefix = byte;
    if (count == most) [[unlikely]] { break; }
    if constexpr (PassesZeros) {
      if (tile::load_unaligned<std::uint64_t>(next - 1) == 0) {
        at.next = next;
        pass_zeros(at);
        next = at.next;
        prefix = at.prefix;
      }
    }
  }
  at.next = next;
  at.prefix = prefix;
  at.codes = count;
}

void LzwEncoder::fill_table(Progress& at) noexcept {
  buckets_.fill(kEmptyBucket);
  zeros_[1] = 0;
  longest_zeros_ = 1;
  at.codes = 0;
  std::byte const* const stop = at.end - std::min<std::ptrdiff_t>(at.end - at.next, kZerosPassed);
  bool const passes_zeros = has_zeros(at.next, stop);
  for (std::size_t const most : {kLzwCodesPerTable / 2, kLzwCodesPerTable}) {
    at.half_table = at.next;
    if (passes_zeros) { add_codes<true>(at, stop, most); }
    add_codes<false>(at, at.end, most);
  }
}

// Encodes the next bytes with the lanes, after a table is full.
void LzwEncoder::take_lanes(Progress& at, LzwCodeWriter& out) noexcept {
  std::byte const* const from = at.next - 1;  // its byte is the prefix
  std::size_t const count = LzwLanes::bytes_of(static_cast<std::size_t>(at.end - from));
  at.few_repeats = count > 0 && lanes_.encode({from, count}, out);
  if (!at.few_repeats) { return; }
  at.next += count;
  at.prefix = static_cast<std::uint32_t>(from[count]);
}

std::size_t LzwEncoder::encode(std::span<std::byte const> in, std::span<std::byte> out) noexcept {
  LzwCodeWriter codes(out.data());
  codes.put(kLzwClear, kLzwMinWidth);
  std::uint32_t end_width = kLzwMinWidth;
  if (!in.empty()) {
    Progress at{in.data() + 1, in.data() + in.size(), static_cast<std::uint32_t>(in[0])};
    for (;;) {
      std::byte const* const from = at.next;
      fill_table(at);
      if (at.codes < kLzwCodesPerTable) { break; }
      codes.put_table(codes_);
      codes.put(kLzwClear, kLzwMaxWidth);
      if (LzwLanes::suits(static_cast<std::size_t>(at.next - from), static_cast<std::size_t>(at.half_table - from),
                          static_cast<std::size_t>(at.end - at.next + 1))) {
        while (at.few_repeats) { take_lanes(at, codes); }
      }
    }
    codes_[at.codes++] = static_cast<std::uint16_t>(at.prefix);
    codes.put_table(std::span(codes_).first(at.codes));
    // The decoder adds an entry for the last code too, so EOI has the width after it, or follows a last Clear.
    if (at.codes == kLzwCodesPerTable) {
      codes.put(kLzwClear, kLzwMaxWidth);
    } else {
      end_width = lzw_width_at(at.codes);
    }
  }
  codes.put(kLzwEndOfInformation, end_width);
  return codes.finish();
}

}  // namespace terrazzo::coding
