// SPDX-License-Identifier: Apache-2.0
#include "tiff/foreign_format.hpp"

#include <algorithm>
#include <array>

namespace terrazzo::tiff {

namespace {

struct Signature {
  std::string_view bytes, name;
};

// Sixteen bytes are read, so no signature is longer.
constexpr std::array kSignatures{
    Signature{"<VRTDataset", "a VRT, which is not read yet"},
    Signature{"<WarpedVRT", "a VRT, which is not read yet"},
    Signature{"<?xml", "an XML document"},
    Signature{"\x89PNG", "a PNG picture"},
    Signature{"\xFF\xD8\xFF", "a JPEG picture"},
    Signature{std::string_view("\0\0\0\x0CjP  ", 8), "a JPEG 2000 picture"},
    Signature{"\xFF\x4F\xFF\x51", "a JPEG 2000 stream"},
    Signature{"\x89HDF\r\n", "an HDF5 or NetCDF file"},
    Signature{"CDF\x01", "a NetCDF file"},
    Signature{"CDF\x02", "a NetCDF file"},
    Signature{"GRIB", "a GRIB file"},
    Signature{"GIF8", "a GIF picture"},
    Signature{"%PDF", "a PDF document"},
    Signature{"SQLite format 3", "an SQLite database, perhaps a GeoPackage"},
    Signature{"PK\x03\x04", "a ZIP archive"},
    Signature{"\x1F\x8B", "a gzip archive"},
    Signature{"\x28\xB5\x2F\xFD", "a ZSTD archive"},
    Signature{"PAR1", "a Parquet file"},
    Signature{"\x93NUMPY", "a numpy array"},
};

}  // namespace

std::string_view foreign_format(std::span<std::byte const> bytes) noexcept {
  std::string_view const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  auto const* const found =
      std::ranges::find_if(kSignatures, [&](Signature const& known) { return text.starts_with(known.bytes); });
  return found == kSignatures.end() ? std::string_view{} : found->name;
}

}  // namespace terrazzo::tiff
