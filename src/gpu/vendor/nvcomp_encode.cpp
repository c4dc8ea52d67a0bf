// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvcomp_encode.hpp"

#include "base/text.hpp"
#include "gpu/vendor/nvcomp_encode_batch.hpp"
#include "gpu/vendor/nvcomp_library.hpp"
#include "gpu/vendor/scratch_carver.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace terrazzo::gpu {
namespace {

using nvcomp::check;
using nvcomp::Functions;
using nvcomp::Library;

// Our deflate levels 1 to 12. nvCOMP's algorithms: 0 codes symbols only, 1 searches quickly, 2 more (3 is 2), 4 and 5
// search well and slowly. On an H200, 1 MiB tiles of predicted floats: 0 at 83 GB/s, 1 at 14.
constexpr std::array kDeflateAlgorithms = {0, 0, 1, 1, 1, 1, 2, 2, 4, 4, 5, 5};

// Algorithms 4 and 5 sort all bytes of a call at once and count them in an int.
constexpr int kFirstSortingAlgorithm = 4;
constexpr std::uint64_t kLargestSortBytes = std::numeric_limits<std::int32_t>::max();

nvcomp::EncodeOptions options_for(NvcompCodec codec, int level) noexcept {
  return {nvcomp_algorithm(codec, level), {}};
}

// What one call of nvCOMP's is told: stand-ins are tiles too.
struct Call {
  std::uint32_t tile_count;
  std::uint64_t longest_bytes;
  std::uint64_t total_bytes;
};

// The largest call that a batch is encoded by; nvCOMP takes most batches whole.
Call largest_call(NvcompCodec codec, int level, std::uint32_t tile_count, std::uint64_t longest_tile_bytes,
                  std::uint64_t total_bytes) {
  if (longest_tile_bytes > nvcomp_encode_longest_tile_bytes(codec)) {
    throw Error(ErrorKind::usage, text("nvCOMP is not given tiles of ", longest_tile_bytes, " bytes"));
  }
  std::uint64_t const longest = std::max<std::uint64_t>(longest_tile_bytes, kEncodeStandInBytes);
  bool const sorts = codec == NvcompCodec::deflate && nvcomp_algorithm(codec, level) >= kFirstSortingAlgorithm;
  std::uint64_t const most = sorts ? std::max<std::uint64_t>(kLargestSortBytes / longest, 1) : tile_count;
  std::uint64_t const count = std::min<std::uint64_t>(tile_count, most);
  std::uint64_t const all = total_bytes + std::uint64_t{tile_count} * kEncodeStandInBytes;
  return {static_cast<std::uint32_t>(count), longest, std::min(all, count * longest)};
}

std::uint64_t stream_bound(Library const& lib, Functions const& functions, nvcomp::EncodeOptions const& options,
                           std::uint64_t tile_bytes) {
  std::size_t bytes = 0;
  check(functions.encode_bound(std::max<std::uint64_t>(tile_bytes, kEncodeStandInBytes), options, &bytes), lib,
        functions, "CompressGetMaxOutputChunkSize");
  return bytes;
}

std::size_t temp_bytes(Library const& lib, Functions const& functions, nvcomp::EncodeOptions const& options,
                       Call const& call) {
  std::size_t bytes = 0;
  // The stream is for the library's bookkeeping: the call puts nothing on it.
  check(functions.encode_temp_size(call.tile_count, call.longest_bytes, options, &bytes, call.total_bytes, nullptr),
        lib, functions, "CompressGetTempSize");
  return bytes;
}

NvcompEncodeArrays carve(ScratchCarver& carver, NvcompCodec codec, std::uint32_t tile_count,
                         std::uint64_t output_bound) noexcept {
  NvcompEncodeArrays arrays{};
  arrays.inputs = carver.take<void const*>(tile_count);
  arrays.input_bytes = carver.take<std::size_t>(tile_count);
  arrays.outputs = carver.take<void*>(tile_count);
  arrays.written_bytes = carver.take<std::size_t>(tile_count);
  arrays.statuses = carver.take<int>(tile_count);
  if (codec == NvcompCodec::deflate) {
    arrays.adler_sums = carver.take<unsigned long long>(std::size_t{tile_count} * 2);
  }
  arrays.stand_in_input = carver.take<std::byte>(kEncodeStandInBytes);
  arrays.stand_in_output = carver.take<std::byte>(output_bound);
  return arrays;
}

// Tiles [first, first + count) as a batch of their own.
tile::EncodeBatch slice(tile::EncodeBatch const& batch, std::uint32_t first, std::uint32_t count) noexcept {
  tile::EncodeBatch part = batch;
  part.input_offsets += first;
  part.input_sizes += first;
  part.output_offsets += first;
  part.output_sizes += first;
  part.statuses += first;
  part.count = count;
  return part;
}

}  // namespace

