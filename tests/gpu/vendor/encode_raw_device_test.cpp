// SPDX-License-Identifier: Apache-2.0
//
// What the vendor's encoders give before our adapters look at it, printed: when an adapter leaves every tile to the
// host, this says why. The library's status codes are shown as they are.
#include "gpu/runtime/stream.hpp"
#include "gpu/vendor/encoded_stream.hpp"
#include "gpu/vendor/jpeg_stream.hpp"
#include "gpu/vendor/library.hpp"
#include "gpu/vendor/nvjpeg_api.hpp"
#include "host_jpeg.hpp"

namespace terrazzo::gpu::device_test {
namespace {

struct Api {
  nvjpeg::Create* create;
  nvjpeg::EncoderStateCreate* state_create;
  nvjpeg::EncoderParamsCreate* params_create;
  nvjpeg::EncoderParamsSet* set_quality;
  nvjpeg::EncoderParamsSet* set_huffman;
  nvjpeg::EncoderParamsSet* set_chroma;
  nvjpeg::EncodeYuv* encode_yuv;
  nvjpeg::EncodeImage* encode_image;
  nvjpeg::EncodeRetrieve* retrieve;

  bool bind_all() {
    VendorModule const& module = vendor_module(Vendor::nvjpeg);
    return bind(module, "nvjpegCreateExV2", create) && bind(module, "nvjpegEncoderStateCreate", state_create) &&
           bind(module, "nvjpegEncoderParamsCreate", params_create) &&
           bind(module, "nvjpegEncoderParamsSetQuality", set_quality) &&
           bind(module, "nvjpegEncoderParamsSetOptimizedHuffman", set_huffman) &&
           bind(module, "nvjpegEncoderParamsSetSamplingFactors", set_chroma) &&
           bind(module, "nvjpegEncodeYUV", encode_yuv) && bind(module, "nvjpegEncodeImage", encode_image) &&
           bind(module, "nvjpegEncodeRetrieveBitstream", retrieve);
  }
};

int device_hook(void*, void** pointer, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes) == cudaSuccess ? 0 : 1;
}
int device_free_hook(void*, void* pointer, std::size_t, cudaStream_t) {
  return cudaFree(pointer) == cudaSuccess ? 0 : 1;
}
int pinned_hook(void*, void** pointer, std::size_t bytes, cudaStream_t) {
  return cudaMallocHost(pointer, bytes) == cudaSuccess ? 0 : 1;
}
int pinned_free_hook(void*, void* pointer, std::size_t, cudaStream_t) {
  return cudaFreeHost(pointer) == cudaSuccess ? 0 : 1;
}

void describe(EncodedBytes const& stream, JpegKind const& kind, int quality) {
  std::printf("    %zu bytes; markers %s\n", stream.size(), jpeg_marker_names(stream).c_str());
  auto const own = quantisation_tables(stream), tag = quantisation_tables(jpeg_tag_347(kind, quality));
  for (std::size_t i = 0; own && tag && i < own->size(); ++i) {
    if (!(*own)[i] && !(*tag)[i]) { continue; }
    std::printf("    table %zu: %s\n", i,
                !(*own)[i]               ? "libjpeg's only"
                : !(*tag)[i]             ? "the library's only"
                : (*own)[i] == (*tag)[i] ? "as libjpeg's"
                                         : "differs from libjpeg's");
  }
  if (!own) { std::printf("    quantisation tables cannot be read (16 bits?)\n"); }
  auto const summary = summarise_jpeg(stream);
  if (!summary) {
    std::printf("    headers cannot be read\n");
    return;
  }
  std::printf("    frame %02X, %u x %u, %u bits, one scan %d, end %d, factors", summary->frame_marker,
              static_cast<unsigned>(summary->width_px), static_cast<unsigned>(summary->height_px),
              static_cast<unsigned>(summary->precision), summary->one_scan ? 1 : 0, summary->has_end ? 1 : 0);
  for (std::size_t i = 0; i < summary->component_count && i < 4; ++i) {
    std::printf(" %u x %u", static_cast<unsigned>(summary->components[i].across),
                static_cast<unsigned>(summary->components[i].down));
  }
  std::printf("\n");
}

bool raw_jpeg() {
  Api api{};
  if (!api.bind_all()) { return report(false, "nvJPEG has every function"); }
  nvjpeg::DeviceAllocator device{&device_hook, &device_free_hook, nullptr};
  nvjpeg::PinnedAllocator pinned{&pinned_hook, &pinned_free_hook, nullptr};
  StreamHandle const stream = make_stream();
  nvjpeg::Handle handle = nullptr;
  nvjpeg::EncoderState state = nullptr;
  nvjpeg::EncoderParams params = nullptr;
  step("making handle, state and parameters");  // which go with the process
  int const made[] = {api.create(nvjpeg::kBackendHybrid, &device, &pinned, 0, &handle),
                      api.state_create(handle, &state, stream.get()), api.params_create(handle, &params, stream.get())};
  if (!report(made[0] == 0 && made[1] == 0 && made[2] == 0, "handle, state and parameters")) { return false; }
  bool passed = true;
  JpegKind const kinds[] = {{"gray", 1, 1, 1}, {"4:4:4", 3, 1, 1}, {"4:2:2", 3, 2, 1}, {"4:2:0", 3, 2, 2}};
  int const chromas[] = {nvjpeg::kChromaGray, nvjpeg::kChroma444, nvjpeg::kChroma422, nvjpeg::kChroma420};
  for (std::size_t k = 0; k < std::size(kinds); ++k) {
    JpegKind const& kind = kinds[k];
    EncodedBytes const pixels = jpeg_picture(kind, 1);
    Device const samples = uploaded(pixels);
    for (int const quality : {1, 75, 100}) {
      for (int const optimize : {0, 1}) {
        step(std::string(kind.name) + ", quality " + std::to_string(quality) + (optimize == 0 ? ", std" : ", own") +
             " Huffman");
        int const set[] = {api.set_quality(params, quality, stream.get()),
                           api.set_huffman(params, optimize, stream.get()),
                           api.set_chroma(params, chromas[k], stream.get())};
        nvjpeg::Image image{};
        image.channel[0] = reinterpret_cast<unsigned char*>(samples.get());
        image.pitch[0] = std::size_t{kind.width} * kind.samples;
        auto const width = static_cast<int>(kind.width), height = static_cast<int>(kind.height);
        int const status =
            kind.samples == 1
                ? api.encode_yuv(handle, state, params, &image, nvjpeg::kChromaGray, width, height, stream.get())
                : api.encode_image(handle, state, params, &image, nvjpeg::kInputRgbInterleaved, width, height,
                                   stream.get());
        cudaError_t const waited = cudaStreamSynchronize(stream.get());
        std::size_t bytes = 0;
        int const sized = api.retrieve(handle, state, nullptr, &bytes, stream.get());
        EncodedBytes encoded(sized == 0 ? bytes : 0);
        int const fetched =
            api.retrieve(handle, state, reinterpret_cast<unsigned char*>(encoded.data()), &bytes, stream.get());
        check_cuda(cudaStreamSynchronize(stream.get()), "fetching");
        std::printf("    set %d %d %d, encode %d, wait %d, size %d, fetch %d\n", set[0], set[1], set[2], status,
                    static_cast<int>(waited), sized, fetched);
        passed &= status == 0 && sized == 0 && fetched == 0;
        if (!encoded.empty() && fetched == 0) { describe(encoded, kind, quality); }
      }
    }
  }
  return report(passed, "nvJPEG gave a stream each time");
}

}  // namespace

std::vector<Part> encode_raw_parts() { return {{"jpeg-encode-raw", &raw_jpeg, 40}}; }

}  // namespace terrazzo::gpu::device_test
