// SPDX-License-Identifier: Apache-2.0
//
// A window on a tile's output, in the memory that a team shares. A literal becomes a byte there; a byte of a match
// becomes a link to its source, which is always older. The team follows the links until every byte is there, each round
// twice as far as the one before, and then writes the window to the output.
#pragma once

#include "base/host_device.hpp"
#include "coding/deflate/format.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::coding {

struct OutputWindow {
  static constexpr std::uint32_t kBytes = 8192;
  static constexpr std::uint32_t kIsByte = 1U << 15;  // of an entry; others are links: places in the window
  static_assert(kBytes <= kIsByte);

  std::uint16_t entries[kBytes];

  TERRAZZO_HOST_DEVICE void put_byte(std::uint32_t place, std::uint32_t byte) noexcept {
    entries[place] = static_cast<std::uint16_t>(kIsByte | byte);
  }
  // `source` < `place`
  TERRAZZO_HOST_DEVICE void put_link(std::uint32_t place, std::uint32_t source) noexcept {
    entries[place] = static_cast<std::uint16_t>(source);
  }

  // Writes the first `size` bytes to `out`. REQUIRES: each has a byte or a link.
  template <class Team>
  TERRAZZO_HOST_DEVICE void write(Team const& team, std::uint32_t size, std::byte* out) noexcept {
    follow_links(team, size);
    team.each([&](std::uint32_t lane) {
      for (std::uint32_t i = lane; i < size; i += Team::kLanes) { out[i] = static_cast<std::byte>(entries[i] & 0xFF); }
    });
  }

 private:
  // Lanes change links that others read: a reader finds the old link, a later one of the same chain, or the byte, and
  // each of them is right. A chain of n links takes at most log2(n) + 1 rounds, because a round doubles the distance
  // that a link spans.
  template <class Team>
  TERRAZZO_HOST_DEVICE void follow_links(Team const& team, std::uint32_t size) noexcept {
    bool more = true;
    while (more) {
      more = team.any([&](std::uint32_t lane) {
        bool is_link_left = false;
        for (std::uint32_t i = lane; i < size; i += Team::kLanes) {
          std::uint32_t const link = together::load(entries[i]);
          if ((link & kIsByte) != 0) { continue; }
          std::uint16_t const next = together::load(entries[link]);
          together::store(entries[i], next);
          is_link_left = is_link_left || (next & kIsByte) == 0;
        }
        return is_link_left;
      });
    }
  }
};

}  // namespace terrazzo::coding
