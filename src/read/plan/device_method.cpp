// SPDX-License-Identifier: Apache-2.0
#include "read/plan/device_method.hpp"

#include "base/text.hpp"
#include "codec/registry/codec.hpp"
#include "tiff/image.hpp"

#include <utility>

namespace terrazzo::reading {

namespace {

MethodChoice on_host(std::string reason) { return {DeviceMethod::host, std::move(reason)}; }

// The vendor's library of a decoder; none for our own kernels.
struct DeviceLibrary {
  std::string_view name{};
  bool available = true;
};

DeviceLibrary library_of(DeviceMethod method, DeviceAbilities const& abilities) noexcept {
  switch (method) {
    case DeviceMethod::deflate:
    case DeviceMethod::zstd: return {"nvCOMP", abilities.nvcomp};
    case DeviceMethod::jpeg: return {"nvJPEG", abilities.nvjpeg};
    case DeviceMethod::jpeg2000: return {"nvJPEG2000", abilities.nvjpeg2k};
    default: return {};
  }
}

// The reason why a decoder rejects the image's samples; empty if it accepts them.
std::string refuse_samples(DeviceMethod method, tiff::Image const& image) {
  if (method == DeviceMethod::jpeg) {
    if (image.bits != 8) { return text("JPEG of ", image.bits, " bits"); }
    if (image.samples_per_block() != 1 && image.samples_per_block() != 3) {
      return text("JPEG of ", image.samples_per_block(), " samples");
    }
  }
  if (method == DeviceMethod::jpeg2000) {
    if (image.photometric == tiff::Photometric::ycbcr) { return "JPEG 2000 of YCbCr"; }
    if (image.bits != 8 && image.bits != 16) { return text("JPEG 2000 of ", image.bits, " bits"); }
  }
  return {};
}

}  // namespace

std::string_view to_string(DeviceMethod method) noexcept {
  switch (method) {
    case DeviceMethod::raw: return "copy";
    case DeviceMethod::lzw: return "LZW kernel";
    case DeviceMethod::packbits: return "PackBits kernel";
    case DeviceMethod::deflate: return "nvCOMP deflate";
    case DeviceMethod::zstd: return "nvCOMP zstd";
    case DeviceMethod::jpeg: return "nvJPEG";
    case DeviceMethod::jpeg2000: return "nvJPEG2000";
    case DeviceMethod::host: return "host threads";
  }
  return "";
}

MethodChoice choose_device_method(Level const& level, SourceTrust trust, ReadRequest const& request,
                                  DeviceAbilities const& abilities) {
  tiff::Image const& image = level.image;
  std::string const name(tiff::compression_name(image.compression));
  codec::Codec const* const codec = codec::find_codec(image.compression);
  if (request.strict) { return on_host("a strict read looks for surplus data, which device decoders do not report"); }
  if (request.exact && codec != nullptr && codec->lossy) {
    return on_host(text(name, " is lossy and exact was asked for"));
  }
  if (image.is_converted_to_rgb() || image.has_packed_chroma()) {
    return on_host("colours are converted to RGB on the host");
  }
  if (image.reversed_bits) { return on_host("bits are in reversed order (FillOrder 2)"); }
  if (image.block_bytes(image.block_height_px) > kMaxDeviceTileBytes) {
    return on_host("blocks are larger than 2 GiB");
  }
  DeviceMethod const method = codec != nullptr ? codec->device_decoder : DeviceMethod::host;
  if (method == DeviceMethod::host) { return on_host(text("there is no device decoder for ", name)); }
  DeviceLibrary const library = library_of(method, abilities);
  // nvCOMP calls corrupt input undefined behaviour.
  if (codec->device_trust != codec::DeviceTrust::any && trust == SourceTrust::none) {
    return on_host(text("the source is not trusted, and ", library.name, " decodes ", name));
  }
  if (codec->device_trust == codec::DeviceTrust::stated && trust != SourceTrust::stated) {
    return on_host(text("damaged ", name, " files can hang ", library.name,
                        ", so it decodes only sources opened with Trust::trusted"));
  }
  if (std::string reason = refuse_samples(method, image); !reason.empty()) { return on_host(std::move(reason)); }
  if (!library.available) { return on_host(text(library.name, " is missing, so the host decodes ", name)); }
  return {method, {}};
}

}  // namespace terrazzo::reading
