// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG: batches of tiles in device memory to baseline JPEG streams in the form in which the host codec writes them:
// quantisation tables are those of tag 347 and left out, Huffman tables are in the tile, no JFIF. So tiles of either
// engine can lie side by side in a file, and a tile that nvJPEG did otherwise is `failed` and left to the host.
//
// It takes unsigned 8-bit samples: one a pixel, or RGB that is stored as YCbCr, in tiles of 64 x 64 pixels or as many.
// The pixels differ from the host codec's by rounding (forward DCT, colour conversion, chroma averages). With the
// standard Huffman tables instead of a tile's own, encoding waits less and files are about a tenth larger.
//
// Thread rule: an encoder belongs to one thread at a time; make one for each batch in flight. It uses threads of the
// process's pool while it encodes.
#pragma once

#include "gpu/vendor/block_pool.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace terrazzo::gpu {

// Whether nvJPEG was found and has every function that encoding needs.
[[nodiscard]] bool nvjpeg_encode_available();

// The same for all tiles of a batch; samples are side by side, rows without gaps.
struct JpegEncodeFormat {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t samples = 1;
  bool is_ycbcr = false;  // in the file; the samples that come are RGB
  std::uint32_t chroma_horizontal = 2, chroma_vertical = 2;  // of YCbCr: 1 x 1, 2 x 1 or 2 x 2
  int quality = 75;  // libjpeg's scale
  bool optimize_huffman = false;  // tables made for each tile: smaller, and slower
  std::span<std::byte const> tables{};  // tag 347, of that quality
};

class NvjpegEncoder {
 public:
  struct Options {
    unsigned lanes = 8;  // encoder states and streams; more gain nothing (H200)
    unsigned host_threads = 8;  // launching and fetching; not more than lanes
    VendorAllocator device = plain_device_allocator();
    VendorAllocator pinned = plain_pinned_allocator();
  };

  // Throws `unsupported` when nvJPEG is absent, `device` when it cannot start.
  explicit NvjpegEncoder(Options const& options);
  NvjpegEncoder();
  ~NvjpegEncoder();
  NvjpegEncoder(NvjpegEncoder&&) noexcept;
  NvjpegEncoder& operator=(NvjpegEncoder&&) noexcept;

  // Whether tiles of this format can be encoded; all others are the host's.
  [[nodiscard]] static bool takes(JpegEncodeFormat const& format) noexcept;

  // Room for a tile's stream in the output. Noise at the highest qualities may need more: such a tile is `failed`.
  [[nodiscard]] static std::uint64_t bound(JpegEncodeFormat const& format) noexcept;

  // What the library may take for itself with so many lanes, for budgets: an estimate from above.
  [[nodiscard]] static std::uint64_t library_device_bytes(JpegEncodeFormat const& format, unsigned lanes) noexcept;

  // Encodes the batch; every slot has `bound(format)` bytes. Waits for `stream` once, at the beginning, and returns
  // when the last tile is on its way; slots, sizes and statuses are complete when `stream` gets there. Statuses: `ok`;
  // `sparse` for a tile of no bytes; `unsupported` for one of another size; `failed`. Throws `usage` for a format that
  // it does not take, `device`, `limit`.
  void encode(JpegEncodeFormat const& format, tile::EncodeBatch const& batch, cudaStream_t stream);

  [[nodiscard]] std::size_t device_bytes_held() const noexcept;
  [[nodiscard]] std::uint64_t allocations() const noexcept;  // device and pinned, since the beginning

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::gpu
