// SPDX-License-Identifier: Apache-2.0
//
// libjpeg-turbo as the host codec uses it, pictures to encode, and what a tile's stream may contain: the other side of
// the device tests of nvJPEG's encoder.
#pragma once

#include "encode_tiles.hpp"

#include <csetjmp>
#include <cstdio>
extern "C" {
#include <jpeglib.h>
}

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace terrazzo::gpu::device_test {

struct JpegKind {
  char const* name;
  std::uint32_t samples, across, down;  // luma's factors
  std::uint32_t width = 256, height = 256;
};

// Waves, edges and grain in all samples; every fourth is the tile of a raster's corner, with nothing behind its pixels.
inline EncodedBytes jpeg_picture(JpegKind const& kind, std::uint64_t seed) {
  Noise noise(seed);
  double const shift = static_cast<double>(noise.next() % 100);
  bool const is_corner = seed % 4 == 0;
  EncodedBytes pixels(std::size_t{kind.width} * kind.height * kind.samples);
  std::size_t at = 0;
  for (std::uint32_t y = 0; y < kind.height; ++y) {
    for (std::uint32_t x = 0; x < kind.width; ++x) {
      double const edge = ((x / 37 + y / 53) % 2 == 0) ? 25 : -25;
      double const grain = static_cast<double>(noise.next() % 9) - 4;
      bool const is_outside = is_corner && (x >= kind.width * 3 / 5 || y >= kind.height * 2 / 3);
      for (std::uint32_t s = 0; s < kind.samples; ++s, ++at) {
        double const value = 128 + 60 * std::sin((x + shift) * 0.02 * (s + 1)) * std::cos((y - shift) * 0.015) +
                             edge * (s == 1 ? 0.5 : 1) + grain;
        if (!is_outside) { pixels[at] = static_cast<std::byte>(static_cast<int>(std::clamp(value, 0.0, 255.0))); }
      }
    }
  }
  return pixels;
}

// As the host codec sets its encoder up.
inline void open_jpeg(jpeg_compress_struct& encoder, jpeg_error_mgr& errors, JpegKind const& kind, int quality) {
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  encoder.image_width = kind.width;
  encoder.image_height = kind.height;
  encoder.input_components = static_cast<int>(kind.samples);
  encoder.in_color_space = kind.samples == 3 ? JCS_RGB : JCS_UNKNOWN;
  jpeg_set_defaults(&encoder);
  if (kind.samples == 3) {
    jpeg_set_colorspace(&encoder, JCS_YCbCr);
    encoder.comp_info[0].h_samp_factor = static_cast<int>(kind.across);
    encoder.comp_info[0].v_samp_factor = static_cast<int>(kind.down);
  }
  encoder.write_JFIF_header = FALSE;
  encoder.optimize_coding = TRUE;
  jpeg_set_quality(&encoder, quality, TRUE);
}

inline EncodedBytes taken_from_libjpeg(unsigned char* memory, unsigned long size) {
  EncodedBytes out(size);
  std::memcpy(out.data(), memory, size);
  std::free(memory);
  return out;
}

inline EncodedBytes jpeg_tag_347(JpegKind const& kind, int quality) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  open_jpeg(encoder, errors, kind, quality);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  jpeg_suppress_tables(&encoder, TRUE);
  encoder.quant_tbl_ptrs[0]->sent_table = FALSE;
  if (kind.samples == 3) { encoder.quant_tbl_ptrs[1]->sent_table = FALSE; }
  jpeg_write_tables(&encoder);
  jpeg_destroy_compress(&encoder);
  return taken_from_libjpeg(memory, size);
}

// As the host codec writes a tile, or with all its tables and a JFIF header.
inline EncodedBytes jpeg_on_host(JpegKind const& kind, EncodedBytes const& pixels, int quality, bool in_full = false) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  open_jpeg(encoder, errors, kind, quality);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  if (in_full) {
    if (kind.samples == 1) { encoder.comp_info[0].h_samp_factor = encoder.comp_info[0].v_samp_factor = 2; }
    encoder.write_JFIF_header = TRUE;
    encoder.optimize_coding = FALSE;
  } else {
    jpeg_suppress_tables(&encoder, TRUE);
  }
  jpeg_start_compress(&encoder, in_full ? TRUE : FALSE);
  while (encoder.next_scanline < kind.height) {
    auto const* const from = reinterpret_cast<JSAMPLE const*>(pixels.data()) +
                             std::size_t{encoder.next_scanline} * kind.width * kind.samples;
    JSAMPROW row = const_cast<JSAMPROW>(from);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  return taken_from_libjpeg(memory, size);
}

