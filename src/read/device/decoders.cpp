// SPDX-License-Identifier: Apache-2.0
#include "read/device/decoders.hpp"

#include "gpu/decode/adler32.hpp"
#include "gpu/decode/lzw.hpp"
#include "gpu/decode/packbits.hpp"
#include "gpu/vendor/nvcomp.hpp"

#include <vector>

namespace terrazzo::reading {

bool takes_host_input(DeviceMethod method) noexcept {
  return method == DeviceMethod::jpeg || method == DeviceMethod::jpeg2000;
}

HostInputDecoders::HostInputDecoders(std::shared_ptr<DeviceAllocator> const& allocator) : source_(allocator) {}

void HostInputDecoders::decode(DeviceMethod method, tiff::Image const& image, std::byte* input,
                               std::span<WorkTile const> tiles, std::byte* output, std::span<tile::TileStatus> statuses,
                               cudaStream_t stream) {
  auto const pitch_bytes = static_cast<std::size_t>(image.row_bytes());
  if (method == DeviceMethod::jpeg) {
    if (!jpeg_) {
      gpu::NvjpegDecoder::Options options;
      options.device = source_.hooks();
      jpeg_ = std::make_unique<gpu::NvjpegDecoder>(options);
    }
    gpu::JpegFormat format;
    format.width_px = image.block_width_px;
    format.height_px = image.block_height_px;
    format.samples = image.samples_per_block();
    format.is_ycbcr = image.photometric == tiff::Photometric::ycbcr;
    format.tables = image.jpeg_tables;
    std::vector<gpu::JpegTile> streams;
    for (WorkTile const& tile : tiles) {
      streams.push_back({input + tile.input_offset, static_cast<std::size_t>(tile.size_bytes), kJpegHeadroomBytes,
                         tile.output_offset});
    }
    return jpeg_->decode(format, streams, output, pitch_bytes, statuses, stream);
  }
  if (!jpeg2000_) {
    gpu::Nvjpeg2kDecoder::Options options;
    options.device = source_.hooks();
    jpeg2000_ = std::make_unique<gpu::Nvjpeg2kDecoder>(options);
  }
  gpu::Jpeg2000Format format;
  format.width_px = image.block_width_px;
  format.height_px = image.block_height_px;
  format.samples = image.samples_per_block();
  format.bits_per_sample = image.bits;
  format.is_signed = image.sample_format == tiff::SampleFormat::int_;
  std::vector<gpu::Jpeg2000Tile> streams;
  for (WorkTile const& tile : tiles) {
    streams.push_back({input + tile.input_offset, static_cast<std::size_t>(tile.size_bytes), tile.output_offset});
  }
  jpeg2000_->decode(format, streams, output, pitch_bytes, statuses, stream);
}

std::size_t decode_scratch_bytes(DeviceMethod method, DecodeLoad const& load) {
  switch (method) {
    case DeviceMethod::lzw: return gpu::lzw_scratch_bytes(load.tiles, load.input_bytes);
    case DeviceMethod::deflate:
      return gpu::nvcomp_decode_scratch_bytes(gpu::NvcompCodec::deflate, load.tiles, load.max_output_bytes,
                                              load.output_bytes);
    case DeviceMethod::zstd:
      return gpu::nvcomp_decode_scratch_bytes(gpu::NvcompCodec::zstd, load.tiles, load.max_output_bytes,
                                              load.output_bytes);
    default: return 0;
  }
}

void decode_on_device(DeviceMethod method, tile::DeviceTiles const& tiles, DecodeLoad const& load, std::byte* scratch,
                      std::size_t scratch_bytes, cudaStream_t stream) {
  switch (method) {
    case DeviceMethod::lzw:
      return gpu::decode_lzw(tiles, load.input_bytes, load.max_input_bytes, scratch, scratch_bytes, stream);
    case DeviceMethod::packbits: return gpu::decode_packbits(tiles, stream);
    case DeviceMethod::deflate:
      gpu::nvcomp_decode(gpu::NvcompCodec::deflate, tiles, load.max_output_bytes, load.output_bytes, scratch,
                         scratch_bytes, stream);
      return gpu::check_adler32(tiles, stream);
    case DeviceMethod::zstd:
      return gpu::nvcomp_decode(gpu::NvcompCodec::zstd, tiles, load.max_output_bytes, load.output_bytes, scratch,
                                scratch_bytes, stream);
    default: return;
  }
}

DeviceAbilities device_abilities() {
  return {.nvcomp = gpu::nvcomp_available(), .nvjpeg = gpu::nvjpeg_available(), .nvjpeg2k = gpu::nvjpeg2k_available()};
}

}  // namespace terrazzo::reading
