// SPDX-License-Identifier: Apache-2.0
//
// Joins many rasters of one CRS to one GeoTIFF or COG, in one pass and bounded memory.
//
//   terrazzo::MosaicPlan const tiles = terrazzo::plan_mosaic({"west.tif", "east.tif"});
//   terrazzo::WriteOptions options = terrazzo::mosaic_options(tiles);
//   options.cog = true;
//   terrazzo::mosaic(tiles, "both.tif", options);
//
// plan_mosaic() opens every file once, for its header, and closes it. mosaic() opens files again when it reaches their
// rows, within the process's limit of open files, so the number of inputs is not limited by it. A file that changes in
// between is an `io` error. Pixels are read and composed on the host. All functions throw terrazzo::Error, with the
// name of the file.
//
// The grid is that of the first file, or has pixels of MosaicRequest::resolution. Every pixel of the mosaic takes the
// pixel of an input under its centre, at full resolution: inputs on the same grid are copied, others are snapped to it
// by nearest. Inputs must not be rotated or mirrored against each other; warp those first.
//
// A pixel that is missing in one input (nodata, mask, alpha 0, NaN) lets the other inputs show through.
#pragma once

#include "terrazzo/coordinates.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/write.hpp"

#include <array>
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

// The value of a pixel that several inputs have. An alpha band takes the largest alpha with `minimum`, `maximum` and
// `mean`, which complex samples do not have.
enum class MosaicRule : std::uint8_t {
  first,  // of the first input, in the order of the list, that has the pixel
  last,
  minimum,
  maximum,
  mean,  // computed in float64, rounded as all conversions
};
[[nodiscard]] std::string_view to_string(MosaicRule rule) noexcept;  // "first", "last", "min", "max", "mean"

struct MosaicRequest {
  MosaicRule rule = MosaicRule::first;
  // In the CRS of the inputs: all pixels of the grid that the box touches. Default: the union of the inputs.
  std::optional<BoundingBox> bounds{};
  // Size of the pixels. The first pixel begins at the upper left corner of the bounds, and the extent grows at its
  // right and bottom to whole pixels. Default: the grid of the first input.
  std::optional<TargetResolution> resolution{};
  std::vector<std::uint32_t> bands{};  // 1-based, as ReadRequest::bands; empty: all
  std::optional<DType> dtype{};  // samples are rounded and clamped to this type; default: the type of all inputs

  BadTile bad_tile = BadTile::error;
  bool strict = false;  // surplus data after a tile's last pixel is an error

  std::function<Dataset(std::string const&)> open{};  // default: open(path); called concurrently
  unsigned threads = 0;  // for opening; mosaic() uses WriteOptions::threads. 0: one per core
  std::uint64_t memory_limit_bytes = 0;  // for rows and scratch of mosaic(); 0: Settings' default
  std::atomic<bool> const* cancel = nullptr;  // for opening; mosaic() uses WriteOptions::cancel
};

// The geometry of a mosaic and the properties that its inputs share. Immutable and thread-safe; a few hundred bytes per
// input.
class MosaicPlan {
 public:
  struct Impl;
  explicit MosaicPlan(std::shared_ptr<Impl const> impl) noexcept : impl_(std::move(impl)) {}

  [[nodiscard]] std::uint32_t width() const noexcept;
  [[nodiscard]] std::uint32_t height() const noexcept;
  [[nodiscard]] std::array<double, 6> const& transform() const noexcept;  // as Georeference::transform
  [[nodiscard]] std::uint32_t bands() const noexcept;
  [[nodiscard]] DType dtype() const noexcept;
  [[nodiscard]] std::size_t input_count() const noexcept;
  [[nodiscard]] std::size_t used_count() const noexcept;  // inputs with pixels inside the bounds
  [[nodiscard]] bool has_gaps() const noexcept;  // some pixels lie in no input
  [[nodiscard]] Impl const& impl() const noexcept { return *impl_; }

 private:
  std::shared_ptr<Impl const> impl_;
};

// Opens all inputs and checks that they fit together. `usage` errors name two files: different CRSs, numbers of bands
// (unless `bands` is given), sample types (unless `dtype` is given), scales or offsets, colour tables, an alpha band in
// one of them only; rotated or mirrored grids. Other `usage` errors: no input, an input without a transform, bounds
// that no input touches.
[[nodiscard]] MosaicPlan plan_mosaic(std::vector<std::string> const& inputs, MosaicRequest const& request = {});

// Options for the file of a mosaic: type, bands, CRS and transform; colours, units and descriptions of the first
// input's bands, without its metadata. Nodata is that of the first input that has a nodata value; without one, NaN for
// floats. Otherwise, if an input has a mask, the mosaic has one. The caller may change all options but dtype and bands.
[[nodiscard]] WriteOptions mosaic_options(MosaicPlan const& plan);

struct MosaicReport {
  ReadReport read{};
  WriteReport write{};
};

// Writes the mosaic. Pixels that no input has are `options.nodata`; without it they are NaN in floats, otherwise 0,
// with a note. With `options.mask` they are 0 and masked, and a pixel is valid if any band is. Nodata values that
// differ from `options.nodata` are replaced by it, with a note; valid pixels that equal it become missing. Threads,
// progress and cancellation come from `options`; progress counts written tiles.
//
// Two bands of rows are held in `options.streaming_buffer_bytes`, one being read while the other is written: at least a
// row of tiles, or a `limit` error. Where inputs overlap, the rows of overlapping inputs are held too.
MosaicReport mosaic(MosaicPlan const& plan, std::string const& path, WriteOptions const& options);
MosaicReport mosaic(MosaicPlan const& plan, std::shared_ptr<ByteSink> sink, WriteOptions const& options);

// Lists the files of `inputs` (files, folders and patterns, as in conversion_jobs()), each once: in the order of the
// inputs, sorted inside a folder or pattern. Folders and patterns leave out `out`, a mosaic of an earlier run. A
// `usage` error if an input names `out` itself, or if there are no files.
[[nodiscard]] std::vector<std::string> mosaic_inputs(std::vector<std::string> const& inputs, std::string const& out);

}  // namespace terrazzo
#pragma GCC visibility pop