// A decoder that is kept from tile to tile, as libtiff keeps its own: tables of the tag are read once.
class HostJpegDecoder {
 public:
  HostJpegDecoder(JpegKind const& kind, EncodedBytes const& tables) : kind_(kind) {
    decoder_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr self) {
      std::longjmp(reinterpret_cast<HostJpegDecoder*>(self->client_data)->escape_, 1);
    };
    errors_.output_message = [](j_common_ptr) {};
    jpeg_create_decompress(&decoder_);
    decoder_.client_data = this;
    source(tables);
    jpeg_read_header(&decoder_, FALSE);
  }
  ~HostJpegDecoder() { jpeg_destroy_decompress(&decoder_); }
  HostJpegDecoder(HostJpegDecoder const&) = delete;
  HostJpegDecoder& operator=(HostJpegDecoder const&) = delete;

  // Empty when libjpeg complains in any way.
  EncodedBytes decode(EncodedBytes const& tile) {
    pixels_.assign(std::size_t{kind_.width} * kind_.height * kind_.samples, std::byte{});
    bool const fine = read(tile) && errors_.num_warnings == 0;
    errors_.num_warnings = 0;
    return fine ? pixels_ : EncodedBytes();
  }

 private:
  void source(EncodedBytes const& from) {
    jpeg_mem_src(&decoder_, reinterpret_cast<unsigned char const*>(from.data()), from.size());
  }
  bool read(EncodedBytes const& tile) {
    if (setjmp(escape_) != 0) {
      jpeg_abort_decompress(&decoder_);
      return false;
    }
    source(tile);
    jpeg_read_header(&decoder_, TRUE);
    if (decoder_.image_width != kind_.width || decoder_.image_height != kind_.height ||
        decoder_.num_components != static_cast<int>(kind_.samples)) {
      jpeg_abort_decompress(&decoder_);
      return false;
    }
    decoder_.jpeg_color_space = kind_.samples == 3 ? JCS_YCbCr : JCS_UNKNOWN;
    decoder_.out_color_space = kind_.samples == 3 ? JCS_RGB : JCS_UNKNOWN;
    jpeg_start_decompress(&decoder_);
    while (decoder_.output_scanline < kind_.height) {
      JSAMPROW row = reinterpret_cast<JSAMPROW>(pixels_.data()) +
                     std::size_t{decoder_.output_scanline} * kind_.width * kind_.samples;
      jpeg_read_scanlines(&decoder_, &row, 1);
    }
    jpeg_finish_decompress(&decoder_);
    return true;
  }

  JpegKind kind_;
  jpeg_decompress_struct decoder_{};
  jpeg_error_mgr errors_{};
  std::jmp_buf escape_{};
  EncodedBytes pixels_;
};

// The markers of a stream from its start to its first scan, by their second bytes; empty when they are damaged.
inline std::vector<unsigned> jpeg_markers(EncodedBytes const& stream) {
  auto const at = [&](std::size_t i) { return static_cast<unsigned>(stream[i]); };
  std::vector<unsigned> markers;
  for (std::size_t i = 0; i + 4 <= stream.size();) {
    if (at(i) != 0xFF) { return {}; }
    unsigned const marker = at(i + 1);
    markers.push_back(marker);
    if (marker == 0xDA) { return markers; }
    i += marker == 0xD8 ? 2 : 2 + (at(i + 2) << 8 | at(i + 3));
  }
  return {};
}

inline std::string jpeg_marker_names(EncodedBytes const& stream) {
  std::string names;
  for (unsigned const marker : jpeg_markers(stream)) {
    char name[8];
    std::snprintf(name, sizeof name, "%02X ", marker);
    names += name;
  }
  return names.empty() ? "damaged" : names;
}

// A tile as tag 347 promises it: one baseline frame with its own Huffman tables, no quantisation tables, and neither
// JFIF nor Adobe nor any other application's marker.
inline bool is_abbreviated_jpeg(EncodedBytes const& stream) {
  std::vector<unsigned> const markers = jpeg_markers(stream);
  auto const count = [&](unsigned marker) { return std::count(markers.begin(), markers.end(), marker); };
  bool const is_known = std::all_of(markers.begin(), markers.end(), [](unsigned m) {
    return m == 0xD8 || m == 0xC0 || m == 0xC4 || m == 0xDD || m == 0xDA;
  });
  return is_known && !markers.empty() && markers[0] == 0xD8 && count(0xD8) == 1 && count(0xC0) == 1 &&
         count(0xC4) >= 1 && stream[stream.size() - 2] == std::byte{0xFF} && stream.back() == std::byte{0xD9};
}

// Adds up squares over pictures; a picture that is missing is the worst there is.
class Psnr {
 public:
  void add(EncodedBytes const& left, EncodedBytes const& right) {
    if (left.size() != right.size() || left.empty()) {
      squares_ += 65025.0 * 1e6;
      return;
    }
    for (std::size_t i = 0; i < left.size(); ++i) {
      int const difference = static_cast<int>(left[i]) - static_cast<int>(right[i]);
      squares_ += difference * difference;
    }
    count_ += static_cast<double>(left.size());
  }
  [[nodiscard]] double db() const {
    double const mean = squares_ / std::max(count_, 1.0);
    return mean == 0 ? 99 : 10 * std::log10(65025.0 / mean);
  }

 private:
  double squares_ = 0, count_ = 0;
};

}  // namespace terrazzo::gpu::device_test
