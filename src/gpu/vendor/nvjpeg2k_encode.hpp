// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG2000: encodes batches of tiles in device memory to bare lossless JPEG 2000 codestreams like those of the host
// codec (5/3 wavelet, one layer, up to six resolutions, code blocks of 64 x 64; RGB with the format's colour
// transform).
//
// It takes one to four samples per pixel, of 8 bits unsigned or 16 bits of either sign. The host encodes signed bytes,
// more samples, and lossy files: the library's parameter is a quality, ours a ratio.
//
// The library allocates device and pinned memory for each lane that no hook sees: library_device_bytes() estimates it.
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
#include <string_view>

namespace terrazzo::gpu {

// True if nvJPEG2000 was found, is new enough, and has every function that encoding needs.
[[nodiscard]] bool nvjpeg2k_encode_available();
// True if a library of this version, "0.11.0", encodes correctly: 0.9 and later.
[[nodiscard]] bool nvjpeg2k_version_encodes(std::string_view version) noexcept;

// The format of all tiles of a batch; samples are interleaved, rows have no gaps.
struct Jpeg2000EncodeFormat {
  std::uint32_t width_px = 0;
  std::uint32_t height_px = 0;
  std::uint32_t samples = 1;
  std::uint32_t bits_per_sample = 8;  // 8 or 16
  bool is_signed = false;
  bool is_rgb = false;  // photometric RGB: the first three samples get the colour transform
  bool lossless = true;
};

class Nvjpeg2kEncoder {
 public:
  struct Options {
    unsigned lanes = 8;  // encode states and streams; more gain nothing (H200)
    unsigned host_threads = 8;  // for launching and fetching; at most `lanes`
    VendorAllocator pinned = plain_pinned_allocator();
  };

  // Throws `unsupported` if nvJPEG2000 is absent, `device` if it cannot start.
  explicit Nvjpeg2kEncoder(Options const& options);
  Nvjpeg2kEncoder();
  ~Nvjpeg2kEncoder();
  Nvjpeg2kEncoder(Nvjpeg2kEncoder&&) noexcept;
  Nvjpeg2kEncoder& operator=(Nvjpeg2kEncoder&&) noexcept;

  // True if tiles of this format can be encoded; the host encodes all others.
  [[nodiscard]] static bool takes(Jpeg2000EncodeFormat const& format) noexcept;

  // Upper bound for a tile's stream; noise takes a fifth more than its raw size.
  [[nodiscard]] static std::uint64_t bound(Jpeg2000EncodeFormat const& format) noexcept;

  // Upper estimate of the library's own memory with so many lanes, for budgets.
  [[nodiscard]] static std::uint64_t library_device_bytes(Jpeg2000EncodeFormat const& format, unsigned lanes) noexcept;

  // Encodes the batch; every slot has `bound(format)` bytes. Waits for `stream` once, at the beginning, and returns
  // when the last tile is queued; slots, sizes and statuses are complete in the order of `stream`. Statuses: `ok`;
  // `sparse` for an empty tile; `unsupported` for one of another size; `failed`. Throws `usage` for an unsupported
  // format, `device`, `limit`.
  void encode(Jpeg2000EncodeFormat const& format, tile::EncodeBatch const& batch, cudaStream_t stream);

  [[nodiscard]] std::uint64_t allocations() const noexcept;  // pinned bytes of ours, since construction

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::gpu
