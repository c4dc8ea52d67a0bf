// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvjpeg2k_encode.hpp"

#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "gpu/vendor/encode_lanes.hpp"
#include "gpu/vendor/encoded_stream.hpp"
#include "gpu/vendor/library.hpp"
#include "gpu/vendor/nvjpeg2k_api.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>
#include <vector>

namespace terrazzo::gpu {
namespace {

struct Library {
  nvjpeg2k::EncoderCreate* create;
  nvjpeg2k::EncoderDestroy* destroy;
  nvjpeg2k::EncodeStateCreate* state_create;
  nvjpeg2k::EncodeStateDestroy* state_destroy;
  nvjpeg2k::EncodeParamsCreate* params_create;
  nvjpeg2k::EncodeParamsDestroy* params_destroy;
  nvjpeg2k::EncodeParamsConfig* set_config;
  nvjpeg2k::EncodeParamsInput* set_input;
  nvjpeg2k::Encode* encode;
  nvjpeg2k::EncodeRetrieve* retrieve;
};

std::optional<Library> load() {
  VendorModule const& module = vendor_module(Vendor::nvjpeg2k);
  if (!nvjpeg2k_version_encodes(module.library.version)) { return std::nullopt; }
  Library library{};
  bool const complete = bind(module, "nvjpeg2kEncoderCreateSimple", library.create) &&
                        bind(module, "nvjpeg2kEncoderDestroy", library.destroy) &&
                        bind(module, "nvjpeg2kEncodeStateCreate", library.state_create) &&
                        bind(module, "nvjpeg2kEncodeStateDestroy", library.state_destroy) &&
                        bind(module, "nvjpeg2kEncodeParamsCreate", library.params_create) &&
                        bind(module, "nvjpeg2kEncodeParamsDestroy", library.params_destroy) &&
                        bind(module, "nvjpeg2kEncodeParamsSetEncodeConfig", library.set_config) &&
                        bind(module, "nvjpeg2kEncodeParamsSetInputFormat", library.set_input) &&
                        bind(module, "nvjpeg2kEncode", library.encode) &&
                        bind(module, "nvjpeg2kEncodeRetrieveBitstream", library.retrieve);
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
    VendorLibrary const& about = vendor_module(Vendor::nvjpeg2k).library;
    throw Error(
        ErrorKind::unsupported,
        text("nvJPEG2000: ", about.hint.empty() ? text("version ", about.version, " does not encode") : about.hint));
  }
  return *found;
}

void check(nvjpeg2k::Status status, char const* call) {
  if (status == nvjpeg2k::kSuccess) { return; }
  if (status == nvjpeg2k::kAllocatorFailure) {
    throw Error(ErrorKind::limit, text(call, ": the memory it needs was refused"));
  }
  throw Error(ErrorKind::device, text(call, ": status ", status));
}

struct DestroyEncoder {
  void operator()(nvjpeg2k::Encoder encoder) const noexcept { (void)find_library()->destroy(encoder); }
};
struct DestroyState {
  void operator()(nvjpeg2k::EncodeState state) const noexcept { (void)find_library()->state_destroy(state); }
};
struct DestroyParams {
  void operator()(nvjpeg2k::EncodeParams params) const noexcept { (void)find_library()->params_destroy(params); }
};
using EncoderOwner = std::unique_ptr<nvjpeg2k::EncoderTag, DestroyEncoder>;
using StateOwner = std::unique_ptr<nvjpeg2k::EncodeStateTag, DestroyState>;
using ParamsOwner = std::unique_ptr<nvjpeg2k::EncodeParamsTag, DestroyParams>;

// Older encoders fail on noise, or lose bits of it.
constexpr unsigned kLeastMinor = 9;
constexpr std::uint32_t kMaxSamples = 4;  // limit of the library's encoder
// Each wavelet level halves the image; more than five levels gain nothing. The host codec uses the same number.
constexpr std::uint32_t kMostResolutions = 6;
constexpr std::uint32_t kCodeBlockPx = 64;
constexpr std::uint64_t kHeaderBytes = 4096;  // upper bound for the headers of a stream and its code blocks
// Measured (nvJPEG2000 0.11): 13.1 MB per lane for 512 x 512 x 3, 6.3 MB for 256 x 256 x 3.
constexpr std::uint64_t kLibraryBytesPerSample = 16;
constexpr std::uint64_t kLibraryBytesPerLane = 4 << 20;

bool same(Jpeg2000EncodeFormat const& a, Jpeg2000EncodeFormat const& b) noexcept {
  return a.width_px == b.width_px && a.height_px == b.height_px && a.samples == b.samples &&
         a.bits_per_sample == b.bits_per_sample && a.is_signed == b.is_signed && a.is_rgb == b.is_rgb;
}

std::uint64_t tile_bytes(Jpeg2000EncodeFormat const& format) noexcept {
  return std::uint64_t{format.width_px} * format.height_px * format.samples * (format.bits_per_sample / 8);
}

int pixel_type_of(Jpeg2000EncodeFormat const& format) noexcept {
  if (format.bits_per_sample == 8) { return nvjpeg2k::kUint8; }
  return format.is_signed ? nvjpeg2k::kInt16 : nvjpeg2k::kUint16;
}

// A library state and its parameters for each lane.
class Jpeg2000Lanes final : public LaneEncoder {
 public:
  explicit Jpeg2000Lanes(std::size_t lanes) : inputs_(lanes) {
    Library const& lib = library();
    nvjpeg2k::Encoder encoder = nullptr;
    check(lib.create(&encoder), "nvjpeg2kEncoderCreateSimple");
    encoder_.reset(encoder);
    for (std::size_t i = 0; i < lanes; ++i) {
      nvjpeg2k::EncodeState state = nullptr;
      check(lib.state_create(encoder, &state), "nvjpeg2kEncodeStateCreate");
      states_.emplace_back(state);
      nvjpeg2k::EncodeParams params = nullptr;
      check(lib.params_create(&params), "nvjpeg2kEncodeParamsCreate");
      params_.emplace_back(params);
    }
  }

