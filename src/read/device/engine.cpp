// SPDX-License-Identifier: Apache-2.0
#include "read/device/engine.hpp"

#include "base/memory_budget.hpp"
#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/place/place.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/current_device.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "gpu/runtime/pinned_buffer.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/runtime/probe.hpp"
#include "gpu/runtime/result_memory.hpp"
#include "gpu/transfer/upload.hpp"
#include "gpu/vendor/library.hpp"
#include "io/kvikio_fetch.hpp"
#include "read/device/decoders.hpp"
#include "read/device/fallback/tile_verdicts.hpp"
#include "read/device/pipeline.hpp"
#include "read/device/slots.hpp"
#include "read/device/upload_planes.hpp"
#include "read/host/engine.hpp"
#include "read/mask.hpp"
#include "read/plan/engine_choice.hpp"
#include "read/read_report.hpp"
#include "read/result_coverage.hpp"
#include "read/row_pieces.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace terrazzo::reading {

namespace {

// Results that the host decodes are uploaded in pieces of rows of about this size: large enough to occupy all threads,
// small enough to hold two of them.
constexpr std::uint64_t kHostPieceBytes = 64u << 20;

std::shared_ptr<DeviceAllocator> allocator_of(ReadRequest const& request, gpu::DeviceContext& context) {
  if (request.device_allocator != nullptr) { return request.device_allocator; }
  return context.pool();
}

std::uint64_t free_device_bytes() {
  std::size_t free_bytes = 0, total_bytes = 0;
  gpu::check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free device memory");
  return free_bytes;
}

// Throws `limit` if the library's pool cannot allocate `bytes`. Before that, frees memory kept for later reads, then
// memory that waits for recorded streams.
void require_room(std::uint64_t bytes, gpu::DeviceContext& context) {
  gpu::DevicePool& pool = *context.pool();
  auto const fits = [&] { return bytes <= free_device_bytes() + pool.unused_bytes(); };
  gpu::free_finished_results();
  if (fits()) { return; }
  release_slots(context);
  pool.trim();
  if (fits()) { return; }
  if (gpu::wait_for_pending_results()) { pool.trim(); }
  if (fits()) { return; }
  throw Error(ErrorKind::limit, text("the result takes ", bytes, " bytes of device memory, ", free_device_bytes(),
                                     " are free (read_pieces reads more than fits)"));
}

tile::ResultFormat result_format(std::span<ReadJob const> jobs, DeviceView const& view) {
  tile::ResultFormat result;
  result.data = static_cast<std::byte*>(view.data);
  result.dtype = view.dtype;
  result.sample_bytes = static_cast<std::uint32_t>(size_bytes(view.dtype));
  result.bands = view.bands;
  result.band_stride_bytes = view.band_stride_bytes;
  result.row_stride_bytes = view.row_stride_bytes;
  result.pixel_stride_bytes = view.pixel_stride_bytes;
  result.separate_planes = jobs.front().plan->level->has_band_planes();
  result.plain = std::ranges::all_of(jobs, [&](ReadJob const& job) {
    return view.dtype == job.plan->level->dtype &&
           std::ranges::all_of(job.plan->transforms, [](auto const& t) { return t.is_identity(); });
  });
  return result;
}

std::vector<std::size_t> all_bands(ReadPlan::Impl const& plan) {
  std::vector<std::size_t> bands(plan.bands.size());
  std::iota(bands.begin(), bands.end(), std::size_t{0});
  return bands;
}

// One read into device memory, jobs of one format.
class DeviceRead {
 public:
  DeviceRead(gpu::DeviceContext& context, std::span<ReadJob const> jobs, ReadRequest const& request,
             DeviceView const& view, cudaStream_t caller, ReadReport& report, StageTimes* profile)
      : context_(context),
        jobs_(jobs),
        request_(request),
        result_(result_format(jobs, view)),
        caller_(caller),
        report_(report),
        profile_(profile),
        allocator_(allocator_of(request, context)),
        stream_(gpu::make_stream()),
        event_(gpu::make_event()),
        host_budget_(resolve_memory_limit(request.memory_limit_bytes)),
        threads_(resolve_threads(request.threads)) {}

