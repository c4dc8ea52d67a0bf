// SPDX-License-Identifier: Apache-2.0
//
// The part of nvJPEG2000 0.11's C interface that we call, as our own declarations, so that building needs no vendor
// header. tests/gpu/vendor/vendor_abi_test.cpp compares them with the vendor's header if it is installed.
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

inline constexpr int kColorSpaceUnknown = 0;
inline constexpr int kColorSpaceSrgb = 1;
inline constexpr int kColorSpaceGray = 2;
inline constexpr int kColorSpaceSycc = 3;

inline constexpr int kFormatInterleaved = 1;
inline constexpr int kStreamCodestream = 0;
inline constexpr int kProgressionLrcp = 0;
inline constexpr std::size_t kMaxResolutions = 33;

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
  void** planes;            // device pointers in a host array, one per component
  std::size_t* pitches;     // bytes
  int pixel_type;
  std::uint32_t components;
};

// Contents of the SIZ and COD segments.
struct EncodeConfig {
  int stream_type;
  int color_space;
  std::uint16_t capabilities;
  std::uint32_t width;
  std::uint32_t height;
  std::uint32_t is_tiled;
  std::uint32_t tile_width;
  std::uint32_t tile_height;
  std::uint32_t components;
  ComponentInfo* component_infos;
  std::uint32_t sop_markers;
  std::uint32_t eph_markers;
  int progression;
  std::uint32_t layers;
  std::uint32_t color_transform;
  std::uint32_t resolutions;
  std::uint32_t code_block_width;
  std::uint32_t code_block_height;
  std::uint32_t modes;
  std::uint32_t is_irreversible;
  std::uint32_t precinct_count;
  std::uint32_t precinct_width[kMaxResolutions];
  std::uint32_t precinct_height[kMaxResolutions];
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
struct EncoderTag;
struct EncodeStateTag;
struct EncodeParamsTag;
using Handle = HandleTag*;
using State = StateTag*;
using Stream = StreamTag*;
using Encoder = EncoderTag*;
using EncodeState = EncodeStateTag*;
using EncodeParams = EncodeParamsTag*;

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

using EncoderCreate = Status(Encoder*);
using EncoderDestroy = Status(Encoder);
using EncodeStateCreate = Status(Encoder, EncodeState*);
using EncodeStateDestroy = Status(EncodeState);
using EncodeParamsCreate = Status(EncodeParams*);
using EncodeParamsDestroy = Status(EncodeParams);
using EncodeParamsConfig = Status(EncodeParams, EncodeConfig*);
using EncodeParamsInput = Status(EncodeParams, int format);
using Encode = Status(Encoder, EncodeState, EncodeParams, Image const*, cudaStream_t);
using EncodeRetrieve = Status(Encoder, EncodeState, unsigned char* data, std::size_t* bytes, cudaStream_t);

}  // namespace terrazzo::gpu::nvjpeg2k
