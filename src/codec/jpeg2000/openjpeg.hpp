// SPDX-License-Identifier: Apache-2.0
//
// OpenJPEG's objects, owned. Included only where TERRAZZO_HAVE_OPENJPEG is set.
#pragma once

#include <openjpeg.h>

#include <memory>

namespace terrazzo::codec {

// One for each: the library has one type for streams and codecs.
struct FreeOpenJpegStream {
  void operator()(opj_stream_t* stream) const noexcept { opj_stream_destroy(stream); }
};
struct FreeOpenJpegCodec {
  void operator()(opj_codec_t* codec) const noexcept { opj_destroy_codec(codec); }
};
struct FreeOpenJpegImage {
  void operator()(opj_image_t* image) const noexcept { opj_image_destroy(image); }
};
using OpenJpegStream = std::unique_ptr<opj_stream_t, FreeOpenJpegStream>;
using OpenJpegCodec = std::unique_ptr<opj_codec_t, FreeOpenJpegCodec>;
using OpenJpegImage = std::unique_ptr<opj_image_t, FreeOpenJpegImage>;

// By default the library writes to stderr.
inline void silence(opj_codec_t* codec) noexcept {
  opj_msg_callback const say_nothing = +[](char const*, void*) {};
  opj_set_error_handler(codec, say_nothing, nullptr);
  opj_set_warning_handler(codec, say_nothing, nullptr);
  opj_set_info_handler(codec, say_nothing, nullptr);
}

}  // namespace terrazzo::codec
