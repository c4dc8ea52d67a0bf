// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/deflate_encode.hpp"

#include "gpu/kernels/piece_encode_tests.hpp"
#include "tile/deflate_pieces_twin.hpp"
#include "tile/inflated.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace terrazzo::gpu::test {
namespace {

struct Deflate {
  static constexpr int kLevelsAtLimits[] = {1, 3, 4, 6, 7, 9}, kLevelsThatDiffer[] = {1, 4, 7};
  static constexpr std::uint64_t kLeastOverhead = 6 + 5;  // the zlib frame, and a stored block's header

  static constexpr auto bound = deflate_encode_bound;
  static constexpr auto scratch_bytes = deflate_encode_scratch_bytes;
  static constexpr auto encode = deflate_encode_tiles;
  static constexpr auto decoded = tile::test::inflated;
  static Bytes on_the_host(Bytes const& tile, int level) { return tile::test::deflate_in_pieces(tile, level); }
};

INSTANTIATE_TYPED_TEST_SUITE_P(DeflateEncode, PieceEncodeSizes, Deflate);
INSTANTIATE_TYPED_TEST_SUITE_P(DeflateEncode, PieceEncode, Deflate);

}  // namespace
}  // namespace terrazzo::gpu::test
