// SPDX-License-Identifier: Apache-2.0
//
// 12-bit JPEG streams for tests, from coefficients: no library at hand encodes them. The Huffman codes all have the
// same length, which makes them easy to write and is as good as any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace terrazzo::codec::testing {

using Coefficients = std::array<int, 64>;  // in zigzag order

struct Jpeg12Component {
  std::uint32_t h = 1, v = 1;
};

class Jpeg12Builder {
 public:
  static constexpr std::uint32_t kDcBits = 5, kAcBits = 9;

  Jpeg12Builder& soi() { return marker(0xD8); }
  Jpeg12Builder& eoi() { return marker(0xD9); }
  Jpeg12Builder& quantiser(std::uint32_t step, bool wide = false) {
    marker(0xDB).word(3 + 64 * (wide ? 2u : 1u)).byte(wide ? 0x10 : 0);
    for (int i = 0; i < 64; ++i) { wide ? word(step) : byte(step); }
    return *this;
  }
  // Symbol s has the code s, in kDcBits or kAcBits bits. Nine bits leave room for all 256 symbols of the second kind.
  Jpeg12Builder& huffman() {
    marker(0xC4).word(2 + 17 + 17);
    byte(0x00);
    for (std::uint32_t length = 1; length <= 16; ++length) { byte(length == kDcBits ? 17 : 0); }
    for (std::uint32_t i = 0; i < 17; ++i) { byte(i); }
    marker(0xC4).word(2 + 17 + 255);
    byte(0x10);
    for (std::uint32_t length = 1; length <= 16; ++length) { byte(length == kAcBits ? 255 : 0); }
    for (std::uint32_t i = 0; i < 255; ++i) { byte(i); }
    return *this;
  }
  Jpeg12Builder& frame(std::uint32_t width, std::uint32_t height, std::vector<Jpeg12Component> const& components,
                       std::uint32_t sof = 0xC1, std::uint32_t bits = 12) {
    marker(sof).word(8 + 3 * static_cast<std::uint32_t>(components.size())).byte(bits).word(height).word(width);
    byte(static_cast<std::uint32_t>(components.size()));
    for (std::uint32_t i = 0; i < components.size(); ++i) {
      byte(i + 1).byte(components[i].h << 4 | components[i].v).byte(0);
    }
    return *this;
  }
  Jpeg12Builder& restart_interval(std::uint32_t mcus) { return marker(0xDD).word(4).word(mcus); }
  Jpeg12Builder& scan(std::vector<std::uint32_t> const& ids) {
    marker(0xDA).word(6 + 2 * static_cast<std::uint32_t>(ids.size())).byte(static_cast<std::uint32_t>(ids.size()));
    for (std::uint32_t const id : ids) { byte(id).byte(0x00); }
    byte(0).byte(63).byte(0);
    predictions_ = {};
    return *this;
  }
  Jpeg12Builder& block(std::uint32_t component, Coefficients const& coefficients) {
    put_value(coefficients[0] - predictions_[component], 0, kDcBits);
    predictions_[component] = coefficients[0];
    std::uint32_t run = 0;
    for (std::size_t i = 1; i < 64; ++i) {
      if (coefficients[i] == 0) {
        ++run;
        continue;
      }
      for (; run > 15; run -= 16) { put_bits(0xF0, kAcBits); }
      put_value(coefficients[i], run, kAcBits);
      run = 0;
    }
    if (run != 0) { put_bits(0, kAcBits); }
    return *this;
  }
  Jpeg12Builder& restart(std::uint32_t number) {
    flush();
    predictions_ = {};
    return marker(0xD0 + number);
  }
  // Ends the entropy-coded data.
  Jpeg12Builder& flush() {
    while (bit_count_ != 0) { put_bits(1, 1); }
    return *this;
  }
  std::vector<std::byte> bytes;

 private:
  Jpeg12Builder& byte(std::uint32_t value) {
    bytes.push_back(static_cast<std::byte>(value & 0xFF));
    return *this;
  }
  Jpeg12Builder& word(std::uint32_t value) { return byte(value >> 8).byte(value); }
  Jpeg12Builder& marker(std::uint32_t code) { return byte(0xFF).byte(code); }
  void put_value(int value, std::uint32_t run, std::uint32_t code_bits) {
    std::uint32_t size = 0;
    while (std::abs(value) >> size != 0) { ++size; }
    put_bits(run << 4 | size, code_bits);
    auto const raw = static_cast<std::uint32_t>(value < 0 ? value + (1 << size) - 1 : value);
    put_bits(raw, size);
  }
  void put_bits(std::uint32_t value, std::uint32_t count) {
    for (std::uint32_t i = count; i-- > 0;) {
      current_ = current_ << 1 | (value >> i & 1);
      if (++bit_count_ == 8) {
        byte(current_);
        if ((current_ & 0xFF) == 0xFF) { byte(0); }
        current_ = 0;
        bit_count_ = 0;
      }
    }
  }
  std::array<int, 8> predictions_{};
  std::uint32_t current_ = 0, bit_count_ = 0;
};

}  // namespace terrazzo::codec::testing
