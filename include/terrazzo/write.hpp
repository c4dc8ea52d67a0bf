// SPDX-License-Identifier: Apache-2.0
//
// Writing rasters: GeoTIFF and Cloud-Optimized GeoTIFF (COG), streamed in one pass.
//
//   terrazzo::Writer out = terrazzo::create("out.tif", width, height,
//                                           {.dtype = terrazzo::DType::f32, .cog = true,
//                                            .compression = terrazzo::Compression::zstd,
//                                            .georeference = info.georeference});
//   while (auto rows = next_rows()) { out.write_rows(*rows); }   // any number of rows at a time
//   out.close();                                                 // the complete file appears
//
// The file's bytes are the same for any split into rows, any number of threads and any kind of sink. close() publishes
// the file under its final name; until then, an existing file of that name stays. Destroying a Writer without close()
// leaves no file. create() checks the options before it writes a byte and throws `usage` for invalid combinations. All
// functions throw terrazzo::Error.
//
// Thread rule: one thread at a time may use a Writer; the work runs on the process-wide pool.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/info.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/resampling.hpp"
#include "terrazzo/sink.hpp"
#include "terrazzo/stream.hpp"
#include "terrazzo/view.hpp"

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

#pragma GCC visibility push(default)
namespace terrazzo {

// ---------------------------------------------------------------------------------------------------------------
// Options

enum class Compression : std::uint8_t {
  none,
  packbits,
  lzw,
  deflate,
  zstd,
  lerc,  // floats and integers with a bounded error; see WriteOptions::lerc_max_error
  lerc_deflate,
  lerc_zstd,
  jpeg,  // 8-bit samples, 1 or 3 bands (or 4 with alpha)
  jpeg2000,
  webp,  // 8-bit samples, 3 or 4 bands
  lzma,
  lz4,  // private compression number 50004, as xarray-spatial's geotiff module writes it; GDAL cannot read it
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
  automatic,  // BigTIFF if the file could exceed 4 GiB in the worst case
  always,
  never,  // a file that grows past 4 GiB is a `limit` error
};

enum class ChromaSubsampling : std::uint8_t { s420, s422, s444 };

// Where compressed full-resolution tiles wait until their offsets in the file are known (COGs, append-only sinks). The
// choice does not change the file's bytes.
enum class SpoolWay : std::uint8_t {
  automatic,  // memory up to spool_bytes, then the file itself, then an unnamed file
  memory,  // memory only; exceeding spool_bytes is a `limit` error
  in_place,  // in the output file; space for the header is inserted at the end (ext4, xfs; elsewhere `unsupported`)
  unnamed_file,  // an unnamed file beside the output, or in the folder for temporary files
};

// A tag that is written unchanged. `bytes` holds `count` little-endian values of TIFF field type `type`.
struct ExtraTag {
  std::uint16_t tag = 0;
  std::uint16_t type = 1;
  std::uint64_t count = 0;
  std::vector<std::byte> bytes{};
};

// Tile size in pixels; multiples of 16.
struct TileSize {
  std::uint32_t width = 512, height = 512;
};

struct WriteOptions {
  // Pixels.
  DType dtype = DType::u8;
  std::uint32_t bands = 1;
  std::optional<Nodata> nodata{};  // see make_nodata()
  bool nan_to_nodata = true;  // if `nodata` is set, NaN is written as that value
  // Empty, or one per band. Used fields: scale, offset, unit, description, metadata, colour, colour table, category
  // names.
  std::vector<BandInfo> band_info{};
  bool mask = false;  // write an internal mask; every write_rows() call then needs one
  // Bits of a pixel of the mask: 1 stores 0 and 255, 8 stores all values (masks of overviews: 0 and 255). 0: 1 bit, but
  // convert() takes 8 if the source's mask has shades. The host engine writes masks of 8 bits.
  std::uint32_t mask_bits = 0;

  // Layout.
  TileSize tile_size{};
  std::optional<std::uint32_t> strip_rows{};  // write strips of this many rows instead of tiles
  PlanarLayout planar = PlanarLayout::contiguous;
  BigTiff bigtiff = BigTiff::automatic;
  bool cog = false;  // directories first, overviews, GDAL's ghost area
  bool sparse = false;  // tiles that hold only nodata (or 0) take no space
  std::optional<std::string> photometric{};  // "minisblack", "miniswhite", "rgb", "cmyk"; default by bands and colours

  // Compression. `quality`, `lossless`, `jpeg2000_rate` and `chroma` apply only to the codecs named beside them and are
  // ignored otherwise; a `level` or `lerc_max_error` for a codec without that parameter is a `usage` error.
  Compression compression = Compression::zstd;
  std::optional<int> level{};  // deflate 1-12 (6), zstd 1-22 (9), lzma 0-9 (6), lz4 0-16 (0); see docs/writing.md
  bool checksum = false;  // ZSTD: a checksum in every tile, which decoders verify; a `usage` error with other codecs
  PredictorChoice predictor = PredictorChoice::automatic;
  double lerc_max_error = 0;
  int quality = 75;  // JPEG and lossy WebP, 1-100
  bool lossless = true;  // JPEG 2000 and WebP
  double jpeg2000_rate = 0;  // lossy JPEG 2000: target compression ratio, such as 20
  ChromaSubsampling chroma = ChromaSubsampling::s420;  // JPEG

  // Overview factors, 2 or larger. nullopt: a COG gets halved levels until one fits one tile; other files get none.
  std::optional<std::vector<std::uint32_t>> overview_factors{};
  std::optional<Resampling> overview_resampling{};  // default: nearest for palettes and category names, else average

