// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/mask.hpp"

#include "codec/lerc/put.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace terrazzo::codec {
namespace {

constexpr std::size_t kLongest = 32767;  // counts have 16 bits: positive before bytes, negative before a repeated one
constexpr std::size_t kWorthARun = 5;  // equal bytes, followed by more
constexpr std::int16_t kEnd = -32768;

std::byte* put_bytes(std::byte* to, std::span<std::byte const> bytes) noexcept {
  for (std::size_t at = 0; at < bytes.size(); at += kLongest) {
    std::size_t const count = std::min(kLongest, bytes.size() - at);
    to = put_little(to, static_cast<std::int16_t>(count));
    std::memcpy(to, bytes.data() + at, count);
    to += count;
  }
  return to;
}

std::byte* put_run(std::byte* to, std::byte value, std::size_t count) noexcept {
  while (count != 0) {
    std::size_t const part = std::min(kLongest, count);
    to = put_little(to, static_cast<std::int16_t>(-static_cast<int>(part)));
    *to++ = value;
    count -= part;
  }
  return to;
}

}  // namespace

std::vector<std::byte> pack_lerc_mask(std::span<std::byte const> valid) {
  std::vector<std::byte> packed((valid.size() + 7) / 8);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    std::uint64_t eight = kEightValid;
    std::memcpy(&eight, valid.data() + i * 8, std::min<std::size_t>(8, valid.size() - i * 8));
    // The k-th byte's bit times 2^(63 - 9 k) is the k-th from the top; the products do not overlap.
    packed[i] = static_cast<std::byte>(eight * 0x8040201008040201 >> 56);
  }
  return packed;
}

std::byte* write_lerc_mask(std::span<std::byte const> packed, std::byte* to) noexcept {
  std::size_t literal = 0;  // start of the bytes that are not in a run
  std::size_t at = 0;
  while (at < packed.size()) {
    std::size_t run = 1;
    while (at + run < packed.size() && packed[at + run] == packed[at]) { ++run; }
    if (run >= kWorthARun && at + kWorthARun < packed.size()) {
      to = put_bytes(to, packed.subspan(literal, at - literal));
      to = put_run(to, packed[at], run);
      literal = at + run;
    }
    at += run;
  }
  to = put_bytes(to, packed.subspan(literal));
  return put_little(to, kEnd);
}

}  // namespace terrazzo::codec
