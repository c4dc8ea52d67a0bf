// SPDX-License-Identifier: Apache-2.0
#include "geo/metadata/utf8.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::geo {
namespace {

// Bytes of the sequence that starts with `first`; 0 if it cannot start one.
std::size_t sequence_bytes(std::uint8_t first) noexcept {
  if (first < 0x80) { return 1; }
  if (first >= 0xc2 && first < 0xe0) { return 2; }
  if (first >= 0xe0 && first < 0xf0) { return 3; }
  if (first >= 0xf0 && first < 0xf5) { return 4; }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  auto const at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t const bytes = sequence_bytes(at(i));
    if (bytes == 0 || bytes > text.size() - i) { return false; }
    for (std::size_t k = 1; k < bytes; ++k) {
      if ((at(i + k) & 0xc0) != 0x80) { return false; }
    }
    // Reject overlong forms, surrogates and codes past U+10FFFF.
    if (bytes >= 3) {
      std::uint8_t const first = at(i), second = at(i + 1);
      if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) || (first == 0xf0 && second < 0x90) ||
          (first == 0xf4 && second >= 0x90)) {
        return false;
      }
    }
    i += bytes;
  }
  return true;
}

std::string to_utf8(std::string text) {
  if (is_utf8(text)) { return text; }
  std::string out;
  out.reserve(text.size() * 2);
  for (char c : text) {
    auto const byte = static_cast<std::uint8_t>(c);
    if (byte < 0x80) {
      out.push_back(c);
    } else {
      out.push_back(static_cast<char>(0xc0 | byte >> 6));
      out.push_back(static_cast<char>(0x80 | (byte & 0x3f)));
    }
  }
  return out;
}

}  // namespace terrazzo::geo
