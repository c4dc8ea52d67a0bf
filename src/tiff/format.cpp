// SPDX-License-Identifier: Apache-2.0
#include "tiff/format.hpp"

namespace terrazzo::tiff {

std::size_t field_type_bytes(std::uint16_t type) noexcept {
  switch (static_cast<FieldType>(type)) {
    case FieldType::byte_:
    case FieldType::ascii:
    case FieldType::sbyte:
    case FieldType::undefined: return 1;
    case FieldType::short_:
    case FieldType::sshort: return 2;
    case FieldType::long_:
    case FieldType::slong:
    case FieldType::float_:
    case FieldType::ifd: return 4;
    case FieldType::rational:
    case FieldType::srational:
    case FieldType::double_:
    case FieldType::long8:
    case FieldType::slong8:
    case FieldType::ifd8: return 8;
  }
  return 0;
}

bool is_unsigned_type(std::uint16_t type) noexcept {
  switch (static_cast<FieldType>(type)) {
    case FieldType::byte_:
    case FieldType::short_:
    case FieldType::long_:
    case FieldType::long8:
    case FieldType::ifd:
    case FieldType::ifd8: return true;
    default: return false;
  }
}

std::string_view compression_name(Compression compression) noexcept {
  switch (compression) {
    case Compression::none: return "none";
    case Compression::ccitt_rle: return "ccitt-rle";
    case Compression::ccitt_fax3: return "ccitt-g3";
    case Compression::ccitt_fax4: return "ccitt-g4";
    case Compression::lzw: return "lzw";
    case Compression::ojpeg: return "old-style jpeg";
    case Compression::jpeg: return "jpeg";
    case Compression::deflate:
    case Compression::pkzip_deflate: return "deflate";
    case Compression::next: return "next";
    case Compression::ccitt_rlew: return "ccitt-rlew";
    case Compression::packbits: return "packbits";
    case Compression::thunderscan: return "thunderscan";
    case Compression::jbig: return "jbig";
    case Compression::sgilog: return "sgilog";
    case Compression::sgilog24: return "sgilog24";
    case Compression::jpeg2000:
    case Compression::aperio_jp2_ycbcr:
    case Compression::aperio_jp2_rgb: return "jpeg2000";
    case Compression::lerc: return "lerc";
    case Compression::lzma: return "lzma";
    case Compression::png: return "png";
    case Compression::jpeg_xr: return "jpeg-xr";
    case Compression::zstd: return "zstd";
    case Compression::webp: return "webp";
    case Compression::jxl:
    case Compression::jxl_dng_1_7: return "jpeg-xl";
    case Compression::lz4: return "lz4";
  }
  return "unknown";
}

std::string_view photometric_name(Photometric photometric) noexcept {
  switch (photometric) {
    case Photometric::min_is_white: return "miniswhite";
    case Photometric::min_is_black: return "minisblack";
    case Photometric::rgb: return "rgb";
    case Photometric::palette: return "palette";
    case Photometric::mask: return "mask";
    case Photometric::separated: return "separated";
    case Photometric::ycbcr: return "ycbcr";
    case Photometric::cielab: return "cielab";
    case Photometric::icclab: return "icclab";
    case Photometric::itulab: return "itulab";
    case Photometric::logl: return "logl";
    case Photometric::logluv: return "logluv";
  }
  return "unknown";
}

}  // namespace terrazzo::tiff
