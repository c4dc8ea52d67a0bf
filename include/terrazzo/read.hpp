// SPDX-License-Identifier: Apache-2.0
//
// Opening and reading rasters.
//
//   terrazzo::Dataset dem = terrazzo::open("dem.tif");
//   terrazzo::HostArray a = terrazzo::read(dem, {.window = terrazzo::Window{1024, 1024, 512, 512}, .masked = true});
//
// open() reads the header and the directories, nothing else. A Dataset is immutable and thread-safe: any number of
// threads may read from one. Reads run on a process-wide pool, sized to the machine (see Settings). All functions
// throw terrazzo::Error. Memory whose size comes from a file or a request is checked against a budget before it is
// allocated; the result itself counts.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/info.hpp"

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

namespace terrazzo {

class ByteSource;

// ---------------------------------------------------------------------------------------------------------------
// Opening

// May decoders that are fast but not hardened (libtiff's long tail; on the GPU, nvCOMP, nvJPEG and nvJPEG2000) see
// these bytes?
enum class Trust : std::uint8_t {
  automatic,  // local files are trusted, memory and remote sources are not
  trusted,
  untrusted,
};

struct OpenOptions {
  std::uint32_t page = 0;      // index of the directory (IFD) to open as the raster; see Info::pages
  bool sidecars = true;        // look for .aux.xml, .ovr, .msk and world files beside a local file
  Trust trust = Trust::automatic;
};

class Dataset {
 public:
  struct Impl;
  explicit Dataset(std::shared_ptr<Impl const> impl) noexcept : impl_(std::move(impl)) {}

  [[nodiscard]] Info const& info() const noexcept;

  // info() with what only PROJ knows: the CRS's name, WKT2 and PROJJSON, the code of a CRS that is given by parameters,
  // units of heights. Equal to info() where PROJ is not found. Loading PROJ's database costs milliseconds, so open()
  // leaves it out.
  [[nodiscard]] Info detailed_info() const;

  [[nodiscard]] std::shared_ptr<Impl const> const& shared_impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<Impl const> impl_;
};

// A local file. "http://..." and the like are an `unsupported` error: remote sources come later.
[[nodiscard]] Dataset open(std::string const& path, OpenOptions const& options = {});

// A file in memory, borrowed: the bytes must outlive the dataset. No sidecars, untrusted unless told otherwise.
[[nodiscard]] Dataset open_memory(std::span<std::byte const> bytes, std::string name = "memory",
                                  OpenOptions const& options = {});

// ---------------------------------------------------------------------------------------------------------------
// Asking

// A rectangle of pixels, half open: columns [column, column + width).
struct Window {
  std::uint32_t column = 0, row = 0, width = 0, height = 0;
  friend bool operator==(Window const&, Window const&) = default;
};

enum class BadTile : std::uint8_t {
  error,  // the first bad tile fails the read (in tile order, whatever the threads)
  fill,  // bad tiles become nodata (or 0) and are listed in ReadReport::bad_tiles
};

// How a result is shaped when it is not of the window's size.
struct TargetSize {
  std::uint32_t width = 0, height = 0;
};

// Who decodes. `automatic` takes the faster one by a cost model (docs/device.md); a forced choice that cannot be met is
// an error that says why.
enum class Engine : std::uint8_t {
  automatic,  // TERRAZZO_ENGINE overrides; results in host memory are decoded by the host
  host,
  device,
};

// How compressed bytes get to the GPU.
enum class DeviceFetch : std::uint8_t {
  automatic,
  ring,  // threads read into pinned memory, which is copied while the next is read
  kvikio,  // libkvikio, over GPUDirect Storage where the machine has it
};

class DeviceAllocator;  // terrazzo/device.hpp

// Called from reading threads, never two at a time. Returning false cancels the read (`cancelled` error).
using Progress = std::function<bool(std::uint64_t tiles_done, std::uint64_t tiles_total)>;

struct ReadRequest {
  // In pixels of the level that is read; of full resolution when a target size is given. Default: everything.
  std::optional<Window> window{};
  std::vector<std::uint32_t> bands{};  // 1-based, in any order, repeats allowed; empty: all
  std::uint32_t level = 0;  // 0 full resolution, 1 the first overview, ...
  // Resample the window to this size: nearest neighbour out of the smallest level that is at least as fine, as GDAL's
  // RasterIO does. Not together with `level`.
  std::optional<TargetSize> target_size{};

  bool masked = false;  // invalid pixels (nodata, mask, alpha) become NaN; integers become float64
  bool unpack = false;  // stored * scale + offset; integers become float64; pixels of nodata are not scaled
  // What missing pixels become with `masked` or `unpack`, a value of the result's type (make_nodata()). Default: NaN
  // with `masked`; with `unpack` alone, pixels of nodata keep that value where no other pixel of the result can have
  // it, and become NaN elsewhere. NaN is 0 in an integer.
  std::optional<Nodata> missing{};
  std::optional<DType> dtype{};  // of the result; values are rounded and clamped as GDAL does

  BadTile bad_tile = BadTile::error;
  bool strict = false;  // surplus data in a tile is an error too

  unsigned threads = 0;  // 0: as many as the machine has (TERRAZZO_THREADS overrides)
  std::uint64_t memory_limit_bytes = 0;  // of result and scratch; 0: Settings' default
  Progress progress{};
  std::atomic<bool> const* cancel = nullptr;  // set it to true from anywhere to stop the read

