// SPDX-License-Identifier: Apache-2.0
//
// Two kernels (coding/lzw/segments.hpp explains the design and the parts):
//   walk    one block per tile. Goes from Clear to Clear, testing a thousand codes or more at a time for the segment's
//           end, and adds the tile's segments, in order and contiguous, to the batch's work list.
//   decode  as many blocks as fit on the device; each takes the next segment of the list until the list is empty. The
//           segment's offset in the output comes from the previous segments by look-back (Merrill and Garland's
//           single-pass scan): each block publishes the byte count of its segment, and later the sum up to its end. A
//           block waits only for segments that were taken before its own, and so for blocks that are running, whatever
//           else is on the device.
#include "gpu/decode/lzw.hpp"

#include "coding/lzw/segments.hpp"
#include "gpu/runtime/check.hpp"
#include "terrazzo/error.hpp"

#include <cuda_runtime.h>

namespace terrazzo::gpu {
namespace {

using coding::LzwBitOrder;
using coding::LzwBits;
using coding::LzwStopKind;
using tile::DeviceTiles;
using tile::TileStatus;

// A segment of a tile, written by walk: 51 bits of start, 13 bits of length.
constexpr std::uint32_t kCodeCountBits = 13;
static_assert(coding::kLzwMaxSegmentCodes < 1U << kCodeCountBits);
using PackedSegment = std::uint64_t;

// A segment of the batch.
struct WorkItem {
  PackedSegment segment;
  std::uint32_t tile;
  std::uint32_t index_and_flags;  // the segment's number in its tile, above kFlagBits
};
constexpr std::uint32_t kFlagBits = 2;
constexpr std::uint32_t kLastOfTile = 1;
constexpr std::uint32_t kLsbFirst = 2;

struct Counters {
  unsigned long long places;  // entries of `segments` that tiles have reserved
  unsigned long long items;  // entries on the work list
  unsigned long long taken;  // entries taken from the work list
};

struct Scratch {
  Counters* counters;
  PackedSegment* segments;  // `places` entries, a range for each tile
  WorkItem* work;
  std::uint64_t* sums;  // one per work item: see publish()
  std::uint64_t places;
};

constexpr std::size_t kCountersBytes = 256;
constexpr std::size_t kBytesAPlace = sizeof(PackedSegment) + sizeof(WorkItem) + sizeof(std::uint64_t);

// The sum of lzw_segment_capacity() over the tiles, or more.
std::uint64_t place_count(std::uint32_t tile_count, std::uint64_t input_bytes_total) {
  return coding::lzw_segment_capacity(input_bytes_total) + tile_count * coding::lzw_segment_capacity(0);
}

Scratch cut(std::byte* scratch, std::uint64_t places) {
  std::byte* const work = scratch + kCountersBytes;
  std::byte* const segments = work + places * sizeof(WorkItem);
  std::byte* const sums = segments + places * sizeof(PackedSegment);
  return {.counters = reinterpret_cast<Counters*>(scratch),
          .segments = reinterpret_cast<PackedSegment*>(segments),
          .work = reinterpret_cast<WorkItem*>(work),
          .sums = reinterpret_cast<std::uint64_t*>(sums),
          .places = places};
}

// ---- walk ----

constexpr std::uint32_t kCodesAThread = 8;  // tested in one round
constexpr std::uint32_t kMaxWalkThreads = 512;

struct WalkShared {
  std::uint32_t words[coding::lzw_words_for(kMaxWalkThreads * kCodesAThread)];
  std::uint32_t stops[2];  // for even and odd rounds
  unsigned long long place;
};

// Result of a walk, the same for every thread.
struct Walk {
  std::uint32_t segment_count = 0;  // number of segments with codes
  TileStatus status = TileStatus::truncated;  // status if all codes together give too few bytes
  LzwBitOrder order = LzwBitOrder::msb_first;
};

// The first stop among the next codes of a segment, from `first` on: kCodesAThread for each thread of the block. A word
// of `stops` is reset two barriers after its last use.
__device__ std::uint32_t first_stop(LzwBits const& bits, std::uint32_t first, std::uint32_t round, WalkShared& shared) {
  std::uint32_t const first_word = bits.bit_of(first) >> 5;
  std::uint32_t const word_count = coding::lzw_words_for(blockDim.x * kCodesAThread);
  for (std::uint32_t i = threadIdx.x; i < word_count; i += blockDim.x) { shared.words[i] = bits.word(first_word + i); }
  if (threadIdx.x == 0) { shared.stops[round % 2] = coding::kLzwNoStop; }
  __syncthreads();
  std::uint32_t const stop = bits.first_stop(first + threadIdx.x, blockDim.x, kCodesAThread, shared.words, first_word);
  if (stop != coding::kLzwNoStop) { atomicMin(&shared.stops[round % 2], stop); }
  __syncthreads();
  return shared.stops[round % 2];
}

__device__ Walk walk_tile(std::byte const* in, std::uint64_t in_bytes, std::uint64_t out_bytes, PackedSegment* segments,
                          std::uint64_t capacity, WalkShared& shared) {
  LzwBitOrder const order = coding::lzw_order_of(in, in_bytes);
  Walk walk{.order = order};
  LzwBits const front(in, in_bytes, 0, order);
  std::uint32_t const code =
      coding::lzw_cut(front.word(0), front.word(1), front.bit_of(0), coding::kLzwMinWidth, order);
  std::uint32_t const to_clear = coding::lzw_stop_at(0, front.has(0), code);
  if (to_clear != coding::lzw_stop(0, LzwStopKind::clear)) {
    // A literal here is an error, like a code that is not in the table.
    bool const ended = to_clear == coding::lzw_stop(0, LzwStopKind::input_ended);
    walk.status = ended ? TileStatus::truncated : TileStatus::corrupt;
    return walk;
  }
  std::uint64_t start_bit = coding::kLzwMinWidth;
  std::uint64_t code_count = 0;
  std::uint32_t round = 0;
  // A Clear right after a Clear counts as a turn too, which bounds the time for a stream of Clears.
  for (std::uint64_t turn = 0; turn < capacity; ++turn) {
    LzwBits const bits(in, in_bytes, start_bit, order);
    std::uint32_t stop = coding::kLzwNoStop;
    for (std::uint32_t first = 0; stop == coding::kLzwNoStop; first += blockDim.x * kCodesAThread) {
      stop = first_stop(bits, first, round++, shared);
    }
    std::uint32_t const codes = coding::lzw_stop_index(stop);
    LzwStopKind const kind = coding::lzw_stop_kind(stop);
    if (codes != 0) {
      if (threadIdx.x == 0) { segments[walk.segment_count] = start_bit << kCodeCountBits | codes; }
      ++walk.segment_count;
    }
    code_count += codes;
    // Every code gives at least one byte: later codes are surplus.
    if (kind != LzwStopKind::clear || code_count >= out_bytes) {
      walk.status = coding::lzw_status_of(kind);
      return walk;
    }
    start_bit += coding::lzw_code_offset(codes + 1, order);
  }
  return {.status = TileStatus::unsupported};
}

__global__ void __launch_bounds__(kMaxWalkThreads, 2) walk_kernel(DeviceTiles tiles, Scratch scratch) {
  __shared__ WalkShared shared;
  std::uint32_t const tile = blockIdx.x;
  std::uint64_t const in_bytes = tiles.input_sizes[tile];
  std::uint64_t const out_bytes = tiles.output_sizes[tile];
  std::uint64_t const capacity = coding::lzw_segment_capacity(in_bytes);
  if (out_bytes == 0) {
    if (threadIdx.x == 0) { tiles.statuses[tile] = TileStatus::ok; }
    return;
  }
  if (threadIdx.x == 0) {
    shared.place = atomicAdd(&scratch.counters->places, static_cast<unsigned long long>(capacity));
  }
  __syncthreads();
  unsigned long long const place = shared.place;
  if (place + capacity > scratch.places) {  // input_bytes_total was too small
    if (threadIdx.x == 0) { tiles.statuses[tile] = TileStatus::failed; }
    return;
  }
  PackedSegment* const segments = scratch.segments + place;
  Walk const walk = walk_tile(tiles.input + tiles.input_offsets[tile], in_bytes, out_bytes, segments, capacity, shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    tiles.statuses[tile] = walk.status;  // decode sets it to `ok` if there are enough bytes
    shared.place = atomicAdd(&scratch.counters->items, static_cast<unsigned long long>(walk.segment_count));
  }
  __syncthreads();
  unsigned long long const first_item = shared.place;
  for (std::uint32_t i = threadIdx.x; i < walk.segment_count; i += blockDim.x) {
    std::uint32_t const flags =
        (i + 1 == walk.segment_count ? kLastOfTile : 0) | (walk.order == LzwBitOrder::lsb_first ? kLsbFirst : 0);
    scratch.work[first_item + i] = {.segment = segments[i], .tile = tile, .index_and_flags = i << kFlagBits | flags};
    scratch.sums[first_item + i] = 0;
  }
}

// ---- decode ----

constexpr std::uint32_t kThreads = 384;  // 10 rows for the usual 3,838 codes; four blocks per SM
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr std::uint32_t kBlocksAnSm = 1;  // 64 KiB of shared memory
#else
constexpr std::uint32_t kBlocksAnSm = 4;
#endif
constexpr std::uint32_t kWarps = kThreads / 32;
constexpr std::uint32_t kRows = (coding::kLzwMaxSegmentCodes + kThreads - 1) / kThreads;  // codes per thread
constexpr std::uint32_t kStageBytes = 16384;
// In an output window with at most this many strings, a warp writes each string, instead of a thread.
constexpr std::uint32_t kFewStrings = 64;
constexpr std::uint32_t kAllLanes = 0xFFFFFFFF;

struct Shared {
  alignas(16) std::uint8_t stage[kStageBytes];  // first the segment's input, as words
  std::uint32_t entries[coding::kLzwMaxSegmentCodes + 2];
  std::uint32_t links[coding::kLzwMaxSegmentCodes + 2];  // later the starts of the strings
  std::uint32_t row_sums[kRows * kWarps];  // bytes of 32 codes each, later of all codes before them
  std::uint32_t byte_count;  // size of the segment's output
  std::uint64_t base;  // bytes of the tile's segments before this one
  unsigned long long ticket;
};
static_assert(coding::lzw_code_offset(coding::kLzwMaxSegmentCodes, LzwBitOrder::msb_first) / 8 + 12 <= kStageBytes);
static_assert(alignof(Shared) == 16);

// Codes of thread t: t, t + kThreads, ...; a row is one code of each thread.
__device__ std::uint32_t code_index(std::uint32_t row) { return row * kThreads + threadIdx.x; }

// Extracts the codes and links each to its parent.
__device__ void cut_codes(LzwBits const& bits, std::uint32_t code_count, Shared& shared,
                          std::uint32_t (&links)[kRows]) {
  auto* const words = reinterpret_cast<std::uint32_t*>(shared.stage);
  std::uint32_t const word_count = (bits.bit_of(code_count) >> 5) + 2;
  for (std::uint32_t i = threadIdx.x; i < word_count; i += kThreads) { words[i] = bits.word(i); }
  __syncthreads();
#pragma unroll
  for (std::uint32_t row = 0; row < kRows; ++row) {
    links[row] = coding::lzw_link::kArrived;
    std::uint32_t const k = code_index(row);
    if (k >= code_count) { continue; }
    std::uint32_t const code = bits.code(k, words, 0);
    links[row] = coding::lzw_link::of_code(k, code);
    shared.entries[k] = code;
    shared.links[k] = links[row];
  }
  __syncthreads();
}

// Pointer jumping: afterwards each link points to a literal. All threads read before a barrier and write after it, so
// that after kLzwPieceRounds rounds a link that had not arrived before spans exactly a piece, or less.
__device__ void follow_links(std::uint32_t code_count, Shared& shared, std::uint32_t (&links)[kRows]) {
  for (std::uint32_t round = 1;; ++round) {
    std::uint32_t moved = 0;  // one bit per row
    bool pending = false;
#pragma unroll
    for (std::uint32_t row = 0; row < kRows; ++row) {
      if (row * kThreads >= code_count) { break; }
      if (coding::lzw_link::has_arrived(links[row])) { continue; }
      links[row] = coding::lzw_link::joined(links[row], shared.links[coding::lzw_link::index(links[row])]);
      moved |= 1U << row;
      pending = pending || !coding::lzw_link::has_arrived(links[row]);
      if (round == coding::kLzwPieceRounds && coding::lzw_link::distance(links[row]) == coding::kLzwPiece) {
        std::uint32_t& entry = shared.entries[code_index(row)];
        entry = coding::lzw_entry::with_ancestor(entry, coding::lzw_link::index(links[row]));
      }
    }
    if (__syncthreads_or(pending) == 0) { return; }
#pragma unroll
    for (std::uint32_t row = 0; row < kRows; ++row) {
      if ((moved >> row & 1U) != 0) { shared.links[code_index(row)] = links[row]; }
    }
    __syncthreads();
  }
}

__device__ std::uint32_t inclusive_warp_sum(std::uint32_t value) {
  std::uint32_t const lane = threadIdx.x % 32;
#pragma unroll
  for (std::uint32_t distance = 1; distance < 32; distance *= 2) {
    std::uint32_t const before = __shfl_up_sync(kAllLanes, value, distance);
    if (lane >= distance) { value += before; }
  }
  return value;
}

// Each entry gets the first byte of the next code; links[row] becomes the sum of bytes of the warp's codes in this row
// up to and including this one, and row_sums the bytes of whole rows.
__device__ void sum_rows(std::uint32_t code_count, Shared& shared, std::uint32_t (&links)[kRows]) {
  auto* const entry_bytes = reinterpret_cast<std::uint8_t*>(shared.entries);
#pragma unroll
  for (std::uint32_t row = 0; row < kRows; ++row) {
    std::uint32_t length = 0;
    std::uint32_t const k = code_index(row);
    if (k < code_count) {
      length = coding::lzw_link::distance(links[row]) + 1;
      // A literal is the lowest byte of its entry and the first byte goes to the highest: threads do not conflict.
      if (k != 0) { entry_bytes[k * 4 - 1] = entry_bytes[coding::lzw_link::index(links[row]) * 4]; }
    }
    links[row] = 0;
    if (row * kThreads < code_count) { links[row] = inclusive_warp_sum(length); }
    if (threadIdx.x % 32 == 31) { shared.row_sums[row * kWarps + threadIdx.x / 32] = links[row]; }
  }
  __syncthreads();
}

// Called by one warp: replaces row_sums by the bytes before each row; returns the total.
__device__ std::uint32_t add_rows(Shared& shared) {
  constexpr std::uint32_t kALane = (kRows * kWarps + 31) / 32;
  std::uint32_t const first = threadIdx.x % 32 * kALane;
  std::uint32_t values[kALane];
  std::uint32_t sum = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < kALane; ++i) {
    values[i] = first + i < kRows * kWarps ? shared.row_sums[first + i] : 0;
    sum += values[i];
  }
  std::uint32_t const inclusive = inclusive_warp_sum(sum);
  std::uint32_t before = inclusive - sum;
#pragma unroll
  for (std::uint32_t i = 0; i < kALane; ++i) {
    if (first + i < kRows * kWarps) { shared.row_sums[first + i] = before; }
    before += values[i];
  }
  return __shfl_sync(kAllLanes, inclusive, 31);
}

// A published sum: not yet known (0), the segment's bytes, or the bytes up to its end. It is one word, written and read
// as a whole, so it needs no fence.
constexpr std::uint64_t kOwnSum = std::uint64_t{1} << 62;
constexpr std::uint64_t kFullSum = std::uint64_t{2} << 62;
constexpr std::uint64_t kSumMask = kOwnSum - 1;

__device__ void publish(std::uint64_t* sum, std::uint64_t kind, std::uint64_t bytes) {
  *static_cast<std::uint64_t volatile*>(sum) = kind | bytes;
}

// Called by one warp: the total bytes of the `before` segments of this tile, whose sums precede `sum`.
__device__ std::uint64_t look_back(std::uint64_t const* sum, std::uint32_t before) {
  std::uint32_t const lane = threadIdx.x % 32;
  std::uint64_t bytes = 0;
  while (before != 0) {
    std::uint64_t seen = 0;
    bool const mine = lane < before;
    do {
      seen = mine ? *static_cast<std::uint64_t const volatile*>(sum - 1 - lane) : kOwnSum;
    } while (__any_sync(kAllLanes, seen == 0) != 0);
    std::uint32_t const full = __ballot_sync(kAllLanes, (seen & kFullSum) != 0);
    std::uint32_t const last = full == 0 ? 31 : static_cast<std::uint32_t>(__ffs(static_cast<int>(full)) - 1);
    std::uint64_t part = lane <= last ? seen & kSumMask : 0;
#pragma unroll
    for (std::uint32_t distance = 16; distance != 0; distance /= 2) {
      part += __shfl_xor_sync(kAllLanes, part, distance);
    }
    bytes += part;
    if (full != 0 || before <= 32) { break; }
    before -= 32;
    sum -= 32;
  }
  return bytes;
}

// Copies stage[begin, end) to its destination; that of stage[0] is a multiple of 16.
__device__ void copy_stage(std::uint8_t const* stage, std::uint32_t begin, std::uint32_t end, std::uintptr_t to) {
  for (std::uint32_t at = begin / 16 * 16 + threadIdx.x * 16; at < end; at += kThreads * 16) {
    if (at >= begin && at + 16 <= end) {
      *reinterpret_cast<uint4*>(to + at) = *reinterpret_cast<uint4 const*>(stage + at);
    } else {
      std::uint32_t const last = at + 16 < end ? at + 16 : end;
      for (std::uint32_t i = at < begin ? begin : at; i < last; ++i) {
        *reinterpret_cast<std::uint8_t*>(to + i) = stage[i];
      }
    }
  }
}

// Writes the first `wanted` bytes of the segment's output to `out`, a stage at a time.
__device__ void write_output(std::uint32_t code_count, std::uint32_t wanted, std::uint8_t* out, Shared& shared) {
  coding::LzwStrings const strings{.entries = shared.entries, .starts = shared.links};
  auto const address = reinterpret_cast<std::uintptr_t>(out);
  auto const lead = static_cast<std::uint32_t>(address & 15);
  std::uint32_t begin = 0;  // the first code of the window
  for (std::uint32_t window = 0; window < lead + wanted; window += kStageBytes) {
    std::uint32_t const stage_begin = window == 0 ? lead : 0;
    std::uint32_t const left = lead + wanted - window;
    std::uint32_t const stage_end = left < kStageBytes ? left : kStageBytes;
    std::uint32_t const position_end = window + stage_end - lead;
    std::uint32_t const end = coding::lzw_code_from(shared.links, begin, code_count, position_end);
    coding::LzwStage const stage{.bytes = shared.stage, .size = kStageBytes, .shift = window - lead};
    if (end - begin <= kFewStrings) {
      for (std::uint32_t k = begin + threadIdx.x / 32; k < end; k += kWarps) {
        coding::write_pieces(strings, k, threadIdx.x % 32, 32, stage);
      }
    } else {
      coding::write_strings(strings, begin + threadIdx.x, end, kThreads, stage);
    }
    // The last string may continue in the next window.
    begin = shared.links[end] > position_end ? end - 1 : end;
    __syncthreads();
    copy_stage(shared.stage, stage_begin, stage_end, address - lead + window);
    __syncthreads();
  }
}

__device__ void decode_segment(DeviceTiles const& tiles, WorkItem const& item, std::uint64_t* sum, Shared& shared) {
  std::byte const* const in = tiles.input + tiles.input_offsets[item.tile];
  std::uint64_t const in_bytes = tiles.input_sizes[item.tile];
  std::uint64_t const out_bytes = tiles.output_sizes[item.tile];
  auto const code_count = static_cast<std::uint32_t>(item.segment & ((1U << kCodeCountBits) - 1));
  std::uint32_t const index = item.index_and_flags >> kFlagBits;
  bool const old = (item.index_and_flags & kLsbFirst) != 0;
  std::uint32_t links[kRows];

  cut_codes(
      LzwBits(in, in_bytes, item.segment >> kCodeCountBits, old ? LzwBitOrder::lsb_first : LzwBitOrder::msb_first),
      code_count, shared, links);
  follow_links(code_count, shared, links);
  sum_rows(code_count, shared, links);
  if (threadIdx.x < 32) {
    std::uint32_t const byte_count = add_rows(shared);
    if (threadIdx.x == 0) {
      shared.byte_count = byte_count;
      publish(sum, index == 0 ? kFullSum : kOwnSum, byte_count);
    }
  }
  __syncthreads();
#pragma unroll
  for (std::uint32_t row = 0; row < kRows; ++row) {
    std::uint32_t const k = code_index(row);
    if (k < code_count) { shared.links[k + 1] = shared.row_sums[row * kWarps + threadIdx.x / 32] + links[row]; }
  }
  if (threadIdx.x < 32) {
    std::uint64_t const base = look_back(sum, index);
    if (threadIdx.x == 0) {
      std::uint64_t const full = base + shared.byte_count;
      if (index != 0) { publish(sum, kFullSum, full); }
      if ((item.index_and_flags & kLastOfTile) != 0 && full >= out_bytes) {
        tiles.statuses[item.tile] = TileStatus::ok;
      }
      shared.base = base;
      shared.links[0] = 0;
    }
  }
  __syncthreads();
  if (shared.base >= out_bytes) { return; }
  std::uint64_t const room = out_bytes - shared.base;
  auto* const out = reinterpret_cast<std::uint8_t*>(tiles.output + tiles.output_offsets[item.tile] + shared.base);
  write_output(code_count, room < shared.byte_count ? static_cast<std::uint32_t>(room) : shared.byte_count, out,
               shared);
}

__global__ void __launch_bounds__(kThreads, kBlocksAnSm) decode_kernel(DeviceTiles tiles, Scratch scratch) {
  extern __shared__ uint4 shared_memory[];
  Shared& shared = *reinterpret_cast<Shared*>(shared_memory);
  unsigned long long const item_count = scratch.counters->items;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) { shared.ticket = atomicAdd(&scratch.counters->taken, 1ULL); }
    __syncthreads();
    unsigned long long const ticket = shared.ticket;
    if (ticket >= item_count) { return; }
    decode_segment(tiles, scratch.work[ticket], scratch.sums + ticket, shared);
  }
}

