// SPDX-License-Identifier: Apache-2.0
//
// LERC's other way with samples of one byte that keep their value: Huffman codes of them, or of their differences from
// the pixel before.
#pragma once

#include "codec/lerc_picture.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace terrazzo::codec {

class LercHuffman {
 public:
  enum class Of : std::uint8_t { differences = 1, values = 2 };  // as the blob says it

  // Makes both codes and keeps the one that is shorter; the picture must outlive this.
  explicit LercHuffman(LercPicture const& picture) noexcept;

  // False when all symbols are equal, of which there is no code.
  [[nodiscard]] bool possible() const noexcept { return code_.has_value(); }
  [[nodiscard]] Of of() const noexcept { return of_; }
  // What write() will write, to the byte. Its last word is zero: decoders read ahead.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::byte* write(std::byte* to) const noexcept;

  static constexpr std::size_t kSymbols = 256;
  using Counts = std::array<std::uint32_t, kSymbols>;
  struct Code {
    std::array<std::uint8_t, kSymbols> lengths{};
    std::array<std::uint16_t, kSymbols> words{};  // the first bit highest
    std::size_t first = 0, end = 0;               // symbols of the table; those from kSymbols on are the first again
  };

 private:
  LercPicture const& picture_;
  std::optional<Code> code_;
  Of of_ = Of::values;
  std::size_t bytes_ = 0;
};

}  // namespace terrazzo::codec
