// SPDX-License-Identifier: Apache-2.0
//
// JPEG in TIFF (compression 7, TIFF Technical Note 2): 8 bits here, 12 in jpeg12.cpp. Decoder settings are libjpeg's
// defaults, which libtiff and GDAL use too: accurate integer DCT, fancy upsampling. So the same library gives the same
// pixels.
//
// Colour: three components under photometric YCbCr become RGB if requested; all other components stay as stored,
// regardless of Adobe and JFIF markers. One leniency beyond libtiff: subsampled components under another photometric,
// which cannot stay "as stored", are interpreted by the stream's own markers (Pillow writes such tiles).
#include "base/checked.hpp"
#include "codec/jpeg/jpeg12.hpp"
#include "codec/jpeg/planes.hpp"
#include "codec/registry/decoders.hpp"
#include "codec/registry/libraries.hpp"
#include "codec/registry/result.hpp"
#include "codec/registry/workspace.hpp"

#if TERRAZZO_HAVE_JPEG
#include <cstdio>  // jpeglib.h uses FILE without including it
extern "C" {
#include <jerror.h>
#include <jpeglib.h>
}
#endif

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

namespace terrazzo::codec {

#if TERRAZZO_HAVE_JPEG

namespace {

// A progressive stream of a few kilobytes can hold thousands of scans, each as long to decode as the whole image. 100
// is libtiff's limit; a real stream has about ten.
constexpr int kMaxScans = 100;
// Rows passed to the library in one call.
constexpr JDIMENSION kRowsPerCall = 16;

// All data that must survive a longjmp; no member has a destructor that the jump could skip.
struct Session {
  jpeg_decompress_struct decoder;  // first: the library's callbacks get its address
  jpeg_error_mgr errors;
  jpeg_progress_mgr progress;
  jpeg_source_mgr source;
  std::jmp_buf escape;
  std::span<std::byte const> input;  // set in init_source
  int fatal_code;                    // message code of the error that ended the session
  bool past_end;                     // the library requested more bytes than there are
  bool ran_dry;                      // ... and needed them for samples, not only for the end marker
  bool too_many_scans;
  bool no_memory;                    // the coefficients exceed the budget
  MemoryBudget* budget;              // null: no limit
  MemoryBudget::Reservation* held;   // memory of the coefficients; the owner of the session makes it
  JDIMENSION good_rows;              // rows finished before it ran dry
};

Session& session_of(j_common_ptr decoder) noexcept { return *reinterpret_cast<Session*>(decoder); }
Session& session_of(j_decompress_ptr decoder) noexcept { return *reinterpret_cast<Session*>(decoder); }

extern "C" {

[[noreturn]] static void jpeg_on_error(j_common_ptr decoder) {
  Session& session = session_of(decoder);
  session.fatal_code = session.errors.msg_code;
  std::longjmp(session.escape, 1);
}

static void jpeg_on_message(j_common_ptr decoder, int level) {
  if (level >= 0) { return; }  // trace
  Session& session = session_of(decoder);
  ++session.errors.num_warnings;
  if (session.errors.msg_code == JWRN_HIT_MARKER && session.past_end && !session.ran_dry) {
    session.ran_dry = true;
    session.good_rows = session.decoder.output_scanline;
  }
}

static void jpeg_say_nothing(j_common_ptr) {}

static void jpeg_on_progress(j_common_ptr decoder) {
  Session& session = session_of(decoder);
  if (session.decoder.input_scan_number >= kMaxScans) {
    session.too_many_scans = true;
    std::longjmp(session.escape, 1);
  }
}

static void jpeg_init_source(j_decompress_ptr decoder) {
  Session& session = session_of(decoder);
  session.source.next_input_byte = reinterpret_cast<JOCTET const*>(session.input.data());
  session.source.bytes_in_buffer = session.input.size();
}

static boolean jpeg_fill_input(j_decompress_ptr decoder) {
  // An end marker instead of the missing bytes lets the library finish with the data it has.
  static constexpr JOCTET kEndOfImage[2] = {0xFF, JPEG_EOI};
  Session& session = session_of(decoder);
  session.past_end = true;
  session.source.next_input_byte = kEndOfImage;
  session.source.bytes_in_buffer = sizeof kEndOfImage;
  return TRUE;
}

static void jpeg_skip_input(j_decompress_ptr decoder, long bytes) {
  Session& session = session_of(decoder);
  if (bytes <= 0) { return; }
  if (static_cast<std::size_t>(bytes) > session.source.bytes_in_buffer) {
    jpeg_fill_input(decoder);
    return;
  }
  session.source.next_input_byte += bytes;
  session.source.bytes_in_buffer -= static_cast<std::size_t>(bytes);
}

static void jpeg_term_source(j_decompress_ptr) {}

}  // extern "C"

void open(Session& session) {
  session.decoder.err = jpeg_std_error(&session.errors);
  session.errors.error_exit = &jpeg_on_error;
  session.errors.emit_message = &jpeg_on_message;
  session.errors.output_message = &jpeg_say_nothing;
  jpeg_create_decompress(&session.decoder);
  session.decoder.mem->max_memory_to_use = std::numeric_limits<long>::max();  // never a temporary file
  session.progress.progress_monitor = &jpeg_on_progress;
  session.decoder.progress = &session.progress;
  session.source.init_source = &jpeg_init_source;
  session.source.fill_input_buffer = &jpeg_fill_input;
  session.source.skip_input_data = &jpeg_skip_input;
  session.source.resync_to_restart = &jpeg_resync_to_restart;
  session.source.term_source = &jpeg_term_source;
  session.decoder.src = &session.source;
}

// Returns false, and sets `refusal`, if the stream's header does not fit the block.
bool check_header(Session const& session, BlockFormat const& format, BlockShape shape, tile::TileResult& refusal) {
  jpeg_decompress_struct const& decoder = session.decoder;
  if (decoder.data_precision != 8) {
    refusal = unsupported("libjpeg decodes 8-bit JPEG only");
  } else if (static_cast<std::uint32_t>(decoder.num_components) != format.samples_per_pixel) {
    refusal = corrupt("the JPEG stream has another number of components");
  } else if (decoder.image_width > shape.width_px) {
    refusal = corrupt("the JPEG image is wider than its block");
  } else if (decoder.image_height > shape.height_px &&
             jpeg_has_multiple_scans(const_cast<j_decompress_ptr>(&decoder)) != FALSE) {
    // The library holds all coefficients of such a stream in memory, so its height must be the block's. A simple stream
    // may be taller (last strips often are) and is read up to the block's end.
    refusal = corrupt("the JPEG image is taller than its block");
  } else {
    return true;
  }
  return false;
}

void choose_colours(Session& session, BlockFormat const& format) {
  jpeg_decompress_struct& decoder = session.decoder;
  bool subsampled = false;
  for (int i = 0; i < decoder.num_components; ++i) {
    subsampled |= decoder.comp_info[i].h_samp_factor != 1 || decoder.comp_info[i].v_samp_factor != 1;
  }
  bool const is_ycbcr = format.photometric == tiff::Photometric::ycbcr && decoder.num_components == 3;
  if (is_ycbcr) {
    decoder.jpeg_color_space = JCS_YCbCr;
    decoder.out_color_space = format.convert_ycbcr_to_rgb ? JCS_RGB : JCS_YCbCr;
  } else if (!subsampled || decoder.num_components != 3) {
    decoder.jpeg_color_space = JCS_UNKNOWN;
    decoder.out_color_space = JCS_UNKNOWN;
  }
}

constexpr char kNoRoomForCoefficients[] =
    "out of memory: the coefficients of a JPEG of several scans do not fit the memory limit (memory_limit_bytes, "
    "TERRAZZO_MEMORY_LIMIT)";

// For a stream of several scans, especially a progressive one, the library holds every coefficient: two bytes each, in
// whole MCUs.
std::uint64_t coefficient_bytes(jpeg_decompress_struct const& decoder) noexcept {
  auto const whole_units = [](JDIMENSION side, int samples, int max_samples) {
    return ceil_div<std::uint64_t>(side, std::uint64_t{DCTSIZE} * static_cast<unsigned>(max_samples)) *
           static_cast<unsigned>(samples);
  };
  int max_h = 1, max_v = 1;
  for (int i = 0; i < decoder.num_components; ++i) {
    max_h = std::max(max_h, decoder.comp_info[i].h_samp_factor);
    max_v = std::max(max_v, decoder.comp_info[i].v_samp_factor);
  }
  std::uint64_t blocks = 0;
  for (int i = 0; i < decoder.num_components; ++i) {
    jpeg_component_info const& part = decoder.comp_info[i];
    blocks += whole_units(decoder.image_width, part.h_samp_factor, max_h) *
              whole_units(decoder.image_height, part.v_samp_factor, max_v);
  }
  return blocks * sizeof(JBLOCK);
}

// Returns false if the allocations of jpeg_start_decompress() exceed the budget. Leaves no object with a destructor
// when the library, which may jump, is called again.
bool reserve_coefficients(Session& session) noexcept {
  if (session.budget == nullptr || jpeg_has_multiple_scans(&session.decoder) == FALSE) { return true; }
  std::optional<MemoryBudget::Reservation> held = session.budget->try_reserve(coefficient_bytes(session.decoder));
  session.no_memory = !held;
  if (held) { *session.held = *std::move(held); }
  return !session.no_memory;
}

tile::TileResult after_escape(Session const& session, std::size_t pitch) noexcept {
  if (session.too_many_scans) { return corrupt("the JPEG stream has more than 100 scans"); }
  std::size_t const bytes = session.decoder.output_scanline * pitch;
  switch (session.fatal_code) {
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE: return out_of_memory();
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_CONVERSION_NOTIMPL: return unsupported("libjpeg does not decode this kind of JPEG");
    case JERR_NO_IMAGE:
    case JERR_INPUT_EOF:
    case JERR_INPUT_EMPTY:
    case JERR_NO_SOI:
      return session.past_end ? truncated(0, "the JPEG stream ends before its image")
                              : corrupt("this is not a JPEG stream");
    default:
      return session.past_end ? truncated(bytes, "the JPEG stream ends early")
                              : corrupt("the JPEG stream is damaged", bytes);
  }
}

// Functions under setjmp, and those they call, have no objects with destructors.

// Reads the tables and the header. Returns false, and sets `refusal`, if they do not fit the block.
bool read_header(Session& session, BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                 tile::TileResult& refusal) {
  open(session);
  if (!format.jpeg_tables.empty()) {
    session.input = format.jpeg_tables;
    if (jpeg_read_header(&session.decoder, FALSE) != JPEG_HEADER_TABLES_ONLY) {
      refusal = corrupt("the JPEGTables hold an image");
      return false;
    }
    session.past_end = false;
    session.errors.num_warnings = 0;
  }
  session.input = in;
  jpeg_read_header(&session.decoder, TRUE);
  if (!check_header(session, format, shape, refusal)) { return false; }
  choose_colours(session, format);
  if (!reserve_coefficients(session)) { refusal = out_of_memory(kNoRoomForCoefficients); }
  return !session.no_memory;
}

tile::TileResult decode_image(Session& session, BlockFormat const& format, BlockShape shape,
                              std::span<std::byte const> in, std::span<std::byte> out, std::size_t pitch) {
  if (setjmp(session.escape) != 0) { return after_escape(session, pitch); }
  tile::TileResult refusal;
  if (!read_header(session, format, shape, in, refusal)) { return refusal; }
  jpeg_decompress_struct& decoder = session.decoder;
  jpeg_start_decompress(&decoder);
  if (static_cast<std::uint32_t>(decoder.output_components) != format.samples_per_pixel) {
    return corrupt("the JPEG stream has another number of components");
  }
  JDIMENSION const rows = std::min<JDIMENSION>(decoder.output_height, shape.height_px);
  // An image smaller than the block leaves the rest black. (libtiff leaves old contents of its buffer.)
  if (decoder.output_width < shape.width_px) {
    std::memset(out.data(), 0, pitch * shape.height_px);
  } else if (rows < shape.height_px) {
    std::memset(out.data() + pitch * rows, 0, pitch * (shape.height_px - rows));
  }
  while (decoder.output_scanline < rows) {
    JSAMPROW targets[kRowsPerCall];
    JDIMENSION const first = decoder.output_scanline;
    JDIMENSION const count = std::min(kRowsPerCall, rows - first);
    for (JDIMENSION i = 0; i < count; ++i) {
      targets[i] = reinterpret_cast<JSAMPROW>(out.data() + pitch * (first + i));
    }
    jpeg_read_scanlines(&decoder, targets, count);
  }
  std::size_t const expected = pitch * shape.height_px;
  if (session.ran_dry) {
    // The library has filled the rest, as in GDAL.
    return truncated(session.good_rows * pitch, "the JPEG stream ends early");
  }
  tile::TileResult result = done_of(expected, out.size(), decoder.output_height > rows);
  if (result.status == tile::TileStatus::ok && session.errors.num_warnings != 0) {
    result.reason = "libjpeg warned of damaged data";  // a remark: libtiff and GDAL continue too
  }
  return result;
}

tile::TileResult decode(BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                        std::span<std::byte> out, Workspace& workspace) {
  if (format.bits_per_sample == 12) { return decode_jpeg12(format, shape, in, out); }
  if (format.bits_per_sample != 8) { return unsupported("JPEG has 8 or 12 bits a sample"); }
  if (format.samples_per_pixel > MAX_COMPONENTS) { return unsupported("JPEG has at most ten components"); }
  if (auto const refusal = refuse_shape(format, shape, out.size())) { return *refusal; }
  // A new decoder for each block: it costs microseconds, and no table of an earlier block can replace one that a
  // damaged block lacks.
  MemoryBudget::Reservation coefficients;
  Session session{};
  session.budget = workspace.impl().budget;
  session.held = &coefficients;
  tile::TileResult const result = decode_image(session, format, shape, in, out, *row_bytes(format, shape));
  jpeg_destroy_decompress(&session.decoder);
  return result;
}

#if defined(LIBJPEG_TURBO_VERSION)  // other versions upsample differently

constexpr std::uint32_t kMcu = 16;  // pixels of a 4:2:0 unit, both ways: the library writes whole units

bool has_chroma_of_half_size(jpeg_decompress_struct const& decoder) {
  jpeg_component_info const* const parts = decoder.comp_info;
  auto const is_sampled = [](jpeg_component_info const& part, int factor) {
    return part.h_samp_factor == factor && part.v_samp_factor == factor;
  };
  return decoder.jpeg_color_space == JCS_YCbCr && decoder.out_color_space == JCS_RGB && decoder.num_components == 3 &&
         is_sampled(parts[0], 2) && is_sampled(parts[1], 1) && is_sampled(parts[2], 1);
}

// The destinations of the planes of whole units.
struct Parts {
  std::byte* luma;
  std::byte* cb;
  std::byte* cr;
  std::size_t luma_pitch;
};

// Returns false as soon as the library warns: the general decoder decodes the block again.
bool decode_parts(Session& session, BlockFormat const& format, BlockShape shape, std::span<std::byte const> in,
                  Parts const& parts) {
  if (setjmp(session.escape) != 0) { return false; }
  tile::TileResult refusal;
  if (!read_header(session, format, shape, in, refusal)) { return false; }
  jpeg_decompress_struct& decoder = session.decoder;
  bool const fits = decoder.image_width == shape.width_px && decoder.image_height == shape.height_px;
  if (!fits || !has_chroma_of_half_size(decoder)) { return false; }
  decoder.raw_data_out = TRUE;
  jpeg_start_decompress(&decoder);
  while (decoder.output_scanline < decoder.output_height && session.errors.num_warnings == 0) {
    JSAMPROW rows[3][kMcu];
    JSAMPARRAY planes[3] = {rows[0], rows[1], rows[2]};
    std::size_t const first = decoder.output_scanline;
    for (std::size_t i = 0; i < kMcu; ++i) {
      rows[0][i] = reinterpret_cast<JSAMPROW>(parts.luma + (first + i) * parts.luma_pitch);
    }
    for (std::size_t i = 0; i < kMcu / 2; ++i) {
      std::size_t const at = (first / 2 + i) * (parts.luma_pitch / 2);
      rows[1][i] = reinterpret_cast<JSAMPROW>(parts.cb + at);
      rows[2][i] = reinterpret_cast<JSAMPROW>(parts.cr + at);
    }
    jpeg_read_raw_data(&decoder, planes, kMcu);
  }
  return session.errors.num_warnings == 0;
}

#endif

}  // namespace

Codec::Decode jpeg_decoder() noexcept { return &guarded<&decode>; }

std::optional<tile::JpegPlanes> decode_jpeg_planes([[maybe_unused]] BlockFormat const& format,
                                                   [[maybe_unused]] BlockShape shape,
                                                   [[maybe_unused]] std::span<std::byte const> in,
                                                   [[maybe_unused]] std::span<std::byte> out,
                                                   [[maybe_unused]] Workspace& workspace) noexcept {
#if defined(LIBJPEG_TURBO_VERSION)
  if (format.bits_per_sample != 8 || format.samples_per_pixel != 3 || shape.width_px <= 4) { return {}; }
  if (refuse_shape(format, shape, out.size())) { return {}; }
  std::size_t const pitch = round_up(std::size_t{shape.width_px}, kMcu);
  std::size_t const luma_bytes = pitch * round_up(std::size_t{shape.height_px}, kMcu);
  if (out.size() < luma_bytes + luma_bytes / 2) { return {}; }
  std::byte* const chroma = out.data() + luma_bytes;
  Parts const parts{.luma = out.data(), .cb = chroma, .cr = chroma + luma_bytes / 4, .luma_pitch = pitch};
  MemoryBudget::Reservation coefficients;
  Session session{};
  session.budget = workspace.impl().budget;
  session.held = &coefficients;
  bool const good = decode_parts(session, format, shape, in, parts);
  jpeg_destroy_decompress(&session.decoder);
  if (!good) { return {}; }
  return tile::JpegPlanes{.width_px = shape.width_px,
                          .height_px = shape.height_px,
                          .luma = parts.luma,
                          .cb = parts.cb,
                          .cr = parts.cr,
                          .luma_pitch = pitch,
                          .chroma_pitch = pitch / 2};
#else
  return {};
#endif
}

#else

Codec::Decode jpeg_decoder() noexcept { return nullptr; }

std::optional<tile::JpegPlanes> decode_jpeg_planes(BlockFormat const&, BlockShape, std::span<std::byte const>,
                                                   std::span<std::byte>, Workspace&) noexcept {
  return {};
}

#endif

}  // namespace terrazzo::codec
