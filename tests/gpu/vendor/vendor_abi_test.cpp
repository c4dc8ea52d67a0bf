// SPDX-License-Identifier: Apache-2.0
//
// Our declarations of the vendors' interfaces against their own headers, at compile time, wherever those are installed.
#include "gpu/vendor/nvcomp_api.hpp"
#include "gpu/vendor/nvjpeg2k_api.hpp"
#include "gpu/vendor/nvjpeg_api.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

// An enum on their side may be an int on ours: same size, same register.
#define SAME_SIZE(Ours, Theirs) static_assert(sizeof(Ours) == sizeof(Theirs) && alignof(Ours) == alignof(Theirs))
#define SAME_PLACE(Ours, ours, Theirs, theirs)                      \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs) && \
                sizeof(std::declval<Ours>().ours) == sizeof(std::declval<Theirs>().theirs))

namespace {

// One parameter, or a result, as the calling convention sees it.
template <class Ours, class Theirs>
constexpr bool same_slot() {
  if constexpr (std::is_void_v<Ours> || std::is_void_v<Theirs>) {
    return std::is_void_v<Ours> && std::is_void_v<Theirs>;
  } else if constexpr (std::is_class_v<Ours> || std::is_class_v<Theirs>) {
    return std::is_class_v<Ours> && std::is_class_v<Theirs> && sizeof(Ours) == sizeof(Theirs);
  } else {
    return sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
           std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;
  }
}

template <class Ours, class Theirs>
struct SameCall : std::false_type {};

template <class R1, class... A1, class R2, class... A2>
  requires(sizeof...(A1) == sizeof...(A2))
struct SameCall<R1(A1...), R2(A2...)> : std::bool_constant<same_slot<R1, R2>() && (same_slot<A1, A2>() && ...)> {};

static_assert(SameCall<int(void*, unsigned), int(char*, unsigned)>::value);
static_assert(!SameCall<int(void*, unsigned), int(unsigned, void*)>::value);
static_assert(!SameCall<int(void*), int(void*, unsigned)>::value);

}  // namespace

#define SAME_CALL(Ours, theirs) static_assert(SameCall<Ours, decltype(theirs)>::value)

#if __has_include(<nvcomp/deflate.h>) && __has_include(<nvcomp/zstd.h>)
#include <nvcomp.h>

namespace ours_nvcomp = terrazzo::gpu::nvcomp;
SAME_SIZE(ours_nvcomp::Status, nvcompStatus_t);
static_assert(ours_nvcomp::kSuccess == nvcompSuccess);
SAME_SIZE(ours_nvcomp::Properties, nvcompProperties_t);
SAME_PLACE(ours_nvcomp::Properties, version, nvcompProperties_t, version);
SAME_SIZE(ours_nvcomp::Alignments, nvcompAlignmentRequirements_t);
SAME_PLACE(ours_nvcomp::Alignments, input, nvcompAlignmentRequirements_t, input);
SAME_PLACE(ours_nvcomp::Alignments, output, nvcompAlignmentRequirements_t, output);
SAME_PLACE(ours_nvcomp::Alignments, temp, nvcompAlignmentRequirements_t, temp);
SAME_SIZE(ours_nvcomp::DecodeOptions, nvcompBatchedDeflateDecompressOpts_t);
SAME_SIZE(ours_nvcomp::DecodeOptions, nvcompBatchedZstdDecompressOpts_t);
SAME_PLACE(ours_nvcomp::DecodeOptions, backend, nvcompBatchedDeflateDecompressOpts_t, backend);
SAME_PLACE(ours_nvcomp::DecodeOptions, backend, nvcompBatchedZstdDecompressOpts_t, backend);
static_assert(ours_nvcomp::kBackendCuda == NVCOMP_DECOMPRESS_BACKEND_CUDA);
SAME_CALL(ours_nvcomp::GetProperties, nvcompGetProperties);
SAME_CALL(ours_nvcomp::GetStatusString, nvcompGetStatusString);
SAME_CALL(ours_nvcomp::DecodeAlignments, nvcompBatchedDeflateDecompressGetRequiredAlignments);
SAME_CALL(ours_nvcomp::DecodeAlignments, nvcompBatchedZstdDecompressGetRequiredAlignments);
SAME_CALL(ours_nvcomp::DecodeTempSize, nvcompBatchedDeflateDecompressGetTempSize);
SAME_CALL(ours_nvcomp::DecodeTempSize, nvcompBatchedZstdDecompressGetTempSize);
SAME_CALL(ours_nvcomp::DecodeAsync, nvcompBatchedDeflateDecompressAsync);
SAME_CALL(ours_nvcomp::DecodeAsync, nvcompBatchedZstdDecompressAsync);
constexpr bool kNvcompChecked = true;
#else
constexpr bool kNvcompChecked = false;
#endif

