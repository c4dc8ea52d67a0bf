// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/nvjpeg.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/vendor/interleave.hpp"
#include "gpu/vendor/library.hpp"
#include "gpu/vendor/nvjpeg_api.hpp"
#include "terrazzo/error.hpp"

#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace terrazzo::gpu {
namespace {

struct Library {
  nvjpeg::Create* create;
  nvjpeg::Destroy* destroy;
  nvjpeg::StateCreate* state_create;
  nvjpeg::StateDestroy* state_destroy;
  nvjpeg::Decode* decode;
  nvjpeg::BatchInitialize* batch_initialize;
  nvjpeg::DecodeBatch* decode_batch;
};

std::optional<Library> load() {
  VendorModule const& module = vendor_module(Vendor::nvjpeg);
  Library library{};
  bool const complete =
      bind(module, "nvjpegCreateExV2", library.create) && bind(module, "nvjpegDestroy", library.destroy) &&
      bind(module, "nvjpegJpegStateCreate", library.state_create) &&
      bind(module, "nvjpegJpegStateDestroy", library.state_destroy) && bind(module, "nvjpegDecode", library.decode) &&
      bind(module, "nvjpegDecodeBatchedInitialize", library.batch_initialize) &&
      bind(module, "nvjpegDecodeBatched", library.decode_batch);
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

int number_of(NvjpegBackend backend) noexcept {
  switch (backend) {
    case NvjpegBackend::hardware: return nvjpeg::kBackendHardware;
    case NvjpegBackend::gpu_hybrid: return nvjpeg::kBackendGpuHybrid;
    case NvjpegBackend::automatic:
    case NvjpegBackend::hybrid: break;
  }
  return nvjpeg::kBackendHybrid;
}

// One handle of the library with one state.
class Engine {
 public:
  // Null if this machine lacks the backend.
  static std::unique_ptr<Engine> make(NvjpegBackend backend, bool interpolate_chroma, BlockPool& device,
                                      BlockPool& pinned) {
    auto engine = std::unique_ptr<Engine>(new Engine(backend));
    Library const& lib = library();
    nvjpeg::DeviceAllocator device_hooks{&BlockPool::allocate_hook, &BlockPool::release_hook, &device};
    nvjpeg::PinnedAllocator pinned_hooks{&BlockPool::allocate_hook, &BlockPool::release_hook, &pinned};
    unsigned const flags = interpolate_chroma ? nvjpeg::kFlagInterpolateChroma : 0;
    nvjpeg::Status status = lib.create(number_of(backend), &device_hooks, &pinned_hooks, flags, &engine->handle_);
    // A backend that does not support the flag still decodes, with another upsampling.
    if (status != nvjpeg::kSuccess && flags != 0) {
      status = lib.create(number_of(backend), &device_hooks, &pinned_hooks, 0, &engine->handle_);
    }
    if (status != nvjpeg::kSuccess) {
      engine->handle_ = nullptr;
      return nullptr;
    }
    if (lib.state_create(engine->handle_, &engine->state_) != nvjpeg::kSuccess) {
      engine->state_ = nullptr;
      return nullptr;
    }
    return engine;
  }

  ~Engine() {
    if (state_ != nullptr) { (void)library().state_destroy(state_); }
    if (handle_ != nullptr) { (void)library().destroy(handle_); }
  }
  Engine(Engine const&) = delete;
  Engine& operator=(Engine const&) = delete;

  [[nodiscard]] NvjpegBackend backend() const noexcept { return backend_; }

  nvjpeg::Status decode_batch(std::vector<unsigned char const*> const& streams, std::vector<std::size_t> const& sizes,
                              std::vector<nvjpeg::Image>& images, int output_format, unsigned cpu_threads,
                              cudaStream_t stream) {
    Library const& lib = library();
    int const batch_size = static_cast<int>(streams.size());
    if (batch_size != batch_size_ || output_format != output_format_) {
      batch_size_ = 0;
      nvjpeg::Status const status =
          lib.batch_initialize(handle_, state_, batch_size, static_cast<int>(cpu_threads), output_format);
      if (status != nvjpeg::kSuccess) { return status; }
      batch_size_ = batch_size;
      output_format_ = output_format;
    }
    nvjpeg::Status const status =
        lib.decode_batch(handle_, state_, streams.data(), sizes.data(), images.data(), stream);
    if (status != nvjpeg::kSuccess) { batch_size_ = 0; }  // a failed batch must be initialised again
    return status;
  }

  nvjpeg::Status decode_one(unsigned char const* data, std::size_t size, nvjpeg::Image& image, int output_format,
                            cudaStream_t stream) {
    return library().decode(handle_, state_, data, size, output_format, &image, stream);
  }

 private:
  explicit Engine(NvjpegBackend backend) noexcept : backend_(backend) {}

  NvjpegBackend backend_;
  nvjpeg::Handle handle_ = nullptr;
  nvjpeg::State state_ = nullptr;
  int batch_size_ = 0;  // batch size that the state was initialised for
  int output_format_ = -1;
};

int output_format_of(JpegRoute route) noexcept {
  switch (route) {
    case JpegRoute::gray: return nvjpeg::kOutputY;
    case JpegRoute::planes: return nvjpeg::kOutputUnchanged;
    default: return nvjpeg::kOutputRgbInterleaved;
  }
}

// The tiles of one batch for nvJPEG, in the arrays that it takes. The image's format determines one route for all.
struct Group {
  JpegRoute route = JpegRoute::unsupported;
  std::vector<std::size_t> tiles;  // indices in the batch
  std::vector<unsigned char const*> streams;
  std::vector<std::size_t> sizes;
  std::vector<nvjpeg::Image> images;
};

unsigned char* raw(std::byte* pointer) noexcept { return reinterpret_cast<unsigned char*>(pointer); }

}  // namespace

struct NvjpegDecoder::Impl {
  explicit Impl(Options const& given)
      : options(given),
        device_pool(given.device),
        pinned_pool(given.pinned),
        splice_buffer(pinned_pool),
        plane_buffer(device_pool),
        pinned_offsets(pinned_pool),
        device_offsets(device_pool),
        done(make_event()) {
    (void)library();
    for (NvjpegBackend const backend : {NvjpegBackend::hardware, NvjpegBackend::gpu_hybrid, NvjpegBackend::hybrid}) {
      // The hardware backend is followed by the SMs' decoder, for streams that the hardware does not support.
      bool const wanted = given.backend == NvjpegBackend::automatic || given.backend == backend ||
                          (given.backend == NvjpegBackend::hardware && backend == NvjpegBackend::gpu_hybrid);
      if (!wanted) { continue; }
      auto engine = Engine::make(backend, given.interpolate_chroma, device_pool, pinned_pool);
      if (!engine && given.backend == backend) {
        throw Error(ErrorKind::unsupported, "nvJPEG: this machine lacks the backend asked for");
      }
      if (engine) { engines.push_back(std::move(engine)); }
    }
    if (engines.empty()) { throw Error(ErrorKind::device, "nvjpegCreateExV2: no backend works on this machine"); }
  }

