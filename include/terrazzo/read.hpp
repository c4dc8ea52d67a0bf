// SPDX-License-Identifier: Apache-2.0
//
// Opening and reading rasters.
//
//   terrazzo::Dataset const dem = terrazzo::open("dem.tif");
//   auto const heights = terrazzo::read<double>(dem, {.masked = true, .dtype = terrazzo::DType::f64});  // array.hpp
//
// open() reads the header and the directories only. A Dataset is immutable and thread-safe: any number of threads may
// read from one. Reads run on a process-wide thread pool, sized to the machine (see Settings). All functions throw
// terrazzo::Error. Every allocation whose size comes from a file or a request is checked against a memory budget first;
// the result counts towards the budget.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/resampling.hpp"
#include "terrazzo/view.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct DLManagedTensor;  // of dlpack.h
struct DLManagedTensorVersioned;  // of dlpack.h, since version 1.0

#pragma GCC visibility push(default)
namespace terrazzo {

class ByteSource;  // terrazzo/source.hpp

// ---------------------------------------------------------------------------------------------------------------
// Opening

// Whether decoders that are not hardened against hostile input may decode this source: libtiff (old and rare codecs)
// and, on the GPU, nvCOMP, nvJPEG and nvJPEG2000.
enum class Trust : std::uint8_t {
  automatic,  // local files and sources that say so are trusted (SourceHints::trusted); memory is not
  trusted,
  untrusted,
};

struct OpenOptions {
  std::uint32_t page = 0;  // index of the directory (IFD) to open as the raster; see Info::pages
  bool sidecars = true;  // look for .aux.xml, .ovr, .msk and world files beside a local file
  Trust trust = Trust::automatic;
};

class Dataset {
 public:
  struct Impl;
  explicit Dataset(std::shared_ptr<Impl const> impl) noexcept : impl_(std::move(impl)) {}

  [[nodiscard]] Info const& info() const noexcept;

  // info() plus the fields that need PROJ's database: name, WKT2 and PROJJSON of the CRS, the EPSG code of a CRS that
  // is stored as parameters, and units of heights. Equal to info() if PROJ is not installed. Loading the database costs
  // milliseconds, so open() skips it.
  [[nodiscard]] Info detailed_info() const;