#if __has_include(<nvjpeg.h>)
#include <nvjpeg.h>

namespace ours_nvjpeg = terrazzo::gpu::nvjpeg;
SAME_SIZE(ours_nvjpeg::Status, nvjpegStatus_t);
static_assert(ours_nvjpeg::kSuccess == NVJPEG_STATUS_SUCCESS);
static_assert(ours_nvjpeg::kInvalidParameter == NVJPEG_STATUS_INVALID_PARAMETER);
static_assert(ours_nvjpeg::kBadJpeg == NVJPEG_STATUS_BAD_JPEG);
static_assert(ours_nvjpeg::kJpegNotSupported == NVJPEG_STATUS_JPEG_NOT_SUPPORTED);
static_assert(ours_nvjpeg::kAllocatorFailure == NVJPEG_STATUS_ALLOCATOR_FAILURE);
static_assert(ours_nvjpeg::kExecutionFailed == NVJPEG_STATUS_EXECUTION_FAILED);
static_assert(ours_nvjpeg::kArchMismatch == NVJPEG_STATUS_ARCH_MISMATCH);
static_assert(ours_nvjpeg::kInternalError == NVJPEG_STATUS_INTERNAL_ERROR);
static_assert(ours_nvjpeg::kImplementationNotSupported == NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED);
static_assert(ours_nvjpeg::kIncompleteBitstream == NVJPEG_STATUS_INCOMPLETE_BITSTREAM);
static_assert(ours_nvjpeg::kOutputUnchanged == NVJPEG_OUTPUT_UNCHANGED);
static_assert(ours_nvjpeg::kOutputY == NVJPEG_OUTPUT_Y);
static_assert(ours_nvjpeg::kOutputRgbInterleaved == NVJPEG_OUTPUT_RGBI);
static_assert(ours_nvjpeg::kBackendHybrid == NVJPEG_BACKEND_HYBRID);
static_assert(ours_nvjpeg::kBackendGpuHybrid == NVJPEG_BACKEND_GPU_HYBRID);
static_assert(ours_nvjpeg::kBackendHardware == NVJPEG_BACKEND_HARDWARE);
static_assert(ours_nvjpeg::kFlagInterpolateChroma == (NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION));
static_assert(ours_nvjpeg::kMaxComponents == NVJPEG_MAX_COMPONENT);
SAME_SIZE(ours_nvjpeg::Image, nvjpegImage_t);
SAME_PLACE(ours_nvjpeg::Image, channel, nvjpegImage_t, channel);
SAME_PLACE(ours_nvjpeg::Image, pitch, nvjpegImage_t, pitch);
SAME_SIZE(ours_nvjpeg::DeviceAllocator, nvjpegDevAllocatorV2_t);
SAME_PLACE(ours_nvjpeg::DeviceAllocator, allocate, nvjpegDevAllocatorV2_t, dev_malloc);
SAME_PLACE(ours_nvjpeg::DeviceAllocator, release, nvjpegDevAllocatorV2_t, dev_free);
SAME_PLACE(ours_nvjpeg::DeviceAllocator, context, nvjpegDevAllocatorV2_t, dev_ctx);
SAME_SIZE(ours_nvjpeg::PinnedAllocator, nvjpegPinnedAllocatorV2_t);
SAME_PLACE(ours_nvjpeg::PinnedAllocator, allocate, nvjpegPinnedAllocatorV2_t, pinned_malloc);
SAME_PLACE(ours_nvjpeg::PinnedAllocator, release, nvjpegPinnedAllocatorV2_t, pinned_free);
SAME_PLACE(ours_nvjpeg::PinnedAllocator, context, nvjpegPinnedAllocatorV2_t, pinned_ctx);
static_assert(std::is_same_v<decltype(ours_nvjpeg::DeviceAllocator::allocate), tDevMallocV2>);
static_assert(std::is_same_v<decltype(ours_nvjpeg::DeviceAllocator::release), tDevFreeV2>);
static_assert(std::is_same_v<decltype(ours_nvjpeg::PinnedAllocator::allocate), tPinnedMallocV2>);
static_assert(std::is_same_v<decltype(ours_nvjpeg::PinnedAllocator::release), tPinnedFreeV2>);
SAME_CALL(ours_nvjpeg::GetProperty, nvjpegGetProperty);
SAME_CALL(ours_nvjpeg::Create, nvjpegCreateExV2);
SAME_CALL(ours_nvjpeg::Destroy, nvjpegDestroy);
SAME_CALL(ours_nvjpeg::HardwareInfo, nvjpegGetHardwareDecoderInfo);
SAME_CALL(ours_nvjpeg::StateCreate, nvjpegJpegStateCreate);
SAME_CALL(ours_nvjpeg::StateDestroy, nvjpegJpegStateDestroy);
SAME_CALL(ours_nvjpeg::Decode, nvjpegDecode);
SAME_CALL(ours_nvjpeg::BatchInitialize, nvjpegDecodeBatchedInitialize);
SAME_CALL(ours_nvjpeg::DecodeBatch, nvjpegDecodeBatched);
static_assert(ours_nvjpeg::kInputRgbInterleaved == NVJPEG_INPUT_RGBI);
static_assert(ours_nvjpeg::kChroma444 == NVJPEG_CSS_444 && ours_nvjpeg::kChroma422 == NVJPEG_CSS_422);
static_assert(ours_nvjpeg::kChroma420 == NVJPEG_CSS_420 && ours_nvjpeg::kChromaGray == NVJPEG_CSS_GRAY);
SAME_CALL(ours_nvjpeg::EncoderStateCreate, nvjpegEncoderStateCreate);
SAME_CALL(ours_nvjpeg::EncoderStateDestroy, nvjpegEncoderStateDestroy);
SAME_CALL(ours_nvjpeg::EncoderParamsCreate, nvjpegEncoderParamsCreate);
SAME_CALL(ours_nvjpeg::EncoderParamsDestroy, nvjpegEncoderParamsDestroy);
SAME_CALL(ours_nvjpeg::EncoderParamsSet, nvjpegEncoderParamsSetQuality);
SAME_CALL(ours_nvjpeg::EncoderParamsSet, nvjpegEncoderParamsSetOptimizedHuffman);
SAME_CALL(ours_nvjpeg::EncoderParamsSet, nvjpegEncoderParamsSetSamplingFactors);
SAME_CALL(ours_nvjpeg::EncodeYuv, nvjpegEncodeYUV);
SAME_CALL(ours_nvjpeg::EncodeImage, nvjpegEncodeImage);
SAME_CALL(ours_nvjpeg::EncodeRetrieve, nvjpegEncodeRetrieveBitstream);
SAME_CALL(ours_nvjpeg::StreamCreate, nvjpegJpegStreamCreate);
SAME_CALL(ours_nvjpeg::StreamDestroy, nvjpegJpegStreamDestroy);
SAME_CALL(ours_nvjpeg::StreamParse, nvjpegJpegStreamParse);
SAME_CALL(ours_nvjpeg::EncoderParamsCopyTables, nvjpegEncoderParamsCopyQuantizationTables);
constexpr bool kNvjpegChecked = true;
#else
constexpr bool kNvjpegChecked = false;
#endif