  ~Impl() { (void)sync_quietly(done.get()); }  // waits: the GPU may still use the members
  Impl(Impl const&) = delete;
  Impl& operator=(Impl const&) = delete;

  // Prepares the streams of one batch for the decoder: with tables inserted, in place or copied.
  Group prepare(JpegFormat const& format, std::span<JpegTile const> tiles, std::span<tile::TileStatus> statuses);
  void decode_group(Group& group, std::span<tile::TileStatus> statuses, cudaStream_t stream);
  void decode_singly(Group& group, std::span<tile::TileStatus> statuses, cudaStream_t stream);
  void place_planes(Group const& group, JpegFormat const& format, std::span<JpegTile const> tiles,
                    std::span<tile::TileStatus const> statuses, std::byte* output, std::size_t pitch,
                    cudaStream_t stream);

  Options options;
  BlockPool device_pool;  // before all members that allocate from them
  BlockPool pinned_pool;
  PoolBuffer splice_buffer;
  PoolBuffer plane_buffer;
  PoolBuffer pinned_offsets;
  PoolBuffer device_offsets;
  EventHandle done;                              // after the last batch
  std::vector<std::unique_ptr<Engine>> engines;  // in the order in which they are tried
  std::unique_ptr<Engine> single;                // made when a batch fails
  NvjpegBackend last_backend = NvjpegBackend::automatic;
};

Group NvjpegDecoder::Impl::prepare(JpegFormat const& format, std::span<JpegTile const> tiles,
                                   std::span<tile::TileStatus> statuses) {
  Group group;
  std::optional<JpegTables> const tables = parse_jpeg_tables(format.tables);
  std::size_t const front = tables ? jpeg_front_bytes(*tables) : 0;
  std::vector<std::size_t> to_copy;
  std::size_t copy_bytes = 0;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    statuses[i] = tile::TileStatus::unsupported;
    if (tiles[i].size_bytes == 0) {
      statuses[i] = tile::TileStatus::sparse;
      continue;
    }
    if (!tables) { continue; }
    bool needs_tables = false;
    JpegRoute const route = route_jpeg({tiles[i].data, tiles[i].size_bytes}, format, *tables, needs_tables);
    if (route == JpegRoute::corrupt) { statuses[i] = tile::TileStatus::corrupt; }
    if (route == JpegRoute::corrupt || route == JpegRoute::unsupported) { continue; }
    group.route = route;
    group.tiles.push_back(i);
    std::size_t const own_front = needs_tables ? front : 0;
    group.sizes.push_back(tiles[i].size_bytes + own_front);
    group.streams.push_back(raw(tiles[i].data - (tiles[i].headroom_bytes >= own_front ? own_front : 0)));
    if (!needs_tables) { continue; }
    if (tiles[i].headroom_bytes >= front) {
      put_jpeg_front(*tables, tiles[i].data);
    } else {
      to_copy.push_back(group.tiles.size() - 1);
      copy_bytes += front + tiles[i].size_bytes;
    }
  }
  if (!to_copy.empty()) {
    std::byte* at = splice_buffer.reserve(copy_bytes, "JPEG streams with their tables");
    for (std::size_t const k : to_copy) {
      JpegTile const& tile = tiles[group.tiles[k]];
      group.streams[k] = raw(at);
      std::memcpy(at + front, tile.data, tile.size_bytes);
      put_jpeg_front(*tables, at + front);
      at += front + tile.size_bytes;
    }
  }
  return group;
}

