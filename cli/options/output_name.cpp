// SPDX-License-Identifier: Apache-2.0
#include "options/output_name.hpp"

#include "options/parse.hpp"

#include "terrazzo/error.hpp"
#include "terrazzo/output_file.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

namespace terrazzo::cli {
namespace {

// Formats that neither convert, cog nor read writes, and the program that writes them.
struct Foreign {
  std::string_view extension, hint;
};
constexpr std::string_view kToText =
    "type \"terrazzo read FILE --out NAME.npy\" for NumPy, or use gdal_translate -of XYZ for text";
constexpr Foreign kForeign[] = {
    {".png", "type \"terrazzo preview FILE --out NAME.png\" for a picture"},
    {".jpg", "type \"terrazzo preview FILE --out NAME.png\" for a picture, or use gdal_translate -of JPEG"},
    {".jpeg", "type \"terrazzo preview FILE --out NAME.png\" for a picture, or use gdal_translate -of JPEG"},
    {".webp", "type \"terrazzo preview FILE --out NAME.png\" for a picture, or use gdal_translate -of WEBP"},
    {".jp2", "use gdal_translate -of JP2OpenJPEG, or type --compression jpeg2000 --out NAME.tif for JPEG 2000 in TIFF"},
    {".txt", kToText},
    {".csv", kToText},
    {".xyz", kToText},
    {".asc", "use gdal_translate -of AAIGrid"},
    {".json", "type \"terrazzo info FILE --json > NAME.json\" for a description of the file"},
    {".xml", "type \"terrazzo info FILE --json > NAME.json\" for a description of the file"},
    {".npz", "type --out NAME.npy; numpy.savez packs arrays"},
    {".nc", "use gdal_translate -of netCDF"},
    {".h5", "use gdal_translate -of netCDF, or h5py after \"terrazzo read FILE --out NAME.npy\""},
    {".hdf", "use gdal_translate -of HDF4Image"},
    {".grib", "use gdal_translate -of GRIB"},
    {".zarr", "use gdal_translate -of Zarr"},
    {".img", "use gdal_translate -of HFA"},
    {".gpkg", "use gdal_translate -of GPKG"},
    {".mbtiles", "use gdal_translate -of MBTiles"},
    {".pdf", "use gdal_translate -of PDF"},
    {".vrt", "use gdalbuildvrt or gdal_translate -of VRT"},
    {".zip", "write NAME.tif, and pack it with zip"},
    {".gz", "write NAME.tif: its tiles are compressed already"},
};

void refuse_foreign(std::string const& path, std::string_view written) {
  if (is_standard_output(path)) { return; }
  std::string const extension = extension_of(path);
  for (Foreign const& foreign : kForeign) {
    if (foreign.extension == extension) {
      throw Error(ErrorKind::usage, "--out " + in_quotes(path) + ": this command writes " + std::string(written) +
                                        ", not " + extension + "; " + std::string(foreign.hint));
    }
  }
}

}  // namespace

CLI::Option* add_no_clobber(CLI::App& command, bool& no_clobber) {
  return command.add_flag("--no-clobber", no_clobber, "Refuse to replace an existing file, before any work");
}

void check_tiff_name(std::string const& path) {
  if (path.starts_with("/vsi")) {
    throw Error(ErrorKind::usage, "--out " + in_quotes(path) +
                                      ": GDAL's /vsi names are not written; type \"--out -\" for standard output");
  }
  if (extension_of(path) == ".npy") {
    throw Error(ErrorKind::usage, "--out " + in_quotes(path) +
                                      ": this command writes TIFF, not .npy; type \"terrazzo read FILE --out " + path +
                                      "\"");
  }
  refuse_foreign(path, "TIFF");
}

void check_png_name(std::string const& path) {
  if (is_standard_output(path) || lower_case(path).ends_with(".png")) { return; }
  std::size_t const name = path.rfind('/') + 1;  // 0 without a folder
  std::size_t const dot = path.rfind('.');
  bool const has_end = dot != std::string::npos && dot > name;
  throw Error(ErrorKind::usage, "preview writes PNG only, and --out " + in_quotes(path) +
                                    " does not end in .png; type --out " +
                                    in_quotes((has_end ? path.substr(0, dot) : path) + ".png"));
}

void check_array_name(std::string const& path) { refuse_foreign(path, "pixels as .npy or plain samples (--raw)"); }

void check_no_clobber(std::string const& path) {
  // An open descriptor is written, not replaced.
  if (is_standard_output(path) || path.starts_with("/dev/") || path.starts_with("/proc/")) { return; }
  std::error_code error;
  std::filesystem::file_status const entry = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(entry)) { return; }
  std::filesystem::file_status const target = std::filesystem::status(path, error);
  if (std::filesystem::is_fifo(target) || std::filesystem::is_character_file(target)) { return; }
  throw Error(ErrorKind::usage,
              in_quotes(path) + " exists, and --no-clobber keeps it; type another name, or leave --no-clobber out");
}

}  // namespace terrazzo::cli
