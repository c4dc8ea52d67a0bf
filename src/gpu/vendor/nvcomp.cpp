// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvcomp.hpp"

#include "base/carver.hpp"
#include "base/text.hpp"
#include "gpu/vendor/nvcomp_batch.hpp"
#include "gpu/vendor/nvcomp_library.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>

namespace terrazzo::gpu {
namespace {

using nvcomp::check;
using nvcomp::Functions;
using nvcomp::Library;

// Use the CUDA kernels, not the decompression engine of later GPUs: the engine needs memory from special pools and
// small tiles.
constexpr nvcomp::DecodeOptions kOptions{nvcomp::kBackendCuda, {}};

NvcompArrays carve(Carver& carver, std::uint32_t tile_count) noexcept {
  NvcompArrays arrays{};
  arrays.inputs = carver.take<void const*>(tile_count);
  arrays.input_bytes = carver.take<std::size_t>(tile_count);
  arrays.outputs = carver.take<void*>(tile_count);
  arrays.output_bytes = carver.take<std::size_t>(tile_count);
  arrays.written_bytes = carver.take<std::size_t>(tile_count);
  arrays.statuses = carver.take<int>(tile_count);
  arrays.stand_in_input = carver.take<std::byte>(kStandInInputBytes);
  arrays.stand_in_output = carver.take<std::byte>(kStandInOutputBytes);
  return arrays;
}

std::size_t temp_bytes(Library const& lib, Functions const& codec, std::uint32_t tile_count,
                       std::uint64_t max_output_bytes, std::uint64_t total_output_bytes) {
  // Stand-ins count as tiles.
  std::uint64_t const max_bytes = std::max<std::uint64_t>(max_output_bytes, kStandInContentBytes);
  std::uint64_t const total_bytes =
      std::max<std::uint64_t>(total_output_bytes, std::uint64_t{tile_count} * kStandInContentBytes);
  std::size_t bytes = 0;
  // The library uses the stream for bookkeeping only: the call queues no work on it.
  check(codec.decode_temp_size(tile_count, max_bytes, kOptions, &bytes, total_bytes, nullptr), lib, codec,
        "DecompressGetTempSize");
  return bytes;
}

}  // namespace

bool nvcomp_available() { return nvcomp::find_library() != nullptr; }

std::size_t nvcomp_decode_scratch_bytes(NvcompCodec codec, std::uint32_t tile_count, std::uint64_t max_output_bytes,
                                        std::uint64_t total_output_bytes) {
  if (tile_count == 0) { return 0; }
  Library const& lib = nvcomp::library();
  Carver carver(nullptr);
  (void)carve(carver, tile_count);
  return carver.enough() + temp_bytes(lib, lib.of(codec), tile_count, max_output_bytes, total_output_bytes);
}

void nvcomp_decode(NvcompCodec codec, tile::DeviceTiles const& tiles, std::uint64_t max_output_bytes,
                   std::uint64_t total_output_bytes, std::byte* scratch, std::size_t scratch_bytes,
                   cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  Library const& lib = nvcomp::library();
  Functions const& functions = lib.of(codec);
  std::size_t const temp = temp_bytes(lib, functions, tiles.count, max_output_bytes, total_output_bytes);
  Carver carver(scratch);
  NvcompArrays const arrays = carve(carver, tiles.count);
  if (scratch == nullptr || scratch_bytes < carver.used() + temp) {
    throw Error(ErrorKind::usage, text("nvCOMP needs ", carver.used() + temp, " bytes of scratch and got ",
                                       scratch == nullptr ? 0 : scratch_bytes));
  }
  nvcomp::Alignments alignments{};
  check(functions.decode_alignments(kOptions, &alignments), lib, functions, "DecompressGetRequiredAlignments");
  NvcompLimits const limits{max_output_bytes, std::max<std::size_t>(alignments.input, 1),
                            std::max<std::size_t>(alignments.output, 1)};
  prepare_nvcomp_batch(codec, tiles, limits, arrays, stream);
  check(functions.decode(arrays.inputs, arrays.input_bytes, arrays.output_bytes, arrays.written_bytes, tiles.count,
                         scratch + carver.used(), temp, arrays.outputs, kOptions, arrays.statuses, stream),
        lib, functions, "DecompressAsync");
  finish_nvcomp_batch(tiles, arrays, stream);
}

}  // namespace terrazzo::gpu
