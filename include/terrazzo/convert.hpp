// SPDX-License-Identifier: Apache-2.0
//
// Converts any readable file to a GeoTIFF or COG in one pass and bounded memory: every pixel is read once and every
// tile is compressed once.
//
//   terrazzo::Dataset source = terrazzo::open("scan.tif");
//   terrazzo::WriteOptions options = terrazzo::conversion_options(source);
//   options.cog = true;
//   terrazzo::convert(source, "cog.tif", options);
//
// Reading rows overlaps with writing the rows before them. All functions throw terrazzo::Error.
#pragma once

#include "terrazzo/boundless.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

// Options for a file that holds the result of `read`: type, bands, nodata, mask, colours, metadata, and the
// georeference shifted to the window or scaled to the target size. With `read.masked` or `read.unpack`, nodata is the
// value of missing pixels. With another type, nodata is rounded and clamped to it, as a pixel is. An ICC profile is
// copied (as an extra tag) if all bands are read in their order and type. The caller may change any of the options.
[[nodiscard]] WriteOptions conversion_options(Dataset const& source, ReadRequest const& read = {});

// For a COG with JPEG, turns the alpha band into the mask, as GDAL's COG driver does, because JPEG would blur alpha.
// Applies if `options` select JPEG and contiguous planes, the source has two or four uint8 bands of which the last is
// alpha, the source has no nodata and no mask, and all bands are read. Removes the band from `read` and `options` and
// sets `options.mask`. Otherwise changes nothing.
void make_alpha_the_mask(Dataset const& source, ReadRequest& read, WriteOptions& options);

struct ConvertReport {
  ReadReport read{};
  WriteReport write{};
};

// `read` selects the pixels: window, bands, level, target size, type. Threads, progress and cancellation come from
// `options`; progress counts written tiles. `options.dtype` and `options.bands` must match the result of the read.
//
// With `options.mask`, a pixel is valid if any band is valid there, or if alpha makes it valid (read_mask()). With
// `read.masked`, `read.unpack`, `read.scale` or `read.dtype`, missing pixels become `read.missing` if set, else
// `options.nodata`. With `masked` or `unpack` it is a `usage` error if readers could not tell missing pixels from data,
// as with integers that have no nodata and no mask. Otherwise valid pixels that become the nodata value are missing, as
// in GDAL, with a note.
//
// With the device engine, rows are read into memory of `options.device` if possible. `options.device_budget_bytes`
// covers both sides: half for writing and half for reading, unless `read` has its own budget.
ConvertReport convert(Dataset const& source, std::string const& path, WriteOptions const& options,
                      ReadRequest const& read = {});
ConvertReport convert(Dataset const& source, std::shared_ptr<ByteSink> sink, WriteOptions const& options,
                      ReadRequest const& read = {});

// Missing pixels around the result of a read, in pixels. They have `options.nodata`, otherwise 0; without nodata, mask
// and alpha band they are a `usage` error.
struct Margins {
  std::uint32_t left = 0, top = 0, right = 0, bottom = 0;
  friend bool operator==(Margins const&, Margins const&) = default;
};

struct ConvertSetup {
  WriteOptions write{};
  ReadRequest read{};
  Margins margins{};
};

// Makes `setup`, the conversion of a window that is inside the raster (`read.window`, in pixels of `read.level`), one
// of `area` around it: sets the margins, and the transform and ground control points of the larger raster. Without
// nodata, mask and alpha band the file gets a mask. part_inside() makes the window. `usage` errors: no window, a window
// outside the area, a target.
void extend_to(ConvertSetup& setup, GridWindow const& area);

ConvertReport convert(Dataset const& source, std::string const& path, ConvertSetup const& setup);
ConvertReport convert(Dataset const& source, std::shared_ptr<ByteSink> sink, ConvertSetup const& setup);

// ---------------------------------------------------------------------------------------------------------------
// Tiles of web maps

