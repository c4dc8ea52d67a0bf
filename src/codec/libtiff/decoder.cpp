// SPDX-License-Identifier: Apache-2.0
#include "codec/libtiff/decoder.hpp"

#include "codec/libtiff/library.hpp"
#include "codec/registry/result.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace terrazzo::codec {

namespace {

constexpr tiff::Compression kLongTail[] = {
    tiff::Compression::ccitt_rle,   tiff::Compression::ccitt_fax3, tiff::Compression::ccitt_fax4,
    tiff::Compression::ojpeg,       tiff::Compression::next,       tiff::Compression::ccitt_rlew,
    tiff::Compression::thunderscan, tiff::Compression::jbig,       tiff::Compression::sgilog,
    tiff::Compression::sgilog24,
};

}  // namespace

std::span<tiff::Compression const> LibtiffDecoder::long_tail() noexcept { return kLongTail; }

bool LibtiffDecoder::gives_rgba_only(tiff::Compression compression) noexcept {
  return compression == tiff::Compression::ojpeg;
}

#if TERRAZZO_HAVE_TIFFIO

namespace {

// Limit for a single allocation of libtiff. A strip of the largest scan (A0 at 600 dpi, 1 bit) has 70 MB.
constexpr tmsize_t kMaxAllocationBytes = tmsize_t{512} << 20;
constexpr std::size_t kMaxMessageBytes = 4096;

}  // namespace

struct LibtiffDecoder::State {
  LibtiffLibrary const& library;
  ReadAt read_at;
  std::uint64_t size_bytes;
  std::uint64_t position = 0;
  TIFF* file = nullptr;
  bool read_failed = false;
  unsigned error_count = 0;
  std::string messages;
  std::vector<std::uint32_t> raster;  // RGBA in libtiff's order, bottom-up

  State(LibtiffLibrary const& loaded, ReadAt read, std::uint64_t size)
      : library(loaded), read_at(std::move(read)), size_bytes(size) {}
  ~State() {
    if (file != nullptr) { library.close(file); }
  }
  State(State const&) = delete;
  State& operator=(State const&) = delete;

  void begin_call() noexcept {
    read_failed = false;
    error_count = 0;
    messages.clear();
  }
  void note(char const* format, std::va_list arguments) noexcept;
  [[nodiscard]] tile::TileResult outcome(bool complete, std::size_t written, std::size_t wanted) const noexcept;
  void open(std::string const& name);
  [[nodiscard]] bool is_interleaved_fax() const noexcept;
};

void LibtiffDecoder::State::note(char const* format, std::va_list arguments) noexcept {
  std::array<char, 512> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  if (messages.size() + std::strlen(line.data()) > kMaxMessageBytes) { return; }
  try {
    if (!messages.empty()) { messages += '\n'; }
    messages += line.data();
  } catch (...) {
    return;  // if memory is short, drop the message and keep the block
  }
}

tile::TileResult LibtiffDecoder::State::outcome(bool complete, std::size_t written, std::size_t wanted) const noexcept {
  if (read_failed) { return failed("the source could not be read"); }
  if (!complete) { return corrupt("libtiff could not decode the block"); }
  tile::TileResult result = done_of(written, wanted, false);
  if (result.status == tile::TileStatus::ok && error_count != 0) { result.reason = "libtiff reported damaged data"; }
  return result;
}

namespace {

extern "C" {

static tmsize_t libtiff_read(thandle_t handle, void* target, tmsize_t bytes) {
  auto& state = *static_cast<LibtiffDecoder::State*>(handle);
  if (bytes <= 0 || state.position >= state.size_bytes) { return 0; }
  auto const count = std::min(static_cast<std::uint64_t>(bytes), state.size_bytes - state.position);
  try {
    std::size_t const read =
        state.read_at(state.position, {static_cast<std::byte*>(target), static_cast<std::size_t>(count)});
    state.position += read;
    return static_cast<tmsize_t>(read);
  } catch (...) {
    state.read_failed = true;
    return 0;
  }
}

static tmsize_t libtiff_write(thandle_t, void*, tmsize_t) { return 0; }

static toff_t libtiff_seek(thandle_t handle, toff_t offset, int whence) {
  auto& state = *static_cast<LibtiffDecoder::State*>(handle);
  switch (whence) {
    case SEEK_SET: state.position = offset; break;
    case SEEK_CUR: state.position += offset; break;
    case SEEK_END: state.position = state.size_bytes + offset; break;
    default: return static_cast<toff_t>(-1);
  }
  return state.position;
}

static int libtiff_close(thandle_t) { return 0; }

static toff_t libtiff_size(thandle_t handle) { return static_cast<LibtiffDecoder::State*>(handle)->size_bytes; }

static int libtiff_map(thandle_t, void**, toff_t*) { return 0; }
static void libtiff_unmap(thandle_t, void*, toff_t) {}

static int libtiff_on_error(TIFF*, void* user, char const*, char const* format, va_list arguments) {
  auto& state = *static_cast<LibtiffDecoder::State*>(user);
  ++state.error_count;
  state.note(format, arguments);
  return 1;  // handled: the global handler, which prints, is not called
}

static int libtiff_on_warning(TIFF*, void* user, char const*, char const* format, va_list arguments) {
  static_cast<LibtiffDecoder::State*>(user)->note(format, arguments);
  return 1;
}

}  // extern "C"

}  // namespace

