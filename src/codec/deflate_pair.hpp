// SPDX-License-Identifier: Apache-2.0
//
// Our own decoder of Deflate (RFC 1951), for two tiles at a time. In a stream every lookup waits for the one before it,
// and where short matches stand between literals, as in images of many bits, no processor foresees which of the two
// comes next: half of libdeflate's time is guesses that were wrong. Here a step makes a literal, a short match or both
// without asking which, and the steps of two streams fill each other's waits: 1.5 times as fast with tiles of 2 MiB of
// 16-bit imagery (AMD and Intel). It takes what it is sure of; libdeflate has all other streams, and the last word on
// what is damaged.
#pragma once

#include "codec/deflate_bits.hpp"
#include "codec/deflate_tables.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

struct DeflateTile {
  std::span<std::byte const> in;
  std::span<std::byte> out;
};

// Large, so it is kept from tile to tile. One thread at a time.
class DeflatePair {
 public:
  // Whether the machine has the instructions. REQUIRED of decode().
  [[nodiscard]] static bool is_fast_here() noexcept;

  // Whether it is worth asking: by the codes of the first block short matches are many and others few. The beginning of
  // a stream is enough.
  [[nodiscard]] static bool is_for(std::span<std::byte const> in) noexcept;

  // True when both streams end where `in` does and hold exactly the bytes of `out`, which are there then. False: they
  // do not, or are damaged; `out` may have been written to.
  [[nodiscard]] bool decode(std::array<DeflateTile, 2> const& tiles) noexcept;

 private:
  // How far it is.
  struct Stream {
    DeflateTables tables;  // of the block
    std::span<std::byte const> in;
    ForwardBits bits;
    std::byte *out, *to, *end;  // the tile, and where in it the next byte goes
    std::size_t blocks;  // begun
    bool is_in_block, is_last;  // of them
  };
  // The same in two numbers.
  struct Place {
    std::uint64_t bit;
    std::byte* to;
  };
  enum class Step : std::uint8_t { more, end_of_block, bad };

  [[nodiscard]] static bool begin_block(Stream& stream) noexcept;
  [[nodiscard]] static bool copy_stored(Stream& stream) noexcept;
  [[nodiscard]] static Place place_of(Stream const& stream) noexcept { return {stream.bits.at_bit(), stream.to}; }
  [[nodiscard]] static std::size_t safe_steps(Stream const& stream, Place const& place) noexcept;
  [[nodiscard]] static Step rare_step(Stream const& stream, Place& place) noexcept;
  template <std::size_t kCount>
  [[nodiscard]] static bool decode_quickly(std::array<Stream*, kCount> const& streams) noexcept;
  [[nodiscard]] static bool finish_block(Stream& stream) noexcept;
  [[nodiscard]] static bool finish(Stream& stream) noexcept;

  std::array<Stream, 2> streams_;
};

}  // namespace terrazzo::codec
