// SPDX-License-Identifier: Apache-2.0
//
// LERC (TIFF 34887), bare or inside deflate or zstd. Its validity mask has two meanings, both as in libtiff:
// - unsigned bytes whose last sample is alpha: the blob holds one sample less, and the mask is the alpha (0 or 255);
// - floating point: invalid samples become NaN. One mask applies to all samples, or each sample has its own, in which
//   case the blob stores the samples as bands, one after the other, and they are interleaved here.
#include "codec/lerc/type.hpp"
#include "codec/registry/byte_stream.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/result.hpp"
#include "codec/registry/workspace.hpp"

#if TERRAZZO_HAVE_LERC
#include <Lerc_c_api.h>
#endif

#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

namespace terrazzo::codec {

#if TERRAZZO_HAVE_LERC

namespace {

// The fields of lerc_getBlobInfo, in its order.
struct BlobInfo {
  unsigned version, data_type, depth, columns, rows, bands, valid_pixels, blob_bytes, masks;
};

struct Plan {
  unsigned data_type = 0;
  unsigned depth = 1;      // interleaved samples per pixel in the blob
  unsigned bands = 1;      // planes in the blob
  unsigned masks = 0;      // masks to request: 0, 1 or bands
  bool mask_is_alpha = false;
};

// Compares the blob's header with the block. Call it before any allocation or decoding.
std::optional<char const*> check_blob(BlobInfo const& info, BlockFormat const& format, BlockShape shape, Plan& plan) {
  unsigned const samples = format.samples_per_pixel;
  bool const is_float = format.sample_format == tiff::SampleFormat::ieee_float;
  if (info.data_type != plan.data_type) { return "the LERC blob has another sample type"; }
  if (info.columns != shape.width_px || info.rows != shape.height_px) { return "the LERC blob has another size"; }
  plan.depth = samples;
  if (plan.data_type == 1 && samples > 1 && format.last_sample_is_alpha && info.depth == samples - 1) {
    plan.mask_is_alpha = true;
    plan.depth = samples - 1;
    plan.masks = 1;
  } else if (is_float && samples > 1 && info.depth == 1 && info.bands == samples) {
    plan.depth = 1;
    plan.bands = samples;
  }
  if (info.depth != plan.depth || info.bands != plan.bands) { return "the LERC blob has another number of samples"; }
  if (info.masks > 1 && info.masks != plan.bands) { return "the LERC blob has an odd number of masks"; }
  // The library always returns all masks.
  if (!plan.mask_is_alpha) { plan.masks = info.masks; }
  return std::nullopt;
}

// Inserts the alpha after each pixel's samples. From the last pixel to the first, so that it works in place.
void weave_alpha(std::span<std::byte> block, std::span<std::byte const> mask, std::size_t samples) noexcept {
  for (std::size_t i = mask.size(); i-- > 0;) {
    std::byte* const pixel = block.data() + i * samples;
    std::memmove(pixel, block.data() + i * (samples - 1), samples - 1);
    pixel[samples - 1] = mask[i] == std::byte{0} ? std::byte{0} : std::byte{255};
  }
}

template <class Float>
void put_nan(std::span<std::byte> block, std::span<std::byte const> mask, std::size_t samples) noexcept {
  Float const nan = std::numeric_limits<Float>::quiet_NaN();
  for (std::size_t i = 0; i < mask.size(); ++i) {
    if (mask[i] != std::byte{0}) { continue; }
    for (std::size_t s = 0; s < samples; ++s) {
      std::memcpy(block.data() + (i * samples + s) * sizeof(Float), &nan, sizeof(Float));
    }
  }
}

template <class Float>
void interleave(std::span<std::byte const> bands, std::span<std::byte const> masks, std::span<std::byte> block,
                std::size_t pixels, std::size_t samples) noexcept {
  Float const nan = std::numeric_limits<Float>::quiet_NaN();
  for (std::size_t s = 0; s < samples; ++s) {
    // A single mask applies to all bands; without masks every sample is valid.
    std::byte const* const mask = masks.empty() ? nullptr : masks.data() + (masks.size() > pixels ? s * pixels : 0);
    for (std::size_t i = 0; i < pixels; ++i) {
      bool const valid = mask == nullptr || mask[i] != std::byte{0};
      void const* const source =
          valid ? static_cast<void const*>(bands.data() + (s * pixels + i) * sizeof(Float)) : &nan;
      std::memcpy(block.data() + (i * samples + s) * sizeof(Float), source, sizeof(Float));
    }
  }
}

tile::TileResult decode_blob(std::span<std::byte const> blob, BlockFormat const& format, BlockShape shape,
                             std::span<std::byte> out, unsigned data_type, Workspace::Impl& workspace) {
  if (blob.size() > std::numeric_limits<unsigned>::max()) { return unsupported("the LERC blob is larger than 4 GiB"); }
  auto const* const data = reinterpret_cast<unsigned char const*>(blob.data());
  auto const size = static_cast<unsigned>(blob.size());
  std::array<unsigned, 9> raw{};
  if (lerc_getBlobInfo(data, size, raw.data(), nullptr, static_cast<int>(raw.size()), 0) != 0) {
    return corrupt("this is not a LERC blob, or not a whole one");
  }
  BlobInfo const info{raw[0], raw[1], raw[2], raw[3], raw[4], raw[5], raw[6], raw[7], raw[8]};
  Plan plan{.data_type = data_type};
  if (auto const trouble = check_blob(info, format, shape, plan)) { return corrupt(*trouble); }

  std::size_t const pixels = std::size_t{shape.width_px} * shape.height_px;
  std::span<std::byte> const masks =
      plan.masks == 0 ? std::span<std::byte>{} : workspace.masks.get(pixels * plan.masks);
  std::size_t const expected = *block_bytes(format, shape);
  std::span<std::byte> const block = out.first(expected);
  // lerc_decode stores through typed pointers, for which the caller's bytes may not be aligned.
  bool const aligned = reinterpret_cast<std::uintptr_t>(out.data()) % (format.bits_per_sample / 8) == 0;
  bool const direct = plan.bands == 1 && aligned;
  std::span<std::byte> const target = direct ? block : workspace.samples.get(expected);
  // Invalid pixels of integer samples have no value of their own: write zeros instead of old memory.
  if (info.masks != 0) { std::memset(target.data(), 0, expected); }
  if (lerc_decode(data, size, static_cast<int>(plan.masks), reinterpret_cast<unsigned char*>(masks.data()),
                  static_cast<int>(plan.depth), static_cast<int>(shape.width_px), static_cast<int>(shape.height_px),
                  static_cast<int>(plan.bands), plan.data_type, target.data()) != 0) {
    return corrupt("the LERC blob is damaged");
  }
  std::size_t const samples = format.samples_per_pixel;
  bool const wide = format.bits_per_sample == 64;
  if (plan.bands > 1) {
    wide ? interleave<double>(target, masks, block, pixels, samples)
         : interleave<float>(target, masks, block, pixels, samples);
  } else {
    if (!direct) { std::memcpy(block.data(), target.data(), expected); }
    if (plan.mask_is_alpha) {
      weave_alpha(block, masks, samples);
    } else if (plan.masks != 0 && format.sample_format == tiff::SampleFormat::ieee_float) {
      wide ? put_nan<double>(block, masks, samples) : put_nan<float>(block, masks, samples);
    }
  }
  return done_of(expected, out.size(), info.blob_bytes < size);
}

tile::TileResult decode(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                        std::span<std::byte> out, Workspace& workspace) {
  auto const data_type = lerc_type(format);
  if (!data_type) { return unsupported("LERC has no such sample type"); }
  if (auto const refusal = refuse_shape(format, shape, out.size())) { return *refusal; }
  if (shape.width_px > INT32_MAX || shape.height_px > INT32_MAX || format.samples_per_pixel > 0xFFFF) {
    return unsupported("the block is too large for LERC");
  }
  if (format.lerc_additional_compression == 0) {
    return decode_blob(in, format, shape, out, *data_type, workspace.impl());
  }
  if (format.lerc_additional_compression > 2) { return unsupported("unknown compression around the LERC blob"); }
  // A LERC blob is at most its samples and some headers; libtiff allows the same third and 256 bytes more.
  std::size_t const expected = *block_bytes(format, shape);
  if (expected > std::numeric_limits<std::size_t>::max() / 2) { return out_of_memory(); }
  std::span<std::byte> const room = workspace.impl().inner.get(expected + expected / 3 + 256);
  StreamResult const inner = format.lerc_additional_compression == 1 ? inflate_zlib(in, room, workspace)
                                                                     : decompress_zstd(in, room, workspace);
  if (!inner.ended) {
    if (inner.result.status == tile::TileStatus::ok) { return corrupt("the LERC blob is larger than its samples"); }
    tile::TileResult outer = inner.result;
    outer.bytes_written = 0;
    return outer;
  }
  return decode_blob(room.first(inner.result.bytes_written), format, shape, out, *data_type, workspace.impl());
}

}  // namespace

Codec::Decode lerc_decoder() noexcept { return &guarded<&decode>; }

#else

Codec::Decode lerc_decoder() noexcept { return nullptr; }

#endif

}  // namespace terrazzo::codec
