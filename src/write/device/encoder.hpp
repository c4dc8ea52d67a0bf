// SPDX-License-Identifier: Apache-2.0
//
// Maps a compression to its device encoder and calls it: the one place that connects a file's codec with a kernel or a
// vendor's library.
#pragma once

#include "codec/registry/device_method.hpp"
#include "codec/registry/encoder.hpp"
#include "gpu/vendor/nvjpeg2k_encode.hpp"
#include "gpu/vendor/nvjpeg_encode.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace terrazzo::writing {

// The input of an encoder. If strips have other shapes in overviews than in the raster, there is no common shape.
struct EncodeTask {
  codec::Encoder const& codec;
  codec::EncodeFormat const& format;
  std::uint64_t longest_bytes = 0;  // largest block
  std::optional<codec::BlockShape> shape{};  // shape of all blocks except a last strip
  std::uint64_t budget_bytes = 0;
};

class DeviceEncoder {
 public:
  // `host`: no device encoder; the host's threads encode blocks that the device cut.
  using Kind = codec::DeviceMethod;

  // If a library is absent, the host encodes, and a note is logged.
  explicit DeviceEncoder(EncodeTask const& task);

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  // False: cut blocks are copied back unchanged, and stored uncompressed or encoded by the host.
  [[nodiscard]] bool encodes() const noexcept { return kind_ != Kind::raw && kind_ != Kind::host; }

  // Distance of blocks in the output.
  [[nodiscard]] std::uint64_t output_stride() const noexcept { return output_stride_; }
  // The largest size of an encoded block.
  [[nodiscard]] std::uint64_t bound() const noexcept { return bound_; }
  // Scratch for encode(), and memory that a library allocates itself.
  [[nodiscard]] std::size_t scratch_bytes(std::uint32_t blocks) const;
  [[nodiscard]] std::uint64_t library_bytes() const noexcept { return library_bytes_; }

  // Queues the work on `stream`. Only the JPEG encoders wait: they launch blocks one by one.
  void encode(tile::EncodeBatch const& batch, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream);

 private:
  [[nodiscard]] Kind choose(EncodeTask const& task);

  Kind kind_ = Kind::host;
  int level_ = 0;
  std::uint64_t longest_bytes_ = 0, bound_ = 0, output_stride_ = 0, library_bytes_ = 0;
  std::size_t row_bytes_ = 0;  // PackBits
  unsigned lanes_ = 0;         // JPEG and JPEG 2000: blocks encoded at a time
  std::vector<std::byte> jpeg_tables_{};
  gpu::JpegEncodeFormat jpeg_format_{};
  gpu::Jpeg2000EncodeFormat jpeg2000_format_{};
  // Made by the first encode(): a file that is only planned needs no encoder.
  std::unique_ptr<gpu::NvjpegEncoder> jpeg_{};
  std::unique_ptr<gpu::Nvjpeg2kEncoder> jpeg2000_{};
};

}  // namespace terrazzo::writing
