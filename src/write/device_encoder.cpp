// SPDX-License-Identifier: Apache-2.0
#include "write/device_encoder.hpp"

#include "base/checked.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/kernels/deflate_encode.hpp"
#include "gpu/kernels/lzw_encode.hpp"
#include "gpu/kernels/packbits_encode.hpp"
#include "gpu/vendor/nvcomp_encode.hpp"
#include "tiff/format.hpp"

namespace terrazzo::writing {

namespace {

using Kind = DeviceEncoder::Kind;

// nvCOMP gives a block to a few threads, so the time of a batch is that of its slowest block and hardly depends on
// their number: ZSTD, blocks of 1 MiB, H200: 64 in 43 ms, 512 in 57 ms, 1024 in 73 ms. Our own kernels share a block
// out.
constexpr std::uint64_t kNvcompBatchBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kOwnBatchBytes = std::uint64_t{128} << 20;

Kind leave_to_host(char const* library) {
  log_once(text("device: ", library, " was not found, so the host compresses what the device cuts ",
                "(terrazzo doctor says more)"));
  return Kind::host;
}

Kind choose_zstd(std::uint64_t longest_bytes) {
  if (!gpu::nvcomp_encode_available()) { return leave_to_host("nvCOMP"); }
  return longest_bytes <= gpu::nvcomp_encode_longest_tile_bytes() ? Kind::zstd : Kind::host;
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

}  // namespace

Kind DeviceEncoder::choose(EncodeTask const& task) {
  switch (task.codec.compression) {
    case tiff::Compression::none: return Kind::none;
    case tiff::Compression::lzw: return Kind::lzw;
    case tiff::Compression::deflate: return Kind::deflate;
    case tiff::Compression::zstd: return choose_zstd(task.longest_bytes);
    case tiff::Compression::packbits:
      if (!task.shape) { return Kind::host; }
      row_bytes_ = std::size_t{task.shape->width_px} * task.format.block.samples_per_pixel *
                   (task.format.block.bits_per_sample / 8);
      return Kind::packbits;
    case tiff::Compression::jpeg2000:
      if (!task.shape) { return Kind::host; }
      if (!gpu::nvjpeg2k_encode_available()) { return leave_to_host("nvJPEG2000"); }
      jpeg2000_format_ = jpeg2000_format_of(task);
      return gpu::Nvjpeg2kEncoder::takes(jpeg2000_format_) ? Kind::jpeg2000 : Kind::host;
    default: return Kind::host;  // JPEG too: nvJPEG's encoder has not been seen on a GPU yet (docs/performance.md)
  }
}

DeviceEncoder::DeviceEncoder(EncodeTask const& task) : level_(task.format.level), longest_bytes_(task.longest_bytes) {
  kind_ = choose(task);
  switch (kind_) {
    case Kind::none:
    case Kind::host: bound_ = longest_bytes_; break;
    case Kind::lzw: bound_ = gpu::lzw_device_encode_bound(longest_bytes_); break;
    case Kind::packbits: bound_ = gpu::packbits_device_encode_bound(longest_bytes_, row_bytes_); break;
    case Kind::deflate: bound_ = gpu::deflate_encode_bound(longest_bytes_); break;
    case Kind::zstd: bound_ = gpu::nvcomp_encode_bound(longest_bytes_); break;
    case Kind::jpeg2000:
      bound_ = gpu::Nvjpeg2kEncoder::bound(jpeg2000_format_);
      library_bytes_ =
          gpu::Nvjpeg2kEncoder::library_device_bytes(jpeg2000_format_, gpu::Nvjpeg2kEncoder::Options().lanes);
      break;
  }
  std::uint64_t const least_bytes = scratch_bytes(1) + library_bytes_;
  if (least_bytes > task.budget_bytes) {
    log_once(text("device: ", tiff::compression_name(task.codec.compression), " needs ", least_bytes >> 20,
                  " MiB of device memory, more than the budget, so the host compresses what the device cuts"));
    kind_ = Kind::host;
    bound_ = longest_bytes_;
    library_bytes_ = 0;
  }
  output_stride_ = round_up(bound_, 16);
}

std::size_t DeviceEncoder::scratch_bytes(std::uint32_t blocks) const {
  switch (kind_) {
    case Kind::lzw: return gpu::lzw_encode_scratch_bytes(blocks, longest_bytes_);
    case Kind::packbits: return gpu::packbits_encode_scratch_bytes(blocks, longest_bytes_, row_bytes_);
    case Kind::deflate: return gpu::deflate_encode_scratch_bytes(blocks, longest_bytes_);
    case Kind::zstd: return gpu::nvcomp_encode_scratch_bytes(blocks, longest_bytes_, longest_bytes_ * blocks);
    default: return 0;
  }
}

std::uint64_t DeviceEncoder::useful_batch_bytes() const noexcept {
  return kind_ == Kind::zstd ? kNvcompBatchBytes : kOwnBatchBytes;
}

void DeviceEncoder::encode(tile::EncodeBatch const& batch, std::uint64_t total_bytes, std::byte* scratch,
                           std::size_t scratch_bytes, cudaStream_t stream) {
  switch (kind_) {
    case Kind::none:
    case Kind::host: return;
    case Kind::lzw: return gpu::lzw_encode_tiles(batch, scratch, scratch_bytes, stream);
    case Kind::packbits: return gpu::packbits_encode_tiles(batch, row_bytes_, scratch, scratch_bytes, stream);
    case Kind::deflate: return gpu::deflate_encode_tiles(batch, level_, scratch, scratch_bytes, stream);
    case Kind::zstd: return gpu::nvcomp_encode(batch, total_bytes, scratch, scratch_bytes, stream);
    case Kind::jpeg2000:
      if (jpeg2000_ == nullptr) { jpeg2000_ = std::make_unique<gpu::Nvjpeg2kEncoder>(); }
      return jpeg2000_->encode(jpeg2000_format_, batch, stream);
  }
}

}  // namespace terrazzo::writing
