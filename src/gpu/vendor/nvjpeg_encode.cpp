// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvjpeg_encode.hpp"

#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "gpu/vendor/encode_lanes.hpp"
#include "gpu/vendor/encoded_stream.hpp"
#include "gpu/vendor/library.hpp"
#include "gpu/vendor/nvjpeg_api.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace terrazzo::gpu {
namespace {

struct Library {
  nvjpeg::Create* create;
  nvjpeg::Destroy* destroy;
  nvjpeg::EncoderStateCreate* state_create;
  nvjpeg::EncoderStateDestroy* state_destroy;
  nvjpeg::EncoderParamsCreate* params_create;
  nvjpeg::EncoderParamsDestroy* params_destroy;
  nvjpeg::EncoderParamsSet* set_quality;
  nvjpeg::EncoderParamsSet* set_optimized_huffman;
  nvjpeg::EncoderParamsSet* set_chroma;
  nvjpeg::EncodeYuv* encode_yuv;
  nvjpeg::EncodeImage* encode_image;
  nvjpeg::EncodeRetrieve* retrieve;
  nvjpeg::StreamCreate* stream_create;
  nvjpeg::StreamDestroy* stream_destroy;
  nvjpeg::StreamParse* stream_parse;
  nvjpeg::EncoderParamsCopyTables* copy_tables;
};

std::optional<Library> load() {
  VendorModule const& module = vendor_module(Vendor::nvjpeg);
  Library library{};
  bool const complete =
      bind(module, "nvjpegCreateExV2", library.create) && bind(module, "nvjpegDestroy", library.destroy) &&
      bind(module, "nvjpegEncoderStateCreate", library.state_create) &&
      bind(module, "nvjpegEncoderStateDestroy", library.state_destroy) &&
      bind(module, "nvjpegEncoderParamsCreate", library.params_create) &&
      bind(module, "nvjpegEncoderParamsDestroy", library.params_destroy) &&
      bind(module, "nvjpegEncoderParamsSetQuality", library.set_quality) &&
      bind(module, "nvjpegEncoderParamsSetOptimizedHuffman", library.set_optimized_huffman) &&
      bind(module, "nvjpegEncoderParamsSetSamplingFactors", library.set_chroma) &&
      bind(module, "nvjpegEncodeYUV", library.encode_yuv) && bind(module, "nvjpegEncodeImage", library.encode_image) &&
      bind(module, "nvjpegEncodeRetrieveBitstream", library.retrieve) &&
      bind(module, "nvjpegJpegStreamCreate", library.stream_create) &&
      bind(module, "nvjpegJpegStreamDestroy", library.stream_destroy) &&
      bind(module, "nvjpegJpegStreamParse", library.stream_parse) &&
      bind(module, "nvjpegEncoderParamsCopyQuantizationTables", library.copy_tables);
  if (!complete) { return std::nullopt; }
  return library;
}

Library const* find_library() {
  static std::optional<Library> const kLibrary = load();
  return kLibrary ? &*kLibrary : nullptr;
}

Library const& library() {
  Library const* const found = find_library();
  if (found == nullptr) {
    std::string const& hint = vendor_module(Vendor::nvjpeg).library.hint;
    throw Error(ErrorKind::unsupported, text("nvJPEG: ", hint.empty() ? "the library lacks a function" : hint));
  }
  return *found;
}

void check(nvjpeg::Status status, char const* call) {
  if (status == nvjpeg::kSuccess) { return; }
  if (status == nvjpeg::kAllocatorFailure) {
    throw Error(ErrorKind::limit, text(call, ": the memory it needs was refused"));
  }
  throw Error(ErrorKind::device, text(call, ": status ", status));
}

struct DestroyHandle {
  void operator()(nvjpeg::Handle handle) const noexcept { (void)find_library()->destroy(handle); }
};
struct DestroyState {
  void operator()(nvjpeg::EncoderState state) const noexcept { (void)find_library()->state_destroy(state); }
};
struct DestroyParams {
  void operator()(nvjpeg::EncoderParams params) const noexcept { (void)find_library()->params_destroy(params); }
};
struct DestroyParsed {
  void operator()(nvjpeg::Stream stream) const noexcept { (void)find_library()->stream_destroy(stream); }
};
using HandleOwner = std::unique_ptr<nvjpeg::HandleTag, DestroyHandle>;
using StateOwner = std::unique_ptr<nvjpeg::EncoderStateTag, DestroyState>;
using ParamsOwner = std::unique_ptr<nvjpeg::EncoderParamsTag, DestroyParams>;
using ParsedOwner = std::unique_ptr<nvjpeg::StreamTag, DestroyParsed>;

constexpr std::uint32_t kMaxSidePx = 65500;   // limit of libjpeg, which reads the tiles
// With smaller tiles, some versions of the library fail, some with a device error that destroys the process's context.
// The host encodes such a tile before the library would have launched its kernels.
constexpr std::uint32_t kLeastSidePx = 16;
constexpr std::uint64_t kLeastPixels = 64 * 64;
// Above 2^31 / 6 pixels the library's own sizes overflow, with the same effect.
constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 28;
constexpr std::uint32_t kProbeEdgePx = 64;
constexpr std::uint64_t kHeaderBytes = 4096;  // upper bound for all headers and tables of a stream

// Measured (nvJPEG 13.2, 512 x 512 x 3, 4:2:0): 21.8 to 22.0 MB per lane.
constexpr std::uint64_t kLibraryBytesPerSample = 28;
constexpr std::uint64_t kLibraryBytesPerLane = 1 << 20;

// A format that owns its tag's bytes.
struct OwnFormat {
  JpegEncodeFormat format;
  std::vector<std::byte> tables;

