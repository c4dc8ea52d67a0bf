// SPDX-License-Identifier: Apache-2.0
//
// Writing rasters: GeoTIFF and Cloud-Optimized GeoTIFF (COG), streamed in one pass.
//
//   terrazzo::Writer out = terrazzo::create("out.tif", width, height,
//                                           {.dtype = terrazzo::DType::f32, .compression = terrazzo::Compression::zstd,
//                                            .cog = true, .georeference = info.georeference});
//   while (auto rows = next_rows()) { out.write_rows(*rows); }   // any number of rows at a time
//   out.close();                                                 // the file appears, whole
//
// An eager write is a streamed write of one piece: the file's bytes do not depend on how the rows arrived, on the
// number of threads or on the kind of sink. Until close() nothing is to be seen under the final name, and what was
// there stays; a Writer that is dropped without close() leaves no file. Wrong combinations of options are `usage`
// errors of create(), before a byte is written. All functions throw terrazzo::Error.
//
// Thread rule: a Writer belongs to one thread at a time; it works on the process-wide pool.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/read.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo {

class ByteSink;
struct DeviceView;  // terrazzo/device.hpp

// ---------------------------------------------------------------------------------------------------------------
// Options

enum class Compression : std::uint8_t {
  none,
  packbits,
  lzw,
  deflate,
  zstd,
  lerc,  // float and integer samples with a bounded error; see WriteOptions::lerc_max_error
  lerc_deflate,
  lerc_zstd,
  jpeg,  // 8-bit samples, 1 or 3 bands (or 4 with alpha)
  jpeg2000,
  webp,  // 8-bit samples, 3 or 4 bands
  lzma,
  lz4,  // the reference system's own (50004): GDAL does not read it
};
[[nodiscard]] std::string_view to_string(Compression compression) noexcept;  // "deflate", "lerc-zstd"
[[nodiscard]] std::optional<Compression> parse_compression(std::string_view name) noexcept;

enum class PredictorChoice : std::uint8_t {
  automatic,  // 3 for floats and 2 for integers of 8 to 64 bits with LZW, Deflate and ZSTD; none otherwise
  none,
  horizontal,
  floating_point,
};

enum class BigTiff : std::uint8_t {
  automatic,  // when the file could pass 4 GiB in the worst case
  always,
  never,  // a file that grows too large is a `limit` error
};

enum class Resampling : std::uint8_t {
  nearest,
  average,
  bilinear,
  cubic,
  lanczos,
  mode,
  minimum,
  maximum,
  median,
  rms
};
[[nodiscard]] std::string_view to_string(Resampling method) noexcept;
[[nodiscard]] std::optional<Resampling> parse_resampling(std::string_view name) noexcept;

enum class Durability : std::uint8_t {
  none,  // the file survives this process, not a power failure
  fsync,  // file and folder are on the disk when close() returns
};

enum class ChromaSubsampling : std::uint8_t { s420, s422, s444 };

// What bytes of full-resolution tiles do until their place in the file is known (COGs, and sinks that only append).
// The file is the same whatever the way.
enum class SpoolWay : std::uint8_t {
  automatic,  // memory up to spool_bytes, then the file itself, then an unnamed file
  memory,  // only memory; passing spool_bytes is a `limit` error
  in_place,  // in the file, which gets its front inserted at the end (ext4, xfs); `unsupported` elsewhere
  unnamed_file,  // beside the file, or in the folder for temporary files
};

// A tag to be written as it is. `bytes` hold `count` values of TIFF field type `type`, little-endian.
struct ExtraTag {
  std::uint16_t tag = 0;
  std::uint16_t type = 1;
  std::uint64_t count = 0;
  std::vector<std::byte> bytes{};
};

// Rows x columns of a tile, in pixels; multiples of 16.
struct TileSize {
  std::uint32_t width = 512, height = 512;
};

struct WriteOptions {
  // Pixels.
  DType dtype = DType::u8;
  std::uint32_t bands = 1;
  std::optional<Nodata> nodata{};  // see make_nodata()
  bool nan_to_nodata = true;  // where there is nodata, NaN becomes that value, on the way
  // One per band, or none: scale, offset, unit, description, metadata, colour, colour table, category names. Other
  // fields are not looked at.
  std::vector<BandInfo> band_info{};
  bool mask = false;  // an internal mask; every write_rows() then brings one

