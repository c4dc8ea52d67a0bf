// SPDX-License-Identifier: Apache-2.0
#include "output/sha256.hpp"

#include <algorithm>
#include <bit>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace terrazzo::cli {
namespace {

constexpr std::size_t kRounds = 64;

alignas(16) constexpr std::array<std::uint32_t, kRounds> kConstants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;
using Compress = void (*)(State&, std::byte const*, std::size_t);

void compress_portable(State& state, std::byte const* data, std::size_t blocks) {
  for (; blocks > 0; --blocks, data += 64) {
    std::array<std::uint32_t, kRounds> w;
    for (std::size_t i = 0; i < 16; ++i) {
      w[i] = std::to_integer<std::uint32_t>(data[4 * i]) << 24 | std::to_integer<std::uint32_t>(data[4 * i + 1]) << 16 |
             std::to_integer<std::uint32_t>(data[4 * i + 2]) << 8 | std::to_integer<std::uint32_t>(data[4 * i + 3]);
    }
    for (std::size_t i = 16; i < kRounds; ++i) {
      std::uint32_t const s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
      std::uint32_t const s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < kRounds; ++i) {
      std::uint32_t const s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
      std::uint32_t const t1 = h + s1 + ((e & f) ^ (~e & g)) + kConstants[i] + w[i];
      std::uint32_t const s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
      std::uint32_t const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    State const after{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) { state[i] += after[i]; }
  }
}

#if defined(__x86_64__)
// Four rounds per iteration. `words` is a ring of four vectors: the message first, then its expansion.
__attribute__((target("sha,sse4.1,ssse3"))) void compress_sha_ni(State& state, std::byte const* data,
                                                                 std::size_t blocks) {
  __m128i const big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i const dcba = _mm_loadu_si128(reinterpret_cast<__m128i const*>(state.data()));
  __m128i const hgfe = _mm_loadu_si128(reinterpret_cast<__m128i const*>(state.data() + 4));
  // The instructions take the state as (a, b, e, f) and (c, d, g, h), high word first.
  __m128i const cdab = _mm_shuffle_epi32(dcba, 0xb1);
  __m128i const efgh = _mm_shuffle_epi32(hgfe, 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; blocks > 0; --blocks, data += 64) {
    __m128i const abef_before = abef, cdgh_before = cdgh;
    __m128i words[4];
    for (int i = 0; i < 4; ++i) {
      words[i] = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<__m128i const*>(data) + i), big_endian);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) {
      if (i >= 4) {
        __m128i const sum = _mm_add_epi32(_mm_sha256msg1_epu32(words[i % 4], words[(i + 1) % 4]),
                                          _mm_alignr_epi8(words[(i + 3) % 4], words[(i + 2) % 4], 4));
        words[i % 4] = _mm_sha256msg2_epu32(sum, words[(i + 3) % 4]);
      }
      __m128i const keyed =
          _mm_add_epi32(words[i % 4], _mm_load_si128(reinterpret_cast<__m128i const*>(kConstants.data()) + i));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, keyed);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(keyed, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  __m128i const feba = _mm_shuffle_epi32(abef, 0x1b);
  __m128i const dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(dchg, feba, 8));
}

bool has_sha_ni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_1) == 0 || (c & bit_SSSE3) == 0) { return false; }
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}
#endif

Compress best_compress() {
#if defined(__x86_64__)
  static bool const fast = has_sha_ni();
  if (fast) { return compress_sha_ni; }
#endif
  return compress_portable;
}

}  // namespace

Sha256::Sha256(bool portable) : compress_(portable ? compress_portable : best_compress()) {}

void Sha256::update(std::span<std::byte const> bytes) {
  total_bytes_ += bytes.size();
  if (pending_bytes_ > 0) {
    std::size_t const taken = std::min(bytes.size(), kBlockBytes - pending_bytes_);
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(pending_bytes_));
    pending_bytes_ += taken;
    bytes = bytes.subspan(taken);
    if (pending_bytes_ < kBlockBytes) { return; }
    compress_(state_, pending_.data(), 1);
    pending_bytes_ = 0;
  }
  std::size_t const blocks = bytes.size() / kBlockBytes;
  compress_(state_, bytes.data(), blocks);
  bytes = bytes.subspan(blocks * kBlockBytes);
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
  pending_bytes_ = bytes.size();
}

std::string Sha256::finish() {
  std::uint64_t const bits = total_bytes_ * 8;
  std::array<std::byte, 2 * kBlockBytes> tail{};
  std::copy_n(pending_.begin(), pending_bytes_, tail.begin());
  tail[pending_bytes_] = std::byte{0x80};
  std::size_t const tail_bytes = pending_bytes_ + 9 <= kBlockBytes ? kBlockBytes : 2 * kBlockBytes;
  for (std::size_t i = 0; i < 8; ++i) { tail[tail_bytes - 1 - i] = static_cast<std::byte>(bits >> (8 * i)); }
  compress_(state_, tail.data(), tail_bytes / kBlockBytes);

  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) { hex += kDigits[(word >> shift) & 0xf]; }
  }
  return hex;
}

}  // namespace terrazzo::cli