  [[nodiscard]] bool is(JpegEncodeFormat const& other) const noexcept {
    return format.width_px == other.width_px && format.height_px == other.height_px &&
           format.samples == other.samples && format.is_ycbcr == other.is_ycbcr &&
           format.chroma_horizontal == other.chroma_horizontal && format.chroma_vertical == other.chroma_vertical &&
           format.quality == other.quality && format.optimize_huffman == other.optimize_huffman &&
           std::equal(tables.begin(), tables.end(), other.tables.begin(), other.tables.end());
  }
};

int chroma_of(JpegEncodeFormat const& format) noexcept {
  if (format.samples == 1) { return nvjpeg::kChromaGray; }
  if (format.chroma_horizontal == 1) { return nvjpeg::kChroma444; }
  return format.chroma_vertical == 1 ? nvjpeg::kChroma422 : nvjpeg::kChroma420;
}

std::uint64_t tile_bytes(JpegEncodeFormat const& format) noexcept {
  return std::uint64_t{format.width_px} * format.height_px * format.samples;
}

// A library state and its parameters for each lane.
class JpegLanes final : public LaneEncoder {
 public:
  JpegLanes(BlockPool& device, BlockPool& pinned, EncodeLanes const& lanes) {
    Library const& lib = library();
    nvjpeg::DeviceAllocator device_hooks{&BlockPool::allocate_hook, &BlockPool::release_hook, &device};
    nvjpeg::PinnedAllocator pinned_hooks{&BlockPool::allocate_hook, &BlockPool::release_hook, &pinned};
    nvjpeg::Handle handle = nullptr;
    // The backend concerns decoders only; this one does not use the chip's JPEG engines.
    check(lib.create(nvjpeg::kBackendHybrid, &device_hooks, &pinned_hooks, 0, &handle), "nvjpegCreateExV2");
    handle_.reset(handle);
    for (std::size_t i = 0; i < lanes.count(); ++i) {
      nvjpeg::EncoderState state = nullptr;
      check(lib.state_create(handle, &state, lanes.stream(i)), "nvjpegEncoderStateCreate");
      states_.emplace_back(state);
      nvjpeg::EncoderParams params = nullptr;
      check(lib.params_create(handle, &params, lanes.stream(i)), "nvjpegEncoderParamsCreate");
      params_.emplace_back(params);
    }
  }

  void prepare(JpegEncodeFormat const& format, EncodeLanes const& lanes, std::byte* probe_samples);

  bool start(std::size_t lane, std::byte const* samples, cudaStream_t stream) override {
    return has_tables_ && encode(lane, samples, format_->format.width_px, format_->format.height_px, stream);
  }

  std::size_t encoded_bytes(std::size_t lane, cudaStream_t stream) override {
    std::size_t bytes = 0;
    bool const known =
        library().retrieve(handle_.get(), states_[lane].get(), nullptr, &bytes, stream) == nvjpeg::kSuccess;
    return known ? bytes : 0;
  }

  bool fetch(std::size_t lane, std::span<std::byte> to, cudaStream_t stream) override {
    std::size_t bytes = to.size();
    auto* const data = reinterpret_cast<unsigned char*>(to.data());
    return library().retrieve(handle_.get(), states_[lane].get(), data, &bytes, stream) == nvjpeg::kSuccess &&
           bytes == to.size();
  }

  std::span<std::byte const> accept(std::span<std::byte> stream) const override {
    return abbreviate_jpeg(stream, shape(format_->format.width_px, format_->format.height_px), tables_);
  }