std::uint32_t multiprocessor_count() {
  int device = 0;
  int count = 0;
  check_cuda(cudaGetDevice(&device), "LZW: asking for the device");
  check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "LZW: asking for the device");
  return static_cast<std::uint32_t>(count);
}

// With few tiles, a round should cover a usual segment. With many, all tiles should run at once, with 1,024 threads per
// SM. A small tile needs no more threads than it has codes.
std::uint32_t walk_thread_count(std::uint32_t tile_count, std::uint64_t max_input_bytes, std::uint32_t sm_count) {
  if (max_input_bytes <= 768) { return 64; }
  for (std::uint32_t threads = kMaxWalkThreads; threads > 128; threads /= 2) {
    if (std::uint64_t{tile_count} * threads <= std::uint64_t{sm_count} * 1024) { return threads; }
  }
  return 128;
}

// The number of blocks that run at once: they take segments until none is left.
std::uint32_t decode_block_count(std::uint32_t sm_count) {
  int blocks = 0;
  check_cuda(cudaFuncSetAttribute(decode_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)),
             "LZW: asking for shared memory");
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, decode_kernel, kThreads, sizeof(Shared)),
             "LZW: asking for shared memory");
  return sm_count * static_cast<std::uint32_t>(blocks);
}

}  // namespace

