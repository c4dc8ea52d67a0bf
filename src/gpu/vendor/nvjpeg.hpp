// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG: batches of a TIFF's JPEG tiles from host memory to pixels in device memory. The result is the host codec's
// but for rounding in the inverse DCT, the colour conversion and the upsampling of chroma; what cannot be made so, or
// is unusual (progressive, 12 bits, CMYK, other sizes), is `unsupported` and left to the host.
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

// Whether nvJPEG was found and has every function we need.
[[nodiscard]] bool nvjpeg_available();

enum class NvjpegBackend : std::uint8_t {
  automatic,   // the first of the others that this machine has
  hardware,    // the chip's JPEG engines
  gpu_hybrid,  // Huffman on the SMs (in batches of more than 50 tiles)
  hybrid,      // Huffman on CPU threads
};

struct JpegTile {
  std::byte* data = nullptr;       // host memory, pinned for full speed; must stay until the batch is done
  std::size_t size_bytes = 0;
  std::size_t headroom_bytes = 0;  // before `data`, free to be overwritten; enough of it saves copying the tile
  std::uint64_t output_offset = 0;
};

class NvjpegDecoder {
 public:
  struct Options {
    NvjpegBackend backend = NvjpegBackend::automatic;
    bool interpolate_chroma = true;  // as libjpeg does; off: each chroma sample is repeated
    unsigned cpu_threads = 1;        // for `hybrid`
    VendorAllocator device = plain_device_allocator();
    VendorAllocator pinned = plain_pinned_allocator();
  };

  // Throws `unsupported` when nvJPEG is absent or lacks the backend asked for.
  explicit NvjpegDecoder(Options const& options);
  NvjpegDecoder();
  ~NvjpegDecoder();
  NvjpegDecoder(NvjpegDecoder&&) noexcept;
  NvjpegDecoder& operator=(NvjpegDecoder&&) noexcept;

  // Headroom that lets tiles of this image be decoded where they lie. 0 when it has no (usable) JPEGTables.
  [[nodiscard]] static std::size_t headroom_bytes(JpegFormat const& format);

  // Decodes onto `stream`: pixels of tile i at output + output_offset, rows `output_pitch_bytes` apart, samples side by
  // side. Statuses are in host memory and final on return, but for a device failure that the stream reports; only `ok`
  // output may be used. Waits for this decoder's previous batch first, and for this one only when a stream in it breaks
  // the batch, which is then decoded tile by tile. Throws `device` and `limit`.
  void decode(JpegFormat const& format, std::span<JpegTile const> tiles, std::byte* output,
              std::size_t output_pitch_bytes, std::span<tile::TileStatus> statuses, cudaStream_t stream);

  // The backend that took the last batch (of several: the last).
  [[nodiscard]] NvjpegBackend last_backend() const noexcept;
  [[nodiscard]] std::size_t device_bytes_held() const noexcept;
  [[nodiscard]] std::uint64_t allocations() const noexcept;  // device and pinned, since the beginning

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::gpu