 private:
  bool encode(std::size_t lane, std::byte const* samples, std::uint32_t width, std::uint32_t height,
              cudaStream_t stream) {
    JpegEncodeFormat const& format = format_->format;
    nvjpeg::Image image{};
    // The library's type lacks const, although it only reads.
    image.channel[0] = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(samples));
    image.pitch[0] = std::size_t{width} * format.samples;
    auto const w = static_cast<int>(width), h = static_cast<int>(height);
    nvjpeg::EncoderState const state = states_[lane].get();
    nvjpeg::EncoderParams const params = params_[lane].get();
    nvjpeg::Status const status =
        format.samples == 1
            ? library().encode_yuv(handle_.get(), state, params, &image, nvjpeg::kChromaGray, w, h, stream)
            : library().encode_image(handle_.get(), state, params, &image, nvjpeg::kInputRgbInterleaved, w, h, stream);
    return status == nvjpeg::kSuccess;
  }

  [[nodiscard]] JpegShape shape(std::uint32_t width, std::uint32_t height) const noexcept {
    JpegEncodeFormat const& format = format_->format;
    bool const is_gray = format.samples == 1;
    return {width, height, format.samples, is_gray ? 1 : format.chroma_horizontal,
            is_gray ? 1 : format.chroma_vertical};
  }

  // A black image, encoded by the first lane: its bytes, with every table in them. Empty on failure.
  std::vector<std::byte> probe(std::byte* samples, cudaStream_t stream);
  [[nodiscard]] bool has_tables_of_tag(std::vector<std::byte> probed) const {
    return !abbreviate_jpeg(probed, shape(kProbeEdgePx, kProbeEdgePx), tables_).empty();
  }
  bool give_tables(std::vector<std::byte> probed, EncodeLanes const& lanes);

  HandleOwner handle_;
  std::vector<StateOwner> states_;
  std::vector<ParamsOwner> params_;
  std::optional<OwnFormat> format_;  // the format of the current parameters
  QuantisationTables tables_{};      // of tag 347
  bool has_tables_ = false;          // the library quantises with them; otherwise no tile is started
};

std::vector<std::byte> JpegLanes::probe(std::byte* samples, cudaStream_t stream) {
  std::size_t const bytes = std::size_t{kProbeEdgePx} * kProbeEdgePx * format_->format.samples;
  check_cuda(cudaMemsetAsync(samples, 0, bytes, stream), "making a probe of JPEG");
  bool const started = encode(0, samples, kProbeEdgePx, kProbeEdgePx, stream);
  sync_stream(stream, "encoding a probe of JPEG");
  if (!started) { return {}; }
  std::vector<std::byte> encoded(encoded_bytes(0, stream));
  bool const fetched = !encoded.empty() && fetch(0, encoded, stream);
  sync_stream(stream, "fetching a probe of JPEG");
  return fetched ? encoded : std::vector<std::byte>();
}

// Sets the tag's tables in every lane, through a stream that the library has made itself.
bool JpegLanes::give_tables(std::vector<std::byte> probed, EncodeLanes const& lanes) {
  if (!replace_quantisation_tables(probed, tables_)) { return false; }
  Library const& lib = library();
  nvjpeg::Stream made = nullptr;
  if (lib.stream_create(handle_.get(), &made) != nvjpeg::kSuccess) { return false; }
  ParsedOwner const parsed(made);
  auto const* const data = reinterpret_cast<unsigned char const*>(probed.data());
  if (lib.stream_parse(handle_.get(), data, probed.size(), 0, 0, made) != nvjpeg::kSuccess) { return false; }
  bool given = true;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    given &= lib.copy_tables(params_[i].get(), made, lanes.stream(i)) == nvjpeg::kSuccess;
    sync_stream(lanes.stream(i), "giving nvJPEG quantisation tables");
  }
  return given;
}

