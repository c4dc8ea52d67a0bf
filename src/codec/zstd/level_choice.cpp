// SPDX-License-Identifier: Apache-2.0
#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_getCParams
#include "codec/zstd/level_choice.hpp"

#include "codec/matches/far_repeats.hpp"
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

// The size of the sample, encoded with the parameters that the level has for the whole block; 0 for an error.
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

int choose_zstd_level(std::span<std::byte const> block, int wanted, std::span<std::byte> room, Workspace& workspace) {
  constexpr int kLowestTried = 3, kHighestTried = 12, kFastest = 1, kQuick = 5;
  // Repeats are as far apart as a block is large, so a sample flatters the fastest level: samples of 32 KiB are right
  // about 16-bit satellite images where 16 KiB are not. Small blocks have no time for them. Of kQuick the sample tells
  // the truth: real rasters that it accepts take 0.98 to 1.013 of the bytes of level 9, and half of the time.
  constexpr std::size_t kLargeBlock = std::size_t{512} << 10;
  constexpr std::size_t kSampleBytes = std::size_t{16} << 10, kSampleOfLarge = std::size_t{32} << 10;
  constexpr double kAllowedOfFastest = 1.001, kAllowedOfQuick = 1.012;
  bool const is_tried = wanted >= kLowestTried && wanted <= kHighestTried && block.size() >= kLeastTriedBytes;
  if (!is_tried || &ZSTD_getCParams == nullptr) { return wanted; }
  std::span<std::byte const> const sample =
      sample_for_trial(block, block.size() >= kLargeBlock ? kSampleOfLarge : kSampleBytes, workspace.impl().trial);
  auto const size_at = [&](int level) { return trial_size(level, sample, block.size(), room, workspace); };
  std::size_t const fastest_size = size_at(kFastest);
  if (!is_telling(fastest_size, sample)) { return wanted; }
  std::size_t const wanted_size = size_at(wanted);
  if (is_about_as_small(fastest_size, wanted_size, kAllowedOfFastest) && !has_far_repeats(block)) { return kFastest; }
  if (wanted <= kQuick) { return wanted; }
  return is_about_as_small(size_at(kQuick), wanted_size, kAllowedOfQuick) ? kQuick : wanted;
}

}  // namespace terrazzo::codec

#endif
