// SPDX-License-Identifier: Apache-2.0
//
// Deflate streams for tests: samples of several kinds, compressed by zlib, libdeflate and our own encoder.
#pragma once

#include "codec/deflate/noise_deflate.hpp"
#include "codec/support.hpp"

#include <libdeflate.h>
#include <zlib.h>

namespace terrazzo::codec::testing {

struct StreamOptions {
  int level = 6, strategy = Z_DEFAULT_STRATEGY, memory = 8;
  bool has_frame = false;       // of zlib
  std::size_t block_bytes = 0;  // not 0: a block ends after so many bytes, or sooner
};

inline Bytes make_stream(std::span<std::byte const> samples, StreamOptions options = {}) {
  z_stream state{};
  int const window_bits = options.has_frame ? 15 : -15;
  EXPECT_EQ(deflateInit2(&state, options.level, Z_DEFLATED, window_bits, options.memory, options.strategy), Z_OK);
  std::size_t const step = options.block_bytes != 0 ? options.block_bytes : std::max<std::size_t>(1, samples.size());
  Bytes stream(samples.size() + samples.size() / 4 + 100 + 100 * (samples.size() / step));
  state.next_in = const_cast<Bytef*>(reinterpret_cast<Bytef const*>(samples.data()));  // it reads only
  state.next_out = reinterpret_cast<Bytef*>(stream.data());
  state.avail_out = static_cast<uInt>(stream.size());
  for (std::size_t at = 0;;) {
    std::size_t const bytes = std::min(step, samples.size() - at);
    at += bytes;
    state.avail_in = static_cast<uInt>(bytes);
    bool const is_last = at == samples.size();
    EXPECT_EQ(::deflate(&state, is_last ? Z_FINISH : Z_BLOCK), is_last ? Z_STREAM_END : Z_OK);
    if (is_last) { break; }
  }
  stream.resize(state.total_out);
  deflateEnd(&state);
  return stream;
}

inline Bytes make_libdeflate_stream(std::span<std::byte const> samples, int level) {
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> const state(
      libdeflate_alloc_compressor(level), &libdeflate_free_compressor);
  Bytes stream(libdeflate_deflate_compress_bound(state.get(), samples.size()));
  stream.resize(libdeflate_deflate_compress(state.get(), samples.data(), samples.size(), stream.data(), stream.size()));
  EXPECT_FALSE(stream.empty());
  return stream;
}

// Empty when the samples are not for it.
inline Bytes make_own_stream(std::span<std::byte const> samples, int level) {
  auto const encoder = std::make_unique<NoiseDeflate>();
  Bytes stream(samples.size() + samples.size() / 50 + 100);
  stream.resize(encoder->encode(samples, level, stream));
  return stream;
}

// From what the decoder is made for to what it is not: each asks for something else of it.
enum class DeflateSamples : std::uint8_t { imagery, noise, skewed, text, runs, zeros };
inline constexpr DeflateSamples kDeflateSamples[] = {DeflateSamples::imagery, DeflateSamples::noise,
                                                     DeflateSamples::skewed,  DeflateSamples::text,
                                                     DeflateSamples::runs,    DeflateSamples::zeros};

inline Bytes make_deflate_samples(DeflateSamples kind, std::size_t count, std::uint32_t seed = 1) {
  std::mt19937 generator(seed);
  Bytes samples(count);
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto const random = static_cast<std::uint32_t>(generator());
    switch (kind) {
      // As predictor 2 leaves 16-bit samples: low bytes near 0 on either side, high bytes that say which.
      case DeflateSamples::imagery: value = i % 2 == 0 ? random % 40 + (random >> 8) % 40 - 39 : value >> 8; break;
      case DeflateSamples::noise: value = random; break;
      case DeflateSamples::skewed: value = (random & 0xFF) * (random >> 8 & 0xFF) >> 8; break;
      case DeflateSamples::text:
        value = static_cast<unsigned char>("the quick brown fox "[random % 30 == 0 ? random % 20 : i % 20]);
        break;
      case DeflateSamples::runs: value = random % 50 == 0 ? random >> 8 : value; break;
      case DeflateSamples::zeros: value = 0; break;
    }
    samples[i] = static_cast<std::byte>(value & 0xFF);
  }
  return samples;
}

}  // namespace terrazzo::codec::testing