  // Layout.
  TileSize tile_size{};
  std::optional<std::uint32_t> strip_rows{};  // strips of so many rows instead of tiles
  PlanarLayout planar = PlanarLayout::contiguous;
  BigTiff bigtiff = BigTiff::automatic;
  bool cog = false;  // IFDs first, overviews, GDAL's ghost area; rows must come in order
  bool sparse = false;  // tiles that hold only nodata (or 0) take no space
  std::optional<std::string> photometric{};  // "minisblack", "miniswhite", "rgb", "cmyk"; default by bands and colours

  // Compression. quality, lossless, jpeg2000_rate and chroma are not looked at by other codecs than theirs; a level or
  // an error given to one that has none is a `usage` error.
  Compression compression = Compression::zstd;
  std::optional<int> level{};  // deflate 1-12 (6), zstd 1-22 (9), lzma 0-9 (6), lz4 0-16 (0); docs/writing.md says why
  PredictorChoice predictor = PredictorChoice::automatic;
  double lerc_max_error = 0;
  int quality = 75;  // JPEG and lossy WebP, 1-100
  bool lossless = true;  // JPEG 2000 and WebP
  double jpeg2000_rate = 0;  // lossy: compression ratio aimed at, such as 20
  ChromaSubsampling chroma = ChromaSubsampling::s420;

  // Overviews. nullopt: for a COG, halved until one tile holds it; else none. Factors are whole numbers, 2 and up.
  std::optional<std::vector<std::uint32_t>> overview_factors{};
  std::optional<Resampling> resampling{};  // default: nearest for palettes and category names, else average

  // Georeference and metadata.
  Georeference georeference{};  // crs: the first of projjson, wkt, epsg that is there
  Metadata metadata{};
  std::vector<ExtraTag> extra_tags{};
  bool statistics = false;  // STATISTICS_* of every band, computed on the way

  // Who cuts, reduces and compresses. `automatic`: the GPU for rows that lie in its memory, the host for others
  // (TERRAZZO_ENGINE overrides). Pixels, tags and layout are the same; compressed bytes may differ (docs/writing.md).
  Engine engine = Engine::automatic;

  // How it is done. Nothing here changes the file. `progress` and callbacks of sinks may run on a thread of the writer,
  // also between calls, never two at a time.
  std::uint64_t streaming_buffer_bytes = std::uint64_t{256} << 20;  // rows waiting for their tile row; at least one
  std::uint64_t spool_bytes = std::uint64_t{1} << 30;  // compressed tiles waiting in memory
  SpoolWay spool_way = SpoolWay::automatic;
  Durability durability = Durability::none;
  unsigned threads = 0;  // 0: as many as the machine has (TERRAZZO_THREADS overrides)
  std::uint64_t device_budget_bytes = 0;  // of all device memory beyond the caller's rows; 0: Settings' default
  DeviceAllocator* device_allocator = nullptr;  // null: a stream-ordered pool of our own
  Progress progress{};  // of tiles, overviews included; returning false cancels
  std::atomic<bool> const* cancel = nullptr;
};

// A nodata value of any type; for 64-bit integers too. `text` is as in GDAL's tag: "-9999", "nan", "255".
[[nodiscard]] Nodata make_nodata(std::string_view text, DType dtype);

// Options that would write a raster like this one: type, bands, nodata, georeference, metadata, mask. Layout and
// compression stay at their defaults.
[[nodiscard]] WriteOptions options_like(Info const& info);

// ---------------------------------------------------------------------------------------------------------------
// Sinks

// Where a file goes. A path: written under a temporary name in the same folder, renamed by close(). "-": stdout.
[[nodiscard]] std::shared_ptr<ByteSink> file_sink(std::string path, Durability durability = Durability::none);

// `bytes` is replaced by close().
[[nodiscard]] std::shared_ptr<ByteSink> memory_sink(std::vector<std::byte>& bytes);

