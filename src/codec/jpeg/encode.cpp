// SPDX-License-Identifier: Apache-2.0
//
// JPEG in TIFF (compression 7, TIFF Technical Note 2), 8 bits, baseline. As in GDAL, the quantisation tables are in tag
// 347 and omitted from the tiles, while each tile has optimised Huffman tables, which saves some percent. No JFIF or
// Adobe markers: the TIFF tags describe the components.
//
// Three samples under photometric YCbCr come as RGB (unless convert_ycbcr_to_rgb is off) and have their chroma
// subsampled; all other samples are stored unchanged, with equal components.
#include "codec/registry/encode_sink.hpp"
#include "codec/registry/encoders.hpp"
#include "codec/registry/libraries.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory_writer.hpp"

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

namespace terrazzo::codec {
namespace {

constexpr std::uint32_t kMaxComponents = 4;  // per scan
constexpr std::uint32_t kMaxSidePx = 65500;  // libjpeg's JPEG_MAX_DIMENSION

bool is_ycbcr(EncodeFormat const& format) noexcept {
  return format.block.photometric == tiff::Photometric::ycbcr && format.block.samples_per_pixel == 3;
}

#if TERRAZZO_HAVE_JPEG

constexpr JDIMENSION kRowsPerCall = 16;

// All data that must survive a longjmp; no member has a destructor that the jump could skip.
struct Session {
  jpeg_compress_struct encoder;  // first: the library's callbacks get its address
  jpeg_error_mgr errors;
  jpeg_destination_mgr destination;
  std::jmp_buf escape;
  EncodeSink* sink;
  bool out_of_memory;
  std::array<JOCTET, 16384> buffer;
};

Session& session_of(j_common_ptr encoder) noexcept { return *reinterpret_cast<Session*>(encoder); }
Session& session_of(j_compress_ptr encoder) noexcept { return *reinterpret_cast<Session*>(encoder); }

void drain(Session& session, std::size_t bytes) {
  if (!session.sink->append({reinterpret_cast<std::byte const*>(session.buffer.data()), bytes})) {
    session.out_of_memory = true;
    std::longjmp(session.escape, 1);
  }
  session.destination.next_output_byte = session.buffer.data();
  session.destination.free_in_buffer = session.buffer.size();
}

extern "C" {

[[noreturn]] static void jpeg_encode_error(j_common_ptr encoder) {
  Session& session = session_of(encoder);
  session.out_of_memory = session.errors.msg_code == JERR_OUT_OF_MEMORY;
  std::longjmp(session.escape, 1);
}

static void jpeg_encode_message(j_common_ptr, int) {}
static void jpeg_encode_text(j_common_ptr) {}

static void jpeg_init_destination(j_compress_ptr encoder) {
  Session& session = session_of(encoder);
  session.destination.next_output_byte = session.buffer.data();
  session.destination.free_in_buffer = session.buffer.size();
}

static boolean jpeg_empty_output(j_compress_ptr encoder) {
  Session& session = session_of(encoder);
  drain(session, session.buffer.size());  // the whole buffer, for any value of free_in_buffer
  return TRUE;
}

static void jpeg_term_destination(j_compress_ptr encoder) {
  Session& session = session_of(encoder);
  drain(session, session.buffer.size() - session.destination.free_in_buffer);
}

}  // extern "C"

void open(Session& session, EncodeFormat const& format) {
  session.encoder.err = jpeg_std_error(&session.errors);
  session.errors.error_exit = &jpeg_encode_error;
  session.errors.emit_message = &jpeg_encode_message;
  session.errors.output_message = &jpeg_encode_text;
  jpeg_compress_struct& encoder = session.encoder;
  jpeg_create_compress(&encoder);
  session.destination.init_destination = &jpeg_init_destination;
  session.destination.empty_output_buffer = &jpeg_empty_output;
  session.destination.term_destination = &jpeg_term_destination;
  encoder.dest = &session.destination;

  bool const ycbcr = is_ycbcr(format);
  encoder.input_components = static_cast<int>(format.block.samples_per_pixel);
  encoder.in_color_space = !ycbcr ? JCS_UNKNOWN : format.block.convert_ycbcr_to_rgb ? JCS_RGB : JCS_YCbCr;
  jpeg_set_defaults(&encoder);
  if (ycbcr) {
    jpeg_set_colorspace(&encoder, JCS_YCbCr);
    encoder.comp_info[0].h_samp_factor = static_cast<int>(format.chroma_horizontal);
    encoder.comp_info[0].v_samp_factor = static_cast<int>(format.chroma_vertical);
  }
  encoder.write_JFIF_header = FALSE;
  encoder.write_Adobe_marker = FALSE;
  encoder.optimize_coding = TRUE;
  jpeg_set_quality(&encoder, format.quality, TRUE);
}

// Runs under setjmp: no object with a destructor may live in here or below.
bool write_image(Session& session, EncodeFormat const& format, BlockShape shape, std::span<std::byte const> in) {
  if (setjmp(session.escape) != 0) { return false; }
  open(session, format);
  jpeg_compress_struct& encoder = session.encoder;
  encoder.image_width = shape.width_px;
  encoder.image_height = shape.height_px;
  jpeg_suppress_tables(&encoder, TRUE);
  jpeg_start_compress(&encoder, FALSE);
  std::size_t const pitch = std::size_t{shape.width_px} * format.block.samples_per_pixel;
  while (encoder.next_scanline < shape.height_px) {
    JSAMPROW rows[kRowsPerCall];
    JDIMENSION const first = encoder.next_scanline;
    JDIMENSION const count = std::min<JDIMENSION>(kRowsPerCall, shape.height_px - first);
    for (JDIMENSION i = 0; i < count; ++i) {
      // libjpeg's type lacks const, although it only reads.
      rows[i] = const_cast<JSAMPROW>(reinterpret_cast<JSAMPLE const*>(in.data() + pitch * (first + i)));
    }
    jpeg_write_scanlines(&encoder, rows, count);
  }
  jpeg_finish_compress(&encoder);
  return true;
}

bool write_tables(Session& session, EncodeFormat const& format) {
  if (setjmp(session.escape) != 0) { return false; }
  open(session, format);
  // Only the tables that the components use: chroma has its own.
  jpeg_suppress_tables(&session.encoder, TRUE);
  session.encoder.quant_tbl_ptrs[0]->sent_table = FALSE;
  if (is_ycbcr(format)) { session.encoder.quant_tbl_ptrs[1]->sent_table = FALSE; }
  jpeg_write_tables(&session.encoder);
  return true;
}

tile::TileResult encode(EncodeFormat const& format, BlockShape shape, std::span<std::byte const> in, EncodedBlock& out,
                        Workspace&) {
  if (format.block.bits_per_sample != 8 || format.block.samples_per_pixel > kMaxComponents) {
    return unsupported("JPEG is written with up to four samples of 8 bits");
  }
  if (shape.width_px > kMaxSidePx || shape.height_px > kMaxSidePx) {
    return unsupported("a JPEG image is at most 65500 pixels wide and high");
  }
  EncodeSink sink(out, in.size() / 2 + 4096);
  Session session{};
  session.sink = &sink;
  bool const written = write_image(session, format, shape, in);
  jpeg_destroy_compress(&session.encoder);
  if (!written) { return session.out_of_memory ? out_of_memory() : failed("libjpeg failed"); }
  sink.finish();
  return done(sink.size());
}

#endif

bool is_factor(std::uint32_t factor) noexcept { return factor == 1 || factor == 2; }

std::string refuse(EncodeFormat const& format) {
  if (format.block.bits_per_sample != 8 || format.block.sample_format != tiff::SampleFormat::uint) {
    return "JPEG is written with unsigned 8-bit samples";
  }
  if (format.block.samples_per_pixel > kMaxComponents) {
    return "JPEG is written with up to four samples a pixel; store the bands apart";
  }
  if (format.block.photometric == tiff::Photometric::ycbcr && !is_ycbcr(format)) {
    return "JPEG of YCbCr has three samples a pixel, stored together";
  }
  if (format.quality < 1 || format.quality > 100) { return "JPEG quality is 1 to 100"; }
  bool const subsamplings = is_factor(format.chroma_horizontal) && is_factor(format.chroma_vertical) &&
                            format.chroma_vertical <= format.chroma_horizontal;
  if (is_ycbcr(format) && !subsamplings) { return "chroma is subsampled by 1 x 1, 2 x 1 or 2 x 2"; }
  return {};
}

// As in TurboJPEG's bound: whole blocks of 16 x 16, two bytes per sample, headers.
std::uint64_t bound(EncodeFormat const& format, BlockShape shape) noexcept {
  std::uint64_t const width = (std::uint64_t{shape.width_px} + 15) / 16 * 16;
  std::uint64_t const height = (std::uint64_t{shape.height_px} + 15) / 16 * 16;
  return 2 * width * height * format.block.samples_per_pixel + 4096;
}

void set_tags(EncodeFormat const& format, tiff::TagSet& tags) {
  tags.set_bytes(tiff::tag::JPEGTables, tiff::FieldType::undefined, make_jpeg_tables(format));
}

}  // namespace

Encoder jpeg_encoder() noexcept {
  return {
    .compression = tiff::Compression::jpeg, .library = "libjpeg-turbo",
#if TERRAZZO_HAVE_JPEG
    .encode = &guarded_encode<&encode>,
#endif
    .refuse = &refuse, .bound = &bound, .set_tags = &set_tags, .settings = {
      .quality = true,
      .chroma = true,
      .always_lossy = true
    }
  };
}

std::vector<std::byte> make_jpeg_tables([[maybe_unused]] EncodeFormat const& format) {
#if TERRAZZO_HAVE_JPEG
  EncodedBlock block;
  EncodeSink sink(block, 4096);
  Session session{};
  session.sink = &sink;
  bool const written = write_tables(session, format);
  jpeg_destroy_compress(&session.encoder);
  if (!written) { throw Error(ErrorKind::limit, "no memory for JPEG tables"); }
  sink.finish();
  return {block.bytes.begin(), block.bytes.end()};
#else
  throw Error(ErrorKind::unsupported, "this build lacks libjpeg");
#endif
}

}  // namespace terrazzo::codec
