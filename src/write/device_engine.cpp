// SPDX-License-Identifier: Apache-2.0
//
// Three streams: rows come on one, all work is done on the second, blocks go back on the third (DeviceAppender). Events
// tie them: rows are not written over before they were read, and not read before they are there.
#include "write/device_engine.hpp"

#include "base/thread_pool.hpp"
#include "gpu/kernels/copy_rows.hpp"
#include "gpu/kernels/place.hpp"
#include "gpu/kernels/reduce.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/runtime/probe.hpp"
#include "gpu/runtime/stream.hpp"
#include "terrazzo/error.hpp"
#include "write/cascade.hpp"
#include "write/device_appender.hpp"
#include "write/device_batches.hpp"
#include "write/device_share.hpp"
#include "write/host_engine.hpp"
#include "write/view_as.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>
#include <utility>

namespace terrazzo::writing {

namespace {

constexpr std::size_t kChunkBytes = gpu::PinnedPool::kChunkBytes;

gpu::DeviceRows as_device_rows(LevelRows const& rows) noexcept {
  return {rows.first, view_as<DeviceView>(rows.pixels), view_as<DeviceView>(rows.mask)};
}

// The caller's device comes back when the work is queued: streams and memory of ours are one device's, whatever the
// caller has chosen since.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    gpu::check_cuda(cudaGetDevice(&before_), "asking for the current device");
    if (before_ != device) { gpu::check_cuda(cudaSetDevice(device), "choosing the device"); }
    changed_ = before_ != device;
  }
  ~OnDevice() {
    if (changed_) { (void)cudaSetDevice(before_); }
  }
  OnDevice(OnDevice const&) = delete;
  OnDevice& operator=(OnDevice const&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

int current_device() {
  int device = 0;
  gpu::check_cuda(cudaGetDevice(&device), "asking for the current device");
  return device;
}

// One plane of rows, packed: as RowWindow keeps them.
struct Plane {
  HostView from{};  // host memory, or the device's
  std::byte* to = nullptr;
  std::size_t row_bytes = 0;
};

// The planes of `to`, which is a RowWindow's: samples of a pixel together, or bands apart.
std::vector<Plane> planes_of(LevelRows const& from, LevelRows const& to) {
  std::vector<Plane> planes;
  std::size_t const sample = size_bytes(to.pixels.dtype);
  bool const apart = to.pixels.bands > 1 && to.pixels.pixel_stride_bytes == static_cast<std::int64_t>(sample);
  std::uint32_t const count = apart ? to.pixels.bands : 1;
  for (std::uint32_t plane = 0; plane < count; ++plane) {
    HostView view = from.pixels;
    if (apart) {
      view.data = static_cast<std::byte*>(view.data) + std::int64_t{plane} * view.band_stride_bytes;
      view.bands = 1;
    }
    planes.push_back({view, static_cast<std::byte*>(to.pixels.data) + std::int64_t{plane} * to.pixels.band_stride_bytes,
                      static_cast<std::size_t>(to.pixels.row_stride_bytes)});
  }
  if (to.mask.data != nullptr) {
    planes.push_back(
        {from.mask, static_cast<std::byte*>(to.mask.data), static_cast<std::size_t>(to.mask.row_stride_bytes)});
  }
  return planes;
}

// Rows of a plane through the pinned pool, in the order of `stream`. Rows longer than a chunk go in parts.
void upload_plane(Plane const& plane, std::uint32_t rows, unsigned threads, int device, cudaStream_t stream) {
  auto const rows_a_chunk = static_cast<std::uint32_t>(std::max<std::size_t>(1, kChunkBytes / plane.row_bytes));
  std::uint32_t const chunks = (rows + rows_a_chunk - 1) / rows_a_chunk;
  std::atomic<std::uint32_t> next{0};
  run_on_pool(std::min(threads, chunks), [&](unsigned) {
    gpu::check_cuda(cudaSetDevice(device), "choosing the device");
    std::vector<std::byte> long_row;
    for (std::uint32_t c = next++; c < chunks; c = next++) {
      std::uint32_t const first = c * rows_a_chunk, last = std::min(rows, first + rows_a_chunk);
      HostView packed = plane.from;
      std::size_t const sample = size_bytes(packed.dtype);
      packed.band_stride_bytes = static_cast<std::int64_t>(sample);
      packed.pixel_stride_bytes = static_cast<std::int64_t>(sample * packed.bands);
      packed.row_stride_bytes = static_cast<std::int64_t>(plane.row_bytes);
      std::byte* const to = plane.to + std::size_t{first} * plane.row_bytes;
      std::size_t const bytes = (last - first) * plane.row_bytes;
      if (bytes <= kChunkBytes) {
        gpu::PinnedPool::Chunk chunk = gpu::PinnedPool::instance().acquire();
        packed.data = chunk.data();
        for (std::uint32_t row = first; row < last; ++row) { copy_row(plane.from, row, packed, row - first); }
        gpu::check_cuda(cudaMemcpyAsync(to, chunk.data(), bytes, cudaMemcpyHostToDevice, stream), "uploading rows");
        chunk.release_after(stream);
        continue;
      }
      long_row.resize(bytes);
      packed.data = long_row.data();
      copy_row(plane.from, first, packed, 0);
      for (std::size_t at = 0; at < bytes; at += kChunkBytes) {
        std::size_t const part = std::min(kChunkBytes, bytes - at);
        gpu::PinnedPool::Chunk chunk = gpu::PinnedPool::instance().acquire();
        std::memcpy(chunk.data(), long_row.data() + at, part);
        gpu::check_cuda(cudaMemcpyAsync(to + at, chunk.data(), part, cudaMemcpyHostToDevice, stream), "uploading rows");
        chunk.release_after(stream);
      }
    }
  });
}

class DeviceEngine final : public RowEngine {
 public:
  DeviceEngine(FilePlan const& plan, unsigned threads, Emit emit, Announce announce, bool in_reach)
      : plan_(plan),
        threads_(threads),
        device_(current_device()),
        allocator_(plan.options.device_allocator != nullptr ? *plan.options.device_allocator : gpu::pool_allocator()),
        budget_(gpu::scratch_room(gpu::resolve_device_budget(plan.options.device_budget_bytes), allocator_)),
        share_(share_device_memory(plan, budget_, DeviceBatches::cost(plan, budget_), in_reach)),
        batches_(plan, budget_, share_.batch_blocks, allocator_, work_.get()),
        slots_(share_.slots),
        appender_(std::in_place, plan, threads, batches_, device_, std::move(emit), std::move(announce)) {
    for (ReductionSpec const& spec : reduction_specs(plan)) { reductions_.emplace_back(spec, allocator_, work_.get()); }
    note_rows_used();
  }

  ~DeviceEngine() override {
    appender_.reset();
    // Memory is freed in the order of one stream; nothing may still use it on another.
    (void)gpu::sync_quietly(upload_.get());
    (void)gpu::sync_quietly(work_.get());
  }

  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    OnDevice const here(device_);
    auto const memory = std::make_shared<gpu::DeviceBuffer>(allocator_, bytes, work_.get(), "rows of a write");
    note_rows_used();
    return {memory, memory->data()};
  }

  void copy(LevelRows const& from, LevelRows const& to) override {
    OnDevice const here(device_);
    if (from.memory == Memory::device) {
      gpu::copy_rows(as_device_rows(from), as_device_rows(to), work_.get());
      note_rows_used();
      return;
    }
    gpu::check_cuda(cudaStreamWaitEvent(upload_.get(), rows_used_.get()), "waiting for an event");
    try {
      for (Plane const& plane : planes_of(from, to)) {
        upload_plane(plane, to.pixels.height, threads_, device_, upload_.get());
      }
    } catch (...) {
      // What is on its way must not arrive in memory that is given back.
      (void)gpu::sync_quietly(upload_.get());
      throw;
    }
    gpu::wait_for(work_.get(), upload_.get(), uploaded_.get());
  }

  void move(std::byte* to, std::byte const* from, std::size_t bytes) override {
    OnDevice const here(device_);
    bool const apart = to + bytes <= from || from + bytes <= to;
    auto const copy_bytes = [&](void* target, void const* source) {
      gpu::check_cuda(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, work_.get()), "moving rows");
    };
    if (apart) {
      copy_bytes(to, from);
    } else {
      gpu::DeviceBuffer const between(allocator_, bytes, work_.get(), "rows of a write");
      copy_bytes(between.data(), from);
      copy_bytes(to, between.data());
    }
    note_rows_used();
  }