  // After an exception too, no copy or kernel of the read writes to the caller's memory once the call has returned.
  ~DeviceRead() { (void)gpu::sync_quietly(stream_.get()); }
  DeviceRead(DeviceRead const&) = delete;
  DeviceRead& operator=(DeviceRead const&) = delete;

  void run() {
    ReadPlan::Impl const& plan = *jobs_.front().plan;
    if (caller_ != nullptr) {
      gpu::wait_for(stream_.get(), caller_, event_.get());
      callers_work_.emplace(event_.get());
    }
    if (request_.engine == Engine::host) {
      read_on_host();
    } else {
      MethodChoice const choice =
          choose_device_method(*plan.level, plan.dataset->trust(), request_, device_abilities());
      if (choice.method == DeviceMethod::host) { log_once(text("device engine: ", choice.reason)); }
      read_on_device(choice.method);
    }
    if (request_.masked) {
      for (ReadJob const& job : jobs_) { apply_masks_of(job); }
    }
    gpu::sync_stream(stream_.get(), "finishing a read");
  }

 private:
  // `request` outlives the parameters.
  [[nodiscard]] DeviceParameters parameters_of(DeviceMethod method, ReadRequest const& request) {
    return {.context = context_,
            .jobs = jobs_,
            .method = method,
            .result = result_,
            .request = request,
            .allocator = allocator_,
            .budget_bytes = context_.budget_bytes(request.device_budget_bytes),
            .host_budget = host_budget_,
            .returned = returned_};
  }

  void read_on_device(DeviceMethod method) {
    DeviceWork work = collect_work(jobs_, method, {.budget = &host_budget_, .cancel = request_.cancel});
    if (checks_results()) { check_coverage(jobs_, work); }
    DeviceParameters parameters = parameters_of(method, request_);
    parameters.caller = caller_;
    parameters.profile = profile_;
    std::vector<WorkTile> failed = run_pipeline(parameters, work, report_);
    if (profile_ != nullptr) { profile_->host_tiles += failed.size() + work.host_tiles.size(); }
    if (!failed.empty()) {
      log_once(text("device engine: ", to_string(method), " left ", failed.size(), " of ", work.tiles.size(),
                    " tiles to the host"));
    }
    failed.insert(failed.end(), work.host_tiles.begin(), work.host_tiles.end());
    if (!failed.empty()) { settle_on_host(work, std::move(failed)); }
  }

  // The host decides about these tiles. Its threads decode them packed, a batch at a time, like all tiles of the host.
  void settle_on_host(DeviceWork& work, std::vector<WorkTile> tiles) {
    std::map<Level const*, LevelPtr> levels;
    for (ReadJob const& job : jobs_) {
      LevelPtr& level = levels[job.plan->level.get()];
      if (level == nullptr) { level = returned_.level_for(job.plan->level); }
    }
    DeviceWork rest;
    rest.uses = std::move(work.uses);
    rest.tiles = std::move(tiles);
    std::ranges::sort(rest.tiles, {}, [](WorkTile const& tile) { return std::pair(tile.level->id, tile.block); });
    for (WorkTile& tile : rest.tiles) { tile.level = levels.at(tile.level).get(); }
    ReadRequest quiet = request_;
    quiet.progress = {};  // progress has already counted these tiles
    TileVerdicts verdicts(jobs_, rest.uses, request_);
    DeviceParameters parameters = parameters_of(DeviceMethod::host, quiet);
    parameters.verdicts = &verdicts;
    static_cast<void>(run_pipeline(parameters, rest, report_));
    report_.tiles -= verdicts.filled();
    verdicts.finish(report_);
  }

  // The host engine reads all tiles; finished samples are uploaded packed.
  void read_on_host() {
    for (ReadJob const& job : jobs_) { blocks_total_ += job.plan->block_count(); }
    for (std::span<ReadJob const> left = jobs_; !left.empty();) {
      std::size_t const count = count_together(left);
      if (count > 1) {
        read_packed(left.first(count));
      } else {
        read_in_pieces(left.front());
      }
      left = left.subspan(count);
    }
  }

