// SPDX-License-Identifier: Apache-2.0
//
// Functions that bench/write_peers.py calls through ctypes: Terrazzo's public writer on pixels of the caller, to a file
// or to a sink that drops the bytes; codec libraries alone on predicted tiles; a plain write of the file's size.
// Functions return 0, or -1 with the reason in shim_error(). One caller at a time.
#include "shim_common.hpp"
#include "terrazzo/dtype.hpp"
#include "terrazzo/write.hpp"

#include <Lerc_c_api.h>
#include <libdeflate.h>
#include <tiffio.h>
#include <zstd.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using terrazzo::bench::g_error;
using terrazzo::bench::guarded;
using terrazzo::bench::in_parallel;

// -- codec libraries alone --------------------------------------------------------------------------------------------

// One tile encoder per thread, with whatever state its library keeps. Returns the size.
using Encoder = std::function<std::uint64_t(std::span<std::uint8_t const> tile, std::span<std::uint8_t> out)>;

// As libtiff, and so GDAL: from level 6 on, libdeflate's next higher one.
Encoder deflate_encoder(int level) {
  constexpr int kHighest = 12;
  int const library_level = level >= 6 && level < kHighest ? level + 1 : level;
  std::shared_ptr<libdeflate_compressor> const state(libdeflate_alloc_compressor(library_level),
                                                     libdeflate_free_compressor);
  return [state](auto tile, auto out) {
    return libdeflate_zlib_compress(state.get(), tile.data(), tile.size(), out.data(), out.size());
  };
}

Encoder zstd_encoder(int level) {
  std::shared_ptr<ZSTD_CCtx> const state(ZSTD_createCCtx(), ZSTD_freeCCtx);
  return [state, level](auto tile, auto out) {
    auto const size = ZSTD_compressCCtx(state.get(), out.data(), out.size(), tile.data(), tile.size(), level);
    return ZSTD_isError(size) != 0 ? 0 : size;
  };
}

// libtiff has no LZW without a file around it: a file of one tile, whose bytes go nowhere but are counted.
struct CountingTiff {
  std::uint64_t position = 0, end = 0;

  static CountingTiff& self(thandle_t handle) { return *static_cast<CountingTiff*>(handle); }
  static tmsize_t read(thandle_t, void*, tmsize_t) { return 0; }
  static tmsize_t write(thandle_t handle, void*, tmsize_t size) {
    auto& file = self(handle);
    file.position += static_cast<std::uint64_t>(size);
    file.end = std::max(file.end, file.position);
    return size;
  }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    auto& file = self(handle);
    std::uint64_t const base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.position : file.end;
    return file.position = base + offset;
  }
  static int close(thandle_t) { return 0; }
  static toff_t length(thandle_t handle) { return self(handle).end; }
};

Encoder lzw_encoder() {
  return [](auto tile, auto) -> std::uint64_t {
    CountingTiff file;
    TIFF* const tiff = TIFFClientOpen("counted", "wm", &file, CountingTiff::read, CountingTiff::write,
                                      CountingTiff::seek, CountingTiff::close, CountingTiff::length, nullptr, nullptr);
    if (tiff == nullptr) { return 0; }
    std::shared_ptr<TIFF> const closer(tiff, TIFFClose);
    // Rows of any length do for a stream of bytes.
    constexpr std::uint32_t kWidth = 4096;
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, kWidth);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(tile.size() / kWidth));
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, kWidth);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, static_cast<std::uint32_t>(tile.size() / kWidth));
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
    if (TIFFWriteEncodedTile(tiff, 0, const_cast<std::uint8_t*>(tile.data()), static_cast<tmsize_t>(tile.size())) < 0) {
      return 0;
    }
    return file.end;
  };
}

// Square tiles of float32.
Encoder lerc_encoder(std::uint64_t tile_bytes, double max_error) {
  int side = 1;
  while (std::uint64_t{4} * static_cast<unsigned>(side) * static_cast<unsigned>(side) < tile_bytes) { ++side; }
  return [side, max_error](auto tile, auto out) -> std::uint64_t {
    constexpr unsigned kFloat = 6;
    constexpr int kVersion = 4;
    unsigned size = 0;
    unsigned const status = lerc_encodeForVersion(tile.data(), kVersion, kFloat, 1, side, side, 1, 0, nullptr,
                                                  max_error, out.data(), static_cast<unsigned>(out.size()), &size);
    return status == 0 ? size : 0;
  };
}

