// SPDX-License-Identifier: Apache-2.0
//
// Deflate for blocks that are partly noise, such as predicted elevations and reflectances: the low bytes of a sample do
// not repeat, and libdeflate spends most of its time searching them. Here the block is divided into segments; segments
// whose bytes are evenly distributed are only coded, segments with structure are searched. libdeflate encodes blocks
// with little noise, and blocks that would grow.
//
// Thread rule: one thread at a time. The output depends only on input and level.
#pragma once

#include "codec/deflate/block_writer.hpp"
#include "codec/matches/match_table.hpp"
#include "codec/matches/missed_matches.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace terrazzo::codec {

class NoiseDeflate {
 public:
  static constexpr int kHighestLevel = 9;  // libdeflate handles higher levels
  static constexpr std::size_t kLeastBytes = std::size_t{64} << 10;

  // Returns the size of a Deflate stream without a frame; 0 if the input is not of this kind, or does not fit in `out`.
  // Levels 1 to 6 are one: on predicted elevations it is faster than libdeflate's 1, and smaller than its 5.
  [[nodiscard]] std::size_t encode(std::span<std::byte const> in, int level, std::span<std::byte> out);

 private:
  template <class Table>
  [[nodiscard]] std::size_t encode_with(Table& table, bool is_lazy, std::span<std::byte const> in,
                                        std::span<std::byte> out);
  void start(std::span<std::byte const> in) noexcept;
  template <class Table>
  void search_structure(Table& table, bool is_lazy, std::size_t end);
  template <class Table>
  void probe_noise(Table& table, std::size_t end);
  template <class Table>
  void take(Table& table, std::size_t at, FoundMatch match);

  std::byte const* in_ = nullptr;
  std::size_t search_end_ = 0;  // end of the positions to search
  std::size_t at_ = 0, literals_from_ = 0;
  MatchTable<std::uint32_t> quick_;
  MatchTable<std::uint64_t> thorough_;
  std::vector<DeflateMatch> matches_;
  MissedMatches missed_;
};

}  // namespace terrazzo::codec
