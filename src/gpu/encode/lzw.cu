// SPDX-License-Identifier: Apache-2.0
//
// Three kernels (coding/lzw/parts.hpp explains the design):
//   encode  one warp per part: one lane encodes, all lanes clear its table. A multiprocessor runs as many parts as it
//           has room for tables; each waits for shared memory nearly all the time.
//   starts  adds up the bits of each tile's parts (part_starts.hpp).
//   join    one block per part, one thread per word: packs its codes.
#include "gpu/encode/lzw.hpp"

#include "coding/lzw/parts.hpp"
#include "gpu/encode/part_starts.hpp"
#include "gpu/runtime/check.hpp"
#include "terrazzo/error.hpp"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

using coding::kLzwPartBytes;
using coding::LzwBucket;
using tile::EncodeBatch;

constexpr std::uint32_t kAllLanes = 0xFFFFFFFF;
constexpr std::uint32_t kJoinThreads = 256;
constexpr std::uint64_t kMostBlocks = 0x7FFFFFFF;

struct Scratch {
  TileParts parts;
  std::uint16_t* codes;
  std::uint64_t codes_a_tile;
};

// One part of one tile; a batch has tile count * parts_a_tile of them. No bytes: the tile is shorter.
struct Part {
  std::uint64_t tile;
  std::uint64_t index;
  std::uint32_t bytes = 0;
  bool last = false;

  __device__ Part(EncodeBatch const& batch, std::uint64_t parts_a_tile, std::uint64_t item)
      : tile(item / parts_a_tile), index(item % parts_a_tile) {
    std::uint64_t const tile_bytes = batch.input_sizes[tile];
    std::uint64_t const begin = index * kLzwPartBytes;
    if (begin >= tile_bytes) { return; }
    std::uint64_t const left = tile_bytes - begin;
    last = left <= kLzwPartBytes;
    bytes = last ? static_cast<std::uint32_t>(left) : kLzwPartBytes;
  }
};

// The address in shared memory: with an array, the compiler would compute it for every access.
__device__ std::uint32_t shared_address(void const* memory) {
  auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(memory));
  asm volatile("" : "+r"(address));
  return address;
}

// Copies a part's next bytes to shared memory asynchronously while older ones are used. Called by one lane. Bytes are
// read one step early, which hides the latency of shared memory.
class StagedInput {
 public:
  static constexpr std::uint32_t kBytes = 128;

  // `stage` is an address in shared memory, of kBytes.
  __device__ StagedInput(std::byte const* in, std::uint32_t size, std::uint32_t stage)
      : in_(in), size_(size), stage_(stage) {}

  __device__ void start() {
#pragma unroll 1
    for (std::uint32_t chunk = 0; chunk <= kChunksAhead; ++chunk) { fetch(chunk * kChunk); }
    wait();
    front_ = staged(0);
    second_ = staged(1);
  }

  [[nodiscard]] __device__ bool empty() const { return position_ >= size_; }
  [[nodiscard]] __device__ std::uint32_t front() const { return front_; }

  __device__ void pop() {
    ++position_;
    if (position_ % kChunk == 0) {
      // Overwrites the chunk that was just finished.
      fetch(position_ + kChunksAhead * kChunk);
      wait();
    }
    front_ = second_;
    second_ = staged(position_ + 1);
  }

 private:
  static constexpr std::uint32_t kChunk = 16;
  static constexpr std::uint32_t kChunksAhead = kBytes / kChunk - 1;

  // Bytes past the part's end are neither read nor used. An incomplete last chunk is read byte by byte: an asynchronous
  // copy of 16 bytes with a smaller source size would read no more, but it names memory that may not be the tile's.
  __device__ void fetch(std::uint32_t from) {
    if (from + kChunk <= size_) {
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(stage_ + from % kBytes), "l"(in_ + from)
                   : "memory");
    } else {
#pragma unroll 1
      for (std::uint32_t i = from; i < size_; ++i) {
        asm volatile("st.shared.u8 [%0], %1;" ::"r"(stage_ + i % kBytes), "r"(static_cast<std::uint32_t>(in_[i]))
                     : "memory");
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  }

  // The next chunk has arrived by then too.
  __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(kChunksAhead - 1) : "memory"); }

  [[nodiscard]] __device__ std::uint32_t staged(std::uint32_t position) const {
    std::uint32_t byte = 0;
    asm volatile("ld.shared.u8 %0, [%1];" : "=r"(byte) : "r"(stage_ + position % kBytes) : "memory");
    return byte;
  }

  std::byte const* in_;
  std::uint32_t size_;
  std::uint32_t stage_;
  std::uint32_t position_ = 0;
  std::uint32_t front_ = 0;
  std::uint32_t second_ = 0;
};

class SharedTable {
 public:
  __device__ explicit SharedTable(std::uint32_t address) : address_(address) {}

  [[nodiscard]] __device__ LzwBucket load(std::uint32_t slot) const {
    LzwBucket bucket;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(bucket.entries[0]), "=r"(bucket.entries[1]), "=r"(bucket.entries[2]), "=r"(bucket.entries[3])
                 : "r"(address_ + slot * 16)
                 : "memory");
    return bucket;
  }

  __device__ void store(std::uint32_t slot, LzwBucket const& bucket) const {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address_ + slot * 16), "r"(bucket.entries[0]),
                 "r"(bucket.entries[1]), "r"(bucket.entries[2]), "r"(bucket.entries[3])
                 : "memory");
  }

 private:
  std::uint32_t address_;
};

