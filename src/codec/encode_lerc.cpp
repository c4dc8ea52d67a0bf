// SPDX-License-Identifier: Apache-2.0
//
// LERC (TIFF 34887) of codec version 2.4, which tag 50674 (LercParameters: 4, additional compression) names, bare or
// inside deflate or zstd. As libtiff has it, NaN goes to the validity mask: one mask where a pixel is NaN in all its
// samples or in none, else one for each sample, and then the samples are stored as bands, one after the other.
// Transparent pixels of 8-bit images are not masked (libtiff does, and loses their colours): alpha is a sample.
#include "codec/encoders.hpp"
#include "codec/lerc_type.hpp"
#include "codec/workspace.hpp"

#if TERRAZZO_HAVE_LERC
#include <Lerc_c_api.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace terrazzo::codec {
namespace {

constexpr std::uint32_t kNoCompression = 0;
constexpr std::uint32_t kDeflate = 1;
constexpr std::uint32_t kZstd = 2;

// Raw samples, a header, and masks of a bit a sample: less than the third beyond that libtiff's decoder grants a blob.
constexpr std::uint64_t blob_bound(std::uint64_t bytes) noexcept { return bytes + bytes / 3 + 256; }

#if TERRAZZO_HAVE_LERC

constexpr int kCodecVersion = 4;

enum class NanPattern : std::uint8_t { none, whole_pixels, single_samples };

template <class Float>
[[nodiscard]] Float sample_at(std::span<std::byte const> block, std::size_t i) noexcept {
  Float value;
  std::memcpy(&value, block.data() + i * sizeof(Float), sizeof(Float));
  return value;
}

// Most blocks have none, and this says so at the speed of reading.
template <class Float>
[[nodiscard]] bool has_nan(std::span<std::byte const> block) noexcept {
  constexpr std::size_t kChunk = 1024;  // between looks at the outcome: without an exit, a loop is made of vectors
  std::size_t const count = block.size() / sizeof(Float);
  for (std::size_t first = 0; first < count; first += kChunk) {
    std::size_t const end = std::min(count, first + kChunk);
    unsigned found = 0;
    for (std::size_t i = first; i < end; ++i) { found |= std::isnan(sample_at<Float>(block, i)) ? 1U : 0U; }
    if (found != 0) { return true; }
  }
  return false;
}

template <class Float>
[[nodiscard]] NanPattern find_nan(std::span<std::byte const> block, std::size_t samples) noexcept {
  if (!has_nan<Float>(block)) { return NanPattern::none; }
  std::size_t const pixels = block.size() / sizeof(Float) / samples;
  NanPattern pattern = NanPattern::none;
  for (std::size_t i = 0; i < pixels; ++i) {
    std::size_t nan_samples = 0;
    for (std::size_t s = 0; s < samples; ++s) {
      nan_samples += std::isnan(sample_at<Float>(block, i * samples + s)) ? 1 : 0;
    }
    if (nan_samples == 0) { continue; }
    if (nan_samples < samples) { return NanPattern::single_samples; }
    pattern = NanPattern::whole_pixels;
  }
  return pattern;
}

// Sample `s` of pixel `i` goes to bands[s * pixels + i], and whether it is a number to the mask.
template <class Float>
void split_bands(std::span<std::byte const> block, std::size_t samples, std::span<std::byte> bands,
                 std::span<std::byte> masks) noexcept {
  std::size_t const pixels = block.size() / sizeof(Float) / samples;
  for (std::size_t s = 0; s < samples; ++s) {
    for (std::size_t i = 0; i < pixels; ++i) {
      Float const value = sample_at<Float>(block, i * samples + s);
      std::memcpy(bands.data() + (s * pixels + i) * sizeof(Float), &value, sizeof(Float));
      masks[s * pixels + i] = std::isnan(value) ? std::byte{0} : std::byte{1};
    }
  }
}

template <class Float>
void mask_pixels(std::span<std::byte const> block, std::size_t samples, std::span<std::byte> mask) noexcept {
  for (std::size_t i = 0; i < mask.size(); ++i) {
    mask[i] = std::isnan(sample_at<Float>(block, i * samples)) ? std::byte{0} : std::byte{1};
  }
}

// What lerc_encodeForVersion is given.
struct Picture {
  std::span<std::byte const> samples;
  std::span<std::byte const> masks;
  unsigned depth = 1;       // samples of one pixel that lie together
  unsigned bands = 1;
  unsigned mask_count = 0;  // 0, 1 or bands
};

template <class Float>
void take_out_nan(Picture& picture, std::size_t samples, Workspace::Impl& workspace) {
  std::span<std::byte const> const block = picture.samples;
  std::size_t const pixels = block.size() / sizeof(Float) / samples;
  switch (find_nan<Float>(block, samples)) {
    case NanPattern::none: return;
    case NanPattern::whole_pixels: {
      std::span<std::byte> const mask = workspace.masks.get(pixels);
      mask_pixels<Float>(block, samples, mask);
      picture.masks = mask;
      picture.mask_count = 1;
      return;
    }
    case NanPattern::single_samples: {
      std::span<std::byte> const masks = workspace.masks.get(pixels * samples);
      std::span<std::byte> const bands = workspace.samples.get(block.size());
      split_bands<Float>(block, samples, bands, masks);
      picture = {bands, masks, 1, static_cast<unsigned>(samples), static_cast<unsigned>(samples)};
      return;
    }
  }
}

tile::TileResult encode(EncodeFormat const& format, BlockShape shape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace& workspace) {
  auto const type = lerc_type(format.block);
  if (!type) { return unsupported("LERC has no such sample type"); }
  constexpr auto kMaxSide = static_cast<std::uint32_t>(std::numeric_limits<int>::max());
  std::uint64_t const room = blob_bound(in.size());
  if (shape.width_px > kMaxSide || shape.height_px > kMaxSide || room > std::numeric_limits<unsigned>::max()) {
    return unsupported("the block is too large for LERC");
  }
  Workspace::Impl& impl = workspace.impl();
  std::size_t const samples = format.block.samples_per_pixel;
  Picture picture{.samples = in, .masks = {}, .depth = static_cast<unsigned>(samples)};
  if (*type == 6) { take_out_nan<float>(picture, samples, impl); }
  if (*type == 7) { take_out_nan<double>(picture, samples, impl); }
  // The library reads through typed pointers.
  if (reinterpret_cast<std::uintptr_t>(picture.samples.data()) % (format.block.bits_per_sample / 8) != 0) {
    std::span<std::byte> const aligned = impl.samples.get(in.size());
    std::memcpy(aligned.data(), in.data(), in.size());
    picture.samples = aligned;
  }
  bool const bare = format.block.lerc_additional_compression == kNoCompression;
  std::span<std::byte> const blob = bare ? out.memory.get(room) : impl.inner.get(room);
  // The Huffman coder, which is for bytes, leaves a word of its output as it was: files would hold what memory held.
  if (format.block.bits_per_sample == 8) { std::ranges::fill(blob, std::byte{0}); }
  unsigned size = 0;
  if (lerc_encodeForVersion(picture.samples.data(), kCodecVersion, *type, static_cast<int>(picture.depth),
                            static_cast<int>(shape.width_px), static_cast<int>(shape.height_px),
                            static_cast<int>(picture.bands), static_cast<int>(picture.mask_count),
                            reinterpret_cast<unsigned char const*>(picture.masks.data()), format.lerc_max_error,
                            reinterpret_cast<unsigned char*>(blob.data()), static_cast<unsigned>(blob.size()),
                            &size) != 0) {
    return failed("liblerc failed");
  }
  switch (format.block.lerc_additional_compression) {
    case kNoCompression: return encoded(out, blob, size);
    case kDeflate: return deflate_zlib(blob.first(size), format.level, out, workspace);
    case kZstd: return compress_zstd(blob.first(size), format.level, out, workspace);
    default: return unsupported("unknown compression around the LERC blob");
  }
}

#endif

std::string refuse(EncodeFormat const& format) {
  if (!lerc_type(format.block)) { return "LERC holds integers of 8, 16 or 32 bits and floats of 32 or 64"; }
  if (!(format.lerc_max_error >= 0) || !std::isfinite(format.lerc_max_error)) {
    return "the error that LERC may make is a number, 0 or more";
  }
  switch (format.block.lerc_additional_compression) {
    case kNoCompression: return {};
    case kDeflate: return refuse_level("deflate", format.level, kDeflateLevels[0], kDeflateLevels[1]);
    case kZstd: return refuse_level("zstd", format.level, kZstdLevels[0], kZstdLevels[1]);
    default: return "LERC is wrapped in nothing, in deflate or in zstd";
  }
}

std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  std::uint64_t const blob = blob_bound(raw_bytes(format, shape));
  switch (format.block.lerc_additional_compression) {
    case kDeflate: return deflate_zlib_bound(blob);
    case kZstd: return compress_zstd_bound(blob);
    default: return blob;
  }
}

}  // namespace

// The levels are those of the additional compression and depend on it, so the table has none; see refuse().
Encoder lerc_encoder() noexcept {
  return {
    .compression = tiff::Compression::lerc, .library = "liblerc",
#if TERRAZZO_HAVE_LERC
    .encode = &guarded_encode<&encode>,
#endif
    .refuse = &refuse, .bound = &bound
  };
}

}  // namespace terrazzo::codec
