// SPDX-License-Identifier: Apache-2.0
#include "read/device_engine.hpp"

#include "base/memory_budget.hpp"
#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "gpu/kernels/place.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/lost_device.hpp"
#include "gpu/runtime/pinned_buffer.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/runtime/probe.hpp"
#include "gpu/vendor/library.hpp"
#include "io/kvikio_fetch.hpp"
#include "read/device_decoders.hpp"
#include "read/device_pipeline.hpp"
#include "read/device_slots.hpp"
#include "read/device_transfer.hpp"
#include "read/engine_choice.hpp"
#include "read/host_engine.hpp"
#include "read/mask.hpp"
#include "read/read_report.hpp"
#include "read/result_coverage.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace terrazzo::reading {

namespace {

// Results that the host decodes go up in bands of rows of about this size: large enough for all threads, small enough
// to be held twice.
constexpr std::uint64_t kHostBandBytes = 64u << 20;

DeviceAllocator& allocator_of(ReadRequest const& request) {
  return request.device_allocator != nullptr ? *request.device_allocator : gpu::pool_allocator();
}

tile::ResultFormat result_format(std::span<DeviceJob const> jobs, DeviceView const& view) {
  tile::ResultFormat result;
  result.data = static_cast<std::byte*>(view.data);
  result.dtype = view.dtype;
  result.sample_bytes = static_cast<std::uint32_t>(size_bytes(view.dtype));
  result.bands = view.bands;
  result.band_stride_bytes = view.band_stride_bytes;
  result.row_stride_bytes = view.row_stride_bytes;
  result.pixel_stride_bytes = view.pixel_stride_bytes;
  result.separate_planes = jobs.front().plan->level->has_band_planes();
  result.plain = std::ranges::all_of(jobs, [&](DeviceJob const& job) {
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
  DeviceRead(std::span<DeviceJob const> jobs, ReadRequest const& request, DeviceView const& view, cudaStream_t caller,
             ReadReport& report, StageTimes* profile)
      : jobs_(jobs),
        request_(request),
        result_(result_format(jobs, view)),
        caller_(caller),
        report_(report),
        profile_(profile),
        allocator_(allocator_of(request)),
        stream_(gpu::make_stream()),
        event_(gpu::make_event()),
        host_budget_(resolve_memory_limit(request.memory_limit_bytes)),
        threads_(resolve_threads(request.threads)) {}

  // Whatever went wrong, nothing of ours writes to the caller's memory after the call.
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
      for (DeviceJob const& job : jobs_) { blocks_total_ += job.plan->block_count(); }
      for (DeviceJob const& job : jobs_) { read_on_host(job); }
    } else {
      MethodChoice const choice =
          choose_device_method(*plan.level, plan.dataset->trust(), request_, device_abilities());
      if (choice.method == DeviceMethod::host) { log_once(text("device engine: ", choice.reason)); }
      read_on_device(choice.method);
    }
    if (request_.masked) {
      for (DeviceJob const& job : jobs_) { apply_masks_of(job); }
    }
    gpu::sync_stream(stream_.get(), "finishing a read");
  }

 private:
  void read_on_device(DeviceMethod method) {
    DeviceWork work = collect_work(jobs_, method, {.budget = &host_budget_, .cancel = request_.cancel});
    if (checks_results()) { check_coverage(jobs_, work); }
    DeviceTask const task{.jobs = jobs_,
                          .method = method,
                          .result = result_,
                          .request = request_,
                          .caller = caller_,
                          .allocator = allocator_,
                          .budget_bytes = gpu::resolve_device_budget(request_.device_budget_bytes),
                          .host_budget = host_budget_,
                          .returned = returned_,
                          .profile = profile_};
    std::vector<WorkTile> failed = run_pipeline(task, work, report_);
    if (profile_ != nullptr) { profile_->host_tiles += failed.size() + work.host_tiles.size(); }
    if (!failed.empty()) {
      log_once(text("device engine: ", to_string(method), " left ", failed.size(), " of ", work.tiles.size(),
                    " tiles to the host"));
    }
    failed.insert(failed.end(), work.host_tiles.begin(), work.host_tiles.end());
    // In the order in which the host would have met them: the first bad tile is the one that is told.
    std::ranges::sort(failed, {}, [&](WorkTile const& tile) {
      TileUse const& use = work.uses[tile.first_use];
      return std::pair(use.job, use.index);
    });
    for (WorkTile const& tile : failed) { redo_on_host(work, tile); }
  }

  // The host has the last word on a tile: it decodes it, fills it or says what is wrong, as in any read.
  void redo_on_host(DeviceWork const& work, WorkTile const& tile) {
    for (std::size_t u = 0; u < tile.use_count; ++u) {
      TileUse const& use = work.uses[tile.first_use + u];
      DeviceJob const& job = jobs_[use.job];
      ReadPlan::Impl const& plan = *job.plan;
      if (plan.resampled()) {
        // Its rows and columns are the whole plan's: all of it is read again, once.
        if (std::exchange(redone_, true)) { return; }
        report_ = {};
        return read_on_host(job);
      }
      TileId const id = plan.block_id(use.index);
      Window const covered = plan.covered(id);
      std::vector<std::size_t> bands;
      for (std::size_t i = 0; i < plan.bands.size(); ++i) {
        if (!result_.separate_planes || plan.bands[i] == id.plane + 1) { bands.push_back(i); }
      }
      auto const part = std::make_shared<ReadPlan::Impl>(*make_part_plan(plan, covered, bands));
      part->level = returned_.level_for(plan.level);
      std::int64_t const offset =
          job.destination_offset_bytes +
          static_cast<std::int64_t>(covered.row - plan.window.row) * result_.row_stride_bytes +
          static_cast<std::int64_t>(covered.column - plan.window.column) * result_.pixel_stride_bytes;
      std::size_t const known = report_.bad_tiles.size();
      read_part(*part, bands, offset);
      // A bad tile that several windows want is told once.
      if (u > 0) {
        report_.bad_tiles.erase(report_.bad_tiles.begin() + static_cast<std::ptrdiff_t>(known),
                                report_.bad_tiles.end());
      }
    }
  }

  void read_on_host(DeviceJob const& job) {
    ReadPlan::Impl const& plan = *job.plan;
    std::vector<std::size_t> const bands = all_bands(plan);
    if (plan.resampled()) { return read_part(plan, bands, job.destination_offset_bytes); }
    // Whole block rows, so that no block is decoded twice.
    std::uint64_t const row_bytes = std::uint64_t{plan.window.width} * bands.size() * result_.sample_bytes;
    std::uint32_t const block = plan.level->image.block_height_px;
    std::uint64_t const wanted = std::max<std::uint64_t>(1, kHostBandBytes / std::max<std::uint64_t>(1, row_bytes));
    std::uint64_t const rows = wanted > block ? wanted / block * block : block;
    std::uint64_t const end = std::uint64_t{plan.window.row} + plan.window.height;
    for (std::uint64_t row = plan.window.row; row < end;) {
      std::uint64_t const next = std::min(end, row / block * block + rows);
      Window const part{plan.window.column, static_cast<std::uint32_t>(row), plan.window.width,
                        static_cast<std::uint32_t>(next - row)};
      auto const part_plan = make_part_plan(plan, part, bands);
      read_part(
          *part_plan, bands,
          job.destination_offset_bytes + static_cast<std::int64_t>(row - plan.window.row) * result_.row_stride_bytes);
      row = next;
    }
  }

  void read_part(ReadPlan::Impl const& part, std::span<std::size_t const> bands, std::int64_t offset_bytes) {
    auto const count = static_cast<std::uint32_t>(bands.size());
    std::uint64_t const bytes = saturating_product(part.out_width, part.out_height, count, size_bytes(part.dtype));
    auto const reservation = host_budget_.reserve(bytes, "rows on their way to the device");
    HostArray pixels(part.dtype, count, part.out_height, part.out_width);
    ReadReport part_report;
    ReadRequest part_request = request_;
    part_request.progress = {};  // it would count this part as the whole
    if (request_.progress && blocks_total_ != 0) {
      part_request.progress = [&](std::uint64_t done, std::uint64_t) {
        return request_.progress(blocks_done_ + done, blocks_total_);
      };
    }
    execute_on_host(part, part_request, pixels.view(), host_budget_, part_report);
    blocks_done_ += part.block_count();
    add_report(report_, std::move(part_report));
    upload_rectangle(pixels, bands, result_, offset_bytes, threads_, allocator_, stream_.get());
  }

  // Masks are small: the host decodes them and the device applies them.
  void apply_masks_of(DeviceJob const& job) {
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
    upload(masks.bytes(), buffer.data(), threads_, stream_.get());
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

  std::span<DeviceJob const> jobs_;
  ReadRequest const& request_;
  tile::ResultFormat result_;
  cudaStream_t caller_;
  ReadReport& report_;
  StageTimes* profile_;
  DeviceAllocator& allocator_;
  gpu::StreamHandle stream_;
  gpu::EventHandle event_;
  std::optional<gpu::CallersWork> callers_work_{};
  MemoryBudget host_budget_;
  ReturnedTiles returned_{host_budget_};
  unsigned threads_;
  std::uint64_t blocks_done_ = 0, blocks_total_ = 0;  // for progress, when the host decodes everything
  bool redone_ = false;
};

// A kernel that writes elsewhere would take the process's whole context with it.
void check_destination(void const* data) {
  cudaPointerAttributes where{};
  gpu::check_cuda(cudaPointerGetAttributes(&where, data), "looking at the destination");
  int device = 0;
  gpu::check_cuda(cudaGetDevice(&device), "asking for the current device");
  bool const elsewhere = where.type == cudaMemoryTypeDevice && where.device != device;
  if (where.type == cudaMemoryTypeUnregistered || elsewhere) {
    throw Error(ErrorKind::usage, elsewhere ? text("the destination is memory of GPU ", where.device, ", GPU ", device,
                                                   " is the current one")
                                            : std::string("the destination is not memory that the GPU can write"));
  }
}

// What the probe says, and whether this build has code for that GPU.
DeviceState usable_state() {
  DeviceState state = gpu::probe_device();
  if (state.usable && !gpu::has_kernels_for_current_device()) {
    state.usable = false;
    state.reason = text("this build has no kernels for compute capability ", state.compute_major, ".",
                        state.compute_minor, " (TERRAZZO_CUDA_ARCHITECTURES)");
  }
  return state;
}

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

bool device_is_usable() {
  static bool const usable = usable_state().usable;
  return usable && !gpu::device_is_lost();
}

DeviceAbilities usable_device_abilities() { return device_is_usable() ? device_abilities() : DeviceAbilities{}; }

void execute_on_device(std::span<DeviceJob const> jobs, ReadRequest const& request, DeviceView const& view,
                       void* stream, ReadReport& report, StageTimes* profile) {
  gpu::require_device();
  check_destination(view.data);
  // Runs of jobs whose tiles can share batches.
  for (std::size_t first = 0; first < jobs.size();) {
    std::size_t end = first + 1;
    // Trust is a dataset's own: one job must not lend it to another.
    while (end < jobs.size() && jobs[first].plan->dataset->trust() == jobs[end].plan->dataset->trust() &&
           same_format(*jobs[first].plan->level, *jobs[end].plan->level)) {
      ++end;
    }
    std::span<DeviceJob const> const run = jobs.subspan(first, end - first);
    ReadRequest chosen = request;
    EngineChoice const choice = choose_engine(run, request);
    chosen.engine = choice.engine;
    if (choice.engine == Engine::host && resolve_engine(request.engine) == Engine::automatic) {
      log_once(host_note(choice));
    }
    DeviceRead(run, chosen, view, static_cast<cudaStream_t>(stream), report, profile).run();
    first = end;
  }
}

std::shared_ptr<void> allocate_result(std::uint64_t bytes, ReadRequest const& request) {
  gpu::require_device();
  DeviceAllocator& allocator = allocator_of(request);
  if (request.device_allocator == nullptr) {
    std::size_t free_bytes = 0, total_bytes = 0;
    gpu::check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free device memory");
    std::uint64_t const kept = gpu::pool_unused_bytes();
    if (bytes > free_bytes + kept) {  // before it is refused, what reads keep for the next one goes
      release_slots();
      gpu::trim_pool();
      gpu::check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for free device memory");
    }
    if (bytes > free_bytes + gpu::pool_unused_bytes()) {
      throw Error(ErrorKind::limit, text("the result takes ", bytes, " bytes of device memory, ", free_bytes,
                                         " are free (read_pieces reads more than fits)"));
    }
  }
  // The memory is freed in the order of a stream that lives as long as it does.
  struct Owned {
    gpu::StreamHandle stream = gpu::make_stream();
    gpu::DeviceBuffer buffer;
  };
  auto owned = std::make_shared<Owned>();
  owned->buffer = gpu::DeviceBuffer(allocator, static_cast<std::size_t>(std::max<std::uint64_t>(1, bytes)),
                                    owned->stream.get(), "the result");
  gpu::sync_stream(owned->stream.get(), "allocating device memory");
  void* const data = owned->buffer.data();
  return std::shared_ptr<void>(std::move(owned), data);
}

std::uint64_t engine_budget_bytes(ReadRequest const& request) {
  gpu::require_device();
  return gpu::scratch_room(gpu::resolve_device_budget(request.device_budget_bytes), allocator_of(request));
}

int current_device() {
  gpu::require_device();
  int device = 0;
  gpu::check_cuda(cudaGetDevice(&device), "asking for the current device");
  return device;
}

void copy_to_host(void const* from, std::span<std::byte> to, unsigned threads, void* stream) {
  gpu::StreamHandle const own = gpu::make_stream();
  cudaStream_t const after = stream != nullptr ? static_cast<cudaStream_t>(stream) : own.get();
  download(static_cast<std::byte const*>(from), to, resolve_threads(threads), after);
}

DeviceMemoryUse engine_memory_use() { return gpu::probe_device().usable ? gpu::pool_use() : DeviceMemoryUse{}; }

void reset_engine_memory_peak() {
  if (gpu::probe_device().usable) { gpu::reset_pool_peak(); }
}

void release_engine_memory() {
  if (!gpu::probe_device().usable) { return; }
  release_slots();
  gpu::PinnedPool::instance().trim();
  gpu::trim_pinned_buffers();
  gpu::trim_pool();
}

}  // namespace terrazzo::reading
