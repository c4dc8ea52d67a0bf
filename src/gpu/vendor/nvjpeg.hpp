// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG: decodes batches of a TIFF's JPEG tiles from host memory to pixels in device memory. The result is that of the
// host codec except for rounding in the inverse DCT, the colour conversion and the upsampling of chroma. Tiles for
// which that is impossible, or that are unusual (progressive, 12 bits, CMYK, other sizes), are `unsupported` and left
// to the host.
//
// Thread rule: a decoder belongs to one thread at a time; make one for each batch in flight.
#pragma once

#include "gpu/vendor/block_pool.hpp"
#include "gpu/vendor/jpeg_stream.hpp"
#include "tile/tile_status.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace terrazzo::gpu {

// True if nvJPEG was found and has every needed function.
[[nodiscard]] bool nvjpeg_available();

enum class NvjpegBackend : std::uint8_t {
  automatic,  // the first of the others that this machine has
  hardware,  // the chip's JPEG engines
  gpu_hybrid,  // Huffman on the SMs (in batches of more than 50 tiles)
  hybrid,  // Huffman on CPU threads
};

struct JpegTile {
  std::byte* data = nullptr;  // host memory, pinned for full speed; valid until the batch is done
  std::size_t size_bytes = 0;
  std::size_t headroom_bytes = 0;  // before `data`, may be overwritten; enough of them save a copy
  std::uint64_t output_offset = 0;
};

class NvjpegDecoder {
 public:
  struct Options {
    NvjpegBackend backend = NvjpegBackend::automatic;
    bool interpolate_chroma = true;  // as in libjpeg; off: each chroma sample is repeated
    unsigned cpu_threads = 1;  // for `hybrid`
    VendorAllocator device = plain_device_allocator();
    VendorAllocator pinned = plain_pinned_allocator();
  };

  // Throws `unsupported` if nvJPEG is absent or lacks the requested backend.
  explicit NvjpegDecoder(Options const& options);
  NvjpegDecoder();
  ~NvjpegDecoder();
  NvjpegDecoder(NvjpegDecoder&&) noexcept;
  NvjpegDecoder& operator=(NvjpegDecoder&&) noexcept;

  // Headroom that allows decoding tiles of this image in place. 0 if it has no (usable) JPEGTables.
  [[nodiscard]] static std::size_t headroom_bytes(JpegFormat const& format);

  // Decodes on `stream`: pixels of tile i at output + output_offset, rows `output_pitch_bytes` apart, samples
  // interleaved. Statuses are in host memory and final on return, except for a device failure that the stream reports;
  // only `ok` output is valid. Waits for this decoder's previous batch first. Waits for this batch only if a stream in
  // it makes the batch fail; then it is decoded tile by tile. Throws `device` and `limit`.
  void decode(JpegFormat const& format, std::span<JpegTile const> tiles, std::byte* output,
              std::size_t output_pitch_bytes, std::span<tile::TileStatus> statuses, cudaStream_t stream);

  // The backend that decoded the last batch (the last one, if there were several).
  [[nodiscard]] NvjpegBackend last_backend() const noexcept;
  [[nodiscard]] std::size_t device_bytes_held() const noexcept;
  [[nodiscard]] std::uint64_t allocations() const noexcept;  // device and pinned, since construction

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::gpu
