// SPDX-License-Identifier: Apache-2.0
//
// The ZSTD part of piece_encoder.cuh (design: coding/zstd/block.hpp). Literals, sequences and their codes are in global
// memory, which the L2 cache holds. 53 KiB of shared memory allow four blocks per multiprocessor; the other blocks work
// while one thread computes the states.
#include "gpu/encode/zstd.hpp"

#include "coding/zstd/pieces.hpp"
#include "gpu/encode/piece_encoder.cuh"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

using coding::kZstdMostSequences;
using coding::kZstdPieceBytes;
using coding::ZstdPlaces;
using pieces::kAll;
using pieces::kWarpLanes;
using pieces::Piece;
static_assert(ZstdPlaces::kTokenWords == coding::kDeflatePieceBytes && kZstdPieceBytes == coding::kDeflatePieceBytes);

// Starts are in bytes of the frame; sizes are bytes of blocks.
struct ZstdFormat {
  static constexpr char const* kName = "ZSTD";
  static constexpr std::uint32_t kPieceWords = coding::kZstdPieceWords;
  static constexpr std::uint32_t kUnencoded = coding::kZstdRaw;

  struct Scratch : pieces::PieceScratch {
    std::uint8_t* literals;  // kZstdPieceBytes per block of the encoder
    std::uint16_t* sequences;  // three arrays per block of the encoder

    void take(Carver& carver, std::uint64_t, std::uint32_t, std::uint64_t blocks) noexcept {
      literals = carver.take<std::uint8_t>(blocks * kZstdPieceBytes);
      sequences = carver.take<std::uint16_t>(blocks * kSequenceArrays * kZstdMostSequences);
    }

    static constexpr std::uint64_t kSequenceArrays = 3;
  };

  struct Shared {
    alignas(16) std::uint32_t window[coding::kDeflateWindowWords];  // later the encoded block
    union {
      std::uint32_t slots[coding::kDeflateSlots];
      coding::ZstdWork work;
    };
    std::uint32_t item;
  };
  static_assert(sizeof(Shared) + 1024 <= 228 * 1024 / pieces::kBlocksAMultiprocessor, "with a KiB of CUDA's");

  static std::uint32_t lanes(int level) noexcept { return coding::zstd_lanes(level); }

  using Places = ZstdPlaces;
  [[nodiscard]] __device__ static Places places(Scratch const& scratch, std::uint64_t block) {
    std::uint16_t* const own = scratch.sequences + block * Scratch::kSequenceArrays * kZstdMostSequences;
    return {.tokens = scratch.tokens_of(block),
            .literals = scratch.literals + block * kZstdPieceBytes,
            .literal_lengths = own,
            .match_lengths = own + kZstdMostSequences,
            .distances = own + 2 * kZstdMostSequences};
  }

  template <std::uint32_t kLanes>
  __device__ static std::uint32_t encode(Shared& shared, Scratch const&, Places const& places, Piece const& piece,
                                         std::byte const* tile_input) {
    pieces::load_window(shared.window, piece, tile_input + piece.index * kZstdPieceBytes);
    pieces::clear_slots(shared.slots);
    __syncthreads();
    coding::DeflateWindow const window = piece.window(shared.window);
    if (__syncthreads_and(coding::zstd_share_repeats(window, threadIdx.x) ? 1 : 0) != 0) {
      if (threadIdx.x == 0) { shared.window[0] = coding::zstd_repeated_block(window, piece.last()); }
      __syncthreads();
      return coding::kZstdRepeatedBlockBytes;
    }
    pieces::find_matches<kLanes, coding::kZstdShortestTaken>(shared.slots, window, places.tokens);
    pieces::parse_segment(window, places.tokens, coding::kZstdLongestMatch, [](coding::DeflateToken) {});
    __syncthreads();
    pieces::BlockThreads threads;
    coding::make_zstd_block(threads, shared.work, places, piece.bytes);
    std::uint32_t const content_bytes = shared.work.plan.bytes;
    if (content_bytes >= piece.bytes) { return kUnencoded; }
    coding::put_zstd_block(threads, shared.work, places, piece.last(), shared.window);
    return coding::kZstdBlockHeaderBytes + content_bytes;
  }
  [[nodiscard]] __device__ static std::uint32_t words_of(std::uint32_t size) { return (size + 3) / 4; }

  __device__ static std::uint64_t find_starts(Scratch const& scratch, pieces::TilePieces const& tile,
                                              std::uint32_t lane) {
    std::uint64_t* const starts = scratch.starts_of(tile.tile);
    std::uint64_t start = coding::ZstdFrameHeader{tile.bytes}.bytes();
    for (std::uint64_t base = 0; base < tile.count; base += kWarpLanes) {
      std::uint64_t const piece = base + lane;
      std::uint32_t own = 0;
      if (piece < tile.count) {
        own = coding::zstd_block_bytes(scratch.sizes[tile.first_item + piece],
                                       coding::deflate_piece_bytes(tile.bytes, piece));
      }
      std::uint32_t sum = own;
      for (std::uint32_t distance = 1; distance < kWarpLanes; distance *= 2) {
        std::uint32_t const before = __shfl_up_sync(kAll, sum, distance);
        if (lane >= distance) { sum += before; }
      }
      if (piece < tile.count) { starts[piece] = start + sum - own; }
      start += __shfl_sync(kAll, sum, static_cast<int>(kWarpLanes - 1));
    }
    return start;
  }

  [[nodiscard]] __device__ static coding::ZstdBlockSource source(tile::EncodeBatch const& batch, Scratch const& scratch,
                                                                 Piece const& piece) {
    return {.input = batch.input + batch.input_offsets[piece.tile] + piece.index * kZstdPieceBytes,
            .input_bytes = piece.bytes,
            .words = scratch.words + piece.item * kPieceWords,
            .size = scratch.sizes[piece.item],
            .last = piece.last(),
            .start = scratch.starts_of(piece.tile)[piece.index]};
  }

  __device__ static void put_frame(Scratch const&, Piece const& piece, coding::ZstdBlockSource const&, std::byte* out) {
    coding::ZstdFrameHeader const header{piece.tile_bytes};
    if (piece.index == 0 && threadIdx.x < header.bytes()) {
      out[threadIdx.x] = static_cast<std::byte>(header.byte_at(threadIdx.x));
    }
  }
};

}  // namespace

std::uint64_t zstd_encode_bound(std::uint64_t tile_bytes) noexcept { return coding::zstd_pieces_bound(tile_bytes); }

std::size_t zstd_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes) noexcept {
  return pieces::scratch_bytes<ZstdFormat>(tile_count, longest_tile_bytes);
}

void zstd_encode_tiles(tile::EncodeBatch const& batch, int level, std::byte* scratch, std::size_t scratch_bytes,
                       cudaStream_t stream) {
  pieces::encode_tiles<ZstdFormat>(batch, level, scratch, scratch_bytes, stream);
}

}  // namespace terrazzo::gpu
