// SPDX-License-Identifier: Apache-2.0
//
// The device's ZSTD encoder on one thread of the host: the same pieces, the same steps, the same bytes.
#pragma once

#include "tile/matches_twin.hpp"
#include "tile/zstd_pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace terrazzo::tile::test {

class ZstdPieceTwin {
 public:
  // Fills `words`; returns the block's bytes, or kZstdRaw.
  template <std::uint32_t kLanes>
  std::uint32_t encode(std::vector<std::byte> const& tile, std::uint64_t piece, std::uint32_t* words) {
    matches_.load(tile, piece);
    bool const last = (piece + 1) * kZstdPieceBytes >= tile.size();
    ThreadsInTurn threads;
    bool repeats = true;
    threads.each([&](std::uint32_t thread) { repeats = zstd_share_repeats(matches_.window(), thread) && repeats; });
    if (repeats) {
      words[0] = zstd_repeated_block(matches_.window(), last);
      return kZstdRepeatedBlockBytes;
    }
    matches_.find<kLanes, kZstdShortestTaken>();
    matches_.parse(kZstdLongestMatch, [](DeflateToken) {});
    ZstdPlaces const places{matches_.tokens(), literals_, lengths_[0], lengths_[1], lengths_[2]};
    make_zstd_block(threads, work_, places, matches_.bytes());
    if (work_.plan.bytes >= matches_.bytes()) { return kZstdRaw; }
    put_zstd_block(threads, work_, places, last, words);
    return kZstdBlockHeaderBytes + work_.plan.bytes;
  }

  [[nodiscard]] ZstdWork const& work() const { return work_; }

 private:
  MatchesTwin matches_;
  alignas(4) std::uint8_t literals_[kZstdPieceBytes];
  std::uint16_t lengths_[3][kZstdMostSequences];
  ZstdWork work_;
};

// A tile's frame as the device makes it; look(twin, piece) after every piece.
template <std::uint32_t kLanes, class Look>
std::vector<std::byte> zstd_in_pieces(std::vector<std::byte> const& tile, Look const& look) {
  std::uint64_t const count = zstd_piece_count(tile.size());
  if (count == 0) { return {}; }
  auto const twin = std::make_unique<ZstdPieceTwin>();
  std::vector<std::uint32_t> words(kZstdPieceWords + 1);
  std::vector<std::byte> out;
  auto const put = [&](std::uint32_t byte) { out.push_back(static_cast<std::byte>(byte)); };
  ZstdFrameHeader const header{tile.size()};
  for (std::uint32_t i = 0; i < header.bytes(); ++i) { put(header.byte_at(i)); }
  for (std::uint64_t piece = 0; piece < count; ++piece) {
    std::fill(words.begin(), words.end(), 0xEEEEEEEE);
    std::uint32_t const size = twin->encode<kLanes>(tile, piece, words.data());
    ZstdBlockSource const block{tile.data() + piece * kZstdPieceBytes, deflate_piece_bytes(tile.size(), piece),
                                words.data(), size, piece + 1 == count};
    std::uint32_t at = 0;
    for (; at + 4 <= block.bytes(); at += 4) {
      for (std::uint32_t k = 0; k < 4; ++k) { put(block.word_at(at) >> (8 * k) & 0xFFU); }
    }
    for (; at < block.bytes(); ++at) { put(block.byte_at(at)); }
    look(*twin, size);
  }
  return out;
}

// `level` as zstd_encode_tiles() takes it.
template <class Look>
std::vector<std::byte> zstd_in_pieces(std::vector<std::byte> const& tile, int level, Look const& look) {
  switch (zstd_lanes(level)) {
    case 1: return zstd_in_pieces<1>(tile, look);
    case 2: return zstd_in_pieces<2>(tile, look);
    default: return zstd_in_pieces<4>(tile, look);
  }
}

inline std::vector<std::byte> zstd_in_pieces(std::vector<std::byte> const& tile, int level) {
  return zstd_in_pieces(tile, level, [](ZstdPieceTwin const&, std::uint32_t) {});
}

}  // namespace terrazzo::tile::test