void NvjpegDecoder::Impl::decode_group(Group& group, std::span<tile::TileStatus> statuses, cudaStream_t stream) {
  int const format = output_format_of(group.route);
  for (auto engine = engines.begin(); engine != engines.end();) {
    nvjpeg::Status const status =
        (*engine)->decode_batch(group.streams, group.sizes, group.images, format, options.cpu_threads, stream);
    if (status == nvjpeg::kSuccess) {
      last_backend = (*engine)->backend();
      for (std::size_t const i : group.tiles) { statuses[i] = tile::TileStatus::ok; }
      return;
    }
    // Work of the failed call may still run; a broken context shows here.
    sync_stream(stream, "after a failed call of nvjpegDecodeBatched");
    // Seen on an H200 when two decoders of a process use its JPEG engine at once. Use the next backend from now on.
    if (status == nvjpeg::kAllocatorFailure) {
      log_once("a decoder of nvJPEG was refused memory: its next backend is used instead");
      engine = engines.erase(engine);
    } else {
      ++engine;
    }
  }
  decode_singly(group, statuses, stream);
}

void NvjpegDecoder::Impl::decode_singly(Group& group, std::span<tile::TileStatus> statuses, cudaStream_t stream) {
  if (!single) {
    single = Engine::make(NvjpegBackend::hybrid, options.interpolate_chroma, device_pool, pinned_pool);
    if (!single) { return; }  // all tiles stay unsupported
  }
  last_backend = NvjpegBackend::hybrid;
  for (std::size_t k = 0; k < group.tiles.size(); ++k) {
    nvjpeg::Status const status =
        single->decode_one(group.streams[k], group.sizes[k], group.images[k], output_format_of(group.route), stream);
    // The state must be idle before its next tile.
    sync_stream(stream, "nvjpegDecode");
    if (status == nvjpeg::kSuccess) { statuses[group.tiles[k]] = tile::TileStatus::ok; }
  }
}