  void prepare(Jpeg2000EncodeFormat const& format);

  bool start(std::size_t lane, std::byte const* samples, cudaStream_t stream) override {
    if (!is_configured_) { return false; }
    // The library treats interleaved samples as one plane. Its types lack const, although it only reads.
    Input& input = inputs_[lane];
    input.planes[0] = const_cast<std::byte*>(samples);
    input.pitches[0] = tile_bytes(format_) / format_.height_px;
    input.image = {input.planes.data(), input.pitches.data(), pixel_type_of(format_), format_.samples};
    return library().encode(encoder_.get(), states_[lane].get(), params_[lane].get(), &input.image, stream) ==
           nvjpeg2k::kSuccess;
  }

  std::size_t encoded_bytes(std::size_t lane, cudaStream_t stream) override {
    std::size_t bytes = 0;
    bool const known =
        library().retrieve(encoder_.get(), states_[lane].get(), nullptr, &bytes, stream) == nvjpeg2k::kSuccess;
    return known ? bytes : 0;
  }

  bool fetch(std::size_t lane, std::span<std::byte> to, cudaStream_t stream) override {
    std::size_t bytes = to.size();
    auto* const data = reinterpret_cast<unsigned char*>(to.data());
    return library().retrieve(encoder_.get(), states_[lane].get(), data, &bytes, stream) == nvjpeg2k::kSuccess &&
           bytes == to.size();
  }

  std::span<std::byte const> accept(std::span<std::byte> stream) const override {
    bool const is_right = is_lossless_codestream(
        stream, {format_.width_px, format_.height_px, format_.samples, format_.bits_per_sample, format_.is_signed});
    return is_right ? stream : std::span<std::byte>();
  }

 private:
  // Encoding continues after the call, and the library may not have copied its arguments: keep them per lane.
  struct Input {
    std::array<void*, kMaxSamples> planes{};
    std::array<std::size_t, kMaxSamples> pitches{};
    nvjpeg2k::Image image{};
  };

