// SPDX-License-Identifier: Apache-2.0
//
// The device's encoders that cut tiles into pieces (gpu/encode/piece_encoder.cuh), on one thread of the host.
//
// A Twin encodes pieces: encode<kLanes>(tile, piece, words) fills kPieceWords at most and returns the size, or
// kUnencoded. Its static members say the rest: lanes(level), words_of(size), first_start(tile_bytes),
// piece_end(start, size, piece_bytes), source(pieces, piece), head(tile) and tail(tile), which are the frame.
#pragma once

#include "coding/deflate/pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace terrazzo::coding::test {

// What the kernels have in their scratch memory for a tile.
struct PiecesOfTile {
  std::vector<std::byte> const& tile;
  std::uint64_t count = deflate_piece_count(tile.size());
  std::vector<std::uint32_t> words{};
  std::vector<std::uint32_t> sizes = std::vector<std::uint32_t>(count);
  std::vector<std::uint64_t> starts = std::vector<std::uint64_t>(count + 1);
};

inline void append(std::vector<std::byte> const& bytes, std::vector<std::byte>& out) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Whole words of memory where there are some, bytes before and behind them, were `out` aligned.
template <class Source>
void append_piece(Source const& source, std::vector<std::byte>& out) {
  auto const put = [&](std::uint32_t byte) { out.push_back(static_cast<std::byte>(byte)); };
  std::uint32_t at = 0;
  for (; at < source.bytes() && out.size() % 4 != 0; ++at) { put(source.byte_at(at)); }
  for (; at + 4 <= source.bytes(); at += 4) {
    std::uint32_t const word = source.word_at(at);
    for (std::uint32_t k = 0; k < 4; ++k) { put(word >> (8 * k) & 0xFFU); }
  }
  for (; at < source.bytes(); ++at) { put(source.byte_at(at)); }
}

// look(twin, size) after every piece.
template <class Twin, std::uint32_t kLanes, class Look>
std::vector<std::byte> encode_in_pieces(std::vector<std::byte> const& tile, Look const& look) {
  PiecesOfTile pieces{tile};
  if (pieces.count == 0) { return {}; }
  auto const twin = std::make_unique<Twin>();
  pieces.words.resize(pieces.count * Twin::kPieceWords, 0xEEEEEEEE);
  pieces.starts[0] = Twin::first_start(tile.size());
  for (std::uint64_t i = 0; i < pieces.count; ++i) {
    std::vector<std::uint32_t> words(Twin::kPieceWords, 0xEEEEEEEE);
    std::uint32_t const size = twin->template encode<kLanes>(tile, i, words.data());
    if (size != Twin::kUnencoded) {
      std::copy_n(words.begin(), Twin::words_of(size),
                  pieces.words.begin() + static_cast<std::ptrdiff_t>(i * Twin::kPieceWords));
    }
    pieces.sizes[i] = size;
    pieces.starts[i + 1] = Twin::piece_end(pieces.starts[i], size, deflate_piece_bytes(tile.size(), i));
    look(*twin, size);
  }
  std::vector<std::byte> out = Twin::head(tile);
  for (std::uint64_t i = 0; i < pieces.count; ++i) {
    auto const source = Twin::source(pieces, i);
    // A piece that does not lie behind the one before makes a stream that nobody decodes.
    out.resize(source.begin());
    append_piece(source, out);
  }
  append(Twin::tail(tile), out);
  return out;
}

// `level` as the device's encoder takes it.
template <class Twin, class Look>
std::vector<std::byte> encode_in_pieces(std::vector<std::byte> const& tile, int level, Look const& look) {
  switch (Twin::lanes(level)) {
    case 1: return encode_in_pieces<Twin, 1>(tile, look);
    case 2: return encode_in_pieces<Twin, 2>(tile, look);
    default: return encode_in_pieces<Twin, 4>(tile, look);
  }
}

template <class Twin>
std::vector<std::byte> encode_in_pieces(std::vector<std::byte> const& tile, int level) {
  return encode_in_pieces<Twin>(tile, level, [](Twin const&, std::uint32_t) {});
}

}  // namespace terrazzo::coding::test
