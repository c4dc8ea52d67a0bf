// SPDX-License-Identifier: Apache-2.0
#include "gpu/encode/deflate.hpp"

#include "coding/deflate/inflated.hpp"
#include "coding/deflate/pieces_twin.hpp"
#include "gpu/encode/piece_encode_tests.hpp"

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
  static constexpr auto decoded = coding::test::inflated;
  static Bytes on_the_host(Bytes const& tile, int level) { return coding::test::deflate_in_pieces(tile, level); }
};

INSTANTIATE_TYPED_TEST_SUITE_P(DeflateEncode, PieceEncodeSizes, Deflate);
INSTANTIATE_TYPED_TEST_SUITE_P(DeflateEncode, PieceEncode, Deflate);

}  // namespace
}  // namespace terrazzo::gpu::test