  [[nodiscard]] std::shared_ptr<Impl const> const& shared_impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<Impl const> impl_;
};

// Opens a local file, by its path or a file:// URL (percent-encoded; a host other than localhost is a `usage` error).
// Other URLs ("https://...", "s3://...") are an `unsupported` error: open them through a source of your own.
[[nodiscard]] Dataset open(std::string const& path, OpenOptions const& options = {});

// Opens a source of the caller (terrazzo/source.hpp), which the dataset keeps. No sidecars; untrusted unless
// `options.trust` or SourceHints::trusted says otherwise.
[[nodiscard]] Dataset open(std::shared_ptr<ByteSource const> source, OpenOptions const& options = {});

// Opens a file in memory. The bytes are borrowed and must outlive the dataset. No sidecars; untrusted unless
// `options.trust` is `trusted`.
[[nodiscard]] Dataset open_memory(std::span<std::byte const> bytes, std::string name = "memory",
                                  OpenOptions const& options = {});

// ---------------------------------------------------------------------------------------------------------------
// Requests

// A half-open rectangle of pixels: columns [column, column + width), rows [row, row + height).
struct Window {
  std::uint32_t column = 0, row = 0, width = 0, height = 0;
  friend bool operator==(Window const&, Window const&) = default;
};

enum class BadTile : std::uint8_t {
  error,  // the read fails with the error of the first bad tile, in tile order, for any number of threads
  fill,  // bad tiles become nodata (or 0) and are listed in ReadReport::bad_tiles
};

// Size of a resampled result, in pixels.
struct TargetSize {
  std::uint32_t width = 0, height = 0;
};

// Size of a resampled result's pixels, in units of the CRS; above 0.
struct TargetResolution {
  double x = 0, y = 0;
};

// A part of a grid of pixels over the raster. The origin (column, row) and the size (column_step x row_step) of the
// grid's pixels are in pixels of full resolution and may be fractions. The result is width x height pixels of the grid
// from (first_column, first_row) on. Parts of one grid have the same pixels as the whole grid. The centre of every
// result pixel must lie inside the raster; its edges may lie outside.
struct TargetGrid {
  double column = 0, row = 0;
  double column_step = 1, row_step = 1;
  std::uint32_t first_column = 0, first_row = 0;
  std::uint32_t width = 0, height = 0;
};

// Maps values linearly: `from_min` becomes `to_min`, `from_max` becomes `to_max`. Results are clamped to the range of
// `to_min` and `to_max`, in either order, before they are converted to the type of the result.
struct LinearScale {
  double from_min = 0, from_max = 1, to_min = 0, to_max = 1;
};

// The engine that decodes or encodes. `automatic` takes the faster engine by a cost model (docs/device.md). If the
// named engine cannot do the work, the error gives the reason.
enum class Engine : std::uint8_t {
  automatic,  // TERRAZZO_ENGINE overrides; the host engine decodes results in host memory
  host,
  device,
};

// How compressed bytes reach the GPU.
enum class DeviceFetch : std::uint8_t {
  automatic,
  ring,  // threads read into a ring of pinned buffers; reading one buffer overlaps with copying another
  kvikio,  // libkvikio, through GPUDirect Storage if the machine supports it
};

class DeviceAllocator;  // terrazzo/device.hpp

// Called from reading threads, one call at a time. Returning false cancels the read (`cancelled` error).
using Progress = std::function<bool(std::uint64_t tiles_done, std::uint64_t tiles_total)>;

struct ReadRequest {
  // In pixels of `level`, or of full resolution if the read is resampled. Default: the whole raster.
  std::optional<Window> window{};
  std::vector<std::uint32_t> bands{};  // 1-based, in any order, repeats allowed; empty: all
  std::uint32_t level = 0;  // 0: full resolution; 1: the first overview; ...
  // The target of a resampled read: at most one of the three, and then no `level`. Pixels come from the smallest level
  // that is at least as fine as the target, as in GDAL's RasterIO.
  std::optional<TargetSize> target_size{};  // the window becomes this many pixels
  // The window's pixels get exactly this size; its extent grows at the right and bottom to whole pixels.
  std::optional<TargetResolution> target_resolution{};
  std::optional<TargetGrid> target_grid{};  // the area is that of the grid; `window` must be empty
  Resampling resampling = Resampling::nearest;  // no effect without a target
  bool keep_extent = false;  // keeps the window's extent and rounds target_resolution to fit it

  bool masked = false;  // invalid pixels (nodata, mask, alpha) become NaN; integers become float64
  bool unpack = false;  // stored * scale + offset; integers become float64; nodata pixels are not scaled
  // Maps stored values and leaves missing pixels and the type unchanged. Real samples only; excludes `unpack`.
  std::optional<LinearScale> scale{};
  // Value of missing pixels, in the result's type (make_nodata()). With `masked` it applies to all missing pixels,
  // otherwise to pixels that have the nodata value. Defaults:
  // - with `masked`: NaN, or 0 in an integer type;
  // - with `unpack` alone: the nodata value if no valid pixel of the result can equal it, otherwise NaN (0 in an
  //   integer type);
  // - with `scale` alone: the nodata value, rounded and clamped to the type;
  // - otherwise: nodata values are converted like all values.
  std::optional<Nodata> missing{};
  std::optional<DType> dtype{};  // type of the result; values are rounded and clamped as GDAL does

  BadTile bad_tile = BadTile::error;
  bool strict = false;  // surplus data after a tile's last pixel is an error

  unsigned threads = 0;  // 0: one per core of the machine (TERRAZZO_THREADS overrides)
  std::uint64_t memory_limit_bytes = 0;  // for result and scratch; 0: Settings' default
  Progress progress{};
  std::atomic<bool> const* cancel = nullptr;  // setting it to true, from any thread, stops the read

  Engine engine = Engine::automatic;
  bool exact = false;  // decode lossy codecs on the host, for the same pixels with both engines
  // The remaining fields configure the device engine.
  std::optional<int> device{};  // the GPU's number in CUDA; default: the calling thread's current device
  std::uint64_t device_budget_bytes = 0;  // scratch beyond the result; 0: Settings' default
  DeviceFetch device_fetch = DeviceFetch::automatic;
  std::shared_ptr<DeviceAllocator> device_allocator{};  // null: the library's stream-ordered pool

