// SPDX-License-Identifier: Apache-2.0
//
// ZSTD frames for tests: samples of several kinds, compressed by libzstd in as many blocks as a test wants.
#pragma once

#include "codec/support.hpp"

#include <zstd.h>

namespace terrazzo::codec::testing {

struct FrameOptions {
  int level = 3;
  bool checksum = false;
  bool with_size = true;
  std::size_t block_bytes = 0;  // not 0: a block ends after so many bytes, or sooner
  int window_log = 0;           // not 0: of the window that the frame asks for
};

inline Bytes make_frame(Bytes const& samples, FrameOptions options = {}) {
  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> const context(ZSTD_createCCtx(), &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, options.level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, options.checksum ? 1 : 0);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, options.with_size ? 1 : 0);
  if (options.window_log != 0) { ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, options.window_log); }
  if (options.with_size) { ZSTD_CCtx_setPledgedSrcSize(context.get(), samples.size()); }
  // Without its size in two pieces at least, so that the library cannot know it and shrink the window.
  std::size_t const pieces = options.with_size ? 1 : 2;
  std::size_t const step =
      options.block_bytes != 0 ? options.block_bytes : std::max<std::size_t>(1, samples.size() / pieces);
  Bytes frame(ZSTD_compressBound(samples.size()) + 64 + (samples.size() / step + 1) * 64);
  ZSTD_outBuffer out{frame.data(), frame.size(), 0};
  for (ZSTD_inBuffer in{samples.data(), 0, 0};;) {
    in.size = std::min(in.size + step, samples.size());
    bool const is_last = in.size == samples.size();
    EXPECT_EQ(ZSTD_compressStream2(context.get(), &out, &in, is_last ? ZSTD_e_end : ZSTD_e_flush), 0u);
    if (is_last) { break; }
  }
  frame.resize(out.pos);
  return frame;
}

// From noise to runs: each asks for something else of a decoder.
enum class SampleKind : std::uint8_t { noise, skewed, floats, text, runs, zeros };
inline constexpr SampleKind kSampleKinds[] = {SampleKind::noise, SampleKind::skewed, SampleKind::floats,
                                              SampleKind::text,  SampleKind::runs,   SampleKind::zeros};

inline Bytes make_samples(SampleKind kind, std::size_t count, std::uint32_t seed = 1) {
  std::mt19937 generator(seed);
  Bytes samples(count);
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto const random = static_cast<std::uint32_t>(generator());
    switch (kind) {
      case SampleKind::noise: value = random; break;
      // Literals of long codes, hardly a match.
      case SampleKind::skewed: value = (random & 0xFF) * (random >> 8 & 0xFF) >> 8; break;
      // As the planes of predictor 3: zeros, steps, noise.
      case SampleKind::floats: value = i / 64 % 4 == 0 ? 0 : i / 64 % 4 == 1 ? random % 5 : random; break;
      case SampleKind::text:
        value = static_cast<unsigned char>("the quick brown fox "[random % 3 == 0 ? random % 20 : i % 20]);
        break;
      case SampleKind::runs: value = random % 50 == 0 ? random >> 8 : value; break;
      case SampleKind::zeros: value = 0; break;
    }
    samples[i] = static_cast<std::byte>(value & 0xFF);
  }
  return samples;
}

}  // namespace terrazzo::codec::testing
