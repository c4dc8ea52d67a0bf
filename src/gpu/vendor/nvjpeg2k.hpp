// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG2000: decodes batches of JPEG 2000 tiles from host memory to pixels in device memory. One pool holds the planes
// of the whole batch; K decode states on K streams ("lanes") work at once, each reused when its event reports that it
// is idle; one kernel converts planes to pixels. Per tile, nothing is allocated and nothing waits for a stream or the
// device; after the first batches nothing is allocated at all.
//
// The parser is the vendor's: for trusted sources only. Colour stays as stored; the host decodes YCbCr that must become
// RGB.
//
// Thread rule: a decoder belongs to one thread at a time; it uses threads of the process's pool while it decodes.
#pragma once

#include "gpu/vendor/block_pool.hpp"
#include "tile/tile_status.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace terrazzo::gpu {

// True if nvJPEG2000 was found and has every needed function.
[[nodiscard]] bool nvjpeg2k_available();

// The format of all tiles of a batch.
struct Jpeg2000Format {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t samples = 1;
  std::uint32_t bits_per_sample = 8;  // 8 or 16
  bool is_signed = false;
};

struct Jpeg2000Tile {
  std::byte const* data = nullptr;  // host memory; valid until the batch is done
  std::size_t size_bytes = 0;
  std::uint64_t output_offset = 0;
};

class Nvjpeg2kDecoder {
 public:
  struct Options {
    unsigned lanes = 16;  // decode states and streams
    unsigned host_threads = 4;  // for parsing and launching; at most `lanes`
    VendorAllocator device = plain_device_allocator();
    VendorAllocator pinned = plain_pinned_allocator();
  };

  // Throws `unsupported` if nvJPEG2000 is absent, `device` if it cannot start.
  explicit Nvjpeg2kDecoder(Options const& options);
  Nvjpeg2kDecoder();
  ~Nvjpeg2kDecoder();
  Nvjpeg2kDecoder(Nvjpeg2kDecoder&&) noexcept;
  Nvjpeg2kDecoder& operator=(Nvjpeg2kDecoder&&) noexcept;

  // Device memory for the planes of a batch, in addition to the library's memory per lane.
  [[nodiscard]] static std::uint64_t pool_bytes(Jpeg2000Format const& format, std::uint64_t tile_count);

  // Pixels of tile i at output + output_offset, rows `output_pitch_bytes` apart, samples interleaved, complete in the
  // order of `stream`. Statuses are in host memory and final on return, except for a device failure that the stream
  // reports; the output of a tile that is not `ok` is unchanged. Throws `device`, `limit` and `usage`.
  void decode(Jpeg2000Format const& format, std::span<Jpeg2000Tile const> tiles, std::byte* output,
              std::size_t output_pitch_bytes, std::span<tile::TileStatus> statuses, cudaStream_t stream);

  [[nodiscard]] std::size_t device_bytes_held() const noexcept;
  [[nodiscard]] std::uint64_t allocations() const noexcept;  // device and pinned, since construction

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::gpu