  // The number of leading jobs whose results have one size and fit in a packed buffer: a tile is decoded once for all
  // of them.
  [[nodiscard]] std::size_t count_together(std::span<ReadJob const> jobs) const {
    ReadPlan::Impl const& first = *jobs.front().plan;
    std::uint64_t const bytes =
        saturating_product(first.out_width, first.out_height, first.bands.size(), result_.sample_bytes);
    std::uint64_t const most = std::max<std::uint64_t>(1, kHostPieceBytes / std::max<std::uint64_t>(1, bytes));
    std::size_t count = 1;
    while (count < jobs.size() && count < most && jobs[count].plan->out_width == first.out_width &&
           jobs[count].plan->out_height == first.out_height) {
      ++count;
    }
    return count;
  }

  void read_in_pieces(ReadJob const& job) {
    ReadPlan::Impl const& plan = *job.plan;
    if (plan.resampled() || plan.filter) { return read_packed({&job, 1}); }
    std::vector<std::size_t> const bands = all_bands(plan);
    std::uint64_t const row_bytes = std::uint64_t{plan.window.width} * bands.size() * result_.sample_bytes;
    // Whole block rows, so that each block is decoded once.
    std::uint64_t const block = plan.level->image.block_height_px;
    RowPieces const pieces(plan.window, block,
                           std::max(block, kHostPieceBytes / std::max<std::uint64_t>(1, row_bytes)));
    for (std::uint64_t i = 0; i < pieces.count(); ++i) {
      Window const window = pieces.window(i);
      ReadJob const part{make_part_plan(plan, window, bands),
                         job.destination_offset_bytes +
                             static_cast<std::int64_t>(window.row - plan.window.row) * result_.row_stride_bytes};
      read_packed({&part, 1});
    }
  }

  // REQUIRES: all results have one size.
  void read_packed(std::span<ReadJob const> jobs) {
    ReadPlan::Impl const& first = *jobs.front().plan;
    std::size_t const bands = first.bands.size();
    std::uint64_t const bytes =
        saturating_product(first.out_width, first.out_height, jobs.size(), bands, size_bytes(first.dtype));
    auto const reservation = host_budget_.reserve(bytes, "rows on their way to the device");
    HostArray pixels(first.dtype, static_cast<std::uint32_t>(jobs.size() * bands), first.out_height, first.out_width);
    HostView item = pixels.view();
    item.bands = static_cast<std::uint32_t>(bands);
    std::vector<ReadJob> packed;
    std::vector<std::int64_t> destinations;
    std::uint64_t blocks = 0;
    for (ReadJob const& job : jobs) {
      packed.push_back({job.plan, static_cast<std::int64_t>(packed.size() * bands) * item.band_stride_bytes});
      blocks += job.plan->block_count();
      for (std::size_t band = 0; band < bands; ++band) {
        destinations.push_back(job.destination_offset_bytes +
                               static_cast<std::int64_t>(band) * result_.band_stride_bytes);
      }
    }
    ReadRequest part = request_;
    part.masked = false;  // the device applies the masks
    if (request_.progress) {
      part.progress = [&](std::uint64_t done, std::uint64_t) {
        return request_.progress(blocks_done_ + done, blocks_total_);
      };
    }
    ReadReport part_report;
    HostEngine(part, item, host_budget_).execute(packed, part_report);
    blocks_done_ += blocks;
    add_report(report_, std::move(part_report));
    upload_planes(pixels, destinations, result_, threads_, allocator_, stream_.get());
  }

