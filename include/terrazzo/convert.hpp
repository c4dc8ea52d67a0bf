// SPDX-License-Identifier: Apache-2.0
//
// From any readable file to a GeoTIFF or COG, in one pass and bounded memory: pixels are read once, every tile is
// compressed once.
//
//   terrazzo::Dataset source = terrazzo::open("scan.tif");
//   terrazzo::WriteOptions options = terrazzo::conversion_options(source);
//   options.cog = true;
//   terrazzo::convert(source, "cog.tif", options);
//
// Reading the next rows and writing the last ones overlap. All functions throw terrazzo::Error.
#pragma once

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

namespace terrazzo {

// Options that write what this read gives: type, bands, nodata, mask, colours, metadata, and the georeference moved to
// the window or scaled to the target size. With `read.masked` or `read.unpack`, nodata is what missing pixels become.
// An ICC profile is among the extra tags when all bands are read, in their order and type. Change what is wanted
// otherwise.
[[nodiscard]] WriteOptions conversion_options(Dataset const& source, ReadRequest const& read = {});

// For a COG, as GDAL's driver: alpha becomes the mask where JPEG would blur it. That is where `options` say JPEG, the
// source has two or four bands of uint8 whose last is alpha, with neither nodata nor a mask beside it, and all of them
// are read and would be stored pixel by pixel. Then `read` and `options` lose that band, and `options` get a mask.
void make_alpha_the_mask(Dataset const& source, ReadRequest& read, WriteOptions& options);

struct ConvertReport {
  ReadReport read{};
  WriteReport write{};
};

// What is read is said by `read`: window, bands, level, target size, type. Threads, progress and cancellation are taken
// from `options`; progress counts tiles written. With `options.mask` the mask has the pixels
// that any band has, or those that alpha makes valid (read_mask()). With `read.masked` or `read.unpack`, missing pixels
// become `options.nodata` (unless `read.missing` says what); where they would be taken for data, as integers without
// nodata and mask would be, that is a `usage` error. `options.dtype` and `options.bands` must be what the read gives.
// With the device engine, rows are read straight into device memory where that is possible, and
// `options.device_budget_bytes` is for both: half for reading (unless `read` has a budget of its own), half for
// writing.
ConvertReport convert(Dataset const& source, std::string const& path, WriteOptions const& options,
                      ReadRequest const& read = {});
ConvertReport convert(Dataset const& source, std::shared_ptr<ByteSink> sink, WriteOptions const& options,
                      ReadRequest const& read = {});

// ---------------------------------------------------------------------------------------------------------------
// Many files

struct ConvertJob {
  std::string source{}, out{};
};

// Files, folders and patterns ("scenes/*.tif", for shells that leave them alone) become jobs, in the order given and
// sorted within. Of a folder all TIFF files are taken, also those of its folders, whose names are kept under
// `out_folder`; hidden ones and `out_folder` itself are left out. A file that does not exist is a job that will fail.
// `usage` errors: nothing matches, two sources have the same output, an output is a source.
[[nodiscard]] std::vector<ConvertJob> conversion_jobs(std::vector<std::string> const& inputs,
                                                      std::string const& out_folder);

enum class ConvertState : std::uint8_t {
  done,
  skipped,  // the output is newer than its source
  failed,
  cancelled,  // stopped, or not begun
};
[[nodiscard]] std::string_view to_string(ConvertState state) noexcept;

struct ConvertOutcome {
  std::size_t index = 0;  // of the job
  ConvertState state = ConvertState::cancelled;
  ConvertReport report{};
  std::optional<Error> error{};  // of `failed`
  double seconds = 0;
};

// Bytes are those of the source files; skipped ones are not counted.
struct ConvertProgress {
  std::size_t files_done = 0, files_total = 0;
  std::uint64_t bytes_done = 0, bytes_total = 0;
};

struct ConvertSetup {
  WriteOptions write{};
  ReadRequest read{};
};

struct ConvertManyOptions {
  std::function<Dataset(std::string const&)> open{};  // default: open(path)
  std::function<ConvertSetup(Dataset const&)> setup{};  // default: conversion_options(), as a COG
  unsigned jobs = 1;  // files at once
  unsigned threads = 0;  // of all jobs together, as WriteOptions::threads
  bool overwrite = false;  // nothing is skipped
  std::function<void(ConvertOutcome const&)> finished{};  // as files are done
  std::function<bool(ConvertProgress const&)> progress{};  // returning false cancels
  std::atomic<bool> const* cancel = nullptr;
};

// Converts one after the other, or several at once. Folders of outputs are made. An output that is newer than its
// source (and than the .aux.xml and .msk beside it) is skipped: outputs appear whole, so one that is there is finished.
// A job that fails does not stop the others. One outcome for each job, in their order. `open` and `setup` are called
// from working threads, several at once; `finished` and `progress` never two at a time.
std::vector<ConvertOutcome> convert_many(std::vector<ConvertJob> const& jobs, ConvertManyOptions const& options = {});

}  // namespace terrazzo