  [[nodiscard]] RowShare row_share() const override { return share_.rows; }
  [[nodiscard]] Memory memory() const noexcept override { return Memory::device; }
  [[nodiscard]] bool reaches(LevelRows const& rows) const noexcept override {
    // Kernels load whole samples; rows that are not aligned to them are copied first.
    return rows.memory == Memory::device &&
           gpu::is_aligned(view_as<DeviceView>(rows.pixels), size_bytes(rows.pixels.dtype));
  }

  void wait_for(void* stream) override {
    if (stream == nullptr) { return; }
    gpu::wait_for(work_.get(), static_cast<cudaStream_t>(stream), callers_.get());
  }

  void reduce(std::size_t level, Reduction const&, LevelRows const& source, LevelRows const& result) override {
    OnDevice const here(device_);
    reductions_[level - 1].reduce(as_device_rows(source), as_device_rows(result), work_.get());
    note_rows_used();
  }

  void encode(std::span<BlockJob const> jobs) override {
    OnDevice const here(device_);
    // All of a COG at once: its blocks stay on the device until the sizes of all are known.
    bool const whole = plan_.options.cog && batches_.encodes_all() && jobs.size() == block_count(plan_) &&
                       jobs.size() <= slots_.size() * std::size_t{share_.batch_blocks};
    std::vector<BatchSlot const*> launched;
    while (!jobs.empty()) {
      if (plan_.options.cancel != nullptr && plan_.options.cancel->load(std::memory_order_relaxed)) {
        throw Error(ErrorKind::cancelled, "the write was cancelled");
      }
      std::size_t const count = std::min<std::size_t>(jobs.size(), share_.batch_blocks);
      BatchSlot& slot = slots_[next_slot_];
      next_slot_ = (next_slot_ + 1) % slots_.size();
      appender_->wait_for(slot);
      batches_.launch(jobs.first(count), slot, rows_used_.get());
      if (whole) {
        launched.push_back(&slot);
      } else {
        appender_->push(slot);
      }
      jobs = jobs.subspan(count);
    }
    if (whole) { appender_->push_all(std::move(launched)); }
  }

