// SPDX-License-Identifier: Apache-2.0
#include "write/device/encoder.hpp"

#include "base/checked.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "codec/registry/codec.hpp"
#include "gpu/encode/deflate.hpp"
#include "gpu/encode/lzw.hpp"
#include "gpu/encode/packbits.hpp"
#include "gpu/encode/zstd.hpp"
#include "tiff/format.hpp"

#include <algorithm>

namespace terrazzo::writing {

namespace {

using Kind = DeviceEncoder::Kind;

Kind leave_to_host(char const* library) {
  log_once(text("device: ", library, " was not found, so the host compresses the tiles (see device_state())"));
  return Kind::host;
}

// Without the tables: the encoder owns them, and they move with it.
gpu::JpegEncodeFormat jpeg_format_of(EncodeTask const& task) {
  gpu::JpegEncodeFormat format;
  format.width_px = task.shape->width_px;
  format.height_px = task.shape->height_px;
  format.samples = task.format.block.samples_per_pixel;
  format.is_ycbcr = task.format.block.photometric == tiff::Photometric::ycbcr;
  format.chroma_horizontal = task.format.chroma_horizontal;
  format.chroma_vertical = task.format.chroma_vertical;
  format.quality = task.format.quality;
  format.optimize_huffman = true;  // as on the host
  return format;
}

bool takes_jpeg(EncodeTask const& task, gpu::JpegEncodeFormat const& format) {
  bool const comes_as_rgb = !format.is_ycbcr || task.format.block.convert_ycbcr_to_rgb;
  return comes_as_rgb && gpu::NvjpegEncoder::takes(format);
}

gpu::Jpeg2000EncodeFormat jpeg2000_format_of(EncodeTask const& task) {
  gpu::Jpeg2000EncodeFormat format;
  format.width_px = task.shape->width_px;
  format.height_px = task.shape->height_px;
  format.samples = task.format.block.samples_per_pixel;
  format.bits_per_sample = task.format.block.bits_per_sample;
  format.is_signed = task.format.block.sample_format == tiff::SampleFormat::int_;
  format.is_rgb = task.format.block.photometric == tiff::Photometric::rgb;
  format.lossless = task.format.lossless;
  return format;
}

// Lanes for a quarter of the budget, at least one. The bytes of the file depend on neither.
unsigned lanes_for(std::uint64_t budget_bytes, std::uint64_t lane_bytes, unsigned most) noexcept {
  return static_cast<unsigned>(std::clamp<std::uint64_t>(budget_bytes / 4 / lane_bytes, 1, most));
}

template <class Encoder>
typename Encoder::Options with_lanes(unsigned lanes) {
  typename Encoder::Options options;
  options.lanes = lanes;
  options.host_threads = std::min(options.host_threads, lanes);
  return options;
}

}  // namespace

Kind DeviceEncoder::choose(EncodeTask const& task) {
  codec::Codec const* const row = codec::find_codec(task.codec.compression);
  Kind const kind = row != nullptr ? row->device_encoder : Kind::host;
  bool const needs_shape = kind == Kind::packbits || kind == Kind::jpeg || kind == Kind::jpeg2000;
  if (needs_shape && !task.shape) { return Kind::host; }
  switch (kind) {
    case Kind::packbits:
      row_bytes_ = std::size_t{task.shape->width_px} * task.format.block.samples_per_pixel *
                   (task.format.block.bits_per_sample / 8);
      return kind;
    case Kind::jpeg:
      if (!gpu::nvjpeg_encode_available()) { return leave_to_host("nvJPEG"); }
      jpeg_format_ = jpeg_format_of(task);
      return takes_jpeg(task, jpeg_format_) ? kind : Kind::host;
    case Kind::jpeg2000:
      if (!gpu::nvjpeg2k_encode_available()) { return leave_to_host("nvJPEG2000"); }
      jpeg2000_format_ = jpeg2000_format_of(task);
      return gpu::Nvjpeg2kEncoder::takes(jpeg2000_format_) ? kind : Kind::host;
    case Kind::zstd: return task.format.checksum ? Kind::host : kind;  // our kernel writes none
    default: return kind;
  }
}

DeviceEncoder::DeviceEncoder(EncodeTask const& task) : level_(task.format.level), longest_bytes_(task.longest_bytes) {
  kind_ = choose(task);
  switch (kind_) {
    case Kind::raw:
    case Kind::host: bound_ = longest_bytes_; break;
    case Kind::lzw: bound_ = gpu::lzw_device_encode_bound(longest_bytes_); break;
    case Kind::packbits: bound_ = gpu::packbits_device_encode_bound(longest_bytes_, row_bytes_); break;
    case Kind::deflate: bound_ = gpu::deflate_encode_bound(longest_bytes_); break;
    case Kind::zstd: bound_ = gpu::zstd_encode_bound(longest_bytes_); break;
    case Kind::jpeg:
      jpeg_tables_ = codec::make_jpeg_tables(task.format);
      bound_ = gpu::NvjpegEncoder::bound(jpeg_format_);
      lanes_ = lanes_for(task.budget_bytes, gpu::NvjpegEncoder::library_device_bytes(jpeg_format_, 1),
                         gpu::NvjpegEncoder::Options().lanes);
      library_bytes_ = gpu::NvjpegEncoder::library_device_bytes(jpeg_format_, lanes_);
      break;
    case Kind::jpeg2000:
      bound_ = gpu::Nvjpeg2kEncoder::bound(jpeg2000_format_);
      lanes_ = lanes_for(task.budget_bytes, gpu::Nvjpeg2kEncoder::library_device_bytes(jpeg2000_format_, 1),
                         gpu::Nvjpeg2kEncoder::Options().lanes);
      library_bytes_ = gpu::Nvjpeg2kEncoder::library_device_bytes(jpeg2000_format_, lanes_);
      break;
  }
  output_stride_ = round_up(bound_, 16);
}

std::size_t DeviceEncoder::scratch_bytes(std::uint32_t blocks) const {
  switch (kind_) {
    case Kind::lzw: return gpu::lzw_encode_scratch_bytes(blocks, longest_bytes_);
    case Kind::packbits: return gpu::packbits_encode_scratch_bytes(blocks, longest_bytes_, row_bytes_);
    case Kind::deflate: return gpu::deflate_encode_scratch_bytes(blocks, longest_bytes_);
    case Kind::zstd: return gpu::zstd_encode_scratch_bytes(blocks, longest_bytes_);
    default: return 0;
  }
}

void DeviceEncoder::encode(tile::EncodeBatch const& batch, std::byte* scratch, std::size_t scratch_bytes,
                           cudaStream_t stream) {
  switch (kind_) {
    case Kind::raw:
    case Kind::host: return;
    case Kind::lzw: return gpu::lzw_encode_tiles(batch, scratch, scratch_bytes, stream);
    case Kind::packbits: return gpu::packbits_encode_tiles(batch, row_bytes_, scratch, scratch_bytes, stream);
    case Kind::deflate: return gpu::deflate_encode_tiles(batch, level_, scratch, scratch_bytes, stream);
    case Kind::zstd: return gpu::zstd_encode_tiles(batch, level_, scratch, scratch_bytes, stream);
    case Kind::jpeg:
      if (jpeg_ == nullptr) { jpeg_ = std::make_unique<gpu::NvjpegEncoder>(with_lanes<gpu::NvjpegEncoder>(lanes_)); }
      jpeg_format_.tables = jpeg_tables_;
      return jpeg_->encode(jpeg_format_, batch, stream);
    case Kind::jpeg2000:
      if (jpeg2000_ == nullptr) {
        jpeg2000_ = std::make_unique<gpu::Nvjpeg2kEncoder>(with_lanes<gpu::Nvjpeg2kEncoder>(lanes_));
      }
      return jpeg2000_->encode(jpeg2000_format_, batch, stream);
  }
}

}  // namespace terrazzo::writing