  [[nodiscard]] bool has_target() const noexcept { return target_size || target_resolution || target_grid; }
};

// ---------------------------------------------------------------------------------------------------------------
// Results

// Flags of a DLPack tensor of version 1. Version 0 has none.
struct DlpackFlags {
  bool read_only = false;  // the receiver must not write
  bool copied = false;  // the memory is a copy made for the receiver
};

// An owned array of bands x height x width, C order. The constructor leaves samples uninitialised; read() writes every
// sample.
//
//   for (float const height : heights.as<float>()) { ... }
//   float const corner = heights.view<float>()(0, 0, 0);  // band, row, column
class HostArray {
 public:
  HostArray(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width);
  HostArray(HostArray&&) noexcept = default;
  HostArray& operator=(HostArray&&) noexcept = default;

  [[nodiscard]] DType dtype() const noexcept { return view_.dtype; }
  [[nodiscard]] std::uint32_t bands() const noexcept { return view_.bands; }
  [[nodiscard]] std::uint32_t height() const noexcept { return view_.height; }
  [[nodiscard]] std::uint32_t width() const noexcept { return view_.width; }
  [[nodiscard]] HostView const& view() noexcept { return view_; }
  [[nodiscard]] ConstHostView view() const noexcept { return view_; }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_.get(), size_bytes_}; }
  [[nodiscard]] std::span<std::byte const> bytes() const noexcept { return {data_.get(), size_bytes_}; }

  // All samples, and samples by band, row and column. A T that is not the array's dtype is a `usage` error.
  template <Sample T>
  [[nodiscard]] std::span<T> as() {
    return {samples<T>(), size_bytes_ / sizeof(T)};
  }
  template <Sample T>
  [[nodiscard]] std::span<T const> as() const {
    return {samples<T>(), size_bytes_ / sizeof(T)};
  }
  template <Sample T>
  [[nodiscard]] RasterSpan<T> view() {
    return {samples<T>(), bands(), height(), width()};
  }
  template <Sample T>
  [[nodiscard]] RasterSpan<T const> view() const {
    return {samples<T>(), bands(), height(), width()};
  }

  // Exports a DLPack tensor in host memory (ABI version 0 or 1) that shares the memory; the receiver calls its deleter.
  // Complex integers and complex float16 have no DLPack type and are an `unsupported` error.
  [[nodiscard]] DLManagedTensor* to_dlpack();
  [[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(DlpackFlags flags = {});

 private:
  template <Sample T>
  [[nodiscard]] T* samples() const {
    require_dtype(dtype_of<T>());
    return reinterpret_cast<T*>(data_.get());
  }
  void require_dtype(DType wanted) const;  // throws `usage`

  std::shared_ptr<std::byte> data_;  // with the DLPack tensors
  std::size_t size_bytes_;
  HostView view_;
};

// [count, bands, height, width]: one item for each window of read_windows(). All four strides 0 mean packed.
struct HostBatchView {
  HostView item{};  // the first
  std::uint32_t count = 0;
  std::int64_t item_stride_bytes = 0;
};

// count x bands x height x width, C order, owned; as HostArray.
class HostBatch {
 public:
  HostBatch(DType dtype, std::uint32_t count, std::uint32_t bands, std::uint32_t height, std::uint32_t width);

  [[nodiscard]] DType dtype() const noexcept { return view_.item.dtype; }
  [[nodiscard]] std::uint32_t count() const noexcept { return view_.count; }
  [[nodiscard]] std::uint32_t bands() const noexcept { return view_.item.bands; }
  [[nodiscard]] std::uint32_t height() const noexcept { return view_.item.height; }
  [[nodiscard]] std::uint32_t width() const noexcept { return view_.item.width; }
  [[nodiscard]] HostBatchView const& view() noexcept { return view_; }
  // The item of that window. REQUIRES: index < count().
  [[nodiscard]] HostView item(std::uint32_t index) noexcept;
  [[nodiscard]] ConstHostView item(std::uint32_t index) const noexcept;
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return memory_.bytes(); }
  [[nodiscard]] std::span<std::byte const> bytes() const noexcept { return memory_.bytes(); }

 private:
  HostArray memory_;
  HostBatchView view_;
};

struct BadTileReport {
  TileId tile{};
  ErrorKind kind = ErrorKind::malformed;
  std::string message{};
  std::string source{};  // name of the file
};

