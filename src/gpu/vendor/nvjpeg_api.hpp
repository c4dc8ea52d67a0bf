// SPDX-License-Identifier: Apache-2.0
//
// The part of nvJPEG 13's C interface that we call, as our own declarations, so that building needs no vendor header.
// tests/gpu/vendor/vendor_abi_test.cpp compares them with the vendor's header if it is installed.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>

namespace terrazzo::gpu::nvjpeg {

using Status = int;  // an enum of int width
inline constexpr Status kSuccess = 0;
inline constexpr Status kInvalidParameter = 2;
inline constexpr Status kBadJpeg = 3;
inline constexpr Status kJpegNotSupported = 4;
inline constexpr Status kAllocatorFailure = 5;
inline constexpr Status kExecutionFailed = 6;
inline constexpr Status kArchMismatch = 7;
inline constexpr Status kInternalError = 8;
inline constexpr Status kImplementationNotSupported = 9;
inline constexpr Status kIncompleteBitstream = 10;

inline constexpr int kOutputUnchanged = 0;  // planes, as stored
inline constexpr int kOutputY = 2;
inline constexpr int kOutputRgbInterleaved = 5;

inline constexpr int kBackendHybrid = 1;     // Huffman on the CPU
inline constexpr int kBackendGpuHybrid = 2;  // Huffman on the SMs, for batches of more than 50
inline constexpr int kBackendHardware = 3;   // the chip's JPEG engines

inline constexpr int kInputRgbInterleaved = 5;  // becomes YCbCr

inline constexpr int kChroma444 = 0;
inline constexpr int kChroma422 = 1;
inline constexpr int kChroma420 = 2;
inline constexpr int kChromaGray = 6;

inline constexpr unsigned kFlagInterpolateChroma = 1u << 5;

inline constexpr int kMaxComponents = 4;

struct Image {
  unsigned char* channel[kMaxComponents];
  std::size_t pitch[kMaxComponents];
};

struct DeviceAllocator {
  int (*allocate)(void* context, void** pointer, std::size_t bytes, cudaStream_t stream);
  int (*release)(void* context, void* pointer, std::size_t bytes, cudaStream_t stream);
  void* context;
};
using PinnedAllocator = DeviceAllocator;  // the vendor's two types have one layout

struct HandleTag;
struct StateTag;
struct EncoderStateTag;
struct EncoderParamsTag;
struct StreamTag;
using Handle = HandleTag*;
using State = StateTag*;
using EncoderState = EncoderStateTag*;
using EncoderParams = EncoderParamsTag*;
using Stream = StreamTag*;  // a parsed JPEG stream

using GetProperty = Status(libraryPropertyType, int*);
using Create = Status(int backend, DeviceAllocator*, PinnedAllocator*, unsigned flags, Handle*);
using Destroy = Status(Handle);
using HardwareInfo = Status(Handle, unsigned* engines, unsigned* cores_per_engine);
using StateCreate = Status(Handle, State*);
using StateDestroy = Status(State);
using Decode = Status(Handle, State, unsigned char const* data, std::size_t bytes, int output_format, Image*,
                      cudaStream_t);
using BatchInitialize = Status(Handle, State, int batch_size, int max_cpu_threads, int output_format);
using DecodeBatch = Status(Handle, State, unsigned char const* const* data, std::size_t const* bytes, Image*,
                           cudaStream_t);

using EncoderStateCreate = Status(Handle, EncoderState*, cudaStream_t);
using EncoderStateDestroy = Status(EncoderState);
using EncoderParamsCreate = Status(Handle, EncoderParams*, cudaStream_t);
using EncoderParamsDestroy = Status(EncoderParams);
using EncoderParamsSet = Status(EncoderParams, int value, cudaStream_t);  // quality, Huffman tables, subsampling
using EncodeYuv = Status(Handle, EncoderState, EncoderParams, Image const*, int chroma, int width_px, int height_px,
                         cudaStream_t);
using EncodeImage = Status(Handle, EncoderState, EncoderParams, Image const*, int input_format, int width_px,
                           int height_px, cudaStream_t);
using EncodeRetrieve = Status(Handle, EncoderState, unsigned char* data, std::size_t* bytes, cudaStream_t);

using StreamCreate = Status(Handle, Stream*);
using StreamDestroy = Status(Stream);
using StreamParse = Status(Handle, unsigned char const* data, std::size_t bytes, int save_metadata, int save_stream,
                           Stream);
using EncoderParamsCopyTables = Status(EncoderParams, Stream, cudaStream_t);

}  // namespace terrazzo::gpu::nvjpeg