  // Masks are small: the host decodes them and the device applies them.
  void apply_masks_of(ReadJob const& job) {
    ReadPlan::Impl const& plan = *job.plan;
    std::vector<std::size_t> masked;
    for (std::size_t i = 0; i < plan.bands.size(); ++i) {
      MaskKind const kind = plan.dataset->info.bands[plan.bands[i] - 1].mask;
      if (kind == MaskKind::internal || kind == MaskKind::external || kind == MaskKind::alpha) { masked.push_back(i); }
    }
    if (masked.empty()) { return; }
    ReadPlan::Impl mask_plan = plan;
    mask_plan.bands.clear();
    mask_plan.fills.clear();
    mask_plan.transforms.assign(masked.size(), {});
    for (std::size_t const i : masked) {
      mask_plan.bands.push_back(plan.bands[i]);
      mask_plan.fills.push_back(plan.fills[i]);
    }
    auto const count = static_cast<std::uint32_t>(masked.size());
    std::uint64_t const plane_bytes = std::uint64_t{plan.out_width} * plan.out_height;
    auto const reservation = host_budget_.reserve(saturating_product(plane_bytes, count), "masks");
    HostArray masks(DType::u8, count, plan.out_height, plan.out_width);
    ReadRequest quiet = request_;
    quiet.progress = {};
    read_masks(mask_plan, quiet, masks.view(), host_budget_, report_);
    gpu::DeviceBuffer buffer(allocator_, masks.bytes().size(), stream_.get(), "masks");
    gpu::upload(masks.bytes(), buffer.data(), threads_, stream_.get());
    for (std::size_t m = 0; m < masked.size(); ++m) {
      gpu::MaskBatch batch;
      batch.data = result_.data + job.destination_offset_bytes +
                   static_cast<std::int64_t>(masked[m]) * result_.band_stride_bytes;
      batch.row_stride_bytes = result_.row_stride_bytes;
      batch.pixel_stride_bytes = result_.pixel_stride_bytes;
      batch.width = plan.out_width;
      batch.height = plan.out_height;
      batch.sample_bytes = result_.sample_bytes;
      tile::store_missing(result_.dtype, batch.invalid, plan.missing_value());
      batch.mask = buffer.data() + plane_bytes * m;
      gpu::apply_mask(batch, stream_.get());
    }
  }

  gpu::DeviceContext& context_;
  std::span<ReadJob const> jobs_;
  ReadRequest const& request_;
  tile::ResultFormat result_;
  cudaStream_t caller_;
  ReadReport& report_;
  StageTimes* profile_;
  std::shared_ptr<DeviceAllocator> allocator_;
  gpu::StreamHandle stream_;
  gpu::EventHandle event_;
  std::optional<gpu::CallersWork> callers_work_{};
  MemoryBudget host_budget_;
  ReturnedTiles returned_{host_budget_};
  unsigned threads_;
  std::uint64_t blocks_done_ = 0, blocks_total_ = 0;  // for progress, if the host decodes all tiles
};

// A kernel that writes outside the destination would destroy the CUDA context of the process.
void check_destination(void const* data) {
  cudaPointerAttributes where{};
  gpu::check_cuda(cudaPointerGetAttributes(&where, data), "looking at the destination");
  int const device = gpu::current_device();
  bool const elsewhere = where.type == cudaMemoryTypeDevice && where.device != device;
  if (where.type == cudaMemoryTypeUnregistered || elsewhere) {
    throw Error(ErrorKind::usage, elsewhere ? text("the destination is memory of GPU ", where.device,
                                                   ", and the read is for GPU ", device)
                                            : std::string("the destination is not memory that the GPU can write"));
  }
}

// The result of the probe, and whether this build has code for the GPU.
DeviceState usable_state() {
  DeviceState state = gpu::probe_device();
  if (state.usable && !gpu::has_kernels_for_current_device()) {
    state.usable = false;
    state.reason = text("this build has no kernels for compute capability ", state.compute_major, ".",
                        state.compute_minor, " (TERRAZZO_CUDA_ARCHITECTURES)");
  }
  return state;
}

// Facts that a context keeps; the libraries of the abilities belong to the process.
struct KnownFacts {
  // REQUIRES: the context's device is current.
  explicit KnownFacts(gpu::DeviceContext& context) {
    DeviceState const state = usable_state();
    facts.usable = state.usable;
    facts.reason = state.reason;
    facts.speed = context.speed();
  }
  DeviceFacts facts;
};

}  // namespace