void LibtiffDecoder::State::open(std::string const& name) {
  // h: the header only, since the directory is chosen later; m: no mapping; c: strips unchanged, not divided.
  constexpr char const* kMode = "rhmc";
#if TIFFLIB_VERSION >= 20221213
  if (library.client_open_ext != nullptr) {
    TIFFOpenOptions* const options = library.options_alloc();
    if (options == nullptr) { return; }
    library.options_set_max_alloc(options, kMaxAllocationBytes);
    library.options_set_errors(options, &libtiff_on_error, this);
    library.options_set_warnings(options, &libtiff_on_warning, this);
    file = library.client_open_ext(name.c_str(), kMode, this, &libtiff_read, &libtiff_write, &libtiff_seek,
                                   &libtiff_close, &libtiff_size, &libtiff_map, &libtiff_unmap, options);
    library.options_free(options);
    return;
  }
#endif
  file = library.client_open(name.c_str(), kMode, this, &libtiff_read, &libtiff_write, &libtiff_seek, &libtiff_close,
                             &libtiff_size, &libtiff_map, &libtiff_unmap);
}

// A fax code describes one plane of bits. With interleaved samples, older versions of libtiff decode it to noise
// without an error; newer ones, including GDAL's, refuse.
bool LibtiffDecoder::State::is_interleaved_fax() const noexcept {
  std::uint16_t compression = 0;
  std::uint16_t samples = 0;
  std::uint16_t planar = 0;
  library.get_field_defaulted(file, TIFFTAG_COMPRESSION, &compression);
  library.get_field_defaulted(file, TIFFTAG_SAMPLESPERPIXEL, &samples);
  library.get_field_defaulted(file, TIFFTAG_PLANARCONFIG, &planar);
  bool const fax = compression == COMPRESSION_CCITTRLE || compression == COMPRESSION_CCITTRLEW ||
                   compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4;
  return fax && samples > 1 && planar == PLANARCONFIG_CONTIG;
}

bool LibtiffDecoder::available() noexcept { return LibtiffLibrary::instance() != nullptr; }

std::string_view LibtiffDecoder::library_version() noexcept {
  LibtiffLibrary const* const library = LibtiffLibrary::instance();
  if (library == nullptr) { return {}; }
  std::string_view const text = library->version();
  return text.substr(0, text.find('\n'));
}

bool LibtiffDecoder::decodes(tiff::Compression compression) noexcept {
  LibtiffLibrary const* const library = LibtiffLibrary::instance();
  return library != nullptr && std::ranges::find(kLongTail, compression) != std::end(kLongTail) &&
         library->has_codec(static_cast<std::uint16_t>(compression)) != 0;
}

LibtiffDecoder::LibtiffDecoder(ReadAt read_at, std::uint64_t size_bytes, std::uint64_t ifd_offset_bytes,
                               std::string name) {
  LibtiffLibrary const* const library = LibtiffLibrary::instance();
  if (library == nullptr) {
    throw Error(ErrorKind::unsupported, "this compression needs libtiff, which is not installed", {.source = name});
  }
  state_ = std::make_unique<State>(*library, std::move(read_at), size_bytes);
  state_->open(name);
  if (state_->file == nullptr || library->set_directory(state_->file, ifd_offset_bytes) == 0) {
    ErrorKind const kind = state_->read_failed ? ErrorKind::io : ErrorKind::malformed;
    throw Error(kind, "libtiff does not accept the directory: " + state_->messages,
                {.source = name, .offset = ifd_offset_bytes});
  }
}

LibtiffDecoder::~LibtiffDecoder() = default;
LibtiffDecoder::LibtiffDecoder(LibtiffDecoder&&) noexcept = default;
LibtiffDecoder& LibtiffDecoder::operator=(LibtiffDecoder&&) noexcept = default;

