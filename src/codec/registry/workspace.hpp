// SPDX-License-Identifier: Apache-2.0
//
// The contents of a Workspace: library handles made on first use and reused, and scratch memory that only grows.
// Handles of decoders and encoders are separate, so that one thread may do both.
// Thread rule: that of Workspace, one thread at a time.
#pragma once

#include "base/memory_budget.hpp"
#include "base/scratch.hpp"
#include "codec/deflate/noise_deflate.hpp"
#include "codec/deflate/pair_decoder.hpp"
#include "codec/jxl/library.hpp"
#include "codec/jxl/memory.hpp"
#include "codec/registry/codec.hpp"
#include "codec/registry/libraries.hpp"
#include "codec/zstd/decoder.hpp"
#include "codec/zstd/noise_zstd.hpp"
#include "coding/lzw/encode.hpp"

#if TERRAZZO_HAVE_ZLIB
#define ZLIB_CONST  // next_in is a pointer to const
#include <zlib.h>
#endif
#if TERRAZZO_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#if TERRAZZO_HAVE_ZSTD
#include <zstd.h>
#endif
#if TERRAZZO_HAVE_LZMA
#include <lzma.h>
#endif
#if TERRAZZO_HAVE_LZ4
#include <lz4frame.h>
#endif

#include <array>
#include <cstddef>
#include <memory>

namespace terrazzo::codec {

template <auto Free>
struct FreeWith {
  template <class T>
  void operator()(T* handle) const noexcept {
    Free(handle);
  }
};

struct Workspace::Impl {
  Impl() = default;
  ~Impl();
  Impl(Impl const&) = delete;
  Impl& operator=(Impl const&) = delete;

  MemoryBudget* budget = nullptr;  // for allocations of libraries (memory_charge.hpp); null: no limit

  Scratch samples;  // decoded samples that are rearranged for the caller
  Scratch masks;    // LERC validity bytes
  Scratch inner;    // LERC blobs inside deflate or zstd
  Scratch trial;    // sample of a block (matches/level_trial.hpp)
  unsigned deflate_pairs_to_skip = 0;  // after a pair that failed

  [[nodiscard]] coding::LzwEncoder& lzw_encoder();    // throws bad_alloc
  [[nodiscard]] NoiseDeflate& noise_deflate();  // throws bad_alloc

#if TERRAZZO_HAVE_ZLIB
  [[nodiscard]] z_stream* zlib() noexcept;  // reset for a new stream; null if memory is short
#endif
#if TERRAZZO_HAVE_LIBDEFLATE
  [[nodiscard]] libdeflate_decompressor* libdeflate() noexcept;
  [[nodiscard]] DeflatePair* deflate_pair() noexcept;  // null if memory is short
  static constexpr int kHighestDeflateLevel = 12;
  [[nodiscard]] libdeflate_compressor* libdeflate_encoder(int level) noexcept;  // one for each level, 1 to 12
#endif
#if TERRAZZO_HAVE_ZSTD
  [[nodiscard]] ZSTD_DCtx* zstd() noexcept;
  [[nodiscard]] ZstdDecoder* zstd_decoder() noexcept;  // null if memory is short
  [[nodiscard]] ZSTD_CCtx* zstd_encoder() noexcept;  // without parameters or session
  [[nodiscard]] NoiseZstd& noise_zstd();             // throws bad_alloc
#endif
#if TERRAZZO_HAVE_LZMA
  [[nodiscard]] lzma_stream* lzma() noexcept { return &lzma_; }
  [[nodiscard]] lzma_stream* lzma_encoder() noexcept { return &lzma_encoder_; }
#endif
#if TERRAZZO_HAVE_LZ4
  [[nodiscard]] LZ4F_dctx* lz4() noexcept;  // reset for a new frame
#endif
#if TERRAZZO_HAVE_JXL
  [[nodiscard]] JxlDecoder* jxl(JxlLibrary const& library) noexcept;  // reset for a new stream; null if memory is short
  [[nodiscard]] JxlMemory& jxl_memory() noexcept { return jxl_memory_; }  // the memory of jxl()
#endif

 private:
  std::unique_ptr<coding::LzwEncoder> lzw_encoder_;
  std::unique_ptr<NoiseDeflate> noise_deflate_;
#if TERRAZZO_HAVE_ZLIB
  z_stream zlib_{};
  bool zlib_ready_ = false;
#endif
#if TERRAZZO_HAVE_LIBDEFLATE
  std::unique_ptr<libdeflate_decompressor, FreeWith<&libdeflate_free_decompressor>> libdeflate_;
  std::unique_ptr<DeflatePair> deflate_pair_;
  std::array<std::unique_ptr<libdeflate_compressor, FreeWith<&libdeflate_free_compressor>>, kHighestDeflateLevel + 1>
      libdeflate_encoders_;
#endif
#if TERRAZZO_HAVE_ZSTD
  std::unique_ptr<ZSTD_DCtx, FreeWith<&ZSTD_freeDCtx>> zstd_;
  std::unique_ptr<ZstdDecoder> zstd_decoder_;
  std::unique_ptr<ZSTD_CCtx, FreeWith<&ZSTD_freeCCtx>> zstd_encoder_;
  std::unique_ptr<NoiseZstd> noise_zstd_;
#endif
#if TERRAZZO_HAVE_LZMA
  lzma_stream lzma_ = LZMA_STREAM_INIT;
  lzma_stream lzma_encoder_ = LZMA_STREAM_INIT;
#endif
#if TERRAZZO_HAVE_LZ4
  std::unique_ptr<LZ4F_dctx, FreeWith<&LZ4F_freeDecompressionContext>> lz4_;
#endif
#if TERRAZZO_HAVE_JXL
  JxlMemory jxl_memory_;  // before the decoder: it is destroyed later
  std::unique_ptr<JxlDecoder, JxlDecoderDeleter> jxl_;
#endif
};

}  // namespace terrazzo::codec
