// SPDX-License-Identifier: Apache-2.0
//
// JPEG 2000 (TIFF 34712, and Aperio's 33003 and 33005), bare codestreams and JP2 files, 8 to 16 bits packed into the
// block's samples. Subsampled components are repeated. Under 33003, under photometric YCbCr and under a JP2 file's own
// sYCC, three components become RGB if requested.
#include "codec/jpeg2000/header.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/libraries.hpp"
#include "codec/registry/result.hpp"

#if TERRAZZO_HAVE_OPENJPEG
#include "codec/jpeg2000/openjpeg.hpp"
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

namespace terrazzo::codec {

#if TERRAZZO_HAVE_OPENJPEG

namespace {

// OpenJPEG allocates some 6 KB for each tile that the codestream's header declares, present or not.
constexpr std::uint64_t kMaxInnerTiles = 1024;
// ... and some 500 bytes for each precinct. Encoders use 128 or 256 pixels; 16 is the minimum here.
constexpr std::uint32_t kSmallestPrecinctLog2 = 4;

// A read-only memory stream for OpenJPEG.
struct Cursor {
  std::span<std::byte const> data;
  std::size_t at = 0;
};

extern "C" {

static OPJ_SIZE_T jpeg2000_read(void* target, OPJ_SIZE_T bytes, void* user) {
  auto& cursor = *static_cast<Cursor*>(user);
  std::size_t const count = std::min<std::size_t>(bytes, cursor.data.size() - cursor.at);
  if (count == 0) { return static_cast<OPJ_SIZE_T>(-1); }  // the library's code for the end
  std::memcpy(target, cursor.data.data() + cursor.at, count);
  cursor.at += count;
  return count;
}

static OPJ_OFF_T jpeg2000_skip(OPJ_OFF_T bytes, void* user) {
  auto& cursor = *static_cast<Cursor*>(user);
  if (bytes < 0) { return -1; }
  std::size_t const left = cursor.data.size() - cursor.at;
  if (static_cast<std::uint64_t>(bytes) > left) {
    cursor.at = cursor.data.size();
    return -1;
  }
  cursor.at += static_cast<std::size_t>(bytes);
  return bytes;
}

static OPJ_BOOL jpeg2000_seek(OPJ_OFF_T to, void* user) {
  auto& cursor = *static_cast<Cursor*>(user);
  if (to < 0 || static_cast<std::uint64_t>(to) > cursor.data.size()) { return OPJ_FALSE; }
  cursor.at = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}

}  // extern "C"

std::optional<tile::TileResult> refuse_header(Jpeg2000Header const& header, BlockFormat const& format,
                                              BlockShape shape) {
  if (header.width_px != shape.width_px || header.height_px != shape.height_px) {
    return corrupt("the JPEG 2000 image has another size");
  }
  if (header.components != format.samples_per_pixel) {
    return corrupt("the JPEG 2000 image has another number of components");
  }
  if (header.max_bits > format.bits_per_sample) { return corrupt("the JPEG 2000 samples are deeper than the image's"); }
  if (header.inner_tile_count > kMaxInnerTiles) { return unsupported("the JPEG 2000 stream has more than 1024 tiles"); }
  if (header.smallest_precinct_log2 < kSmallestPrecinctLog2) {
    return unsupported("the JPEG 2000 stream has precincts below 16 pixels");
  }
  return std::nullopt;
}

OpenJpegImage open_image(Cursor& cursor, Jpeg2000Header const& header, tile::TileResult& trouble) {
  OpenJpegStream const stream(opj_stream_default_create(OPJ_TRUE));
  OpenJpegCodec const codec(opj_create_decompress(header.in_jp2_boxes ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K));
  trouble = out_of_memory();
  if (!stream || !codec) { return nullptr; }
  opj_stream_set_read_function(stream.get(), &jpeg2000_read);
  opj_stream_set_skip_function(stream.get(), &jpeg2000_skip);
  opj_stream_set_seek_function(stream.get(), &jpeg2000_seek);
  opj_stream_set_user_data(stream.get(), &cursor, nullptr);
  opj_stream_set_user_data_length(stream.get(), cursor.data.size());
  silence(codec.get());
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (opj_setup_decoder(codec.get(), &parameters) == OPJ_FALSE) { return nullptr; }
  opj_image_t* raw = nullptr;
  OPJ_BOOL const header_read = opj_read_header(stream.get(), codec.get(), &raw);
  OpenJpegImage image(raw);
  trouble = corrupt("the JPEG 2000 header is damaged");
  if (header_read == OPJ_FALSE || !image) { return nullptr; }
  trouble = corrupt("the JPEG 2000 stream is damaged or ends early");
  if (opj_decode(codec.get(), stream.get(), image.get()) == OPJ_FALSE) { return nullptr; }
  trouble = tile::TileResult{};
  return image;
}

// One component over the block's grid; components may be subsampled by dx and dy.
struct Plane {
  OPJ_INT32 const* samples;
  std::uint32_t width, height, dx, dy;
};

std::optional<Plane> plane_of(opj_image_comp_t const& component, BlockShape shape) noexcept {
  if (component.data == nullptr || component.w == 0 || component.h == 0 || component.dx == 0 || component.dy == 0 ||
      component.w > shape.width_px || component.h > shape.height_px) {
    return std::nullopt;
  }
  return Plane{component.data, component.w, component.h, component.dx, component.dy};
}

template <class Sample>
void put_component(Plane const& plane, BlockShape shape, std::byte* out, std::size_t stride) noexcept {
  auto const put = [&](OPJ_INT32 sample) {
    auto const value = static_cast<Sample>(sample);
    std::memcpy(out, &value, sizeof value);
    out += stride;
  };
  for (std::uint32_t y = 0; y < shape.height_px; ++y) {
    // The last sample is repeated where an odd edge leaves pixels uncovered.
    OPJ_INT32 const* const row = plane.samples + std::size_t{std::min(y / plane.dy, plane.height - 1)} * plane.width;
    if (plane.dx == 1 && plane.width == shape.width_px) {
      for (std::uint32_t x = 0; x < shape.width_px; ++x) { put(row[x]); }
    } else {
      for (std::uint32_t x = 0; x < shape.width_px; ++x) { put(row[std::min(x / plane.dx, plane.width - 1)]); }
    }
  }
}

// The full-range conversion of JFIF, rounded to nearest, as in libjpeg. `top` is the largest sample value.
template <class Sample>
void ycbcr_to_rgb(std::byte* pixels, std::size_t count, int top) noexcept {
  int const middle = (top + 1) / 2;
  for (std::size_t i = 0; i < count; ++i, pixels += 3 * sizeof(Sample)) {
    Sample ycc[3];
    std::memcpy(ycc, pixels, sizeof ycc);
    double const y = ycc[0], cb = static_cast<double>(ycc[1]) - middle, cr = static_cast<double>(ycc[2]) - middle;
    double const rgb[3] = {y + 1.402 * cr, y - 0.344136286 * cb - 0.714136286 * cr, y + 1.772 * cb};
    for (int s = 0; s < 3; ++s) {
      ycc[s] = static_cast<Sample>(std::clamp(std::floor(rgb[s] + 0.5), 0.0, static_cast<double>(top)));
    }
    std::memcpy(pixels, ycc, sizeof ycc);
  }
}

bool wants_rgb(BlockFormat const& format, opj_image_t const& image) noexcept {
  if (!format.convert_ycbcr_to_rgb || format.samples_per_pixel != 3) { return false; }
  if (format.sample_format == tiff::SampleFormat::int_) { return false; }
  switch (format.compression) {
    case tiff::Compression::aperio_jp2_ycbcr: return true;
    case tiff::Compression::aperio_jp2_rgb: return false;
    default: return format.photometric == tiff::Photometric::ycbcr || image.color_space == OPJ_CLRSPC_SYCC;
  }
}

template <class Sample>
tile::TileResult put_image(opj_image_t const& image, BlockFormat const& format, BlockShape shape,
                           std::span<std::byte> out) {
  std::size_t const stride = format.samples_per_pixel * sizeof(Sample);
  for (std::uint32_t i = 0; i < format.samples_per_pixel; ++i) {
    auto const plane = plane_of(image.comps[i], shape);
    if (!plane) { return corrupt("a JPEG 2000 component is missing"); }
    put_component<Sample>(*plane, shape, out.data() + i * sizeof(Sample), stride);
  }
  std::size_t const pixels = std::size_t{shape.width_px} * shape.height_px;
  if (wants_rgb(format, image)) {
    int const bits = static_cast<int>(std::min<std::uint32_t>(image.comps[0].prec, 8 * sizeof(Sample)));
    ycbcr_to_rgb<Sample>(out.data(), pixels, (1 << bits) - 1);
  }
  return done_of(pixels * stride, out.size(), false);
}

tile::TileResult decode(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                        std::span<std::byte> out, Workspace&) {
  if (format.bits_per_sample != 8 && format.bits_per_sample != 16) {
    return unsupported("JPEG 2000 is decoded to samples of 8 or 16 bits");
  }
  if (auto const refusal = refuse_shape(format, shape, out.size())) { return *refusal; }
  auto const header = parse_jpeg2000_header(in);
  if (!header) { return corrupt("this is not a JPEG 2000 stream"); }
  if (auto const refusal = refuse_header(*header, format, shape)) { return *refusal; }
  Cursor cursor{in};
  tile::TileResult trouble;
  OpenJpegImage const image = open_image(cursor, *header, trouble);
  if (!image) { return trouble; }
  if (image->numcomps != format.samples_per_pixel) {
    return corrupt("the JPEG 2000 image has another number of components");
  }
  bool const is_signed = format.sample_format == tiff::SampleFormat::int_;
  if (format.bits_per_sample == 8) {
    return is_signed ? put_image<std::int8_t>(*image, format, shape, out)
                     : put_image<std::uint8_t>(*image, format, shape, out);
  }
  return is_signed ? put_image<std::int16_t>(*image, format, shape, out)
                   : put_image<std::uint16_t>(*image, format, shape, out);
}

}  // namespace

Codec::Decode jpeg2000_decoder() noexcept { return &guarded<&decode>; }

#else

Codec::Decode jpeg2000_decoder() noexcept { return nullptr; }

#endif

}  // namespace terrazzo::codec