tile::TileResult LibtiffDecoder::decode_block(std::uint32_t block_index, std::span<std::byte> out) noexcept {
  State& state = *state_;
  LibtiffLibrary const& library = state.library;
  state.begin_call();
  bool const tiled = library.is_tiled(state.file) != 0;
  if (block_index >= (tiled ? library.tile_count(state.file) : library.strip_count(state.file))) {
    return failed("libtiff knows no such block");
  }
  if (state.is_interleaved_fax()) { return corrupt("a fax code cannot hold interleaved samples"); }
  auto const bytes = static_cast<tmsize_t>(out.size());
  // libtiff does not report the missing parts of a damaged block; they must not expose other memory.
  std::ranges::fill(out, std::byte{0});
  tmsize_t const read = tiled ? library.read_tile(state.file, block_index, out.data(), bytes)
                              : library.read_strip(state.file, block_index, out.data(), bytes);
  return state.outcome(read >= 0, read < 0 ? 0 : static_cast<std::size_t>(read), out.size());
}

bool LibtiffDecoder::can_give_rgba() noexcept {
  state_->begin_call();
  std::array<char, 1024> why{};  // the size that tiffio.h requires
  return state_->library.rgba_ok(state_->file, why.data()) != 0;
}

tile::TileResult LibtiffDecoder::decode_rgba_block(std::uint32_t column_px, std::uint32_t row_px, BlockShape shape,
                                                   std::span<std::byte> out) noexcept {
  State& state = *state_;
  LibtiffLibrary const& library = state.library;
  state.begin_call();
  // libtiff writes a block of its own size, which must equal the caller's.
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool const tiled = library.is_tiled(state.file) != 0;
  if (tiled) {
    library.get_field(state.file, TIFFTAG_TILEWIDTH, &width);
    library.get_field(state.file, TIFFTAG_TILELENGTH, &height);
  } else {
    std::uint32_t image_height = 0;
    library.get_field(state.file, TIFFTAG_IMAGEWIDTH, &width);
    library.get_field(state.file, TIFFTAG_IMAGELENGTH, &image_height);
    library.get_field_defaulted(state.file, TIFFTAG_ROWSPERSTRIP, &height);
    if (row_px >= image_height) { return failed("libtiff knows no such block"); }
    height = std::min(height, image_height - row_px);
  }
  if (width != shape.width_px || height != shape.height_px) {
    return failed("libtiff knows the block by another size");
  }
  BlockFormat const rgba{.samples_per_pixel = 4};
  if (auto const refusal = refuse_shape(rgba, shape, out.size())) { return *refusal; }
  try {
    state.raster.assign(std::size_t{width} * height, 0);
  } catch (...) { return out_of_memory(); }
  constexpr int kStopOnError = 1;
  bool const complete =
      (tiled ? library.read_rgba_tile(state.file, column_px, row_px, state.raster.data(), kStopOnError)
             : library.read_rgba_strip(state.file, row_px, state.raster.data(), kStopOnError)) != 0;
  std::byte* target = out.data();
  for (std::uint32_t row = height; row-- > 0;) {
    for (std::uint32_t x = 0; x < width; ++x) {
      std::uint32_t const abgr = state.raster[std::size_t{row} * width + x];
      for (unsigned s = 0; s < 4; ++s) { *target++ = static_cast<std::byte>(abgr >> (8 * s) & 0xFF); }
    }
  }
  return state.outcome(complete, static_cast<std::size_t>(target - out.data()), out.size());
}

std::string const& LibtiffDecoder::messages() const noexcept { return state_->messages; }

#else

struct LibtiffDecoder::State {
  std::string messages;
};

bool LibtiffDecoder::available() noexcept { return false; }
std::string_view LibtiffDecoder::library_version() noexcept { return {}; }
bool LibtiffDecoder::decodes(tiff::Compression) noexcept { return false; }

LibtiffDecoder::LibtiffDecoder(ReadAt, std::uint64_t, std::uint64_t, std::string name) {
  throw Error(ErrorKind::unsupported, "this build has no way to libtiff", {.source = std::move(name)});
}
LibtiffDecoder::~LibtiffDecoder() = default;
LibtiffDecoder::LibtiffDecoder(LibtiffDecoder&&) noexcept = default;
LibtiffDecoder& LibtiffDecoder::operator=(LibtiffDecoder&&) noexcept = default;
tile::TileResult LibtiffDecoder::decode_block(std::uint32_t, std::span<std::byte>) noexcept {
  return unsupported("this build has no way to libtiff");
}
bool LibtiffDecoder::can_give_rgba() noexcept { return false; }
tile::TileResult LibtiffDecoder::decode_rgba_block(std::uint32_t, std::uint32_t, BlockShape,
                                                   std::span<std::byte>) noexcept {
  return unsupported("this build has no way to libtiff");
}
std::string const& LibtiffDecoder::messages() const noexcept { return state_->messages; }

#endif

}  // namespace terrazzo::codec