DeviceState device_engine_state() {
  DeviceState state = usable_state();
  auto const purpose = [](std::string_view name) {
    return name == "nvcomp" ? "reading deflate and zstd" : name == "nvjpeg" ? "JPEG" : "JPEG 2000";
  };
  io::KvikioState const& kvikio = io::kvikio_state();
  state.gds = kvikio.gds;
  state.libraries.push_back(
      {"kvikio", "file to device memory", kvikio.found, kvikio.path, kvikio.version, kvikio.hint, kvikio.refused});
  for (gpu::VendorLibrary const& library : gpu::vendor_libraries()) {
    state.libraries.push_back({library.name, purpose(library.name), library.found, library.path, library.version,
                               library.hint, library.refused});
  }
  return state;
}

DeviceFacts device_facts() {
  gpu::DeviceContext* const context = gpu::find_current_context();
  if (context == nullptr) { return {.reason = usable_state().reason}; }
  DeviceFacts facts = context->part<KnownFacts>().facts;
  if (facts.usable) { facts.abilities = device_abilities(); }
  return facts;
}

std::shared_ptr<void const> choose_device(std::optional<int> device) { return gpu::choose_device(device); }

void DeviceEngine::execute(std::span<ReadJob const> jobs, ReadReport& report) {
  gpu::require_device();
  gpu::DeviceContext& context = gpu::current_context();
  check_destination(result_.data);
  // Runs of jobs whose tiles can share batches.
  for (std::size_t first = 0; first < jobs.size();) {
    std::size_t end = first + 1;
    // Trust belongs to a dataset: jobs of a less trusted dataset must not inherit it from another.
    while (end < jobs.size() && jobs[first].plan->dataset->trust() == jobs[end].plan->dataset->trust() &&
           same_format(*jobs[first].plan->level, *jobs[end].plan->level)) {
      ++end;
    }
    std::span<ReadJob const> const run = jobs.subspan(first, end - first);
    ReadRequest chosen = request_;
    EngineChoice const choice = choose_engine(run, request_);
    chosen.engine = choice.engine;
    if (choice.engine == Engine::host && resolve_engine(request_.engine) == Engine::automatic) {
      log_once(host_note(choice));
    }
    DeviceRead(context, run, chosen, result_, stream_.get(), report, profile_).run();
    first = end;
  }
}

std::shared_ptr<DeviceMemory> allocate_result(std::uint64_t bytes, ReadRequest const& request) {
  gpu::require_device();
  gpu::DeviceContext& context = gpu::current_context();
  if (request.device_allocator == nullptr) { require_room(bytes, context); }
  return std::make_shared<gpu::ResultMemory>(allocator_of(request, context), static_cast<std::size_t>(bytes));
}

std::uint64_t engine_budget_bytes(ReadRequest const& request) {
  gpu::require_device();
  gpu::DeviceContext& context = gpu::current_context();
  return gpu::scratch_room(context.budget_bytes(request.device_budget_bytes), *allocator_of(request, context));
}

int current_device() {
  gpu::require_device();
  return gpu::current_device();
}

void copy_to_host(void const* from, std::span<std::byte> to, unsigned threads, StreamView stream) {
  gpu::StreamHandle const own = gpu::make_stream();
  cudaStream_t const after = stream ? stream.get() : own.get();
  gpu::download(static_cast<std::byte const*>(from), to, resolve_threads(threads), after);
}

DeviceMemoryUse engine_memory_use() {
  return gpu::probe_device().usable ? gpu::current_context().pool()->use() : DeviceMemoryUse{};
}

void reset_engine_memory_peak() {
  if (gpu::probe_device().usable) { gpu::current_context().pool()->reset_peak(); }
}

void release_engine_memory() {
  if (!gpu::probe_device().usable) { return; }
  gpu::free_finished_results();
  gpu::for_each_context([](gpu::DeviceContext& context) { release_slots(context); });
  gpu::PinnedPool::instance().trim();
  gpu::trim_pinned_buffers();
  gpu::for_each_context([](gpu::DeviceContext& context) { context.trim_pool(); });
}

}  // namespace terrazzo::reading
