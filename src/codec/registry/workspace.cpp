// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/workspace.hpp"

#include "codec/registry/memory_charge.hpp"

#include <new>
#include <utility>

namespace terrazzo::codec {

Workspace::Workspace() : impl_(std::make_unique<Impl>()) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;

MemoryBudget* charge_memory_to(Workspace& workspace, MemoryBudget* budget) noexcept {
  return std::exchange(workspace.impl().budget, budget);
}

Workspace::Impl::~Impl() {
#if TERRAZZO_HAVE_ZLIB
  if (zlib_ready_) { inflateEnd(&zlib_); }
#endif
#if TERRAZZO_HAVE_LZMA
  lzma_end(&lzma_);
  lzma_end(&lzma_encoder_);
#endif
}

coding::LzwEncoder& Workspace::Impl::lzw_encoder() {
  if (!lzw_encoder_) { lzw_encoder_ = std::make_unique_for_overwrite<coding::LzwEncoder>(); }
  return *lzw_encoder_;
}

NoiseDeflate& Workspace::Impl::noise_deflate() {
  if (!noise_deflate_) { noise_deflate_ = std::make_unique<NoiseDeflate>(); }
  return *noise_deflate_;
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

DeflatePair* Workspace::Impl::deflate_pair() noexcept {
  if (!deflate_pair_) { deflate_pair_.reset(new (std::nothrow) DeflatePair); }
  return deflate_pair_.get();
}

libdeflate_compressor* Workspace::Impl::libdeflate_encoder(int level) noexcept {
  auto& encoder = libdeflate_encoders_.at(static_cast<std::size_t>(level));
  if (!encoder) { encoder.reset(libdeflate_alloc_compressor(level)); }
  return encoder.get();
}
#endif

#if TERRAZZO_HAVE_ZSTD
ZSTD_DCtx* Workspace::Impl::zstd() noexcept {
  if (!zstd_) { zstd_.reset(ZSTD_createDCtx()); }
  return zstd_.get();
}

ZstdDecoder* Workspace::Impl::zstd_decoder() noexcept {
  if (!zstd_decoder_) { zstd_decoder_.reset(new (std::nothrow) ZstdDecoder); }
  return zstd_decoder_.get();
}

ZSTD_CCtx* Workspace::Impl::zstd_encoder() noexcept {
  if (zstd_encoder_) {
    ZSTD_CCtx_reset(zstd_encoder_.get(), ZSTD_reset_session_and_parameters);
  } else {
    zstd_encoder_.reset(ZSTD_createCCtx());
  }
  return zstd_encoder_.get();
}

NoiseZstd& Workspace::Impl::noise_zstd() {
  if (!noise_zstd_) { noise_zstd_ = std::make_unique<NoiseZstd>(); }
  return *noise_zstd_;
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
JxlDecoder* Workspace::Impl::jxl(JxlLibrary const& library) noexcept {
  if (jxl_) {
    library.JxlDecoderReset(jxl_.get());
  } else {
    JxlMemoryManager const hooks = jxl_memory_.hooks();
    jxl_.reset(library.JxlDecoderCreate(&hooks));
  }
  return jxl_.get();
}
#endif

}  // namespace terrazzo::codec
