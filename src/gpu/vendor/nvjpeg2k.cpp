// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvjpeg2k.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/vendor/interleave.hpp"
#include "gpu/vendor/library.hpp"
#include "gpu/vendor/nvjpeg2k_api.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <vector>

namespace terrazzo::gpu {
namespace {

struct Library {
  nvjpeg2k::Create* create;
  nvjpeg2k::Destroy* destroy;
  nvjpeg2k::StateCreate* state_create;
  nvjpeg2k::StateDestroy* state_destroy;
  nvjpeg2k::StreamCreate* stream_create;
  nvjpeg2k::StreamDestroy* stream_destroy;
  nvjpeg2k::StreamParse* parse;
  nvjpeg2k::StreamImageInfo* image_info;
  nvjpeg2k::StreamComponentInfo* component_info;
  nvjpeg2k::StreamColorSpace* color_space;
  nvjpeg2k::Decode* decode;
};

std::optional<Library> load() {
  VendorModule const& module = vendor_module(Vendor::nvjpeg2k);
  Library library{};
  bool const complete = bind(module, "nvjpeg2kCreateV2", library.create) &&
                        bind(module, "nvjpeg2kDestroy", library.destroy) &&
                        bind(module, "nvjpeg2kDecodeStateCreate", library.state_create) &&
                        bind(module, "nvjpeg2kDecodeStateDestroy", library.state_destroy) &&
                        bind(module, "nvjpeg2kStreamCreate", library.stream_create) &&
                        bind(module, "nvjpeg2kStreamDestroy", library.stream_destroy) &&
                        bind(module, "nvjpeg2kStreamParse", library.parse) &&
                        bind(module, "nvjpeg2kStreamGetImageInfo", library.image_info) &&
                        bind(module, "nvjpeg2kStreamGetImageComponentInfo", library.component_info) &&
                        bind(module, "nvjpeg2kStreamGetColorSpace", library.color_space) &&
                        bind(module, "nvjpeg2kDecode", library.decode);
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
    std::string const& hint = vendor_module(Vendor::nvjpeg2k).library.hint;
    throw Error(ErrorKind::unsupported, text("nvJPEG2000: ", hint.empty() ? "the library lacks a function" : hint));
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

struct DestroyHandle {
  void operator()(nvjpeg2k::Handle handle) const noexcept { (void)find_library()->destroy(handle); }
};
struct DestroyState {
  void operator()(nvjpeg2k::State state) const noexcept { (void)find_library()->state_destroy(state); }
};
struct DestroyParsed {
  void operator()(nvjpeg2k::Stream stream) const noexcept { (void)find_library()->stream_destroy(stream); }
};
using HandleOwner = std::unique_ptr<nvjpeg2k::HandleTag, DestroyHandle>;
using StateOwner = std::unique_ptr<nvjpeg2k::StateTag, DestroyState>;
using ParsedOwner = std::unique_ptr<nvjpeg2k::StreamTag, DestroyParsed>;

// The host decodes tiles with more samples.
constexpr std::uint32_t kMaxSamples = 16;
// Tiles inside the codestream of one TIFF tile; the host codec's limit.
constexpr std::uint64_t kMaxInnerTiles = 1024;
// Rows of a plane start at a multiple of this.
constexpr std::uint64_t kPitchAlignment = 16;

// The layout of the planes of a batch in the pool.
struct Layout {
  int pixel_type = nvjpeg2k::kUint8;
  std::uint32_t sample_bytes = 1;
  std::uint64_t pitch_bytes = 0;
  std::uint64_t plane_bytes = 0;
  std::uint64_t tile_bytes = 0;
};

Layout layout_of(Jpeg2000Format const& format) {
  bool const is_sound = (format.bits_per_sample == 8 || format.bits_per_sample == 16) && format.width_px != 0 &&
                        format.height_px != 0 && format.samples != 0;
  if (!is_sound) { throw Error(ErrorKind::usage, "JPEG 2000 tiles have samples of 8 or 16 bits"); }
  Layout layout;
  // The library has no signed 8-bit type: such samples are decoded to 16 bits and narrowed.
  layout.pixel_type = format.is_signed              ? nvjpeg2k::kInt16
                      : format.bits_per_sample == 8 ? nvjpeg2k::kUint8
                                                    : nvjpeg2k::kUint16;
  layout.sample_bytes = layout.pixel_type == nvjpeg2k::kUint8 ? 1 : 2;
  std::uint64_t const row = std::uint64_t{format.width_px} * layout.sample_bytes;
  layout.pitch_bytes = (row + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  auto const plane = checked_mul(layout.pitch_bytes, std::uint64_t{format.height_px});
  auto const tile = plane ? checked_mul(*plane, std::uint64_t{format.samples}) : std::nullopt;
  if (!tile) { throw Error(ErrorKind::limit, "a JPEG 2000 tile is too large"); }
  layout.plane_bytes = *plane;
  layout.tile_bytes = *tile;
  return layout;
}

// One decode state with its stream and event.
struct Lane {
  StreamHandle stream = make_stream();
  EventHandle idle = make_event();
  StateOwner state;
  ParsedOwner parsed;
};

// True if the parsed stream matches the image's tags.
bool fits(nvjpeg2k::Stream parsed, Jpeg2000Format const& format) {
  Library const& lib = library();
  nvjpeg2k::ImageInfo info{};
  if (lib.image_info(parsed, &info) != nvjpeg2k::kSuccess) { return false; }
  if (info.width != format.width_px || info.height != format.height_px || info.components != format.samples ||
      std::uint64_t{info.tiles_across} * info.tiles_down > kMaxInnerTiles) {
    return false;
  }
  int color_space = 0;
  if (lib.color_space(parsed, &color_space) != nvjpeg2k::kSuccess || color_space == nvjpeg2k::kColorSpaceSycc) {
    return false;
  }
  for (std::uint32_t i = 0; i < info.components; ++i) {
    nvjpeg2k::ComponentInfo component{};
    if (lib.component_info(parsed, &component, i) != nvjpeg2k::kSuccess) { return false; }
    if (component.width != format.width_px || component.height != format.height_px ||
        component.precision > format.bits_per_sample || (component.is_signed != 0) != format.is_signed) {
      return false;
    }
  }
  return true;
}

}  // namespace

struct Nvjpeg2kDecoder::Impl {
  explicit Impl(Options const& options)
      : host_threads(std::max(1u, options.host_threads)),
        device_pool(options.device),
        pinned_pool(options.pinned),
        planes(device_pool),
        pinned_offsets(pinned_pool),
        device_offsets(device_pool),
        ready(make_event()),
        done(make_event()) {
    Library const& lib = library();
    nvjpeg2k::DeviceAllocator device_hooks{&BlockPool::allocate_hook, &BlockPool::release_hook, &device_pool};
    nvjpeg2k::PinnedAllocator pinned_hooks{&BlockPool::allocate_hook, &BlockPool::release_hook, &pinned_pool};
    nvjpeg2k::Handle made = nullptr;
    check(lib.create(nvjpeg2k::kBackendDefault, &device_hooks, &pinned_hooks, &made), "nvjpeg2kCreateV2");
    handle.reset(made);
    lanes.resize(std::max(1u, options.lanes));
    for (Lane& lane : lanes) {
      nvjpeg2k::State state = nullptr;
      check(lib.state_create(handle.get(), &state), "nvjpeg2kDecodeStateCreate");
      lane.state.reset(state);
      nvjpeg2k::Stream parsed = nullptr;
      check(lib.stream_create(&parsed), "nvjpeg2kStreamCreate");
      lane.parsed.reset(parsed);
    }
    host_threads = std::min(host_threads, static_cast<unsigned>(lanes.size()));
  }

  ~Impl() {  // waits: the GPU may still use the members
    for (Lane const& lane : lanes) { (void)sync_quietly(lane.stream.get()); }
    (void)sync_quietly(done.get());
  }
  Impl(Impl const&) = delete;
  Impl& operator=(Impl const&) = delete;

  tile::TileStatus decode_tile(Lane const& lane, Jpeg2000Tile const& tile, Jpeg2000Format const& format,
                               Layout const& layout, std::byte* tile_planes);
  void decode_all(Jpeg2000Format const& format, Layout const& layout, std::span<Jpeg2000Tile const> tiles,
                  std::byte* pool, std::span<tile::TileStatus> statuses);

  unsigned host_threads;
  BlockPool device_pool;  // before all members that allocate from them
  BlockPool pinned_pool;
  PoolBuffer planes;
  PoolBuffer pinned_offsets;
  PoolBuffer device_offsets;
  EventHandle ready;  // the caller's stream has reached this batch
  EventHandle done;   // after the last batch
  HandleOwner handle;
  std::vector<Lane> lanes;  // after the handle: states are destroyed first
};

// Queues one tile on an idle lane.
tile::TileStatus Nvjpeg2kDecoder::Impl::decode_tile(Lane const& lane, Jpeg2000Tile const& tile,
                                                    Jpeg2000Format const& format, Layout const& layout,
                                                    std::byte* tile_planes) {
  Library const& lib = library();
  auto const* const data = reinterpret_cast<unsigned char const*>(tile.data);
  if (lib.parse(handle.get(), data, tile.size_bytes, 0, 0, lane.parsed.get()) != nvjpeg2k::kSuccess ||
      !fits(lane.parsed.get(), format)) {
    return tile::TileStatus::unsupported;
  }
  std::array<void*, kMaxSamples> pointers{};
  std::array<std::size_t, kMaxSamples> pitches{};
  for (std::uint32_t s = 0; s < format.samples; ++s) {
    pointers[s] = tile_planes + s * layout.plane_bytes;
    pitches[s] = layout.pitch_bytes;
  }
  nvjpeg2k::Image image{pointers.data(), pitches.data(), layout.pixel_type, format.samples};
  switch (lib.decode(handle.get(), lane.state.get(), lane.parsed.get(), &image, lane.stream.get())) {
    case nvjpeg2k::kSuccess: return tile::TileStatus::ok;
    case nvjpeg2k::kAllocatorFailure: return tile::TileStatus::failed;
    default: return tile::TileStatus::unsupported;
  }
}

void Nvjpeg2kDecoder::Impl::decode_all(Jpeg2000Format const& format, Layout const& layout,
                                       std::span<Jpeg2000Tile const> tiles, std::byte* pool,
                                       std::span<tile::TileStatus> statuses) {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the device");
  unsigned const threads = host_threads;
  std::atomic<std::size_t> next{0};
  run_on_pool(threads, [&](unsigned worker) {
    check_cuda(cudaSetDevice(device), "choosing the device");
    // Each worker cycles through its own lanes; a free worker takes the next tile.
    std::size_t const first = lanes.size() * worker / threads;
    std::size_t const end = lanes.size() * (worker + 1) / threads;
    std::size_t at = first;
    for (std::size_t i = next++; i < tiles.size(); i = next++) {
      if (tiles[i].size_bytes == 0) {
        statuses[i] = tile::TileStatus::sparse;
        continue;
      }
      Lane const& lane = lanes[at];
      at = at + 1 == end ? first : at + 1;
      sync_event(lane.idle.get(), "waiting for a JPEG 2000 lane");
      statuses[i] = decode_tile(lane, tiles[i], format, layout, pool + i * layout.tile_bytes);
      check_cuda(cudaEventRecord(lane.idle.get(), lane.stream.get()), "recording a JPEG 2000 tile");
    }
  });
}

bool nvjpeg2k_available() { return find_library() != nullptr; }

Nvjpeg2kDecoder::Nvjpeg2kDecoder(Options const& options) : impl_(std::make_unique<Impl>(options)) {}
Nvjpeg2kDecoder::Nvjpeg2kDecoder() : Nvjpeg2kDecoder(Options{}) {}
Nvjpeg2kDecoder::~Nvjpeg2kDecoder() {
  // The library frees memory, which waits for the GPU: abandon it if the GPU is lost.
  if (device_is_lost()) { (void)impl_.release(); }
}
Nvjpeg2kDecoder::Nvjpeg2kDecoder(Nvjpeg2kDecoder&&) noexcept = default;
Nvjpeg2kDecoder& Nvjpeg2kDecoder::operator=(Nvjpeg2kDecoder&&) noexcept = default;

std::uint64_t Nvjpeg2kDecoder::pool_bytes(Jpeg2000Format const& format, std::uint64_t tile_count) {
  auto const bytes = checked_mul(layout_of(format).tile_bytes, tile_count);
  if (!bytes) { throw Error(ErrorKind::limit, "a JPEG 2000 batch is too large"); }
  return *bytes;
}

void Nvjpeg2kDecoder::decode(Jpeg2000Format const& format, std::span<Jpeg2000Tile const> tiles, std::byte* output,
                             std::size_t output_pitch_bytes, std::span<tile::TileStatus> statuses,
                             cudaStream_t stream) {
  Impl& impl = *impl_;
  if (tiles.empty()) { return; }
  Layout const layout = layout_of(format);
  std::uint64_t const row_bytes = std::uint64_t{format.width_px} * format.samples * (format.bits_per_sample / 8);
  if (statuses.size() != tiles.size() || tiles.size() > std::numeric_limits<std::uint32_t>::max() / 2 ||
      output_pitch_bytes < row_bytes) {
    throw Error(ErrorKind::usage, "a JPEG 2000 batch's statuses and rows must fit its tiles");
  }
  if (format.samples > kMaxSamples) {
    std::fill(statuses.begin(), statuses.end(), tile::TileStatus::unsupported);
    return;
  }
  sync_event(impl.done.get(), "waiting for the last JPEG 2000 batch");
  std::byte* const pool = impl.planes.reserve(pool_bytes(format, tiles.size()), "planes of JPEG 2000 tiles");
  check_cuda(cudaEventRecord(impl.ready.get(), stream), "recording the caller's stream");
  for (Lane const& lane : impl.lanes) {
    check_cuda(cudaStreamWaitEvent(lane.stream.get(), impl.ready.get()), "waiting for the caller's stream");
  }
  impl.decode_all(format, layout, tiles, pool, statuses);
  for (Lane const& lane : impl.lanes) { wait_for(stream, lane.stream.get(), lane.idle.get()); }

  std::size_t const bytes = tiles.size() * sizeof(std::uint64_t);
  auto* const offsets = reinterpret_cast<std::uint64_t*>(impl.pinned_offsets.reserve(bytes, "tile offsets"));
  std::byte* const on_device = impl.device_offsets.reserve(bytes, "tile offsets");
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    offsets[i] = statuses[i] == tile::TileStatus::ok ? tiles[i].output_offset : kSkipTile;
  }
  check_cuda(cudaMemcpyAsync(on_device, offsets, bytes, cudaMemcpyHostToDevice, stream), "uploading tile offsets");
  PlanarTiles planar;
  planar.planes = pool;
  planar.tile_stride_bytes = layout.tile_bytes;
  planar.plane_stride_bytes = layout.plane_bytes;
  planar.plane_pitch_bytes = layout.pitch_bytes;
  planar.plane_sample_bytes = layout.sample_bytes;
  planar.width_px = format.width_px;
  planar.height_px = format.height_px;
  planar.samples = format.samples;
  planar.output = output;
  planar.output_offsets = reinterpret_cast<std::uint64_t const*>(on_device);
  planar.output_pitch_bytes = output_pitch_bytes;
  planar.output_sample_bytes = format.bits_per_sample / 8;
  planar.count = static_cast<std::uint32_t>(tiles.size());
  interleave_tiles(planar, stream);
  check_cuda(cudaEventRecord(impl.done.get(), stream), "recording the end of a JPEG 2000 batch");
}

std::size_t Nvjpeg2kDecoder::device_bytes_held() const noexcept { return impl_->device_pool.held_bytes(); }
std::uint64_t Nvjpeg2kDecoder::allocations() const noexcept {
  return impl_->device_pool.upstream_allocations() + impl_->pinned_pool.upstream_allocations();
}

}  // namespace terrazzo::gpu
