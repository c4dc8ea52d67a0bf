// SPDX-License-Identifier: Apache-2.0
//
// Decodes two zlib streams at once with DeflatePair, for tiles that it decodes faster than libdeflate.
#pragma once

#include "codec/registry/codec.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace terrazzo::codec {

// The result for two streams. Unless it is `done`, inflate_zlib() must decode each of them.
enum class ZlibPair : std::uint8_t {
  done,      // both are complete, and no input was left over
  unsuited,  // one after the other is faster; the check took no time
  failed,    // a stream is damaged or unusual; took as long as decoding both; `out` may be partly written
};

// False if the build lacks libdeflate or the machine lacks the instructions; then every pair is unsuited.
[[nodiscard]] bool can_inflate_two() noexcept;

[[nodiscard]] ZlibPair inflate_two(std::array<std::span<std::byte const>, 2> const& in,
                                   std::array<std::span<std::byte>, 2> const& out, Workspace& workspace) noexcept;

}  // namespace terrazzo::codec