// Called by one warp.
__device__ void clear_table(LzwBucket* table) {
  for (std::uint32_t i = threadIdx.x; i < coding::kLzwBucketCount; i += 32) {
    table[i] = {{coding::kLzwNoEntry, coding::kLzwNoEntry, coding::kLzwNoEntry, coding::kLzwNoEntry}};
  }
  __syncwarp();
}

__global__ void __launch_bounds__(32) encode_kernel(EncodeBatch batch, Scratch scratch, std::uint64_t item_count) {
  __shared__ LzwBucket buckets[coding::kLzwBucketCount];
  __shared__ alignas(16) std::uint8_t stage[StagedInput::kBytes];
  SharedTable const table(shared_address(buckets));
  std::uint32_t const stage_address = shared_address(stage);
  for (std::uint64_t item = blockIdx.x; item < item_count; item += gridDim.x) {
    Part const part(batch, scratch.parts.parts_a_tile, item);
    if (part.bytes == 0) { continue; }
    std::byte const* const in = batch.input + batch.input_offsets[part.tile] + part.index * kLzwPartBytes;
    std::uint16_t* const codes = scratch.codes + part.tile * scratch.codes_a_tile + part.index * kLzwPartBytes;
    bool const encodes = threadIdx.x == 0;
    coding::LzwPartEncoder encoder(StagedInput(in, part.bytes, stage_address), codes);
    if (encodes) { encoder.start(); }
    int more = 0;
    do {
      clear_table(buckets);
      if (encodes) { more = encoder.fill_table(table) ? 1 : 0; }
      more = __shfl_sync(kAllLanes, more, 0);
    } while (more != 0);
    if (encodes) { scratch.parts.sizes[item] = coding::lzw_part_bits(encoder.finish(), part.last); }
  }
}

__global__ void __launch_bounds__(kJoinThreads)
    join_kernel(EncodeBatch batch, Scratch scratch, std::uint64_t item_count) {
  std::uint64_t const parts_a_tile = scratch.parts.parts_a_tile;
  for (std::uint64_t item = blockIdx.x; item < item_count; item += gridDim.x) {
    Part const part(batch, parts_a_tile, item);
    if (part.bytes == 0) { continue; }
    coding::LzwPartJoin const join{.codes = scratch.codes + part.tile * scratch.codes_a_tile,
                                   .start_bits = scratch.parts.starts + part.tile * (parts_a_tile + 1),
                                   .part_count = coding::lzw_part_count(batch.input_sizes[part.tile])};
    auto* const out = reinterpret_cast<std::uint32_t*>(batch.output + batch.output_offsets[part.tile]);
    std::uint64_t const end = join.end_word(part.index);
    for (std::uint64_t word = join.first_word(part.index) + threadIdx.x; word < end; word += kJoinThreads) {
      out[word] = __byte_perm(join.word(word, part.index), 0, 0x0123);
    }
  }
}

// One code per byte.
std::uint64_t codes_a_tile(std::uint64_t longest_tile_bytes) { return (longest_tile_bytes + 7) / 8 * 8; }

}  // namespace

std::uint64_t lzw_device_encode_bound(std::uint64_t tile_bytes) noexcept { return coding::lzw_parts_bound(tile_bytes); }

std::size_t lzw_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes) noexcept {
  return tile_parts_bytes(tile_count, coding::lzw_part_count(longest_tile_bytes)) +
         tile_count * codes_a_tile(longest_tile_bytes) * sizeof(std::uint16_t);
}

void lzw_encode_tiles(tile::EncodeBatch const& batch, std::byte* scratch, std::size_t scratch_bytes,
                      cudaStream_t stream) {
  if (batch.count == 0) { return; }
  if (scratch_bytes < lzw_encode_scratch_bytes(batch.count, batch.longest_input_bytes)) {
    throw Error(ErrorKind::usage, "LZW: less scratch memory than the batch needs");
  }
  std::uint64_t const parts_a_tile = coding::lzw_part_count(batch.longest_input_bytes);
  std::byte* const codes = scratch + tile_parts_bytes(batch.count, parts_a_tile);
  Scratch places{.parts = place_tile_parts(scratch, batch.count, parts_a_tile, kLzwPartBytes),
                 .codes = reinterpret_cast<std::uint16_t*>(codes),
                 .codes_a_tile = codes_a_tile(batch.longest_input_bytes)};
  places.parts.units_a_byte = 8;
  places.parts.units_in_front = coding::kLzwMinWidth;
  std::uint64_t const items = batch.count * parts_a_tile;
  auto const blocks = static_cast<std::uint32_t>(items < kMostBlocks ? items : kMostBlocks);
  if (items != 0) {
    // Use all of the memory for tables: join reads its input only once.
    check_cuda(cudaFuncSetAttribute(encode_kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                    cudaSharedmemCarveoutMaxShared),
               "LZW: asking for shared memory");
    encode_kernel<<<blocks, 32, 0, stream>>>(batch, places, items);
    check_launch("LZW: encoding parts");
  }
  find_part_starts(batch, places.parts, stream);
  if (items != 0) {
    join_kernel<<<blocks, kJoinThreads, 0, stream>>>(batch, places, items);
    check_launch("LZW: joining parts");
  }
}

}  // namespace terrazzo::gpu
