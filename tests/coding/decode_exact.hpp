// SPDX-License-Identifier: Apache-2.0
//
// Runs a decoder between copies in blocks of exactly the right size, so that a sanitizer sees any access outside.
#pragma once

#include "tile/tile_status.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace terrazzo::coding::test {

template <class Decode>
tile::TileResult decode_exact(Decode const& decode, std::vector<std::byte> const& in, std::size_t out_size,
                              std::vector<std::byte>& out) {
  std::unique_ptr<std::byte[]> const exact_in(new std::byte[in.size()]);
  std::unique_ptr<std::byte[]> const exact_out(new std::byte[out_size]);
  std::ranges::copy(in, exact_in.get());
  tile::TileResult const result =
      decode(std::span<std::byte const>(exact_in.get(), in.size()), std::span<std::byte>(exact_out.get(), out_size));
  EXPECT_LE(result.bytes_written, out_size);
  out.assign(exact_out.get(), exact_out.get() + std::min(result.bytes_written, out_size));
  return result;
}

}  // namespace terrazzo::coding::test
