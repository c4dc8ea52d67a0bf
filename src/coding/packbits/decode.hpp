// SPDX-License-Identifier: Apache-2.0
//
// PackBits (TIFF 6.0, section 9): a signed count n, then n + 1 literal bytes, or one byte repeated 1 - n times; -128 is
// a no-op. Runs that cross a row's end violate the specification but are common; they are decoded.
#pragma once

#include "base/host_device.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace terrazzo::coding {

// The position at which the decoder stopped. The tile is complete if out_bytes equals the output's size.
struct PackBitsProgress {
  std::size_t in_bytes = 0;
  std::size_t out_bytes = 0;
  bool cut_run = false;  // the last run exceeded the output
};

[[nodiscard]] TERRAZZO_HOST_DEVICE inline PackBitsProgress packbits_run(std::byte const* in, std::size_t in_size,
                                                                        std::byte* out, std::size_t out_size) noexcept {
  PackBitsProgress at;
  while (at.out_bytes < out_size && at.in_bytes < in_size) {
    auto const head = static_cast<std::uint32_t>(in[at.in_bytes]);
    if (head == 128) {
      ++at.in_bytes;
      continue;
    }
    bool const repeat = head > 128;
    std::size_t run = repeat ? 257 - head : head + 1;
    if (at.in_bytes + 1 == in_size) { return at; }
    ++at.in_bytes;
    if (run > out_size - at.out_bytes) {
      run = out_size - at.out_bytes;
      at.cut_run = true;
    }
    if (repeat) {
      std::memset(out + at.out_bytes, static_cast<int>(in[at.in_bytes]), run);
      at.in_bytes += 1;
    } else {
      if (run > in_size - at.in_bytes) { run = in_size - at.in_bytes; }
      std::memcpy(out + at.out_bytes, in + at.in_bytes, run);
      at.in_bytes += run;
    }
    at.out_bytes += run;
  }
  return at;
}

// Bounds-checked. Bytes of -128 after the last run are padding, not surplus.
[[nodiscard]] inline tile::TileResult packbits_decode(std::span<std::byte const> in,
                                                      std::span<std::byte> out) noexcept {
  PackBitsProgress at = packbits_run(in.data(), in.size(), out.data(), out.size());
  if (at.out_bytes < out.size()) {
    return {.status = tile::TileStatus::truncated,
            .bytes_written = at.out_bytes,
            .reason = "PackBits stream ends before the tile is complete"};
  }
  while (at.in_bytes < in.size() && in[at.in_bytes] == std::byte{128}) { ++at.in_bytes; }
  return {.status = tile::TileStatus::ok,
          .bytes_written = at.out_bytes,
          .surplus_input = at.cut_run || at.in_bytes < in.size()};
}

}  // namespace terrazzo::coding
