// SPDX-License-Identifier: Apache-2.0
#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_compressSequences
#include "codec/zstd/noise_zstd.hpp"

#if TERRAZZO_HAVE_ZSTD

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>

// These are macros in every libzstd that has them (1.5.4 and later).
#if defined(ZSTD_c_blockDelimiters) && defined(ZSTD_c_searchForExternalRepcodes)
#define TERRAZZO_ZSTD_SEQUENCES 1
// Null if the loaded library lacks it: the loader then still accepts the library.
#pragma weak ZSTD_compressSequences
#else
#define TERRAZZO_ZSTD_SEQUENCES 0
#endif

namespace terrazzo::codec {

#if TERRAZZO_ZSTD_SEQUENCES

namespace {

// Repeats are passed without conversion: a copy would take 2 % of the time.
static_assert(sizeof(Repeat) == sizeof(ZSTD_Sequence) &&
              offsetof(Repeat, distance) == offsetof(ZSTD_Sequence, offset) &&
              offsetof(Repeat, literals) == offsetof(ZSTD_Sequence, litLength) &&
              offsetof(Repeat, length) == offsetof(ZSTD_Sequence, matchLength) &&
              offsetof(Repeat, unused) == offsetof(ZSTD_Sequence, rep));

}  // namespace

bool NoiseZstd::available() noexcept {
  constexpr unsigned kLeastVersion = 10'504;  // version of the library, which may be older than the header
  return &ZSTD_compressSequences != nullptr && ZSTD_versionNumber() >= kLeastVersion;
}

std::size_t NoiseZstd::encode(std::span<std::byte const> in, Settings const& settings, std::span<std::byte> out,
                              ZSTD_CCtx* context) {
  if (in.empty() || in.size() > RepeatFinder::kMostBytes) { return 0; }
  std::span<Repeat const> const repeats = finder_.find(in, {.part_bytes = ZSTD_BLOCKSIZE_MAX,
                                                            .shortest = settings.shortest_match,
                                                            .allowed = settings.allowed,
                                                            .has_planes = settings.has_planes});
  if (repeats.empty()) { return 0; }
  auto const* const sequences = reinterpret_cast<ZSTD_Sequence const*>(repeats.data());
  int const window_bits = std::max(ZSTD_WINDOWLOG_MIN, static_cast<int>(std::bit_width(in.size() - 1)));
  // libzstd does not search here: small tables, and a strategy that only sets how carefully codes are chosen. Nor does
  // it search repeated distances: blocks that have many raise doubt (RepeatFinder), and are not coded here.
  std::pair<ZSTD_cParameter, int> const parameters[] = {
      {ZSTD_c_windowLog, window_bits},
      {ZSTD_c_hashLog, ZSTD_HASHLOG_MIN},
      {ZSTD_c_chainLog, ZSTD_CHAINLOG_MIN},
      {ZSTD_c_minMatch, ZSTD_MINMATCH_MIN},
      {ZSTD_c_strategy, ZSTD_lazy2},
      {ZSTD_c_blockDelimiters, ZSTD_sf_explicitBlockDelimiters},
      {ZSTD_c_searchForExternalRepcodes, ZSTD_ps_disable},
  };
  for (auto const& [parameter, value] : parameters) {
    if (ZSTD_isError(ZSTD_CCtx_setParameter(context, parameter, value)) != 0) { return 0; }
  }
  std::size_t const size =
      ZSTD_compressSequences(context, out.data(), out.size(), sequences, repeats.size(), in.data(), in.size());
  return ZSTD_isError(size) == 0 ? size : 0;
}

#else

bool NoiseZstd::available() noexcept { return false; }

std::size_t NoiseZstd::encode(std::span<std::byte const>, Settings const&, std::span<std::byte>, ZSTD_CCtx*) {
  return 0;
}

#endif

}  // namespace terrazzo::codec

#endif
