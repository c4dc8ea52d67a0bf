// SPDX-License-Identifier: Apache-2.0
//
// Functions that bench/peers.py calls through ctypes, so that Terrazzo, GDAL and the bare codec libraries run in one
// process and write into one buffer: Terrazzo's public API, and loops that decode a file's tiles with a codec library
// alone. Functions return 0, or -1 with the reason in shim_error(). One caller at a time.
#include "shim_common.hpp"
#include "terrazzo/read.hpp"

#include <libdeflate.h>
#include <tiffio.h>
#include <zstd.h>

// jpeglib.h wants FILE and size_t before it.
#include <cstdio>

#include <jpeglib.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using terrazzo::bench::Crew;
using terrazzo::bench::g_error;
using terrazzo::bench::guarded;
using terrazzo::bench::in_parallel;

terrazzo::HostView view_of(terrazzo::Dataset const& dataset, void* buffer, std::uint32_t width, std::uint32_t height) {
  auto const& info = dataset.info();
  auto const sample = static_cast<std::int64_t>(size_bytes(info.dtype()));
  return {.data = buffer,
          .dtype = info.dtype(),
          .bands = static_cast<std::uint32_t>(info.bands.size()),
          .height = height,
          .width = width,
          .band_stride_bytes = sample * width * height,
          .row_stride_bytes = sample * width,
          .pixel_stride_bytes = sample};
}

void read_window(terrazzo::Dataset const& dataset, terrazzo::Window const& window, void* buffer, unsigned threads) {
  terrazzo::ReadRequest request;
  request.window = window;
  request.threads = threads;
  read_into(dataset, request, view_of(dataset, buffer, window.width, window.height));
}

// -- codec libraries alone --------------------------------------------------------------------------------------------

struct Tiles {
  std::uint8_t const* file = nullptr;  // the whole file, in memory
  std::uint64_t file_bytes = 0;
  std::uint64_t const* offsets = nullptr;
  std::uint64_t const* sizes = nullptr;
  std::uint64_t tile_bytes = 0;  // decoded
};

// One tile decoder per thread, with whatever state its library keeps.
using Decoder =
    std::function<void(std::uint64_t tile, std::span<std::uint8_t const> packed, std::span<std::uint8_t> out)>;

