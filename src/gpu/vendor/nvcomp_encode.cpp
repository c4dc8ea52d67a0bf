// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvcomp_encode.hpp"

#include "base/text.hpp"
#include "gpu/runtime/scratch_carver.hpp"
#include "gpu/vendor/nvcomp_encode_batch.hpp"
#include "gpu/vendor/nvcomp_library.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>

namespace terrazzo::gpu {
namespace {

using nvcomp::check;
using nvcomp::Functions;
using nvcomp::Library;

constexpr nvcomp::EncodeOptions kOptions{};

// What nvCOMP is told of a batch: stand-ins are tiles too.
struct Call {
  std::uint32_t tile_count;
  std::uint64_t longest_bytes;
  std::uint64_t total_bytes;
};

Call call_for(std::uint32_t tile_count, std::uint64_t longest_tile_bytes, std::uint64_t total_bytes) {
  if (longest_tile_bytes > nvcomp_encode_longest_tile_bytes()) {
    throw Error(ErrorKind::usage, text("nvCOMP is not given tiles of ", longest_tile_bytes, " bytes"));
  }
  std::uint64_t const longest = std::max<std::uint64_t>(longest_tile_bytes, kEncodeStandInBytes);
  std::uint64_t const all = total_bytes + std::uint64_t{tile_count} * kEncodeStandInBytes;
  return {tile_count, longest, std::min(all, tile_count * longest)};
}

std::uint64_t stream_bound(Library const& lib, std::uint64_t tile_bytes) {
  Functions const& functions = lib.of(NvcompCodec::zstd);
  std::size_t bytes = 0;
  check(functions.encode_bound(std::max<std::uint64_t>(tile_bytes, kEncodeStandInBytes), kOptions, &bytes), lib,
        functions, "CompressGetMaxOutputChunkSize");
  return bytes;
}

std::size_t temp_bytes(Library const& lib, Call const& call) {
  Functions const& functions = lib.of(NvcompCodec::zstd);
  std::size_t bytes = 0;
  // The stream is for the library's bookkeeping: the call puts nothing on it.
  check(functions.encode_temp_size(call.tile_count, call.longest_bytes, kOptions, &bytes, call.total_bytes, nullptr),
        lib, functions, "CompressGetTempSize");
  return bytes;
}

NvcompEncodeArrays carve(ScratchCarver& carver, std::uint32_t tile_count, std::uint64_t output_bound) noexcept {
  NvcompEncodeArrays arrays{};
  arrays.inputs = carver.take<void const*>(tile_count);
  arrays.input_bytes = carver.take<std::size_t>(tile_count);
  arrays.outputs = carver.take<void*>(tile_count);
  arrays.written_bytes = carver.take<std::size_t>(tile_count);
  arrays.statuses = carver.take<int>(tile_count);
  arrays.stand_in_input = carver.take<std::byte>(kEncodeStandInBytes);
  arrays.stand_in_output = carver.take<std::byte>(output_bound);
  return arrays;
}

}  // namespace

bool nvcomp_encode_available() {
  Library const* const lib = nvcomp::find_library();
  return lib != nullptr && lib->encodes;
}

std::uint64_t nvcomp_encode_longest_tile_bytes() noexcept {
  // A frame's window may be its whole content, and decoders that read piecewise, libtiff's among them, refuse windows
  // over 128 MiB.
  return std::uint64_t{1} << 27;
}

std::uint64_t nvcomp_encode_bound(std::uint64_t tile_bytes) {
  return (stream_bound(nvcomp::encoding_library(), tile_bytes) + 15) / 16 * 16;
}

std::size_t nvcomp_encode_scratch_bytes(std::uint32_t tile_count, std::uint64_t longest_tile_bytes,
                                        std::uint64_t total_bytes) {
  if (tile_count == 0) { return 0; }
  Call const call = call_for(tile_count, longest_tile_bytes, total_bytes);
  Library const& lib = nvcomp::encoding_library();
  ScratchCarver carver(nullptr);
  (void)carve(carver, tile_count, stream_bound(lib, call.longest_bytes));
  return carver.enough() + temp_bytes(lib, call);
}

void nvcomp_encode(tile::EncodeBatch const& batch, std::uint64_t total_bytes, std::byte* scratch,
                   std::size_t scratch_bytes, cudaStream_t stream) {
  if (batch.count == 0) { return; }
  Call const call = call_for(batch.count, batch.longest_input_bytes, total_bytes);
  Library const& lib = nvcomp::encoding_library();
  Functions const& functions = lib.of(NvcompCodec::zstd);
  nvcomp::Alignments alignments{};
  check(functions.encode_alignments(kOptions, &alignments), lib, functions, "CompressGetRequiredAlignments");
  NvcompEncodeLimits const limits{batch.longest_input_bytes, stream_bound(lib, call.longest_bytes),
                                  std::max<std::size_t>(alignments.input, 1),
                                  std::max<std::size_t>(alignments.output, 1)};
  std::size_t const temp = temp_bytes(lib, call);
  ScratchCarver carver(scratch);
  NvcompEncodeArrays const arrays = carve(carver, batch.count, limits.output_bound);
  if (scratch == nullptr || scratch_bytes < carver.used() + temp) {
    throw Error(ErrorKind::usage, text("nvCOMP needs ", carver.used() + temp, " bytes of scratch and got ",
                                       scratch == nullptr ? 0 : scratch_bytes));
  }
  prepare_nvcomp_encode(batch, limits, arrays, stream);
  check(functions.encode(arrays.inputs, arrays.input_bytes, call.longest_bytes, batch.count, scratch + carver.used(),
                         temp, arrays.outputs, arrays.written_bytes, kOptions, arrays.statuses, stream),
        lib, functions, "CompressAsync");
  finish_nvcomp_encode(batch, limits, arrays, stream);
}

}  // namespace terrazzo::gpu
