// SPDX-License-Identifier: Apache-2.0
#include "codec/workspace.hpp"

namespace terrazzo::codec {

Workspace::Workspace() : impl_(std::make_unique<Impl>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

std::span<std::byte> Scratch::take(std::size_t bytes) {
  if (bytes > capacity_bytes_) {
    memory_.reset();  // before the new allocation: the old contents are not needed, and both at once would be
    capacity_bytes_ = 0;
    memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    capacity_bytes_ = bytes;
  }
  return {memory_.get(), bytes};
}

Workspace::Impl::~Impl() {
#if TERRAZZO_HAVE_ZLIB
  if (zlib_ready_) { inflateEnd(&zlib_); }
#endif
#if TERRAZZO_HAVE_LZMA
  lzma_end(&lzma_);
#endif
}

#if TERRAZZO_HAVE_ZLIB
z_stream* Workspace::Impl::zlib() noexcept {
  if (!zlib_ready_) {
    zlib_ready_ = inflateInit(&zlib_) == Z_OK;
  } else if (inflateReset(&zlib_) != Z_OK) {
    return nullptr;
  }
  return zlib_ready_ ? &zlib_ : nullptr;
}
#endif

#if TERRAZZO_HAVE_LIBDEFLATE
libdeflate_decompressor* Workspace::Impl::libdeflate() noexcept {
  if (!libdeflate_) { libdeflate_.reset(libdeflate_alloc_decompressor()); }
  return libdeflate_.get();
}
#endif

#if TERRAZZO_HAVE_ZSTD
ZSTD_DCtx* Workspace::Impl::zstd() noexcept {
  if (!zstd_) { zstd_.reset(ZSTD_createDCtx()); }
  return zstd_.get();
}
#endif

#if TERRAZZO_HAVE_LZ4
LZ4F_dctx* Workspace::Impl::lz4() noexcept {
  if (lz4_) {
    LZ4F_resetDecompressionContext(lz4_.get());
  } else {
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) { return nullptr; }
    lz4_.reset(context);
  }
  return lz4_.get();
}
#endif

#if TERRAZZO_HAVE_JXL
JxlDecoder* Workspace::Impl::jxl() noexcept {
  if (jxl_) {
    JxlDecoderReset(jxl_.get());
  } else {
    jxl_.reset(JxlDecoderCreate(nullptr));
  }
  return jxl_.get();
}
#endif

}  // namespace terrazzo::codec
