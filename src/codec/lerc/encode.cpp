// SPDX-License-Identifier: Apache-2.0
//
// LERC (TIFF 34887) of codec version 2.4, which tag 50674 (LercParameters: 4, additional compression) names, bare or
// inside deflate or zstd. As in libtiff, NaN is stored in the validity mask: one mask if each pixel is NaN in all its
// samples or in none; otherwise one per sample, and the samples are stored as bands, one after the other. If the
// headers of so many blobs exceed the size that readers accept, NaN stays among raw samples.
// Transparent pixels of 8-bit images are not masked (libtiff masks them and loses their colours): alpha is a sample.
#include "codec/lerc/blob.hpp"
#include "codec/lerc/type.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/encoders.hpp"
#include "codec/registry/workspace.hpp"
#include "tiff/directory_writer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace terrazzo::codec {
namespace {

constexpr std::uint32_t kNoCompression = 0;
constexpr std::uint32_t kDeflate = 1;
constexpr std::uint32_t kZstd = 2;
constexpr char kNotGranted[] = "blocks of so few pixels of so many samples are LERC alone, not inside deflate or zstd";

// The size that libtiff's decoder allows for a wrapped blob.
constexpr std::uint64_t granted_bytes(std::uint64_t bytes) noexcept { return bytes + bytes / 3 + 256; }

// True if any samples of this shape fit in that size as one blob.
[[nodiscard]] bool is_granted(EncodeFormat const& format, BlockShape shape) noexcept {
  if (format.block.lerc_additional_compression == kNoCompression) { return true; }
  std::uint64_t const pixels = std::uint64_t{shape.width_px} * shape.height_px;
  return lerc_blob_bound(pixels, format.block.samples_per_pixel, format.block.bits_per_sample / 8) <=
         granted_bytes(raw_bytes(format, shape));
}

enum class NanPattern : std::uint8_t { none, whole_pixels, single_samples };

template <class Float>
[[nodiscard]] Float sample_at(std::span<std::byte const> block, std::size_t i) noexcept {
  Float value;
  std::memcpy(&value, block.data() + i * sizeof(Float), sizeof(Float));
  return value;
}

// Most blocks have no NaN; this check runs at memory speed.
template <class Float>
[[nodiscard]] bool has_nan(std::span<std::byte const> block) noexcept {
  constexpr std::size_t kChunk = 1024;  // samples between checks: compilers vectorize a loop without an exit
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
  if (samples == 1) { return NanPattern::whole_pixels; }
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

// Sample `s` of pixel `i` goes to bands[s * pixels + i], and its validity to the mask.
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

// Encodes one blob after the other: the bands, or the whole block if its samples share a mask.
struct Bands {
  LercPicture first{};
  std::size_t count = 1;

  [[nodiscard]] LercPicture at(std::size_t band) const noexcept {
    LercPicture picture = first;
    std::size_t const pixels = picture.pixels();
    picture.samples = picture.samples.subspan(band * (first.samples.size() / count), first.samples.size() / count);
    if (!picture.valid.empty()) { picture.valid = picture.valid.subspan(band * pixels, pixels); }
    return picture;
  }
};

template <class Float>
void take_out_nan(Bands& bands, Workspace::Impl& workspace) {
  LercPicture& picture = bands.first;
  std::span<std::byte const> const block = picture.samples;
  std::size_t const pixels = picture.pixels(), samples = picture.depth;
  switch (find_nan<Float>(block, samples)) {
    case NanPattern::none: return;
    case NanPattern::whole_pixels: {
      std::span<std::byte> const mask = workspace.masks.get(pixels);
      mask_pixels<Float>(block, samples, mask);
      picture.valid = mask;
      return;
    }
    case NanPattern::single_samples: {
      std::span<std::byte> const masks = workspace.masks.get(pixels * samples);
      std::span<std::byte> const planes = workspace.samples.get(block.size());
      split_bands<Float>(block, samples, planes, masks);
      picture.samples = planes;
      picture.valid = masks;
      picture.depth = 1;
      bands.count = samples;
      return;
    }
  }
}

// Returns the total size of the blobs.
std::size_t encode_bands(Bands const& bands, double max_error, std::span<std::byte> to) {
  std::size_t size = 0;
  std::span<std::byte const> mask_before;
  for (std::size_t band = 0; band < bands.count; ++band) {
    LercPicture const picture = bands.at(band);
    bool const known = band != 0 && std::ranges::equal(picture.valid, mask_before);
    size += encode_lerc_blob(picture, max_error, known, to.subspan(size));
    mask_before = picture.valid;
  }
  return size;
}

tile::TileResult encode(EncodeFormat const& format, BlockShape shape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace& workspace) {
  auto const type = lerc_type(format.block);
  if (!type) { return unsupported("LERC has no such sample type"); }
  Workspace::Impl& impl = workspace.impl();
  Bands bands{.first = {*type, shape.width_px, shape.height_px, format.block.samples_per_pixel, in, {}}};
  std::size_t const room = lerc_blob_room(bands.first);
  if (room == 0) { return unsupported("the block is too large for LERC"); }
  if (!is_granted(format, shape)) { return unsupported(kNotGranted); }
  LercPicture const whole = bands.first;
  if (*type == kLercFloat) { take_out_nan<float>(bands, impl); }
  if (*type == kLercDouble) { take_out_nan<double>(bands, impl); }
  bool const bare = format.block.lerc_additional_compression == kNoCompression;
  std::size_t const all_room = bands.count == 1 ? room : std::max(room, bands.count * lerc_blob_room(bands.at(0)));
  std::span<std::byte> const blob = bare ? out.memory.get(all_room) : impl.inner.get(all_room);
  std::size_t size = encode_bands(bands, format.lerc_max_error, blob);
  if (bare) { return encoded(out, blob, size); }
  if (size > granted_bytes(in.size())) { size = encode_lerc_blob_as_is(whole, blob); }
  switch (format.block.lerc_additional_compression) {
    case kDeflate: return deflate_zlib(blob.first(size), format.level, out, workspace);
    case kZstd: return compress_zstd(blob.first(size), format.level, out, workspace);
    default: return unsupported("unknown compression around the LERC blob");
  }
}

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

std::string refuse_shape(EncodeFormat const& format, BlockShape shape) {
  return is_granted(format, shape) ? std::string() : kNotGranted;
}

std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  std::uint64_t const raw = raw_bytes(format, shape);
  std::uint64_t const samples = std::max(format.block.samples_per_pixel, 1U);
  unsigned const sample_bytes = std::max(format.block.bits_per_sample / 8, 1U);
  // If NaN separates the samples, each has a header and a mask.
  std::uint64_t const blobs = samples * lerc_blob_bound(raw / samples / sample_bytes, 1, sample_bytes);
  switch (format.block.lerc_additional_compression) {
    case kDeflate: return deflate_zlib_bound(blobs);
    case kZstd: return compress_zstd_bound(blobs);
    default: return blobs;
  }
}

void set_tags(EncodeFormat const& format, tiff::TagSet& tags) {
  constexpr std::uint32_t kVersion = 4;
  tags.set_longs(tiff::tag::LercParameters, std::array{kVersion, format.block.lerc_additional_compression});
}

}  // namespace

// The levels are those of the additional compression and depend on it, so the table has none; see refuse(). The encoder
// is our own, but a build does not write files that it cannot read: the named library is the one that reading needs.
Encoder lerc_encoder() noexcept {
  bool const readable = lerc_decoder() != nullptr;
  return {.compression = tiff::Compression::lerc,
          .library = readable ? "" : "liblerc",
          .encode = readable ? &guarded_encode<&encode> : nullptr,
          .refuse = &refuse,
          .refuse_shape = &refuse_shape,
          .bound = &bound,
          .set_tags = &set_tags,
          .settings = {.max_error = true}};
}

}  // namespace terrazzo::codec
