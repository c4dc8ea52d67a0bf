// SPDX-License-Identifier: Apache-2.0
//
// The part of nvJPEG 13's C interface that we call, as our own declarations, so that building needs no vendor header.
// tests/gpu/vendor/vendor_abi_test.cpp holds them against the vendor's header where it is installed.
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
using Handle = HandleTag*;
using State = StateTag*;

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

}  // namespace terrazzo::gpu::nvjpeg
