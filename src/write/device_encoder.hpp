// SPDX-License-Identifier: Apache-2.0
//
// Which device encoder takes a compression, and how it is called: the one place where a codec of a file meets a kernel
// or a vendor's library.
#pragma once

#include "codec/encoder.hpp"
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

// What an encoder is for. Strips have other shapes in overviews than in the raster: no common one then.
struct EncodeTask {
  codec::Encoder const& codec;
  codec::EncodeFormat const& format;
  std::uint64_t longest_bytes = 0;  // of a block
  std::optional<codec::BlockShape> shape{};  // of all blocks, but for a last strip
  std::uint64_t budget_bytes = 0;
};

class DeviceEncoder {
 public:
  enum class Kind : std::uint8_t {
    none,  // the bytes are stored as they are
    host,  // no device encoder: the host's threads encode what was cut on the device
    lzw,
    packbits,
    deflate,
    zstd,
    jpeg,
    jpeg2000,
  };

  // The host encodes, and a note says so, where a library is absent.
  explicit DeviceEncoder(EncodeTask const& task);

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  // False: what was cut goes back as it is, compressed nowhere or by the host.
  [[nodiscard]] bool encodes() const noexcept { return kind_ != Kind::none && kind_ != Kind::host; }

  // Distance of blocks in the output.
  [[nodiscard]] std::uint64_t output_stride() const noexcept { return output_stride_; }
  // The longest that a block can become.
  [[nodiscard]] std::uint64_t bound() const noexcept { return bound_; }
  // What encode() is to be given, and what a library takes for itself.
  [[nodiscard]] std::size_t scratch_bytes(std::uint32_t blocks) const;
  [[nodiscard]] std::uint64_t library_bytes() const noexcept { return library_bytes_; }

  // On `stream`; nothing is waited for but by the JPEG encoders, whose blocks are launched one by one.
  void encode(tile::EncodeBatch const& batch, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream);

 private:
  [[nodiscard]] Kind choose(EncodeTask const& task);

  Kind kind_ = Kind::host;
  int level_ = 0;
  std::uint64_t longest_bytes_ = 0, bound_ = 0, output_stride_ = 0, library_bytes_ = 0;
  std::size_t row_bytes_ = 0;  // PackBits
  unsigned lanes_ = 0;         // JPEG and JPEG 2000: blocks at a time
  std::vector<std::byte> jpeg_tables_{};
  gpu::JpegEncodeFormat jpeg_format_{};
  gpu::Jpeg2000EncodeFormat jpeg2000_format_{};
  // Made by the first encode(): a file that is only planned needs none.
  std::unique_ptr<gpu::NvjpegEncoder> jpeg_{};
  std::unique_ptr<gpu::Nvjpeg2kEncoder> jpeg2000_{};
};

}  // namespace terrazzo::writing