  std::array<nvjpeg2k::ComponentInfo, kMaxSamples> components_{};  // before the parameters, which may point to it
  std::vector<Input> inputs_;  // one per lane; not resized
  EncoderOwner encoder_;
  std::vector<StateOwner> states_;
  std::vector<ParamsOwner> params_;
  Jpeg2000EncodeFormat format_{};  // the format of the current parameters
  bool is_configured_ = false;     // the library accepts the format
};

void Jpeg2000Lanes::prepare(Jpeg2000EncodeFormat const& format) {
  if (is_configured_ && same(format_, format)) { return; }
  components_.fill({format.width_px, format.height_px, static_cast<std::uint8_t>(format.bits_per_sample),
                    static_cast<std::uint8_t>(format.is_signed ? 1 : 0)});
  bool const has_transform = format.is_rgb && format.samples >= 3;
  nvjpeg2k::EncodeConfig config{};
  config.stream_type = nvjpeg2k::kStreamCodestream;
  config.color_space = has_transform         ? nvjpeg2k::kColorSpaceSrgb
                       : format.samples == 1 ? nvjpeg2k::kColorSpaceGray
                                             : nvjpeg2k::kColorSpaceUnknown;
  config.width = format.width_px;
  config.height = format.height_px;
  config.components = format.samples;
  config.component_infos = components_.data();
  config.progression = nvjpeg2k::kProgressionLrcp;
  config.layers = 1;
  config.color_transform = has_transform ? 1 : 0;
  auto const levels = static_cast<std::uint32_t>(std::bit_width(std::min(format.width_px, format.height_px)));
  config.resolutions = std::clamp(levels, 1u, kMostResolutions);
  config.code_block_width = config.code_block_height = kCodeBlockPx;
  format_ = format;
  is_configured_ = true;
  for (ParamsOwner const& params : params_) {
    is_configured_ &= library().set_config(params.get(), &config) == nvjpeg2k::kSuccess &&
                      library().set_input(params.get(), nvjpeg2k::kFormatInterleaved) == nvjpeg2k::kSuccess;
  }
}

}  // namespace

struct Nvjpeg2kEncoder::Impl {
  explicit Impl(Options const& options)
      : pinned_pool(options.pinned), lanes(options.lanes, options.host_threads, pinned_pool), encoder(lanes.count()) {}

  BlockPool pinned_pool;  // before all members that allocate from it
  EncodeLanes lanes;
  Jpeg2000Lanes encoder;
};

bool nvjpeg2k_encode_available() { return find_library() != nullptr; }

bool nvjpeg2k_version_encodes(std::string_view version) noexcept {
  unsigned parts[2] = {0, 0};  // major, minor
  char const* at = version.data();
  char const* const end = at + version.size();
  for (unsigned& part : parts) {
    auto const [stop, error] = std::from_chars(at, end, part);
    if (error != std::errc{}) { return false; }
    at = stop != end && *stop == '.' ? stop + 1 : stop;
  }
  return parts[0] > 0 || parts[1] >= kLeastMinor;
}

Nvjpeg2kEncoder::Nvjpeg2kEncoder(Options const& options) {
  (void)library();  // throws for a missing library before a stream is made
  impl_ = std::make_unique<Impl>(options);
}
Nvjpeg2kEncoder::Nvjpeg2kEncoder() : Nvjpeg2kEncoder(Options{}) {}
Nvjpeg2kEncoder::~Nvjpeg2kEncoder() {
  // The library frees memory, which waits for the GPU: abandon it if the GPU is lost.
  if (device_is_lost()) { (void)impl_.release(); }
}
Nvjpeg2kEncoder::Nvjpeg2kEncoder(Nvjpeg2kEncoder&&) noexcept = default;
Nvjpeg2kEncoder& Nvjpeg2kEncoder::operator=(Nvjpeg2kEncoder&&) noexcept = default;

bool Nvjpeg2kEncoder::takes(Jpeg2000EncodeFormat const& format) noexcept {
  bool const is_type = format.bits_per_sample == 16 || (format.bits_per_sample == 8 && !format.is_signed);
  // The library (0.11) refuses several samples without the colour transform.
  bool const is_pixel = format.samples == 1 || (format.is_rgb && format.samples >= 3 && format.samples <= kMaxSamples);
  return is_type && is_pixel && format.lossless && format.width_px >= 1 && format.height_px >= 1;
}

std::uint64_t Nvjpeg2kEncoder::bound(Jpeg2000EncodeFormat const& format) noexcept {
  return tile_bytes(format) + tile_bytes(format) / 4 + kHeaderBytes;
}

std::uint64_t Nvjpeg2kEncoder::library_device_bytes(Jpeg2000EncodeFormat const& format, unsigned lanes) noexcept {
  std::uint64_t const samples = std::uint64_t{format.width_px} * format.height_px * format.samples;
  return (samples * kLibraryBytesPerSample + kLibraryBytesPerLane) * lanes;
}

void Nvjpeg2kEncoder::encode(Jpeg2000EncodeFormat const& format, tile::EncodeBatch const& batch, cudaStream_t stream) {
  if (!takes(format)) { throw Error(ErrorKind::usage, "nvJPEG2000 does not encode tiles of this format"); }
  impl_->encoder.prepare(format);
  impl_->lanes.encode(impl_->encoder, batch, tile_bytes(format), bound(format), stream);
}

std::uint64_t Nvjpeg2kEncoder::allocations() const noexcept { return impl_->pinned_pool.upstream_allocations(); }

}  // namespace terrazzo::gpu
