// SPDX-License-Identifier: Apache-2.0
#include "gpu/encode/zstd.hpp"

#include "coding/zstd/pieces_twin.hpp"
#include "coding/zstd/unzstd.hpp"
#include "gpu/encode/piece_encode_tests.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace terrazzo::gpu::test {
namespace {

struct Zstd {
  static constexpr int kLevelsAtLimits[] = {1, 3, 4, 9, 10, 22}, kLevelsThatDiffer[] = {1, 4, 10};
  static constexpr std::uint64_t kLeastOverhead = 6 + 3;  // the frame's header, and the block's

  static constexpr auto bound = zstd_encode_bound;
  static constexpr auto scratch_bytes = zstd_encode_scratch_bytes;
  static constexpr auto encode = zstd_encode_tiles;
  static constexpr auto decoded = coding::test::unzstd;
  static Bytes on_the_host(Bytes const& tile, int level) { return coding::test::zstd_in_pieces(tile, level); }
};

INSTANTIATE_TYPED_TEST_SUITE_P(ZstdEncode, PieceEncodeSizes, Zstd);
INSTANTIATE_TYPED_TEST_SUITE_P(ZstdEncode, PieceEncode, Zstd);

}  // namespace
}  // namespace terrazzo::gpu::test