  // Georeference and metadata.
  Georeference georeference{};  // the CRS is taken from the first non-empty one of projjson, wkt, epsg
  Metadata metadata{};
  std::vector<ExtraTag> extra_tags{};
  bool statistics = false;  // compute and write STATISTICS_* of every band

  // The engine that cuts, reduces and compresses. `automatic`: the device engine for rows in device memory, the host
  // engine for rows in host memory (TERRAZZO_ENGINE overrides). Both give the same pixels, tags and layout; compressed
  // bytes may differ (docs/writing.md).
  Engine engine = Engine::automatic;

  // Resources. These fields do not change the file. `progress` and sink callbacks may run on a thread of the writer,
  // also between calls, but one at a time.
  std::uint64_t streaming_buffer_bytes = std::uint64_t{256} << 20;  // rows waiting to be encoded; at least one tile row
  std::uint64_t spool_bytes = std::uint64_t{1} << 30;  // compressed tiles waiting in memory
  SpoolWay spool_way = SpoolWay::automatic;
  Durability durability = Durability::none;
  unsigned threads = 0;  // 0: one per core of the machine (TERRAZZO_THREADS overrides)
  // The GPU's number in CUDA, also that of rows in device memory; default: the current device of the thread that writes
  // the first rows.
  std::optional<int> device{};
  std::uint64_t device_budget_bytes = 0;  // device memory beyond the caller's rows; 0: Settings' default
  std::shared_ptr<DeviceAllocator> device_allocator{};  // null: the library's stream-ordered pool
  Progress progress{};  // counts tiles, overviews included; returning false cancels
  std::atomic<bool> const* cancel = nullptr;
};

// Parses a nodata value in the notation of GDAL's tag: "-9999", "nan", "255". Exact for 64-bit integers.
[[nodiscard]] Nodata make_nodata(std::string_view text, DType dtype);

// Options for a raster like this one: type, bands, nodata, georeference, metadata, mask. Layout and compression stay
// at their defaults.
[[nodiscard]] WriteOptions options_like(Info const& info);

// ---------------------------------------------------------------------------------------------------------------
// Writing

struct WriteReport {
  std::uint64_t tiles = 0, sparse_tiles = 0;  // overviews and masks included
  std::uint64_t bytes_written = 0;  // size of the file
  std::uint64_t compressed_bytes = 0;  // of all tiles
  std::string spool_way{};  // "memory", "in place", "unnamed file"; empty if nothing was spooled
  std::uint64_t device_tiles = 0;  // tiles encoded by the GPU, without sparse ones
};

// Compressed tiles of one image: one buffer, and the position of each tile in it.
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
  ~Writer();  // aborts if close() was not called

  // Writes the next rows, from top to bottom: any number of rows and any strides, with the raster's width, bands and
  // dtype. With WriteOptions::mask, `mask` has one uint8 band that is 0 for invalid pixels.
  void write_rows(ConstHostView const& rows);
  void write_rows(ConstHostView const& rows, ConstHostView const& mask);
  // Writes rows in device memory, after the work that the caller queued on `stream` (as read_device()). The caller may
  // change the rows as soon as the call returns. Host and device rows may alternate.
  void write_rows(ConstDeviceView const& rows, StreamView stream = {});
  void write_rows(ConstDeviceView const& rows, ConstDeviceView const& mask, StreamView stream = {});

  // Writes one full-resolution tile that encode_tiles() or another program has compressed; empty bytes make it sparse.
  // Tiles may come in any order, and are stored unchanged. For a COG, overviews or statistics, tiles are decoded too; a
  // tile that comes before tiles above it waits in memory, within the memory limit. Cannot be combined with
  // write_rows() or a mask.
  void write_encoded(TileId tile, std::span<std::byte const> bytes);

  // Rows that remain to be written.
  [[nodiscard]] std::uint32_t rows_left() const noexcept;

  // Publishes the file. If rows are missing, throws a `usage` error and publishes nothing.
  WriteReport close();

  // Discards the file. Afterwards the Writer can only be destroyed.
  void abort() noexcept;

 private:
  std::unique_ptr<Impl> impl_;
};

[[nodiscard]] Writer create(std::string const& path, std::uint32_t width, std::uint32_t height,
                            WriteOptions const& options);
[[nodiscard]] Writer create(std::shared_ptr<ByteSink> sink, std::uint32_t width, std::uint32_t height,
                            WriteOptions const& options);

// Writes a whole raster. The view's dtype and bands replace those of the options.
WriteReport write(std::string const& path, ConstHostView const& pixels, WriteOptions options);
WriteReport write(std::shared_ptr<ByteSink> sink, ConstHostView const& pixels, WriteOptions options);
WriteReport write(std::string const& path, ConstDeviceView const& pixels, WriteOptions options, StreamView stream = {});
WriteReport write(std::shared_ptr<ByteSink> sink, ConstDeviceView const& pixels, WriteOptions options,
                  StreamView stream = {});

// Compresses the part of a width x height raster that `pixels` covers: whole tiles, starting with tile `first`. Tiles
// at the right and bottom edges may be cut by the raster's edge. Lets several processes compress tiles for one process
// that calls write_encoded(). `options` are those of the file: overviews and statistics are left to that process.
[[nodiscard]] EncodedTiles encode_tiles(ConstHostView const& pixels, TileId first, std::uint32_t width,
                                        std::uint32_t height, WriteOptions const& options);
[[nodiscard]] EncodedTiles encode_tiles(ConstDeviceView const& pixels, TileId first, std::uint32_t width,
                                        std::uint32_t height, WriteOptions const& options, StreamView stream = {});

}  // namespace terrazzo
#pragma GCC visibility pop
