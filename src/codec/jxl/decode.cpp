// SPDX-License-Identifier: Apache-2.0
//
// JPEG XL (TIFF 50002, and 52546 of DNG 1.7): 8 and 16-bit integers, half and single floats. Colour channels come
// interleaved, with the first extra channel if that is their alpha; the other extra channels come one by one and are
// interleaved here.
#include "codec/jxl/library.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/memory_charge.hpp"
#include "codec/registry/result.hpp"
#include "codec/registry/workspace.hpp"

#include <cstdint>
#include <cstring>
#include <optional>

namespace terrazzo::codec {

#if TERRAZZO_HAVE_JXL

namespace {

std::optional<JxlDataType> jxl_type(BlockFormat const& format) noexcept {
  if (format.sample_format == tiff::SampleFormat::uint) {
    if (format.bits_per_sample == 8) { return JXL_TYPE_UINT8; }
    if (format.bits_per_sample == 16) { return JXL_TYPE_UINT16; }
  } else if (format.sample_format == tiff::SampleFormat::ieee_float) {
    if (format.bits_per_sample == 16) { return JXL_TYPE_FLOAT16; }
    if (format.bits_per_sample == 32) { return JXL_TYPE_FLOAT; }
  }
  return std::nullopt;
}

std::optional<char const*> check_header(JxlBasicInfo const& info, BlockFormat const& format, BlockShape shape) {
  if (info.xsize != shape.width_px || info.ysize != shape.height_px) { return "the JPEG XL image has another size"; }
  if (info.bits_per_sample != format.bits_per_sample) { return "the JPEG XL image has another bit depth"; }
  if (std::uint64_t{info.num_color_channels} + info.num_extra_channels != format.samples_per_pixel) {
    return "the JPEG XL image has another number of channels";
  }
  return std::nullopt;
}

// True if the first extra channel is the alpha of the colours, which the library delivers interleaved with them.
bool alpha_comes_with_colour(JxlLibrary const& jxl, JxlDecoder* decoder, JxlBasicInfo const& info) {
  if (info.alpha_bits == 0 || info.num_extra_channels == 0) { return false; }
  if (info.num_extra_channels == 1) { return true; }
  // alpha_bits may come from a later channel (libjxl issue 1773), so check the first one if there are several.
  JxlExtraChannelInfo extra{};
  return info.num_color_channels == 3 && jxl.JxlDecoderGetExtraChannelInfo(decoder, 0, &extra) == JXL_DEC_SUCCESS &&
         extra.type == JXL_CHANNEL_ALPHA;
}

// From the last pixel to the first: spreads `packed` bytes per pixel to `pitch` bytes per pixel, in place.
void spread_pixels(std::span<std::byte> block, std::size_t pixels, std::size_t packed, std::size_t pitch) noexcept {
  for (std::size_t i = pixels; i-- > 0;) { std::memmove(block.data() + i * pitch, block.data() + i * packed, packed); }
}

tile::TileResult out_of_step(JxlDecoderStatus status) noexcept {
  if (status == JXL_DEC_NEED_MORE_INPUT) { return truncated(0, "the JPEG XL stream ends early"); }
  return corrupt("the JPEG XL stream is damaged");
}

tile::TileResult decode_stream(JxlLibrary const& jxl, JxlDecoder* decoder, BlockFormat const& format, BlockShape shape,
                               std::span<std::byte const> in, std::span<std::byte> out, JxlDataType type,
                               Scratch& scratch) {
  // Check the signature first: the decoder of Debian's libjxl 0.7 always writes its errors to stderr.
  auto const* const data = reinterpret_cast<std::uint8_t const*>(in.data());
  switch (jxl.JxlSignatureCheck(data, in.size())) {
    case JXL_SIG_NOT_ENOUGH_BYTES: return truncated(0, "the JPEG XL stream ends in its signature");
    case JXL_SIG_INVALID: return corrupt("this is not a JPEG XL stream");
    default: break;
  }
  if (jxl.JxlDecoderSubscribeEvents(decoder, JXL_DEC_BASIC_INFO | JXL_DEC_FULL_IMAGE) != JXL_DEC_SUCCESS ||
      jxl.JxlDecoderSetInput(decoder, data, in.size()) != JXL_DEC_SUCCESS) {
    return failed("libjxl failed to start");
  }
  if (JxlDecoderStatus const status = jxl.JxlDecoderProcessInput(decoder); status != JXL_DEC_BASIC_INFO) {
    return out_of_step(status);
  }
  JxlBasicInfo info{};
  if (jxl.JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS) {
    return corrupt("the JPEG XL header is damaged");
  }
  if (auto const trouble = check_header(info, format, shape)) { return corrupt(*trouble); }
  if (info.have_animation != JXL_FALSE) { return unsupported("the JPEG XL stream is an animation"); }

  bool const with_alpha = alpha_comes_with_colour(jxl, decoder, info);
  std::size_t const sample_bytes = format.bits_per_sample / 8;
  std::size_t const pixels = std::size_t{shape.width_px} * shape.height_px;
  std::size_t const pixel_bytes = format.samples_per_pixel * sample_bytes;
  std::uint32_t const main_channels = info.num_color_channels + (with_alpha ? 1 : 0);
  std::uint32_t const apart = format.samples_per_pixel - main_channels;
  std::size_t const plane_bytes = pixels * sample_bytes;

  if (JxlDecoderStatus const status = jxl.JxlDecoderProcessInput(decoder); status != JXL_DEC_NEED_IMAGE_OUT_BUFFER) {
    return out_of_step(status);
  }
  JxlPixelFormat layout{.num_channels = 1, .data_type = type, .endianness = JXL_NATIVE_ENDIAN, .align = 0};
  std::span<std::byte> const planes = scratch.get(plane_bytes * apart);
  for (std::uint32_t i = 0; i < apart; ++i) {
    std::uint32_t const channel = i + (with_alpha ? 1 : 0);
    std::size_t wanted = 0;
    if (jxl.JxlDecoderExtraChannelBufferSize(decoder, &layout, &wanted, channel) != JXL_DEC_SUCCESS ||
        wanted != plane_bytes ||
        jxl.JxlDecoderSetExtraChannelBuffer(decoder, &layout, planes.data() + i * plane_bytes, plane_bytes, channel) !=
            JXL_DEC_SUCCESS) {
      return corrupt("the JPEG XL stream has an odd extra channel");
    }
  }
  layout.num_channels = main_channels;
  std::size_t const main_bytes = plane_bytes * main_channels;
  std::size_t wanted = 0;
  if (jxl.JxlDecoderImageOutBufferSize(decoder, &layout, &wanted) != JXL_DEC_SUCCESS || wanted != main_bytes ||
      jxl.JxlDecoderSetImageOutBuffer(decoder, &layout, out.data(), main_bytes) != JXL_DEC_SUCCESS) {
    return corrupt("the JPEG XL stream does not fill its block");
  }
  if (JxlDecoderStatus const status = jxl.JxlDecoderProcessInput(decoder); status != JXL_DEC_FULL_IMAGE) {
    return out_of_step(status);
  }
  if (apart != 0) {
    spread_pixels(out, pixels, main_channels * sample_bytes, pixel_bytes);
    for (std::uint32_t s = 0; s < apart; ++s) {
      for (std::size_t i = 0; i < pixels; ++i) {
        std::memcpy(out.data() + i * pixel_bytes + (main_channels + s) * sample_bytes,
                    planes.data() + s * plane_bytes + i * sample_bytes, sample_bytes);
      }
    }
  }
  return done_of(pixels * pixel_bytes, out.size(), jxl.JxlDecoderReleaseInput(decoder) != 0);
}

tile::TileResult decode(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                        std::span<std::byte> out, Workspace& workspace) {
  auto const type = jxl_type(format);
  if (!type) { return unsupported("JPEG XL has no such sample type"); }
  JxlLibrary const* const jxl = JxlLibrary::instance();
  if (jxl == nullptr) { return unsupported("libjxl is not found"); }
  if (auto const refusal = refuse_shape(format, shape, out.size())) { return *refusal; }
  JxlMemory& memory = workspace.impl().jxl_memory();
  memory.limit(jxl_working_bytes(shape, format.samples_per_pixel));  // the caller has reserved it
  JxlDecoder* const decoder = workspace.impl().jxl(*jxl);
  if (decoder == nullptr) { return out_of_memory(); }
  tile::TileResult const result = decode_stream(*jxl, decoder, format, shape, in, out, *type, workspace.impl().samples);
  jxl->JxlDecoderReset(decoder);  // removes pointers to the caller's memory
  if (result.status != tile::TileStatus::ok && memory.has_refused()) {
    return out_of_memory("out of memory: the JPEG XL stream takes more than an image of its size");
  }
  return result;
}

}  // namespace

Codec::Decode jxl_decoder() noexcept { return &guarded<&decode>; }
Codec::IsLoaded jxl_is_loaded() noexcept {
  return []() noexcept { return JxlLibrary::instance() != nullptr; };
}

#else

Codec::Decode jxl_decoder() noexcept { return nullptr; }
Codec::IsLoaded jxl_is_loaded() noexcept { return nullptr; }

#endif

}  // namespace terrazzo::codec