Decoder deflate_decoder() {
  std::shared_ptr<libdeflate_decompressor> const state(libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  return [state](std::uint64_t, auto packed, auto out) {
    std::size_t actual = 0;
    if (libdeflate_zlib_decompress(state.get(), packed.data(), packed.size(), out.data(), out.size(), &actual) !=
        LIBDEFLATE_SUCCESS) {
      throw std::runtime_error("libdeflate failed");
    }
  };
}

Decoder zstd_decoder() {
  std::shared_ptr<ZSTD_DCtx> const state(ZSTD_createDCtx(), ZSTD_freeDCtx);
  return [state](std::uint64_t, auto packed, auto out) {
    if (ZSTD_isError(ZSTD_decompressDCtx(state.get(), out.data(), out.size(), packed.data(), packed.size())) != 0) {
      throw std::runtime_error("libzstd failed");
    }
  };
}

// libtiff over the file in memory, which the caller has given Predictor 1, so that only LZW is measured.
struct MemoryTiff {
  std::uint8_t const* data;
  std::uint64_t size;
  std::uint64_t position = 0;
  TIFF* handle = nullptr;

  MemoryTiff(std::uint8_t const* bytes, std::uint64_t count) : data(bytes), size(count) {
    handle = TIFFClientOpen("memory", "rm", this, read, write, seek, close, length, map, unmap);
    if (handle == nullptr) { throw std::runtime_error("libtiff cannot open the file"); }
  }
  ~MemoryTiff() { TIFFClose(handle); }
  MemoryTiff(MemoryTiff const&) = delete;
  MemoryTiff& operator=(MemoryTiff const&) = delete;

  static MemoryTiff& self(thandle_t handle) { return *static_cast<MemoryTiff*>(handle); }
  static tmsize_t read(thandle_t handle, void* out, tmsize_t wanted) {
    auto& file = self(handle);
    auto const left = file.position < file.size ? file.size - file.position : 0;
    auto const n = std::min<std::uint64_t>(static_cast<std::uint64_t>(wanted), left);
    std::memcpy(out, file.data + file.position, n);
    file.position += n;
    return static_cast<tmsize_t>(n);
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    auto& file = self(handle);
    std::uint64_t const base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.position : file.size;
    return file.position = base + offset;
  }
  static int close(thandle_t) { return 0; }
  static toff_t length(thandle_t handle) { return self(handle).size; }
  static int map(thandle_t, void**, toff_t*) { return 0; }
  static void unmap(thandle_t, void*, toff_t) {}
};

Decoder lzw_decoder(Tiles const& tiles) {
  TIFFSetWarningHandler(nullptr);  // it would print every GeoTIFF tag, which it does not know
  auto const file = std::make_shared<MemoryTiff>(tiles.file, tiles.file_bytes);
  return [file](std::uint64_t tile, auto, auto out) {
    if (TIFFReadEncodedTile(file->handle, static_cast<std::uint32_t>(tile), out.data(),
                            static_cast<tmsize_t>(out.size())) < 0) {
      throw std::runtime_error("libtiff failed");
    }
  };
}

struct JpegState {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  std::jmp_buf escape;

  JpegState() {
    info.err = jpeg_std_error(&errors);
    errors.error_exit = [](j_common_ptr common) {
      std::longjmp(static_cast<JpegState*>(common->client_data)->escape, 1);
    };
    jpeg_create_decompress(&info);
    info.client_data = this;
  }
  ~JpegState() { jpeg_destroy_decompress(&info); }
  JpegState(JpegState const&) = delete;
  JpegState& operator=(JpegState const&) = delete;

  // Nothing with a destructor may be alive where longjmp passes.
  bool decode(std::span<std::uint8_t const> packed, std::span<std::uint8_t const> tables, std::uint8_t* out) {
    if (setjmp(escape) != 0) { return false; }
    if (!tables.empty()) {
      jpeg_mem_src(&info, tables.data(), tables.size());
      jpeg_read_header(&info, FALSE);
    }
    jpeg_mem_src(&info, packed.data(), packed.size());
    jpeg_read_header(&info, TRUE);
    info.jpeg_color_space = info.num_components == 3 ? JCS_YCbCr : info.jpeg_color_space;
    info.out_color_space = info.num_components == 3 ? JCS_RGB : info.jpeg_color_space;
    jpeg_start_decompress(&info);
    auto const pitch = static_cast<std::size_t>(info.output_width) * static_cast<std::size_t>(info.output_components);
    while (info.output_scanline < info.output_height) {
      JSAMPROW row = out + pitch * info.output_scanline;
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    return true;
  }
};

Decoder jpeg_decoder(std::vector<std::uint8_t> const& tables) {
  auto const state = std::make_shared<JpegState>();
  return [state, &tables](std::uint64_t, auto packed, auto out) {
    if (!state->decode(packed, tables, out.data())) { throw std::runtime_error("libjpeg failed"); }
  };
}

// -- a file, as it is -------------------------------------------------------------------------------------------------

class PlainFile {
 public:
  explicit PlainFile(char const* path) : descriptor_(::open(path, O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) { throw std::runtime_error(std::strerror(errno)); }
  }
  ~PlainFile() { ::close(descriptor_); }
  PlainFile(PlainFile const&) = delete;
  PlainFile& operator=(PlainFile const&) = delete;

  void read(std::uint64_t offset, std::byte* out, std::uint64_t bytes) const {
    if (::pread(descriptor_, out, bytes, static_cast<off_t>(offset)) != static_cast<ssize_t>(bytes)) {
      throw std::runtime_error("short read");
    }
  }

 private:
  int descriptor_;
};

}  // namespace

extern "C" {

char const* shim_error() { return g_error.c_str(); }

void* shim_open(char const* path) {
  void* result = nullptr;
  guarded([&] { result = new terrazzo::Dataset(terrazzo::open(path)); });
  return result;
}

void shim_close(void* dataset) { delete static_cast<terrazzo::Dataset*>(dataset); }

// Everything, bands x height x width.
int shim_read(void* dataset, void* buffer, unsigned threads) {
  return guarded([&] {
    auto const& file = *static_cast<terrazzo::Dataset*>(dataset);
    read_window(file, {0, 0, file.info().width, file.info().height}, buffer, threads);
  });
}

// Windows of column, row, width, height, one after another into `buffer`, each read by `threads` threads.
int shim_read_windows(void* dataset, std::uint32_t const* windows, std::uint64_t count, void* buffer,
                      unsigned threads) {
  return guarded([&] {
    auto const& file = *static_cast<terrazzo::Dataset*>(dataset);
    for (std::uint64_t i = 0; i < count; ++i) {
      auto const* w = windows + 4 * i;
      read_window(file, {w[0], w[1], w[2], w[3]}, buffer, threads);
    }
  });
}

// The same windows shared out among `clients` threads that each read alone, thread k into buffer + k * stride_bytes.
int shim_read_windows_by_clients(void* dataset, std::uint32_t const* windows, std::uint64_t count, void* buffer,
                                 std::uint64_t stride_bytes, unsigned clients) {
  return guarded([&] {
    auto const& file = *static_cast<terrazzo::Dataset*>(dataset);
    in_parallel(clients, count, [&](unsigned client, std::uint64_t i) {
      auto const* w = windows + 4 * i;
      read_window(file, {w[0], w[1], w[2], w[3]}, static_cast<std::byte*>(buffer) + client * stride_bytes, 1);
    });
  });
}

// Decodes the tiles that are listed of a file in memory, one group of them after the other, thread k into buffer + k *
// tile_bytes. Group i is from firsts[i] to firsts[i + 1]. `codec` is deflate, zstd, lzw or jpeg.
int shim_decode_tiles(char const* codec, void const* file, std::uint64_t file_bytes, std::uint64_t const* offsets,
                      std::uint64_t const* sizes, std::uint64_t const* list, std::uint64_t const* firsts,
                      std::uint64_t groups, std::uint64_t tile_bytes, void const* jpeg_tables,
                      std::uint64_t jpeg_tables_bytes, void* buffer, unsigned threads) {
  return guarded([&] {
    Tiles const tiles{static_cast<std::uint8_t const*>(file), file_bytes, offsets, sizes, tile_bytes};
    auto const* first = static_cast<std::uint8_t const*>(jpeg_tables);
    std::vector<std::uint8_t> const tables(first, first + jpeg_tables_bytes);
    std::string const name = codec;
    std::vector<Decoder> decoders;
    for (unsigned t = 0; t < threads; ++t) {
      if (name == "deflate") {
        decoders.push_back(deflate_decoder());
      } else if (name == "zstd") {
        decoders.push_back(zstd_decoder());
      } else if (name == "lzw") {
        decoders.push_back(lzw_decoder(tiles));
      } else if (name == "jpeg") {
        decoders.push_back(jpeg_decoder(tables));
      } else {
        throw std::runtime_error("no such codec: " + name);
      }
    }
    auto const decode = [&](unsigned thread, std::uint64_t tile) {
      decoders[thread](tile, {tiles.file + offsets[tile], sizes[tile]},
                       {static_cast<std::uint8_t*>(buffer) + thread * tile_bytes, tile_bytes});
    };
    if (groups == 1) {
      in_parallel(threads, firsts[1], [&](unsigned thread, std::uint64_t i) { decode(thread, list[i]); });
      return;
    }
    Crew crew(threads);
    for (std::uint64_t group = 0; group < groups; ++group) {
      crew.run(firsts[group + 1] - firsts[group],
               [&](unsigned thread, std::uint64_t i) { decode(thread, list[firsts[group] + i]); });
    }
  });
}

// The plainest parallel read there is: equal pieces of the file by pread.
int shim_plain_read(char const* path, void* buffer, std::uint64_t bytes, unsigned threads) {
  return guarded([&] {
    constexpr std::uint64_t kPiece = 1 << 20;
    PlainFile const file(path);
    in_parallel(threads, (bytes + kPiece - 1) / kPiece, [&](unsigned, std::uint64_t i) {
      std::uint64_t const at = i * kPiece;
      file.read(at, static_cast<std::byte*>(buffer) + at, std::min(kPiece, bytes - at));
    });
  });
}

// The same for windows: each is a number of runs, a run its offset in the file, its offset in the window's buffer, its
// bytes; those of window i are from firsts[i] to firsts[i + 1]. One after another into `buffer`, or, for clients, each
// by one thread, thread k into buffer + k * stride_bytes.
int shim_plain_read_windows(char const* path, std::uint64_t const* runs, std::uint64_t const* firsts,
                            std::uint64_t windows, void* buffer, std::uint64_t stride_bytes, unsigned threads,
                            unsigned clients) {
  return guarded([&] {
    PlainFile const file(path);
    auto const read = [&](std::uint64_t first, std::uint64_t end, std::byte* out) {
      for (auto const* run = runs + 3 * first; run != runs + 3 * end; run += 3) {
        file.read(run[0], out + run[1], run[2]);
      }
    };
    auto* const out = static_cast<std::byte*>(buffer);
    if (clients != 0) {
      in_parallel(threads, windows, [&](unsigned thread, std::uint64_t i) {
        read(firsts[i], firsts[i + 1], out + thread * stride_bytes);
      });
      return;
    }
    Crew crew(threads);
    for (std::uint64_t i = 0; i < windows; ++i) {
      std::uint64_t const count = firsts[i + 1] - firsts[i], share = (count + threads - 1) / threads;
      crew.run(threads, [&](unsigned, std::uint64_t part) {
        read(firsts[i] + std::min(count, part * share), firsts[i] + std::min(count, (part + 1) * share), out);
      });
    }
  });
}

}  // extern "C"