bool nvcomp_encode_available() {
  Library const* const lib = nvcomp::find_library();
  return lib != nullptr && lib->encodes;
}

std::uint64_t nvcomp_encode_longest_tile_bytes(NvcompCodec codec) noexcept {
  // A frame's window may be its whole content, and decoders that read piecewise, libtiff's among them, refuse windows
  // over 128 MiB. For deflate it is nvCOMP's own limit.
  constexpr std::uint64_t kLongestZstd = std::uint64_t{1} << 27;
  constexpr std::uint64_t kLongestDeflate = (std::uint64_t{1} << 31) - 1;
  return codec == NvcompCodec::deflate ? kLongestDeflate : kLongestZstd;
}

int nvcomp_algorithm(NvcompCodec codec, int level) noexcept {
  if (codec == NvcompCodec::zstd) { return 0; }
  int const last = static_cast<int>(kDeflateAlgorithms.size());
  return kDeflateAlgorithms[static_cast<std::size_t>(std::clamp(level, 1, last) - 1)];
}

std::uint64_t nvcomp_encode_bound(NvcompCodec codec, int level, std::uint64_t tile_bytes) {
  Library const& lib = nvcomp::encoding_library();
  std::uint64_t const stream = stream_bound(lib, lib.of(codec), options_for(codec, level), tile_bytes);
  std::uint64_t const framed = stream + (codec == NvcompCodec::deflate ? kZlibFrameLead + kZlibFrameTrail : 0);
  return (framed + 15) / 16 * 16;
}

std::size_t nvcomp_encode_scratch_bytes(NvcompCodec codec, int level, std::uint32_t tile_count,
                                        std::uint64_t longest_tile_bytes, std::uint64_t total_bytes) {
  if (tile_count == 0) { return 0; }
  Call const call = largest_call(codec, level, tile_count, longest_tile_bytes, total_bytes);
  Library const& lib = nvcomp::encoding_library();
  nvcomp::EncodeOptions const options = options_for(codec, level);
  ScratchCarver carver(nullptr);
  (void)carve(carver, codec, call.tile_count, stream_bound(lib, lib.of(codec), options, call.longest_bytes));
  // One more part, so that a scratch buffer of any alignment will do.
  return carver.used() + ScratchCarver::kPartAlignment + temp_bytes(lib, lib.of(codec), options, call);
}

void nvcomp_encode(NvcompCodec codec, int level, tile::EncodeBatch const& batch, std::uint64_t total_bytes,
                   std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
  if (batch.count == 0) { return; }
  Call const call = largest_call(codec, level, batch.count, batch.longest_input_bytes, total_bytes);
  Library const& lib = nvcomp::encoding_library();
  Functions const& functions = lib.of(codec);
  nvcomp::EncodeOptions const options = options_for(codec, level);
  nvcomp::Alignments alignments{};
  check(functions.encode_alignments(options, &alignments), lib, functions, "CompressGetRequiredAlignments");
  NvcompEncodeLimits const limits{batch.longest_input_bytes, stream_bound(lib, functions, options, call.longest_bytes),
                                  std::max<std::size_t>(alignments.input, kEncodeInputAlignment),
                                  std::max<std::size_t>(alignments.output, 1)};
  std::size_t const temp = temp_bytes(lib, functions, options, call);
  ScratchCarver carver(scratch);
  NvcompEncodeArrays const arrays = carve(carver, codec, call.tile_count, limits.output_bound);
  if (scratch == nullptr || scratch_bytes < carver.used() + temp) {
    throw Error(ErrorKind::usage, text("nvCOMP needs ", carver.used() + temp, " bytes of scratch and got ",
                                       scratch == nullptr ? 0 : scratch_bytes));
  }
  for (std::uint32_t first = 0; first < batch.count; first += call.tile_count) {
    tile::EncodeBatch const part = slice(batch, first, std::min(call.tile_count, batch.count - first));
    prepare_nvcomp_encode(codec, part, limits, arrays, stream);
    if (codec == NvcompCodec::deflate) { sum_for_adler32(part, limits, arrays, stream); }
    check(functions.encode(arrays.inputs, arrays.input_bytes, call.longest_bytes, part.count, scratch + carver.used(),
                           temp, arrays.outputs, arrays.written_bytes, options, arrays.statuses, stream),
          lib, functions, "CompressAsync");
    finish_nvcomp_encode(codec, zlib_level_byte(level), part, limits, arrays, stream);
  }
}

}  // namespace terrazzo::gpu