void NvjpegDecoder::Impl::place_planes(Group const& group, JpegFormat const& format, std::span<JpegTile const> tiles,
                                       std::span<tile::TileStatus const> statuses, std::byte* output, std::size_t pitch,
                                       cudaStream_t stream) {
  std::size_t const bytes = group.tiles.size() * sizeof(std::uint64_t);
  auto* const offsets = reinterpret_cast<std::uint64_t*>(pinned_offsets.reserve(bytes, "tile offsets"));
  std::byte* const on_device = device_offsets.reserve(bytes, "tile offsets");
  for (std::size_t k = 0; k < group.tiles.size(); ++k) {
    std::size_t const i = group.tiles[k];
    offsets[k] = statuses[i] == tile::TileStatus::ok ? tiles[i].output_offset : kSkipTile;
  }
  check_cuda(cudaMemcpyAsync(on_device, offsets, bytes, cudaMemcpyHostToDevice, stream), "uploading tile offsets");
  PlanarTiles planar;
  planar.plane_pitch_bytes = format.width_px;
  planar.plane_stride_bytes = std::uint64_t{format.width_px} * format.height_px;
  planar.tile_stride_bytes = planar.plane_stride_bytes * format.samples;
  planar.planes = plane_buffer.reserve(planar.tile_stride_bytes * group.tiles.size(), "JPEG planes");
  planar.width_px = format.width_px;
  planar.height_px = format.height_px;
  planar.samples = format.samples;
  planar.output = output;
  planar.output_offsets = reinterpret_cast<std::uint64_t const*>(on_device);
  planar.output_pitch_bytes = pitch;
  planar.count = static_cast<std::uint32_t>(group.tiles.size());
  interleave_tiles(planar, stream);
}

bool nvjpeg_available() { return find_library() != nullptr; }

NvjpegDecoder::NvjpegDecoder(Options const& options) : impl_(std::make_unique<Impl>(options)) {}
NvjpegDecoder::NvjpegDecoder() : NvjpegDecoder(Options{}) {}
NvjpegDecoder::~NvjpegDecoder() {
  // The library frees memory, which waits for the GPU: abandon it if the GPU is lost.
  if (device_is_lost()) { (void)impl_.release(); }
}
NvjpegDecoder::NvjpegDecoder(NvjpegDecoder&&) noexcept = default;
NvjpegDecoder& NvjpegDecoder::operator=(NvjpegDecoder&&) noexcept = default;

std::size_t NvjpegDecoder::headroom_bytes(JpegFormat const& format) {
  std::optional<JpegTables> const tables = parse_jpeg_tables(format.tables);
  return tables ? jpeg_front_bytes(*tables) : 0;
}

void NvjpegDecoder::decode(JpegFormat const& format, std::span<JpegTile const> tiles, std::byte* output,
                           std::size_t output_pitch_bytes, std::span<tile::TileStatus> statuses, cudaStream_t stream) {
  Impl& impl = *impl_;
  if (statuses.size() != tiles.size() || tiles.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) ||
      output_pitch_bytes < std::size_t{format.width_px} * format.samples) {
    throw Error(ErrorKind::usage, "a JPEG batch's statuses and rows must fit its tiles");
  }
  sync_event(impl.done.get(), "waiting for the last JPEG batch");
  Group group = impl.prepare(format, tiles, statuses);
  if (group.tiles.empty()) { return; }
  std::size_t const plane_bytes = std::size_t{format.width_px} * format.height_px;
  std::byte* planes = nullptr;
  if (group.route == JpegRoute::planes) {
    planes = impl.plane_buffer.reserve(plane_bytes * format.samples * group.tiles.size(), "JPEG planes");
  }
  for (std::size_t k = 0; k < group.tiles.size(); ++k) {
    nvjpeg::Image image{};
    if (planes != nullptr) {
      for (std::size_t s = 0; s < format.samples; ++s) {
        image.channel[s] = raw(planes + (k * format.samples + s) * plane_bytes);
        image.pitch[s] = format.width_px;
      }
    } else {
      image.channel[0] = raw(output + tiles[group.tiles[k]].output_offset);
      image.pitch[0] = output_pitch_bytes;
    }
    group.images.push_back(image);
  }
  impl.decode_group(group, statuses, stream);
  if (planes != nullptr) { impl.place_planes(group, format, tiles, statuses, output, output_pitch_bytes, stream); }
  check_cuda(cudaEventRecord(impl.done.get(), stream), "recording the end of a JPEG batch");
}

NvjpegBackend NvjpegDecoder::last_backend() const noexcept { return impl_->last_backend; }
std::size_t NvjpegDecoder::device_bytes_held() const noexcept { return impl_->device_pool.held_bytes(); }
std::uint64_t NvjpegDecoder::allocations() const noexcept {
  return impl_->device_pool.upstream_allocations() + impl_->pinned_pool.upstream_allocations();
}

}  // namespace terrazzo::gpu