std::size_t lzw_scratch_bytes(std::uint32_t tile_count, std::uint64_t input_bytes_total) {
  return kCountersBytes + place_count(tile_count, input_bytes_total) * kBytesAPlace;
}

void decode_lzw(tile::DeviceTiles const& tiles, std::uint64_t input_bytes_total, std::uint64_t max_input_bytes,
                std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  if (scratch_bytes < lzw_scratch_bytes(tiles.count, input_bytes_total)) {
    throw Error(ErrorKind::usage, "LZW: less scratch memory than the batch needs");
  }
  Scratch const parts = cut(scratch, place_count(tiles.count, input_bytes_total));
  check_cuda(cudaMemsetAsync(parts.counters, 0, sizeof(Counters), stream), "LZW: clearing the counters");
  std::uint32_t const sm_count = multiprocessor_count();
  std::uint32_t const walk_threads = walk_thread_count(tiles.count, max_input_bytes, sm_count);
  walk_kernel<<<tiles.count, walk_threads, 0, stream>>>(tiles, parts);
  check_launch("LZW: looking for segments");
  decode_kernel<<<decode_block_count(sm_count), kThreads, sizeof(Shared), stream>>>(tiles, parts);
  check_launch("LZW: decoding segments");
}

}  // namespace terrazzo::gpu
