// SPDX-License-Identifier: Apache-2.0
//
// The part of nvJPEG2000 0.11's C interface that we call, as our own declarations, so that building needs no vendor
// header. tests/gpu/vendor/vendor_abi_test.cpp holds them against the vendor's header where it is installed.
#pragma once

#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu::nvjpeg2k {

using Status = int;  // an enum of int width
inline constexpr Status kSuccess = 0;
inline constexpr Status kBadJpeg = 3;
inline constexpr Status kJpegNotSupported = 4;
inline constexpr Status kAllocatorFailure = 5;
inline constexpr Status kImplementationNotSupported = 9;

inline constexpr int kBackendDefault = 0;

inline constexpr int kUint8 = 0;
inline constexpr int kUint16 = 1;
inline constexpr int kInt16 = 2;

inline constexpr int kColorSpaceSycc = 3;

struct ComponentInfo {
  std::uint32_t width;
  std::uint32_t height;
  std::uint8_t precision;
  std::uint8_t is_signed;
};

struct ImageInfo {
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t tile_width;
  std::uint32_t tile_height;
  std::uint32_t tiles_across;
  std::uint32_t tiles_down;
  std::uint32_t components;
};

struct Image {
  void** planes;            // device pointers in a host array, one a component
  std::size_t* pitches;     // bytes
  int pixel_type;
  std::uint32_t components;
};

struct DeviceAllocator {
  int (*allocate)(void* context, void** pointer, std::size_t bytes, cudaStream_t stream);
  int (*release)(void* context, void* pointer, std::size_t bytes, cudaStream_t stream);
  void* context;
};
using PinnedAllocator = DeviceAllocator;  // the vendor's two types have one layout

struct HandleTag;
struct StateTag;
struct StreamTag;
using Handle = HandleTag*;
using State = StateTag*;
using Stream = StreamTag*;

using GetProperty = Status(libraryPropertyType, int*);
using Create = Status(int backend, DeviceAllocator*, PinnedAllocator*, Handle*);
using Destroy = Status(Handle);
using StateCreate = Status(Handle, State*);
using StateDestroy = Status(State);
using StreamCreate = Status(Stream*);
using StreamDestroy = Status(Stream);
using StreamParse = Status(Handle, unsigned char const* data, std::size_t bytes, int save_metadata, int save_stream,
                           Stream);
using StreamImageInfo = Status(Stream, ImageInfo*);
using StreamComponentInfo = Status(Stream, ComponentInfo*, std::uint32_t component);
using StreamColorSpace = Status(Stream, int*);
using Decode = Status(Handle, State, Stream, Image*, cudaStream_t);

}  // namespace terrazzo::gpu::nvjpeg2k
