// SPDX-License-Identifier: Apache-2.0
//
// LERC's alternative form for lossless bytes: Huffman codes of the values, or of their differences from the previous
// pixel.
#pragma once

#include "codec/lerc/picture.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace terrazzo::codec {

class LercHuffman {
 public:
  enum class Of : std::uint8_t { differences = 1, values = 2 };  // with the blob's numbers

  // Makes both codes and keeps the shorter one; the picture must outlive this object.
  explicit LercHuffman(LercPicture const& picture) noexcept;

  // False if all symbols are equal, for which there is no code.
  [[nodiscard]] bool possible() const noexcept { return code_.has_value(); }
  [[nodiscard]] Of of() const noexcept { return of_; }
  // Exact size of write()'s output in bytes. Its last word is zero: decoders read ahead.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::byte* write(std::byte* to) const noexcept;

  static constexpr std::size_t kSymbols = 256;
  using Counts = std::array<std::uint32_t, kSymbols>;
  struct Code {
    std::array<std::uint8_t, kSymbols> lengths{};
    std::array<std::uint16_t, kSymbols> words{};  // first bit highest
    std::size_t first = 0, end = 0;               // symbols of the table; those from kSymbols on wrap around
  };

 private:
  LercPicture const& picture_;
  std::optional<Code> code_;
  Of of_ = Of::values;
  std::size_t bytes_ = 0;
};

}  // namespace terrazzo::codec