// Counts include tiles of masks. A read that fails reports its work up to the failure.
struct ReadReport {
  std::uint64_t tiles = 0;  // decoded
  std::uint64_t sparse_tiles = 0;  // absent from the file; filled
  std::uint64_t bytes_read = 0;  // compressed bytes fetched
  std::uint64_t surplus_tiles = 0;  // tiles with data after the last pixel
  // Filled with BadTile::fill. Messages about mask tiles begin with the mask's directory: "mask (IFD 1): ".
  std::vector<BadTileReport> bad_tiles{};
};

// The sample type of read()'s result: the bands' common type, changed by `masked`, `unpack` and `dtype`.
[[nodiscard]] DType result_dtype(Dataset const& dataset, ReadRequest const& request);

[[nodiscard]] HostArray read(Dataset const& dataset, ReadRequest const& request = {}, ReadReport* report = nullptr);

// Reads into the caller's memory. The view's bands, height and width must match the request. The view's dtype is the
// result type; `request.dtype` must be empty or equal to it.
void read_into(Dataset const& dataset, ReadRequest const& request, HostView const& destination,
               ReadReport* report = nullptr);

struct WindowOf {
  Dataset dataset;
  Window window{};
};

// Reads many windows of one size, from one file or several, into one array. Each tile is read and decoded once for all
// windows. `windows` needs at least one item; `request.window` and the request's target must be empty. All datasets
// must have the requested bands and, without `request.dtype`, the same type. Errors name the file and the window.
[[nodiscard]] HostBatch read_windows(std::span<WindowOf const> windows, ReadRequest const& request = {},
                                     ReadReport* report = nullptr);

// Reads into the caller's memory, one item for each window; see read_into().
void read_windows(std::span<WindowOf const> windows, ReadRequest const& request, HostBatchView const& destination,
                  ReadReport* report = nullptr);

// Validity of each pixel as uint8 (255 valid, 0 invalid), one band per requested band, from the mask, the alpha band or
// nodata in GDAL's order of preference. Values of a mask image with 8 bits are returned as stored: any value but 0 is
// valid. Resampling other than `nearest` gives 0 and 255. Ignores `masked`, `unpack`, `scale`, `missing` and `dtype`.
// With BadTile::fill, pixels whose mask cannot be decoded are invalid.
[[nodiscard]] HostArray read_mask(Dataset const& dataset, ReadRequest const& request = {},
                                  ReadReport* report = nullptr);

// ---------------------------------------------------------------------------------------------------------------
// Plans

struct PlannedTile {
  TileId id{};
  std::uint64_t offset_bytes = 0, size_bytes = 0;  // both 0: sparse, nothing is read
  Window in_tile{};  // the part of the tile that is used; empty if resampling skips the tile
  std::uint32_t column = 0, row = 0;  // position of its first pixel in the result
};

// The plan of a read, made without reading pixels. tile() computes each tile on demand, so the plan of a raster with
// millions of tiles stays small; it reads the pages of the tile index that it needs.
class ReadPlan {
 public:
  struct Impl;
  explicit ReadPlan(std::shared_ptr<Impl const> impl) noexcept : impl_(std::move(impl)) {}

  [[nodiscard]] std::uint32_t level() const noexcept;  // requested, or chosen for the target size
  [[nodiscard]] Window window() const noexcept;  // in pixels of that level
  [[nodiscard]] std::uint32_t width() const noexcept;  // of the result
  [[nodiscard]] std::uint32_t height() const noexcept;
  [[nodiscard]] std::vector<std::uint32_t> const& bands() const noexcept;  // 1-based
  [[nodiscard]] DType dtype() const noexcept;  // of the result
  [[nodiscard]] std::string const& codec() const noexcept;  // "deflate (libdeflate)"
  [[nodiscard]] std::uint32_t predictor() const noexcept;
  [[nodiscard]] std::uint64_t tile_count() const noexcept;  // all tiles of the window, skipped ones included
  [[nodiscard]] PlannedTile tile(std::uint64_t index) const;
  [[nodiscard]] std::uint64_t result_bytes() const noexcept;
  [[nodiscard]] std::uint64_t scratch_bytes() const noexcept;  // at the planned number of threads
  [[nodiscard]] unsigned threads() const noexcept;
  [[nodiscard]] Impl const& impl() const noexcept { return *impl_; }

 private:
  std::shared_ptr<Impl const> impl_;
};

[[nodiscard]] ReadPlan plan(Dataset const& dataset, ReadRequest const& request = {});

}  // namespace terrazzo
#pragma GCC visibility pop
