// SPDX-License-Identifier: Apache-2.0
#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_getCParams
#include "codec/zstd/level_choice.hpp"

#include "codec/matches/level_trial.hpp"
#include "codec/registry/libraries.hpp"
#include "codec/registry/workspace.hpp"

#if TERRAZZO_HAVE_ZSTD

#include <zstd.h>

#include <utility>

// Null if the loaded library does not export it.
#pragma weak ZSTD_getCParams

namespace terrazzo::codec {

namespace {

// The size of the sample, encoded by the strategy that the level has for the whole block; 0 for an error. libzstd has
// other strategies for small inputs.
std::size_t trial_size(int level, std::span<std::byte const> sample, std::size_t block_bytes, std::span<std::byte> room,
                       Workspace& workspace) noexcept {
  ZSTD_CCtx* const context = workspace.impl().zstd_encoder();
  if (context == nullptr) { return 0; }
  ZSTD_compressionParameters const of_level = ZSTD_getCParams(level, block_bytes, 0);
  std::pair<ZSTD_cParameter, unsigned> const parameters[] = {
      {ZSTD_c_windowLog, of_level.windowLog},
      {ZSTD_c_hashLog, of_level.hashLog},
      {ZSTD_c_chainLog, of_level.chainLog},
      {ZSTD_c_searchLog, of_level.searchLog},
      {ZSTD_c_minMatch, of_level.minMatch},
      {ZSTD_c_targetLength, of_level.targetLength},
      {ZSTD_c_strategy, static_cast<unsigned>(of_level.strategy)},
  };
  for (auto const& [parameter, value] : parameters) {
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context, parameter, static_cast<int>(value))) != 0) { return 0; }
  }
  std::size_t const size = ZSTD_compress2(context, room.data(), room.size(), sample.data(), sample.size());
  return ZSTD_isError(size) == 0 ? size : 0;
}

}  // namespace

int choose_zstd_level(EncodeFormat const& format, std::span<std::byte const> block, std::span<std::byte> room,
                      Workspace& workspace) {
  // Levels from 13 on are for the last per cent; levels up to 5 are fast.
  constexpr int kLowestTried = 6, kHighestTried = 12;
  // A tenth and a half of the time of level 9. Blocks of real rasters take 0.976 to 1.013 of its bytes.
  constexpr FasterLevel kFaster[] = {{1, 1.001}, {5, 1.012}};
  int const wanted = format.level;
  bool const tries = wanted >= kLowestTried && wanted <= kHighestTried && is_tried(format, block.size());
  if (!tries || &ZSTD_getCParams == nullptr) { return wanted; }
  return choose_level(kFaster, wanted, block, workspace.impl().trial,
                      [&](int level, std::span<std::byte const> sample) {
                        return trial_size(level, sample, block.size(), room, workspace);
                      });
}

}  // namespace terrazzo::codec

#endif