// The caller's functions. An exception of theirs stops the write and is thrown on as it is.
using WriteAt = std::function<void(std::uint64_t offset_bytes, std::span<std::byte const> bytes)>;
using Append = std::function<void(std::span<std::byte const> bytes)>;
[[nodiscard]] std::shared_ptr<ByteSink> seekable_sink(std::string name, WriteAt write_at);
[[nodiscard]] std::shared_ptr<ByteSink> append_sink(std::string name, Append append);

// ---------------------------------------------------------------------------------------------------------------
// Writing

struct WriteReport {
  std::uint64_t tiles = 0, sparse_tiles = 0;  // overviews and masks included
  std::uint64_t bytes_written = 0;  // size of the file
  std::uint64_t compressed_bytes = 0;  // of all tiles
  std::string spool_way{};  // "memory", "in place", "unnamed file"; empty when tiles went straight to their place
  std::uint64_t device_tiles = 0;  // of `tiles`: made by the GPU, without those that are sparse
};

// Tiles of one image, compressed: one buffer, and for every tile where it lies.
struct EncodedTile {
  TileId id{};
  std::size_t offset_bytes = 0, size_bytes = 0;  // size 0: sparse
};
struct EncodedTiles {
  std::vector<std::byte> buffer{};
  std::vector<EncodedTile> tiles{};
  [[nodiscard]] std::span<std::byte const> bytes_of(EncodedTile const& tile) const noexcept {
    return std::span(buffer).subspan(tile.offset_bytes, tile.size_bytes);
  }
};

class Writer {
 public:
  struct Impl;
  explicit Writer(std::unique_ptr<Impl> impl) noexcept;
  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // aborts when close() was not called

  // The next rows, top-down: as wide as the raster, with its bands; any number of rows, any strides. The dtype is the
  // file's. With WriteOptions::mask, `mask` has one uint8 band, 0 where pixels are invalid.
  void write_rows(HostView const& rows);
  void write_rows(HostView const& rows, HostView const& mask);
  // Rows in device memory; work that the caller put on `stream` is waited for (as read_device()). On return they may be
  // changed. Host and device rows may alternate.
  void write_rows(DeviceView const& rows, void* stream = nullptr);
  void write_rows(DeviceView const& rows, DeviceView const& mask, void* stream = nullptr);

  // A tile of the full resolution that is compressed already, by encode_tiles() or another program; empty bytes:
  // sparse. In any order; not in a COG, not with overviews, statistics or a mask, and not mixed with write_rows().
  void write_encoded(TileId tile, std::span<std::byte const> bytes);

  // Rows of the raster that are still to come.
  [[nodiscard]] std::uint32_t rows_left() const noexcept;

  // Publishes the file. Too few rows are a `usage` error, and no file appears.
  WriteReport close();

  // Leaves no trace. The Writer can only be dropped afterwards.
  void abort() noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

[[nodiscard]] Writer create(std::string const& path, std::uint32_t width, std::uint32_t height,
                            WriteOptions const& options);
[[nodiscard]] Writer create(std::shared_ptr<ByteSink> sink, std::uint32_t width, std::uint32_t height,
                            WriteOptions const& options);

// The whole raster at once. The view's dtype and bands win over those of the options.
WriteReport write(std::string const& path, HostView const& pixels, WriteOptions options);
WriteReport write(std::shared_ptr<ByteSink> sink, HostView const& pixels, WriteOptions options);
WriteReport write(std::string const& path, DeviceView const& pixels, WriteOptions options, void* stream = nullptr);
WriteReport write(std::shared_ptr<ByteSink> sink, DeviceView const& pixels, WriteOptions options,
                  void* stream = nullptr);

// Compresses what `pixels` covers of a raster of width x height: whole tiles, the first of which is `first`. Edge tiles
// may be cut by the raster's edge. For other processes to compress and one to write_encoded().
[[nodiscard]] EncodedTiles encode_tiles(HostView const& pixels, TileId first, std::uint32_t width, std::uint32_t height,
                                        WriteOptions const& options);

}  // namespace terrazzo
