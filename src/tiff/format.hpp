// SPDX-License-Identifier: Apache-2.0
//
// The numbers of TIFF 6.0, BigTIFF, GeoTIFF 1.1 and GDAL's private tags. Names follow the specifications.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace terrazzo::tiff {

namespace tag {
inline constexpr std::uint16_t NewSubfileType = 254, SubfileType = 255, ImageWidth = 256, ImageLength = 257,
                               BitsPerSample = 258, Compression = 259, PhotometricInterpretation = 262, FillOrder = 266,
                               DocumentName = 269, ImageDescription = 270, StripOffsets = 273, Orientation = 274,
                               SamplesPerPixel = 277, RowsPerStrip = 278, StripByteCounts = 279, MinSampleValue = 280,
                               MaxSampleValue = 281, XResolution = 282, YResolution = 283, PlanarConfiguration = 284,
                               T4Options = 292, T6Options = 293, ResolutionUnit = 296, TransferFunction = 301,
                               Software = 305, DateTime = 306, Artist = 315, HostComputer = 316, Predictor = 317,
                               WhitePoint = 318, PrimaryChromaticities = 319, ColorMap = 320, TileWidth = 322,
                               TileLength = 323, TileOffsets = 324, TileByteCounts = 325, SubIFDs = 330, InkSet = 332,
                               ExtraSamples = 338, SampleFormat = 339, SMinSampleValue = 340, SMaxSampleValue = 341,
                               JPEGTables = 347, JPEGProc = 512, JPEGInterchangeFormat = 513, YCbCrCoefficients = 529,
                               YCbCrSubSampling = 530, YCbCrPositioning = 531, ReferenceBlackWhite = 532,
                               XMLPacket = 700, Copyright = 33432, ModelPixelScale = 33550, IntergraphMatrix = 33920,
                               ModelTiepoint = 33922, ModelTransformation = 34264, ICCProfile = 34675,
                               GeoKeyDirectory = 34735, GeoDoubleParams = 34736, GeoAsciiParams = 34737,
                               GDALMetadata = 42112, GDALNodata = 42113, RPCCoefficients = 50844,
                               LercParameters = 50674;
}  // namespace tag

enum class FieldType : std::uint16_t {
  byte_ = 1,
  ascii = 2,
  short_ = 3,
  long_ = 4,
  rational = 5,
  sbyte = 6,
  undefined = 7,
  sshort = 8,
  slong = 9,
  srational = 10,
  float_ = 11,
  double_ = 12,
  ifd = 13,
  long8 = 16,
  slong8 = 17,
  ifd8 = 18,
};

// 0 for an unknown type.
[[nodiscard]] std::size_t field_type_bytes(std::uint16_t type) noexcept;

// Unsigned integers: counts, offsets, sizes.
[[nodiscard]] bool is_unsigned_type(std::uint16_t type) noexcept;

// Open enumerations: a file may hold any number; only the named ones are interpreted.
enum class Compression : std::uint32_t {
  none = 1,
  ccitt_rle = 2,
  ccitt_fax3 = 3,
  ccitt_fax4 = 4,
  lzw = 5,
  ojpeg = 6,
  jpeg = 7,
  deflate = 8,
  next = 32766,
  ccitt_rlew = 32771,
  packbits = 32773,
  thunderscan = 32809,
  pkzip_deflate = 32946,
  jbig = 34661,
  sgilog = 34676,
  sgilog24 = 34677,
  jpeg2000 = 34712,
  aperio_jp2_ycbcr = 33003,
  aperio_jp2_rgb = 33005,
  lerc = 34887,
  lzma = 34925,
  png = 34933,
  jpeg_xr = 34934,
  zstd = 50000,
  webp = 50001,
  jxl = 50002,
  lz4 = 50004,
  jxl_dng_1_7 = 52546,
};
[[nodiscard]] constexpr bool is_compressed(Compression compression) noexcept {
  return compression != Compression::none;
}
// True if streams of a compression have their tables in tag 347.
[[nodiscard]] constexpr bool has_jpeg_tables(Compression compression) noexcept {
  return compression == Compression::jpeg;
}
// True if the codec itself converts YCbCr to RGB and the file is reported as YCbCr, as in GDAL.
[[nodiscard]] constexpr bool decodes_ycbcr(Compression compression) noexcept {
  return compression == Compression::jpeg;
}
[[nodiscard]] std::string_view compression_name(Compression compression) noexcept;  // "deflate"; "unknown" for others

enum class Photometric : std::uint16_t {
  min_is_white = 0,
  min_is_black = 1,
  rgb = 2,
  palette = 3,
  mask = 4,
  separated = 5,
  ycbcr = 6,
  cielab = 8,
  icclab = 9,
  itulab = 10,
  logl = 32844,
  logluv = 32845,
};
[[nodiscard]] std::string_view photometric_name(Photometric photometric) noexcept;

enum class SampleFormat : std::uint16_t {
  uint = 1,
  int_ = 2,
  ieee_float = 3,
  undefined = 4,
  complex_int = 5,
  complex_float = 6
};
enum class Predictor : std::uint16_t { none = 1, horizontal = 2, floating_point = 3 };

}  // namespace terrazzo::tiff
