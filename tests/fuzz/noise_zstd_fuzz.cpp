// SPDX-License-Identifier: Apache-2.0
//
// The search for repeats in blocks that are partly noise, and the frames that libzstd makes of them: decoding gives the
// input, and the bytes do not depend on earlier calls.
//
// The first byte chooses the settings. The rest says how the block is made, four bytes a step: noise, a run, samples
// with noise in every other byte, or a copy of earlier bytes.
#include "codec/zstd/noise_zstd.hpp"

#include <cstddef>
#include <cstdint>

#if TERRAZZO_HAVE_ZSTD

#include <cstdlib>
#include <random>
#include <span>
#include <vector>

namespace {

using namespace terrazzo;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kMostBytes = std::size_t{140} << 10;

void require(bool condition) {
  if (!condition) { std::abort(); }
}

Bytes made_of(std::span<std::uint8_t const> steps) {
  Bytes block;
  for (; steps.size() >= 4 && block.size() < kMostBytes; steps = steps.subspan(4)) {
    std::size_t const length = (steps[0] >> 2) * 256U + steps[1] + 1U;
    unsigned const value = steps[2] * 256U + steps[3];
    std::size_t const from = block.empty() ? 0 : (std::size_t{value} * 41) % block.size();
    std::minstd_rand random(value + 1);
    for (std::size_t i = 0; i < length; ++i) {
      switch (steps[0] & 3U) {
        case 0: block.push_back(static_cast<std::byte>(random() >> 8)); break;
        case 1: block.push_back(static_cast<std::byte>(value)); break;
        case 2: block.push_back(static_cast<std::byte>(i % 2 == 0 ? random() >> 8 : random() % 3)); break;
        default: block.push_back(block.empty() ? std::byte{} : block[from + i < block.size() ? from + i : 0]); break;
      }
    }
  }
  return block;
}

Bytes encoded(codec::NoiseZstd& encoder, Bytes const& block, codec::NoiseZstd::Settings const& settings) {
  static ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters);
  Bytes out(ZSTD_compressBound(block.size()));
  out.resize(encoder.encode(block, settings, out, context));
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using codec::RepeatFinder;
  if (size < 5 || !codec::NoiseZstd::available()) { return 0; }
  codec::NoiseZstd::Settings const settings{
      .shortest_match = data[0] % 2 == 0 ? RepeatFinder::kShortest : RepeatFinder::kShortestInSmall,
      .allowed = static_cast<RepeatFinder::Doubt>(data[0] / 2 % 3),
      .has_planes = data[0] >= 128};
  Bytes const block = made_of({data + 1, size - 1});
  static codec::NoiseZstd used;
  codec::NoiseZstd fresh;
  Bytes const frame = encoded(used, block, settings);
  require(frame == encoded(fresh, block, settings));
  if (frame.empty()) {
    require(used.doubt() > settings.allowed);
    return 0;
  }
  require(ZSTD_getFrameContentSize(frame.data(), frame.size()) == block.size());
  Bytes back(block.size());
  require(ZSTD_decompress(back.data(), back.size(), frame.data(), frame.size()) == block.size());
  require(back == block);
  return 0;
}

#else

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const*, std::size_t) { return 0; }

#endif