  Engine engine = Engine::automatic;
  bool exact = false;  // lossy codecs are decoded on the host, so that pixels do not depend on the engine
  // The rest is for reads by the device engine.
  std::uint64_t device_budget_bytes = 0;  // of scratch beyond the result; 0: Settings' default
  DeviceFetch device_fetch = DeviceFetch::automatic;
  DeviceAllocator* device_allocator = nullptr;  // null: a stream-ordered pool of our own
};

// ---------------------------------------------------------------------------------------------------------------
// Results

// Somebody's memory, described: strides in bytes may be negative, and of any order (band-first, band-last, padded).
// All three strides 0 mean packed: bands x height x width, C order. Otherwise a stride of 0 repeats one band, row or
// pixel where the view is written from; in a view that is read into, it is a `usage` error over more than one of them.
struct HostView {
  void* data = nullptr;  // of band 0, row 0, column 0
  DType dtype = DType::u8;
  std::uint32_t bands = 0, height = 0, width = 0;
  std::int64_t band_stride_bytes = 0, row_stride_bytes = 0, pixel_stride_bytes = 0;
};

// bands x height x width, C order, owned. Uninitialised pages are never exposed: every sample is written by read().
class HostArray {
 public:
  HostArray(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width);

  [[nodiscard]] DType dtype() const noexcept { return view_.dtype; }
  [[nodiscard]] std::uint32_t bands() const noexcept { return view_.bands; }
  [[nodiscard]] std::uint32_t height() const noexcept { return view_.height; }
  [[nodiscard]] std::uint32_t width() const noexcept { return view_.width; }
  [[nodiscard]] HostView const& view() const noexcept { return view_; }
  [[nodiscard]] std::span<std::byte> bytes() noexcept { return {data_.get(), size_bytes_}; }
  [[nodiscard]] std::span<std::byte const> bytes() const noexcept { return {data_.get(), size_bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_bytes_;
  HostView view_;
};

struct BadTileReport {
  TileId tile{};
  ErrorKind kind = ErrorKind::malformed;
  std::string message{};
};

// Masks that a read needed are counted with the pixels.
// Of a read that failed: what was done until then.
struct ReadReport {
  std::uint64_t tiles = 0;  // decoded
  std::uint64_t sparse_tiles = 0;  // not in the file, filled
  std::uint64_t bytes_read = 0;  // compressed bytes fetched
  std::uint64_t surplus_tiles = 0;  // tiles whose data went on after the last pixel
  // With BadTile::fill. The message of a tile of a mask begins with the mask's directory, "mask (IFD 1): ".
  std::vector<BadTileReport> bad_tiles{};
};

// The type read() gives for this request: the bands' common type, or what masked / unpack / dtype make of it.
[[nodiscard]] DType result_dtype(Dataset const& dataset, ReadRequest const& request);

[[nodiscard]] HostArray read(Dataset const& dataset, ReadRequest const& request = {}, ReadReport* report = nullptr);

// Into the caller's memory. The view's bands, height and width must be those of the request; its dtype is the
// result's (request.dtype must be empty or equal to it).
void read_into(Dataset const& dataset, ReadRequest const& request, HostView const& destination,
               ReadReport* report = nullptr);

// Validity of each pixel as uint8, 255 valid and 0 not, one band per requested band: from the mask, the alpha band or
// nodata, in GDAL's order of preference. Only window, bands, level, target_size and the settings of the request count.
// With BadTile::fill, pixels whose mask cannot be decoded are invalid.
[[nodiscard]] HostArray read_mask(Dataset const& dataset, ReadRequest const& request = {},
                                  ReadReport* report = nullptr);

// ---------------------------------------------------------------------------------------------------------------
// Plans

struct PlannedTile {
  TileId id{};
  std::uint64_t offset_bytes = 0, size_bytes = 0;  // both 0: sparse, nothing is read
  Window in_tile{};  // the part of the tile that is used; empty when a result of another size skips the tile
  std::uint32_t column = 0, row = 0;  // where its first pixel goes in the result
};

// What a read would do: a value, made without touching pixels. Tiles are computed when asked for, so that the plan of
// a raster with millions of tiles stays small; asking reads the pages of the tile index it needs.
class ReadPlan {
 public:
  struct Impl;
  explicit ReadPlan(std::shared_ptr<Impl const> impl) noexcept : impl_(std::move(impl)) {}

  [[nodiscard]] std::uint32_t level() const noexcept;  // chosen or asked for
  [[nodiscard]] Window window() const noexcept;  // in pixels of that level
  [[nodiscard]] std::uint32_t width() const noexcept;  // of the result
  [[nodiscard]] std::uint32_t height() const noexcept;
  [[nodiscard]] std::vector<std::uint32_t> const& bands() const noexcept;  // 1-based
  [[nodiscard]] DType dtype() const noexcept;  // of the result
  [[nodiscard]] std::string const& codec() const noexcept;  // "deflate (libdeflate)"
  [[nodiscard]] std::uint32_t predictor() const noexcept;
  [[nodiscard]] std::uint64_t tile_count() const noexcept;  // of the window, those included that are skipped
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