  void rows_are_free() override { gpu::sync_event(rows_used_.get(), "waiting until rows are read"); }

  void finish() override { appender_->drain(); }

 private:
  // What comes next may change rows that were read until here.
  void note_rows_used() { gpu::check_cuda(cudaEventRecord(rows_used_.get(), work_.get()), "recording an event"); }

  FilePlan const& plan_;
  unsigned threads_;
  int device_;
  DeviceAllocator& allocator_;
  gpu::StreamHandle work_ = gpu::make_stream(), upload_ = gpu::make_stream();
  gpu::EventHandle rows_used_ = gpu::make_event(), uploaded_ = gpu::make_event(), callers_ = gpu::make_event();
  gpu::CallersWork callers_work_{callers_.get()};
  std::uint64_t budget_;
  DeviceShare share_;
  std::vector<gpu::DeviceReduction> reductions_{};
  DeviceBatches batches_;
  std::vector<BatchSlot> slots_;
  std::size_t next_slot_ = 0;
  std::optional<DeviceAppender> appender_;
};

}  // namespace

void require_device_engine() {
  gpu::require_device();
  if (!gpu::has_kernels_for_current_device()) {
    throw Error(ErrorKind::device, "this build has no kernels for the GPU of this machine");
  }
}

std::unique_ptr<RowEngine> make_device_engine(FilePlan const& plan, unsigned threads, RowEngine::Emit emit,
                                              RowEngine::Announce announce, Memory rows_lie_in) {
  require_device_engine();
  return std::make_unique<DeviceEngine>(plan, threads, std::move(emit), std::move(announce),
                                        rows_lie_in == Memory::device);
}

void wait_for_stream(void* stream) {
  gpu::sync_callers_stream(static_cast<cudaStream_t>(stream), "waiting for the caller's stream");
}

// The host engine takes rows of a device seldom, and gathers them first: rows are made packed on the device and come
// back in one copy.
void download_rows(LevelRows const& from, LevelRows const& to) {
  constexpr std::size_t kPackedBytes = std::size_t{64} << 20;  // at a time, unless a row is longer
  gpu::StreamHandle const stream = gpu::make_stream();
  for (Plane const& plane : planes_of(from, to)) {
    std::uint32_t const step =
        static_cast<std::uint32_t>(std::clamp<std::size_t>(kPackedBytes / plane.row_bytes, 1, plane.from.height));
    gpu::DeviceBuffer const packed(gpu::pool_allocator(), plane.row_bytes * step, stream.get());
    DeviceView source = view_as<DeviceView>(plane.from);
    DeviceView target = source;
    std::size_t const sample = size_bytes(source.dtype);
    target.data = packed.data();
    target.band_stride_bytes = static_cast<std::int64_t>(sample);
    target.pixel_stride_bytes = static_cast<std::int64_t>(sample * source.bands);
    target.row_stride_bytes = static_cast<std::int64_t>(plane.row_bytes);
    for (std::uint32_t row = 0; row < plane.from.height; row += step) {
      source.height = target.height = std::min(step, plane.from.height - row);
      gpu::copy_rows({0, source, {}}, {0, target, {}}, stream.get());
      gpu::check_cuda(cudaMemcpyAsync(plane.to + row * plane.row_bytes, packed.data(), plane.row_bytes * source.height,
                                      cudaMemcpyDeviceToHost, stream.get()),
                      "downloading rows");
      source.data = static_cast<std::byte*>(source.data) + std::int64_t{step} * source.row_stride_bytes;
    }
    gpu::sync_stream(stream.get(), "downloading rows");
  }
}

}  // namespace terrazzo::writing
