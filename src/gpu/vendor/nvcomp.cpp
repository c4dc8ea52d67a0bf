// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvcomp.hpp"

#include "base/text.hpp"
#include "gpu/vendor/library.hpp"
#include "gpu/vendor/nvcomp_api.hpp"
#include "gpu/vendor/nvcomp_batch.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace terrazzo::gpu {
namespace {

// The table from codec to functions.
struct Functions {
  char const* name;
  nvcomp::DecodeAlignments* decode_alignments;
  nvcomp::DecodeTempSize* decode_temp_size;
  nvcomp::DecodeAsync* decode;
};

struct Library {
  std::array<Functions, 2> codecs;  // by NvcompCodec
  nvcomp::GetStatusString* status_string;

  [[nodiscard]] Functions const& of(NvcompCodec codec) const noexcept {
    return codecs[static_cast<std::size_t>(codec)];
  }
};

std::optional<Library> load() {
  VendorModule const& module = vendor_module(Vendor::nvcomp);
  Library library{};
  Functions& deflate = library.codecs[static_cast<std::size_t>(NvcompCodec::deflate)];
  Functions& zstd = library.codecs[static_cast<std::size_t>(NvcompCodec::zstd)];
  deflate.name = "Deflate";
  zstd.name = "Zstd";
  bool const complete =
      bind(module, "nvcompGetStatusString", library.status_string) &&
      bind(module, "nvcompBatchedDeflateDecompressGetRequiredAlignments", deflate.decode_alignments) &&
      bind(module, "nvcompBatchedDeflateDecompressGetTempSize", deflate.decode_temp_size) &&
      bind(module, "nvcompBatchedDeflateDecompressAsync", deflate.decode) &&
      bind(module, "nvcompBatchedZstdDecompressGetRequiredAlignments", zstd.decode_alignments) &&
      bind(module, "nvcompBatchedZstdDecompressGetTempSize", zstd.decode_temp_size) &&
      bind(module, "nvcompBatchedZstdDecompressAsync", zstd.decode);
  if (!complete) { return std::nullopt; }
  return library;
}

Library const* find_library() {
  static std::optional<Library> const kLibrary = load();
  return kLibrary ? &*kLibrary : nullptr;
}

Library const& library() {
  Library const* const found = find_library();
  if (found == nullptr) {
    std::string const& hint = vendor_module(Vendor::nvcomp).library.hint;
    throw Error(ErrorKind::unsupported, text("nvCOMP: ", hint.empty() ? "the library lacks a function" : hint));
  }
  return *found;
}

void check(nvcomp::Status status, Library const& lib, Functions const& codec, char const* call) {
  if (status == nvcomp::kSuccess) { return; }
  char const* const said = lib.status_string(status);
  throw Error(ErrorKind::device, text("nvcompBatched", codec.name, call, ": status ", status, " (",
                                      said == nullptr ? "no text" : said, ")"));
}

// The CUDA kernels, not the engine of later GPUs: that one wants memory from pools made for it and small tiles.
constexpr nvcomp::DecodeOptions kOptions{nvcomp::kBackendCuda, {}};

// Every part of the scratch buffer starts at a multiple of this, which is also what cudaMalloc gives.
constexpr std::size_t kPartAlignment = 256;

constexpr std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

// Hands out parts of the scratch buffer; on a null buffer it only adds up.
class Carver {
 public:
  explicit Carver(std::byte* base) noexcept : base_(base) {}

  template <class T>
  T* take(std::size_t count) noexcept {
    T* const part = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += padded(count * sizeof(T));
    return part;
  }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

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
  // Stand-ins are tiles too.
  std::uint64_t const max_bytes = std::max<std::uint64_t>(max_output_bytes, kStandInContentBytes);
  std::uint64_t const total_bytes =
      std::max<std::uint64_t>(total_output_bytes, std::uint64_t{tile_count} * kStandInContentBytes);
  std::size_t bytes = 0;
  // The stream is for the library's bookkeeping: the call puts nothing on it.
  check(codec.decode_temp_size(tile_count, max_bytes, kOptions, &bytes, total_bytes, nullptr), lib, codec,
        "DecompressGetTempSize");
  return bytes;
}

}  // namespace

bool nvcomp_available() { return find_library() != nullptr; }

std::size_t nvcomp_decode_scratch_bytes(NvcompCodec codec, std::uint32_t tile_count, std::uint64_t max_output_bytes,
                                        std::uint64_t total_output_bytes) {
  if (tile_count == 0) { return 0; }
  Library const& lib = library();
  Carver carver(nullptr);
  (void)carve(carver, tile_count);
  // One more part, so that a scratch buffer of any alignment will do.
  return carver.used() + kPartAlignment +
         temp_bytes(lib, lib.of(codec), tile_count, max_output_bytes, total_output_bytes);
}

void nvcomp_decode(NvcompCodec codec, tile::DeviceTiles const& tiles, std::uint64_t max_output_bytes,
                   std::uint64_t total_output_bytes, std::byte* scratch, std::size_t scratch_bytes,
                   cudaStream_t stream) {
  if (tiles.count == 0) { return; }
  Library const& lib = library();
  Functions const& functions = lib.of(codec);
  std::size_t const temp = temp_bytes(lib, functions, tiles.count, max_output_bytes, total_output_bytes);
  std::size_t const lead =
      (kPartAlignment - reinterpret_cast<std::uintptr_t>(scratch) % kPartAlignment) % kPartAlignment;
  Carver carver(scratch + lead);
  NvcompArrays const arrays = carve(carver, tiles.count);
  if (scratch == nullptr || scratch_bytes < lead + carver.used() + temp) {
    throw Error(ErrorKind::usage, text("nvCOMP needs ", lead + carver.used() + temp, " bytes of scratch and got ",
                                       scratch == nullptr ? 0 : scratch_bytes));
  }
  nvcomp::Alignments alignments{};
  check(functions.decode_alignments(kOptions, &alignments), lib, functions, "DecompressGetRequiredAlignments");
  NvcompLimits const limits{max_output_bytes, std::max<std::size_t>(alignments.input, 1),
                            std::max<std::size_t>(alignments.output, 1)};
  prepare_nvcomp_batch(codec, tiles, limits, arrays, stream);
  check(functions.decode(arrays.inputs, arrays.input_bytes, arrays.output_bytes, arrays.written_bytes, tiles.count,
                         scratch + lead + carver.used(), temp, arrays.outputs, kOptions, arrays.statuses, stream),
        lib, functions, "DecompressAsync");
  finish_nvcomp_batch(tiles, arrays, stream);
}

}  // namespace terrazzo::gpu
