// SPDX-License-Identifier: Apache-2.0
//
// nvJPEG2000: batches of tiles in device memory to bare lossless codestreams of JPEG 2000, as the host codec writes
// them (5/3 wavelet, one layer, up to six resolutions, code blocks of 64 x 64; RGB with the format's colour transform).
//
// It takes one to four samples a pixel, of 8 bits unsigned or 16 bits of either sign. Signed bytes and more samples are
// the host's; so is lossy: the library aims at a quality, our files at a ratio.
//
// The library takes device and pinned memory of its own for each lane, which no hook sees: library_device_bytes() says
// about how much.
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

// Whether nvJPEG2000 was found, is new enough, and has every function that encoding needs.
[[nodiscard]] bool nvjpeg2k_encode_available();
// Whether a library of this version, "0.11.0", is trusted with encoding: 0.9 and later.
[[nodiscard]] bool nvjpeg2k_version_encodes(std::string_view version) noexcept;

// The same for all tiles of a batch; samples are side by side, rows without gaps.
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
    unsigned host_threads = 8;  // launching and fetching; not more than lanes
    VendorAllocator pinned = plain_pinned_allocator();
  };

  // Throws `unsupported` when nvJPEG2000 is absent, `device` when it cannot start.
  explicit Nvjpeg2kEncoder(Options const& options);
  Nvjpeg2kEncoder();
  ~Nvjpeg2kEncoder();
  Nvjpeg2kEncoder(Nvjpeg2kEncoder&&) noexcept;
  Nvjpeg2kEncoder& operator=(Nvjpeg2kEncoder&&) noexcept;

  // Whether tiles of this format can be encoded; all others are the host's.
  [[nodiscard]] static bool takes(Jpeg2000EncodeFormat const& format) noexcept;

  // Room for a tile's stream in the output; wild samples take a fifth more than they are.
  [[nodiscard]] static std::uint64_t bound(Jpeg2000EncodeFormat const& format) noexcept;

  // What the library may take for itself with so many lanes, for budgets: an estimate from above.
  [[nodiscard]] static std::uint64_t library_device_bytes(Jpeg2000EncodeFormat const& format, unsigned lanes) noexcept;

  // Encodes the batch; every slot has `bound(format)` bytes. Waits for `stream` once, at the beginning, and returns
  // when the last tile is on its way; slots, sizes and statuses are complete when `stream` gets there. Statuses: `ok`;
  // `sparse` for a tile of no bytes; `unsupported` for one of another size; `failed`. Throws `usage` for a format that
  // it does not take, `device`, `limit`.
  void encode(Jpeg2000EncodeFormat const& format, tile::EncodeBatch const& batch, cudaStream_t stream);

  [[nodiscard]] std::uint64_t allocations() const noexcept;  // pinned ones of ours, since the beginning

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrazzo::gpu
