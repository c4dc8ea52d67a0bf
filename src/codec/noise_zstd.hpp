// SPDX-License-Identifier: Apache-2.0
//
// Zstandard for blocks that are partly noise: repeats are found by RepeatFinder, libzstd codes them and writes the
// frame. Needs libzstd's ZSTD_compressSequences, which its header calls experimental; available() says whether the
// library that was found when the program started has it.
//
// Thread rule: one thread at a time. The output depends on input and level alone.
#pragma once

#include "codec/libraries.hpp"
#include "codec/repeat_finder.hpp"

#if TERRAZZO_HAVE_ZSTD

#include <zstd.h>

#include <cstddef>
#include <span>

namespace terrazzo::codec {

class NoiseZstd {
 public:
  [[nodiscard]] static bool available() noexcept;

  struct Settings {
    std::size_t shortest_match = RepeatFinder::kShortest;  // or RepeatFinder's for small inputs
    RepeatFinder::Doubt allowed = RepeatFinder::Doubt::great;  // it stops when in greater doubt
    bool has_planes = false;  // of noise, half of it or so
  };

  // Bytes of one frame without checksum, by a context that has no parameters; 0 when it stopped, or when libzstd
  // refuses, for one because `out` has no room.
  [[nodiscard]] std::size_t encode(std::span<std::byte const> in, Settings const& settings, std::span<std::byte> out,
                                   ZSTD_CCtx* context);
  [[nodiscard]] RepeatFinder::Doubt doubt() const noexcept { return finder_.doubt(); }  // of the last call

 private:
  RepeatFinder finder_;
};

}  // namespace terrazzo::codec

#endif