#if __has_include(<nvjpeg2k.h>)
#include <nvjpeg2k.h>

namespace ours_nvjpeg2k = terrazzo::gpu::nvjpeg2k;
SAME_SIZE(ours_nvjpeg2k::Status, nvjpeg2kStatus_t);
static_assert(ours_nvjpeg2k::kSuccess == NVJPEG2K_STATUS_SUCCESS);
static_assert(ours_nvjpeg2k::kBadJpeg == NVJPEG2K_STATUS_BAD_JPEG);
static_assert(ours_nvjpeg2k::kJpegNotSupported == NVJPEG2K_STATUS_JPEG_NOT_SUPPORTED);
static_assert(ours_nvjpeg2k::kAllocatorFailure == NVJPEG2K_STATUS_ALLOCATOR_FAILURE);
static_assert(ours_nvjpeg2k::kImplementationNotSupported == NVJPEG2K_STATUS_IMPLEMENTATION_NOT_SUPPORTED);
static_assert(ours_nvjpeg2k::kBackendDefault == NVJPEG2K_BACKEND_DEFAULT);
static_assert(ours_nvjpeg2k::kUint8 == NVJPEG2K_UINT8);
static_assert(ours_nvjpeg2k::kUint16 == NVJPEG2K_UINT16);
static_assert(ours_nvjpeg2k::kInt16 == NVJPEG2K_INT16);
static_assert(ours_nvjpeg2k::kColorSpaceSycc == NVJPEG2K_COLORSPACE_SYCC);
static_assert(sizeof(nvjpeg2kColorSpace_t) == sizeof(int));
SAME_SIZE(ours_nvjpeg2k::ComponentInfo, nvjpeg2kImageComponentInfo_t);
SAME_PLACE(ours_nvjpeg2k::ComponentInfo, width, nvjpeg2kImageComponentInfo_t, component_width);
SAME_PLACE(ours_nvjpeg2k::ComponentInfo, height, nvjpeg2kImageComponentInfo_t, component_height);
SAME_PLACE(ours_nvjpeg2k::ComponentInfo, precision, nvjpeg2kImageComponentInfo_t, precision);
SAME_PLACE(ours_nvjpeg2k::ComponentInfo, is_signed, nvjpeg2kImageComponentInfo_t, sgn);
SAME_SIZE(ours_nvjpeg2k::ImageInfo, nvjpeg2kImageInfo_t);
SAME_PLACE(ours_nvjpeg2k::ImageInfo, width, nvjpeg2kImageInfo_t, image_width);
SAME_PLACE(ours_nvjpeg2k::ImageInfo, height, nvjpeg2kImageInfo_t, image_height);
SAME_PLACE(ours_nvjpeg2k::ImageInfo, tile_width, nvjpeg2kImageInfo_t, tile_width);
SAME_PLACE(ours_nvjpeg2k::ImageInfo, tile_height, nvjpeg2kImageInfo_t, tile_height);
SAME_PLACE(ours_nvjpeg2k::ImageInfo, tiles_across, nvjpeg2kImageInfo_t, num_tiles_x);
SAME_PLACE(ours_nvjpeg2k::ImageInfo, tiles_down, nvjpeg2kImageInfo_t, num_tiles_y);
SAME_PLACE(ours_nvjpeg2k::ImageInfo, components, nvjpeg2kImageInfo_t, num_components);
SAME_SIZE(ours_nvjpeg2k::Image, nvjpeg2kImage_t);
SAME_PLACE(ours_nvjpeg2k::Image, planes, nvjpeg2kImage_t, pixel_data);
SAME_PLACE(ours_nvjpeg2k::Image, pitches, nvjpeg2kImage_t, pitch_in_bytes);
SAME_PLACE(ours_nvjpeg2k::Image, pixel_type, nvjpeg2kImage_t, pixel_type);
SAME_PLACE(ours_nvjpeg2k::Image, components, nvjpeg2kImage_t, num_components);
SAME_SIZE(ours_nvjpeg2k::DeviceAllocator, nvjpeg2kDeviceAllocatorV2_t);
SAME_PLACE(ours_nvjpeg2k::DeviceAllocator, allocate, nvjpeg2kDeviceAllocatorV2_t, device_malloc);
SAME_PLACE(ours_nvjpeg2k::DeviceAllocator, release, nvjpeg2kDeviceAllocatorV2_t, device_free);
SAME_PLACE(ours_nvjpeg2k::DeviceAllocator, context, nvjpeg2kDeviceAllocatorV2_t, device_ctx);
SAME_SIZE(ours_nvjpeg2k::PinnedAllocator, nvjpeg2kPinnedAllocatorV2_t);
SAME_PLACE(ours_nvjpeg2k::PinnedAllocator, allocate, nvjpeg2kPinnedAllocatorV2_t, pinned_malloc);
SAME_PLACE(ours_nvjpeg2k::PinnedAllocator, release, nvjpeg2kPinnedAllocatorV2_t, pinned_free);
SAME_PLACE(ours_nvjpeg2k::PinnedAllocator, context, nvjpeg2kPinnedAllocatorV2_t, pinned_ctx);
static_assert(std::is_same_v<decltype(ours_nvjpeg2k::DeviceAllocator::allocate), nvjpeg2kDeviceMallocV2>);
static_assert(std::is_same_v<decltype(ours_nvjpeg2k::DeviceAllocator::release), nvjpeg2kDeviceFreeV2>);
static_assert(std::is_same_v<decltype(ours_nvjpeg2k::PinnedAllocator::allocate), nvjpeg2kPinnedMallocV2>);
static_assert(std::is_same_v<decltype(ours_nvjpeg2k::PinnedAllocator::release), nvjpeg2kPinnedFreeV2>);
SAME_CALL(ours_nvjpeg2k::GetProperty, nvjpeg2kGetProperty);
SAME_CALL(ours_nvjpeg2k::Create, nvjpeg2kCreateV2);
SAME_CALL(ours_nvjpeg2k::Destroy, nvjpeg2kDestroy);
SAME_CALL(ours_nvjpeg2k::StateCreate, nvjpeg2kDecodeStateCreate);
SAME_CALL(ours_nvjpeg2k::StateDestroy, nvjpeg2kDecodeStateDestroy);
SAME_CALL(ours_nvjpeg2k::StreamCreate, nvjpeg2kStreamCreate);
SAME_CALL(ours_nvjpeg2k::StreamDestroy, nvjpeg2kStreamDestroy);
SAME_CALL(ours_nvjpeg2k::StreamParse, nvjpeg2kStreamParse);
SAME_CALL(ours_nvjpeg2k::StreamImageInfo, nvjpeg2kStreamGetImageInfo);
SAME_CALL(ours_nvjpeg2k::StreamComponentInfo, nvjpeg2kStreamGetImageComponentInfo);
SAME_CALL(ours_nvjpeg2k::StreamColorSpace, nvjpeg2kStreamGetColorSpace);
SAME_CALL(ours_nvjpeg2k::Decode, nvjpeg2kDecode);
static_assert(ours_nvjpeg2k::kColorSpaceUnknown == NVJPEG2K_COLORSPACE_UNKNOWN);
static_assert(ours_nvjpeg2k::kColorSpaceSrgb == NVJPEG2K_COLORSPACE_SRGB);
static_assert(ours_nvjpeg2k::kColorSpaceGray == NVJPEG2K_COLORSPACE_GRAY);
static_assert(ours_nvjpeg2k::kFormatInterleaved == NVJPEG2K_FORMAT_INTERLEAVED);
static_assert(ours_nvjpeg2k::kStreamCodestream == NVJPEG2K_STREAM_J2K);
static_assert(ours_nvjpeg2k::kProgressionLrcp == NVJPEG2K_LRCP);
static_assert(ours_nvjpeg2k::kMaxResolutions == NVJPEG2K_MAXRES);
SAME_SIZE(ours_nvjpeg2k::EncodeConfig, nvjpeg2kEncodeConfig_t);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, stream_type, nvjpeg2kEncodeConfig_t, stream_type);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, color_space, nvjpeg2kEncodeConfig_t, color_space);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, capabilities, nvjpeg2kEncodeConfig_t, rsiz);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, width, nvjpeg2kEncodeConfig_t, image_width);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, height, nvjpeg2kEncodeConfig_t, image_height);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, is_tiled, nvjpeg2kEncodeConfig_t, enable_tiling);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, tile_width, nvjpeg2kEncodeConfig_t, tile_width);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, tile_height, nvjpeg2kEncodeConfig_t, tile_height);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, components, nvjpeg2kEncodeConfig_t, num_components);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, component_infos, nvjpeg2kEncodeConfig_t, image_comp_info);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, sop_markers, nvjpeg2kEncodeConfig_t, enable_SOP_marker);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, eph_markers, nvjpeg2kEncodeConfig_t, enable_EPH_marker);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, progression, nvjpeg2kEncodeConfig_t, prog_order);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, layers, nvjpeg2kEncodeConfig_t, num_layers);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, color_transform, nvjpeg2kEncodeConfig_t, mct_mode);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, resolutions, nvjpeg2kEncodeConfig_t, num_resolutions);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, code_block_width, nvjpeg2kEncodeConfig_t, code_block_w);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, code_block_height, nvjpeg2kEncodeConfig_t, code_block_h);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, modes, nvjpeg2kEncodeConfig_t, encode_modes);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, is_irreversible, nvjpeg2kEncodeConfig_t, irreversible);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, precinct_count, nvjpeg2kEncodeConfig_t, num_precincts_init);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, precinct_width, nvjpeg2kEncodeConfig_t, precinct_width);
SAME_PLACE(ours_nvjpeg2k::EncodeConfig, precinct_height, nvjpeg2kEncodeConfig_t, precinct_height);
SAME_CALL(ours_nvjpeg2k::EncoderCreate, nvjpeg2kEncoderCreateSimple);
SAME_CALL(ours_nvjpeg2k::EncoderDestroy, nvjpeg2kEncoderDestroy);
SAME_CALL(ours_nvjpeg2k::EncodeStateCreate, nvjpeg2kEncodeStateCreate);
SAME_CALL(ours_nvjpeg2k::EncodeStateDestroy, nvjpeg2kEncodeStateDestroy);
SAME_CALL(ours_nvjpeg2k::EncodeParamsCreate, nvjpeg2kEncodeParamsCreate);
SAME_CALL(ours_nvjpeg2k::EncodeParamsDestroy, nvjpeg2kEncodeParamsDestroy);
SAME_CALL(ours_nvjpeg2k::EncodeParamsConfig, nvjpeg2kEncodeParamsSetEncodeConfig);
SAME_CALL(ours_nvjpeg2k::EncodeParamsInput, nvjpeg2kEncodeParamsSetInputFormat);
SAME_CALL(ours_nvjpeg2k::Encode, nvjpeg2kEncode);
SAME_CALL(ours_nvjpeg2k::EncodeRetrieve, nvjpeg2kEncodeRetrieveBitstream);
constexpr bool kNvjpeg2kChecked = true;
#else
constexpr bool kNvjpeg2kChecked = false;
#endif

// The checks above are the compiler's; this only says which of them were made.
TEST(VendorAbi, WasCheckedAgainstTheHeadersThatAreInstalled) {
  if (!kNvcompChecked || !kNvjpegChecked || !kNvjpeg2kChecked) {
    GTEST_SKIP() << "headers found: nvcomp " << kNvcompChecked << ", nvjpeg " << kNvjpegChecked << ", nvjpeg2k "
                 << kNvjpeg2kChecked;
  }
}
