// SPDX-License-Identifier: Apache-2.0
//
// The device's ZSTD encoder on one thread of the host: the same pieces, the same steps, the same bytes.
#pragma once

#include "coding/deflate/matches_twin.hpp"
#include "coding/pieces_twin.hpp"
#include "coding/zstd/pieces.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::coding::test {

class ZstdPieceTwin {
 public:
  static constexpr std::uint32_t kPieceWords = kZstdPieceWords, kUnencoded = kZstdRaw;

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

  [[nodiscard]] static std::uint32_t lanes(int level) { return zstd_lanes(level); }
  [[nodiscard]] static std::uint32_t words_of(std::uint32_t size) { return (size + 3) / 4; }
  [[nodiscard]] static std::uint64_t first_start(std::uint64_t tile_bytes) {
    return ZstdFrameHeader{tile_bytes}.bytes();
  }
  [[nodiscard]] static std::uint64_t piece_end(std::uint64_t start, std::uint32_t size, std::uint32_t bytes) {
    return start + zstd_block_bytes(size, bytes);
  }
  [[nodiscard]] static ZstdBlockSource source(PiecesOfTile const& pieces, std::uint64_t piece) {
    return {.input = pieces.tile.data() + piece * kZstdPieceBytes,
            .input_bytes = deflate_piece_bytes(pieces.tile.size(), piece),
            .words = pieces.words.data() + piece * kPieceWords,
            .size = pieces.sizes[piece],
            .last = piece + 1 == pieces.count,
            .start = pieces.starts[piece]};
  }
  [[nodiscard]] static std::vector<std::byte> head(std::vector<std::byte> const& tile) {
    ZstdFrameHeader const header{tile.size()};
    std::vector<std::byte> bytes(header.bytes());
    for (std::uint32_t i = 0; i < header.bytes(); ++i) { bytes[i] = static_cast<std::byte>(header.byte_at(i)); }
    return bytes;
  }
  [[nodiscard]] static std::vector<std::byte> tail(std::vector<std::byte> const&) { return {}; }

  [[nodiscard]] ZstdWork const& work() const { return work_; }

 private:
  MatchesTwin matches_;
  alignas(4) std::uint8_t literals_[kZstdPieceBytes];
  std::uint16_t lengths_[3][kZstdMostSequences];
  ZstdWork work_;
};

// A tile's frame as the device makes it; look(twin, size) after every piece.
template <class Look>
std::vector<std::byte> zstd_in_pieces(std::vector<std::byte> const& tile, int level, Look const& look) {
  return encode_in_pieces<ZstdPieceTwin>(tile, level, look);
}
inline std::vector<std::byte> zstd_in_pieces(std::vector<std::byte> const& tile, int level) {
  return encode_in_pieces<ZstdPieceTwin>(tile, level);
}

}  // namespace terrazzo::coding::test
