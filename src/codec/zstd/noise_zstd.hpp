// SPDX-License-Identifier: Apache-2.0
//
// Zstandard for blocks that are partly noise: RepeatFinder finds repeats, libzstd codes them and writes the frame.
// Needs libzstd's ZSTD_compressSequences, which its header calls experimental; available() is true if the library that
// was loaded at program start has it.
//
// Thread rule: one thread at a time. The output depends only on input and level.
#pragma once

#include "codec/matches/repeat_finder.hpp"
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_ZSTD

#include <zstd.h>

#include <cstddef>
#include <span>

namespace terrazzo::codec {

class NoiseZstd {
 public:
  [[nodiscard]] static bool available() noexcept;

  struct Settings {
    std::size_t shortest_match = RepeatFinder::kShortest;  // or that of RepeatFinder for small inputs
    RepeatFinder::Doubt allowed = RepeatFinder::Doubt::great;  // the search stops at greater doubt
    bool has_planes = false;  // about half is noise in planes
  };

  // Returns the size of one frame, made by a context without parameters, except that of a checksum; 0 if the search
  // stopped, or if libzstd refuses, for example because `out` has no room.
  [[nodiscard]] std::size_t encode(std::span<std::byte const> in, Settings const& settings, std::span<std::byte> out,
                                   ZSTD_CCtx* context);
  [[nodiscard]] RepeatFinder::Doubt doubt() const noexcept { return finder_.doubt(); }  // of the last call

 private:
  RepeatFinder finder_;
};

}  // namespace terrazzo::codec

#endif