// Sets every lane's parameters, and ensures that the library's tables are those of the tag: if its scale of qualities
// gives other tables, sets the tag's. Every tile is still checked.
void JpegLanes::prepare(JpegEncodeFormat const& format, EncodeLanes const& lanes, std::byte* probe_samples) {
  if (format_ && format_->is(format)) { return; }
  auto const tables = quantisation_tables(format.tables);
  if (!tables) { throw Error(ErrorKind::usage, "JPEG tables are those of tag 347"); }
  Library const& lib = library();
  format_.reset();  // until all lanes are set
  has_tables_ = false;
  auto const set_huffman = [&](std::size_t lane, bool optimize) {
    check(lib.set_optimized_huffman(params_[lane].get(), optimize ? 1 : 0, lanes.stream(lane)),
          "nvjpegEncoderParamsSetOptimizedHuffman");
  };
  for (std::size_t i = 0; i < params_.size(); ++i) {
    nvjpeg::EncoderParams const params = params_[i].get();
    check(lib.set_quality(params, format.quality, lanes.stream(i)), "nvjpegEncoderParamsSetQuality");
    check(lib.set_chroma(params, chroma_of(format), lanes.stream(i)), "nvjpegEncoderParamsSetSamplingFactors");
    set_huffman(i, format.optimize_huffman && i != 0);  // the probe, on lane 0, has too few symbols to optimise
  }
  tables_ = *tables;
  OwnFormat own{format, {format.tables.begin(), format.tables.end()}};
  own.format.tables = {};
  format_ = own;  // the format of the probe

  cudaStream_t const first = lanes.stream(0);
  std::vector<std::byte> const probed = probe(probe_samples, first);
  has_tables_ =
      has_tables_of_tag(probed) || (give_tables(probed, lanes) && has_tables_of_tag(probe(probe_samples, first)));
  set_huffman(0, format.optimize_huffman);
}

}  // namespace

struct NvjpegEncoder::Impl {
  explicit Impl(Options const& options)
      : device_pool(options.device),
        pinned_pool(options.pinned),
        probe(device_pool),
        lanes(options.lanes, options.host_threads, pinned_pool),
        encoder(device_pool, pinned_pool, lanes) {}

  BlockPool device_pool;  // before all members that allocate from them
  BlockPool pinned_pool;
  PoolBuffer probe;
  EncodeLanes lanes;
  JpegLanes encoder;  // after the lanes: states are destroyed before their streams
};

bool nvjpeg_encode_available() { return find_library() != nullptr; }

NvjpegEncoder::NvjpegEncoder(Options const& options) {
  (void)library();  // throws for a missing library before a stream is made
  impl_ = std::make_unique<Impl>(options);
}
NvjpegEncoder::NvjpegEncoder() : NvjpegEncoder(Options{}) {}
NvjpegEncoder::~NvjpegEncoder() {
  // The library frees memory, which waits for the GPU: abandon it if the GPU is lost.
  if (device_is_lost()) { (void)impl_.release(); }
}
NvjpegEncoder::NvjpegEncoder(NvjpegEncoder&&) noexcept = default;
NvjpegEncoder& NvjpegEncoder::operator=(NvjpegEncoder&&) noexcept = default;

bool NvjpegEncoder::takes(JpegEncodeFormat const& format) noexcept {
  std::uint64_t const pixels = std::uint64_t{format.width_px} * format.height_px;
  bool const is_size = format.width_px >= kLeastSidePx && format.width_px <= kMaxSidePx &&
                       format.height_px >= kLeastSidePx && format.height_px <= kMaxSidePx && pixels >= kLeastPixels &&
                       pixels <= kMostPixels;
  bool const is_factors = (format.chroma_horizontal == 1 || format.chroma_horizontal == 2) &&
                          (format.chroma_vertical == 1 || format.chroma_vertical == 2) &&
                          format.chroma_vertical <= format.chroma_horizontal;
  bool const is_colours = format.is_ycbcr ? format.samples == 3 && is_factors : format.samples == 1;
  return is_size && is_colours && format.quality >= 1 && format.quality <= 100;
}

std::uint64_t NvjpegEncoder::bound(JpegEncodeFormat const& format) noexcept {
  return tile_bytes(format) + tile_bytes(format) / 8 + kHeaderBytes;
}

std::uint64_t NvjpegEncoder::library_device_bytes(JpegEncodeFormat const& format, unsigned lanes) noexcept {
  return (tile_bytes(format) * kLibraryBytesPerSample + kLibraryBytesPerLane) * lanes;
}

void NvjpegEncoder::encode(JpegEncodeFormat const& format, tile::EncodeBatch const& batch, cudaStream_t stream) {
  if (!takes(format)) { throw Error(ErrorKind::usage, "nvJPEG does not encode tiles of this format"); }
  if (batch.count == 0) { return; }
  std::byte* const probe =
      impl_->probe.reserve(std::size_t{kProbeEdgePx} * kProbeEdgePx * format.samples, "a probe of JPEG");
  impl_->encoder.prepare(format, impl_->lanes, probe);
  impl_->lanes.encode(impl_->encoder, batch, tile_bytes(format), bound(format), stream);
}

std::size_t NvjpegEncoder::device_bytes_held() const noexcept { return impl_->device_pool.held_bytes(); }
std::uint64_t NvjpegEncoder::allocations() const noexcept {
  return impl_->device_pool.upstream_allocations() + impl_->pinned_pool.upstream_allocations();
}

}  // namespace terrazzo::gpu
