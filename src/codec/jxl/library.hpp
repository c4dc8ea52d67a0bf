// SPDX-License-Identifier: Apache-2.0
//
// libjxl's decoder, loaded at run time: distributions' builds of it need a newer glibc than the rest of Terrazzo.
// Prototypes come from jxl/decode.h; nothing is linked. Only src/codec uses it.
#pragma once

#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_JXL
#include <jxl/decode.h>

namespace terrazzo::codec {

// clang-format off
#define TERRAZZO_JXL_FUNCTIONS(X) \
  X(JxlDecoderCreate) \
  X(JxlDecoderDestroy) \
  X(JxlDecoderExtraChannelBufferSize) \
  X(JxlDecoderGetBasicInfo) \
  X(JxlDecoderGetExtraChannelInfo) \
  X(JxlDecoderImageOutBufferSize) \
  X(JxlDecoderProcessInput) \
  X(JxlDecoderReleaseInput) \
  X(JxlDecoderReset) \
  X(JxlDecoderSetExtraChannelBuffer) \
  X(JxlDecoderSetImageOutBuffer) \
  X(JxlDecoderSetInput) \
  X(JxlDecoderSubscribeEvents) \
  X(JxlSignatureCheck)
// clang-format on

struct JxlLibrary {
#define TERRAZZO_JXL_MEMBER(function) decltype(&::function) function = nullptr;
  TERRAZZO_JXL_FUNCTIONS(TERRAZZO_JXL_MEMBER)
#undef TERRAZZO_JXL_MEMBER

  // Null if libjxl is not installed. The library stays loaded for the life of the process. Thread-safe.
  [[nodiscard]] static JxlLibrary const* instance() noexcept;
};

struct JxlDecoderDeleter {
  void operator()(JxlDecoder* decoder) const noexcept { JxlLibrary::instance()->JxlDecoderDestroy(decoder); }
};

}  // namespace terrazzo::codec

#endif
