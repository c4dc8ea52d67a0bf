// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG: encodes batches of tiles in device memory to baseline JPEG streams in the host codec's form: quantisation
// tables are those of tag 347 and are omitted, Huffman tables are in the tile, no JFIF. So a file can contain tiles of
// both engines. A tile that nvJPEG encodes differently is `failed` and left to the host.
//
// It takes unsigned 8-bit samples: one per pixel, or RGB that is stored as YCbCr, in tiles with at least as many
// pixels as 64 x 64. The pixels differ from the host codec's by rounding (forward DCT, colour conversion, chroma
// averages).
// With the standard Huffman tables instead of a tile's own, encoding waits less and files are about a tenth larger.
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

// True if nvJPEG was found and has every function that encoding needs.
[[nodiscard]] bool nvjpeg_encode_available();

// The format of all tiles of a batch; samples are interleaved, rows have no gaps.
struct JpegEncodeFormat {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t samples = 1;
  bool is_ycbcr = false;  // in the file; the input samples are RGB
  std::uint32_t chroma_horizontal = 2, chroma_vertical = 2;  // factors of YCbCr: 1 x 1, 2 x 1 or 2 x 2
  int quality = 75;  // libjpeg's scale
  bool optimize_huffman = false;  // tables made for each tile: smaller, and slower
  std::span<std::byte const> tables{};  // tag 347, of that quality
};

class NvjpegEncoder {
 public:
  struct Options {
    unsigned lanes = 8;  // encoder states and streams; more gain nothing (H200)
    unsigned host_threads = 8;  // for launching and fetching; at most `lanes`
    VendorAllocator device = plain_device_allocator();
    VendorAllocator pinned = plain_pinned_allocator();
  };

  // Throws `unsupported` if nvJPEG is absent, `device` if it cannot start.
  explicit NvjpegEncoder(Options const& options);
  NvjpegEncoder();
  ~NvjpegEncoder();
  NvjpegEncoder(NvjpegEncoder&&) noexcept;
  NvjpegEncoder& operator=(NvjpegEncoder&&) noexcept;

  // True if tiles of this format can be encoded; the host encodes all others.
  [[nodiscard]] static bool takes(JpegEncodeFormat const& format) noexcept;

  // Room for a tile's stream in the output. Noise at the highest qualities may need more: such a tile is `failed`.
  [[nodiscard]] static std::uint64_t bound(JpegEncodeFormat const& format) noexcept;

  // Upper estimate of the library's own memory with so many lanes, for budgets.
  [[nodiscard]] static std::uint64_t library_device_bytes(JpegEncodeFormat const& format, unsigned lanes) noexcept;

  // Encodes the batch; every slot has `bound(format)` bytes. Waits for `stream` once, at the beginning, and returns
  // when the last tile is queued; slots, sizes and statuses are complete in the order of `stream`. Statuses: `ok`;
  // `sparse` for an empty tile; `unsupported` for one of another size; `failed`. Throws `usage` for an unsupported
  // format, `device`, `limit`.
  void encode(JpegEncodeFormat const& format, tile::EncodeBatch const& batch, cudaStream_t stream);

  [[nodiscard]] std::size_t device_bytes_held() const noexcept;
  [[nodiscard]] std::uint64_t allocations() const noexcept;  // device and pinned, since construction

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::gpu