// The tiling scheme that GDAL calls GoogleMapsCompatible (OGC's WebMercatorQuad): squares of EPSG:3857.
struct WebTileOptions {
  // 0 to 30. Default: the level whose pixels are nearest in size to the raster's, as GDAL's COG driver chooses it.
  std::optional<std::uint32_t> zoom_level{};
  // Number of levels whose tiles are tiles of the scheme, counted from the full resolution: 0 to 10. Full resolution is
  // always aligned. Further overviews share only the scheme's pixels.
  std::uint32_t aligned_levels = 0;
  std::uint32_t tile_size = 256;  // a larger tile has the area of a tile of the scheme in more pixels
  // The method for a raster whose pixels differ from those of the level. Default: cubic; nearest for colour tables,
  // category names and complex pixels, as in GDAL.
  std::optional<Resampling> resampling{};
};

// Changes `setup`, a conversion of `source` (conversion_options()), so that it makes a COG of whole tiles of the
// scheme. Sets the read, the margins, tile size, transform, overviews (unless given) and the metadata domain
// TILING_SCHEME. Pixels of the scheme whose centre lies outside the raster are missing; a file without nodata, mask and
// alpha band gets a mask. A raster whose pixels are those of the level keeps its values (docs/writing.md). `usage`
// errors: a raster that is not in EPSG:3857 with north up, a request with a level or a target.
void align_to_web_tiles(Dataset const& source, ConvertSetup& setup, WebTileOptions const& options = {});

// ---------------------------------------------------------------------------------------------------------------
// Many files

struct ConvertJob {
  std::string source{}, out{};
};

// Makes a list of jobs from files, folders and patterns ("scenes/*.tif", for shells that do not expand them), in the
// order of the inputs; the files of one folder or pattern are sorted. A folder stands for all TIFF files in it and in
// its subfolders, without hidden ones and without `out_folder`; the subfolders are repeated under `out_folder`. A
// missing file becomes a job that fails. `usage` errors: no file matches, two sources have the same output, an output
// is also a source.
[[nodiscard]] std::vector<ConvertJob> conversion_jobs(std::vector<std::string> const& inputs,
                                                      std::string const& out_folder);

enum class ConvertState : std::uint8_t {
  done,
  skipped,  // the output is newer than its source and has the same options
  failed,
  cancelled,  // stopped, or never started
};
[[nodiscard]] std::string_view to_string(ConvertState state) noexcept;

struct ConvertOutcome {
  std::size_t index = 0;  // index of the job
  ConvertState state = ConvertState::cancelled;
  ConvertReport report{};
  std::optional<Error> error{};  // set if `failed`
  double seconds = 0;
};

// Bytes of the source files, without skipped files.
struct ConvertProgress {
  std::size_t files_done = 0, files_total = 0;
  std::uint64_t bytes_done = 0, bytes_total = 0;
};

inline constexpr std::string_view kOptionsItem = "TERRAZZO_OPTIONS";

struct ConvertManyOptions {
  std::function<Dataset(std::string const&)> open{};  // default: open(path)
  std::function<ConvertSetup(Dataset const&)> setup{};  // default: conversion_options(), as a COG
  unsigned jobs = 1;  // files at once
  unsigned threads = 0;  // shared by all jobs; 0 as in WriteOptions::threads
  bool overwrite = false;  // convert all files, also finished ones
  // The options that `setup` applies, as text. Each output stores the text as metadata item kOptionsItem; an output
  // that stores a different text is converted again. Empty: nothing is stored or compared.
  std::string options_text{};
  std::function<void(ConvertOutcome const&)> finished{};  // called after each file
  std::function<bool(ConvertProgress const&)> progress{};  // returning false cancels
  std::atomic<bool> const* cancel = nullptr;
};

// Converts `options.jobs` files at a time and creates the output folders. Skips a job if its output is newer than its
// source and the source's .aux.xml and .msk, and has the same `options_text`: outputs appear only when complete, so an
// existing output is finished. A failed job does not stop the others. Returns one outcome per job, in the order of the
// jobs. `open` and `setup` are called concurrently from worker threads; `finished` and `progress` are called one at a
// time.
std::vector<ConvertOutcome> convert_many(std::vector<ConvertJob> const& jobs, ConvertManyOptions const& options = {});

}  // namespace terrazzo
#pragma GCC visibility pop