Encoder encoder_of(std::string const& codec, int level, double max_error, std::uint64_t tile_bytes) {
  if (codec == "deflate") { return deflate_encoder(level); }
  if (codec == "zstd") { return zstd_encoder(level); }
  if (codec == "lzw") { return lzw_encoder(); }
  if (codec == "lerc") { return lerc_encoder(tile_bytes, max_error); }
  if (codec == "none") {
    return [](auto tile, auto out) {
      std::memcpy(out.data(), tile.data(), tile.size());
      return tile.size();
    };
  }
  throw std::runtime_error("no such codec: " + codec);
}

}  // namespace

extern "C" {

char const* shim_error() { return g_error.c_str(); }

struct ShimWrite {
  char const* path;  // null: the bytes go nowhere
  void* pixels;  // bands x height x width
  char const* dtype;
  char const* codec;
  std::uint32_t bands, height, width, tile_px;
  std::int32_t level;  // 0: none
  std::uint32_t cog, threads;
  double max_error;
  std::uint64_t file_bytes;  // out
};

int shim_write(ShimWrite* job) {
  return guarded([&] {
    auto const dtype = terrazzo::dtype_from_string(job->dtype).value();
    auto const sample = static_cast<std::int64_t>(terrazzo::size_bytes(dtype));
    terrazzo::HostView const view{.data = job->pixels,
                                  .dtype = dtype,
                                  .bands = job->bands,
                                  .height = job->height,
                                  .width = job->width,
                                  .band_stride_bytes = sample * job->width * job->height,
                                  .row_stride_bytes = sample * job->width,
                                  .pixel_stride_bytes = sample};
    terrazzo::WriteOptions options;
    options.tile_size = {job->tile_px, job->tile_px};
    options.cog = job->cog != 0;
    options.compression = terrazzo::parse_compression(job->codec).value();
    if (job->level != 0) { options.level = job->level; }
    options.lerc_max_error = job->max_error;
    options.overview_resampling = terrazzo::Resampling::average;
    // GDAL's contender copies a dataset without colours: a fourth byte would be alpha here and data there.
    options.photometric = "minisblack";
    options.threads = job->threads;
    terrazzo::Crs crs;
    crs.epsg = 32633;
    options.georeference.crs = crs;
    options.georeference.transform = {4e5, 10, 0, 5e6, 0, -10};
    terrazzo::WriteReport const report =
        job->path != nullptr
            ? terrazzo::write(std::string(job->path), view, options)
            : terrazzo::write(terrazzo::seekable_sink("nowhere", [](std::uint64_t, std::span<std::byte const>) {}),
                              view, options);
    job->file_bytes = report.bytes_written;
  });
}

// Encodes tiles that lie one after another, with nothing else around it.
int shim_encode_tiles(char const* codec, int level, double max_error, void const* tiles, std::uint64_t tile_bytes,
                      std::uint64_t count, unsigned threads, std::uint64_t* encoded_bytes) {
  return guarded([&] {
    std::vector<Encoder> encoders;
    std::vector<std::vector<std::uint8_t>> outputs;
    std::vector<std::uint64_t> sizes(threads);
    for (unsigned t = 0; t < threads; ++t) {
      encoders.push_back(encoder_of(codec, level, max_error, tile_bytes));
      outputs.emplace_back(tile_bytes + tile_bytes / 3 + 4096);
    }
    in_parallel(threads, count, [&](unsigned thread, std::uint64_t i) {
      std::uint64_t const size = encoders[thread](
          {static_cast<std::uint8_t const*>(tiles) + i * tile_bytes, static_cast<std::size_t>(tile_bytes)},
          outputs[thread]);
      if (size == 0) { throw std::runtime_error("a tile could not be encoded"); }
      sizes[thread] += size;
    });
    *encoded_bytes = 0;
    for (std::uint64_t const size : sizes) { *encoded_bytes += size; }
  });
}

// The plainest write there is: a new file in large pieces, one after another.
int shim_plain_write(char const* path, void const* bytes, std::uint64_t available, std::uint64_t count) {
  return guarded([&] {
    constexpr std::uint64_t kPiece = std::uint64_t{4} << 20;
    int const file = ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) { throw std::runtime_error(std::strerror(errno)); }
    std::shared_ptr<int const> const closer(&file, [](int const* fd) { ::close(*fd); });
    for (std::uint64_t at = 0; at < count; at += kPiece) {
      auto const wanted = std::min(kPiece, count - at);
      auto const* const from =
          static_cast<std::byte const*>(bytes) + at % (available - std::min(available, kPiece) + 1);
      if (::pwrite(file, from, wanted, static_cast<off_t>(at)) != static_cast<ssize_t>(wanted)) {
        throw std::runtime_error("short write");
      }
    }
  });
}

}  // extern "C"
