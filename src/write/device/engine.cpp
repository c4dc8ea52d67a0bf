// SPDX-License-Identifier: Apache-2.0
//
// Three streams: rows are uploaded on the first, the second does all work, blocks are copied back on the third
// (DeviceAppender). Events order them: rows are read after they have arrived, and overwritten after they were read.
#include "write/device/engine.hpp"

#include "gpu/place/place.hpp"
#include "gpu/reduce/reduce.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/current_device.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/runtime/probe.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/transfer/copy_rows.hpp"
#include "gpu/transfer/upload.hpp"
#include "terrazzo/error.hpp"
#include "write/device/appender.hpp"
#include "write/device/block_batches.hpp"
#include "write/device/memory_split.hpp"
#include "write/host/engine.hpp"
#include "write/overviews/cascade.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace terrazzo::writing {

namespace {

// One plane of rows, packed as in a RowWindow.
template <MemoryKind from_kind>
struct Plane {
  View<from_kind, void const> from{};
  std::byte* to = nullptr;  // in memory of the other kind
  std::size_t row_bytes = 0;
};

// The planes of `to`, which belongs to a RowWindow: samples of a pixel together, or bands apart.
template <MemoryKind from_kind, MemoryKind to_kind>
std::vector<Plane<from_kind>> planes_of(ConstRows<from_kind> const& from, Rows<to_kind> const& to) {
  std::vector<Plane<from_kind>> planes;
  std::size_t const sample = size_bytes(to.pixels.dtype);
  bool const apart = to.pixels.bands > 1 && to.pixels.pixel_stride_bytes == static_cast<std::int64_t>(sample);
  std::uint32_t const count = apart ? to.pixels.bands : 1;
  for (std::uint32_t plane = 0; plane < count; ++plane) {
    View<from_kind, void const> view = from.pixels;
    if (apart) {
      view.data = static_cast<std::byte const*>(view.data) + std::int64_t{plane} * view.band_stride_bytes;
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

// A packed view of `rows` rows with the format of the plane.
template <class Packed, MemoryKind from_kind>
Packed packed_like(Plane<from_kind> const& plane, void* data, std::uint32_t rows) noexcept {
  auto const sample = static_cast<std::int64_t>(size_bytes(plane.from.dtype));
  return {data,
          plane.from.dtype,
          plane.from.bands,
          rows,
          plane.from.width,
          sample,
          static_cast<std::int64_t>(plane.row_bytes),
          sample * plane.from.bands};
}

// Rows of a plane through the pinned pool, in the order of `stream`. A piece is any number of pixels: it may begin and
// end inside a row.
void upload_plane(Plane<MemoryKind::host> const& plane, std::uint32_t rows, unsigned threads, cudaStream_t stream) {
  std::size_t const pixel_bytes = plane.row_bytes / plane.from.width;
  constexpr std::size_t kChunkBytes = gpu::PinnedPool::kChunkBytes;
  std::size_t const unit = plane.row_bytes <= kChunkBytes ? plane.row_bytes : pixel_bytes;  // whole rows if possible
  gpu::upload(rows * plane.row_bytes, kChunkBytes / unit * unit, plane.to, threads, stream,
              [&](std::size_t at, std::span<std::byte> into) {
                while (!into.empty()) {
                  std::size_t const column = at % plane.row_bytes / pixel_bytes;
                  std::size_t const part = std::min(into.size(), plane.row_bytes - column * pixel_bytes);
                  Plane<MemoryKind::host> cut = plane;
                  cut.from.data = static_cast<std::byte const*>(plane.from.data) +
                                  static_cast<std::int64_t>(column) * plane.from.pixel_stride_bytes;
                  cut.from.width = static_cast<std::uint32_t>(part / pixel_bytes);
                  copy_row(cut.from, static_cast<std::uint32_t>(at / plane.row_bytes),
                           packed_like<HostView>(cut, into.data(), 1), 0);
                  at += part;
                  into = into.subspan(part);
                }
              });
}

class DeviceEngine final : public RowEngine<MemoryKind::device> {
 public:
  // REQUIRES: the context's device is current.
  DeviceEngine(gpu::DeviceContext& context, FilePlan const& plan, unsigned threads, EmitBlocks emit,
               AnnounceSizes announce, bool in_reach)
      : plan_(plan),
        threads_(threads),
        device_(context.device()),
        allocator_(plan.options.device_allocator != nullptr ? plan.options.device_allocator : context.pool()),
        budget_(gpu::scratch_room(context.budget_bytes(plan.options.device_budget_bytes), *allocator_)),
        share_(split_device_memory(plan, budget_, BlockBatches::cost(plan, budget_), in_reach)),
        batches_(plan, budget_, share_.batch_blocks, allocator_, work_.get()),
        slots_(share_.slots),
        appender_(std::in_place, plan, threads, batches_, device_, std::move(emit), std::move(announce)) {
    for (ReductionSpec const& spec : reduction_specs(plan)) { reductions_.emplace_back(spec, allocator_, work_.get()); }
    note_rows_used();
  }

  ~DeviceEngine() override {
    appender_.reset();
    // Memory is freed in the order of one stream; work on the other streams must not use it any more.
    (void)gpu::sync_quietly(upload_.get());
    (void)gpu::sync_quietly(work_.get());
  }

  [[nodiscard]] std::shared_ptr<std::byte> allocate(std::size_t bytes) override {
    gpu::CurrentDevice const here(device_);
    auto const memory = std::make_shared<gpu::DeviceBuffer>(allocator_, bytes, work_.get(), "rows of a write");
    note_rows_used();
    return {memory, memory->data()};
  }

  void copy(ConstDeviceRows const& from, DeviceRows const& to) override {
    gpu::CurrentDevice const here(device_);
    gpu::copy_rows(from, to, work_.get());
    note_rows_used();
  }

  void copy(ConstHostRows const& from, DeviceRows const& to) override {
    gpu::CurrentDevice const here(device_);
    gpu::check_cuda(cudaStreamWaitEvent(upload_.get(), rows_used_.get()), "waiting for an event");
    try {
      for (auto const& plane : planes_of(from, to)) { upload_plane(plane, to.pixels.height, threads_, upload_.get()); }
    } catch (...) {
      // Copies in flight must not write to memory after it is freed.
      (void)gpu::sync_quietly(upload_.get());
      throw;
    }
    gpu::wait_for(work_.get(), upload_.get(), uploaded_.get());
  }

  void move(std::byte* to, std::byte const* from, std::size_t bytes) override {
    gpu::CurrentDevice const here(device_);
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
  [[nodiscard]] bool reaches(ConstDeviceRows const& rows) const noexcept override {
    // Kernels load whole samples; rows that are not aligned to them are copied first.
    return gpu::is_aligned(rows.pixels, size_bytes(rows.pixels.dtype));
  }

  void wait_for(StreamView stream) override {
    if (!stream) { return; }
    gpu::wait_for(work_.get(), stream.get(), callers_.get());
  }

  void reduce(std::size_t level, Reduction const&, ConstDeviceRows const& source, DeviceRows const& result) override {
    gpu::CurrentDevice const here(device_);
    reductions_[level - 1].reduce(source, result, work_.get());
    note_rows_used();
  }

  void encode(std::span<DeviceBlockJob const> jobs) override {
    gpu::CurrentDevice const here(device_);
    // Push all batches of a COG at once: its blocks stay on the device until the sizes of all are known.
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
  // Later work may overwrite rows that were read up to here.
  void note_rows_used() { gpu::check_cuda(cudaEventRecord(rows_used_.get(), work_.get()), "recording an event"); }

  FilePlan const& plan_;
  unsigned threads_;
  int device_;
  std::shared_ptr<DeviceAllocator> allocator_;
  gpu::StreamHandle work_ = gpu::make_stream(), upload_ = gpu::make_stream();
  gpu::EventHandle rows_used_ = gpu::make_event(), uploaded_ = gpu::make_event(), callers_ = gpu::make_event();
  gpu::CallersWork callers_work_{callers_.get()};
  std::uint64_t budget_;
  MemorySplit share_;
  std::vector<gpu::DeviceReduction> reductions_{};
  BlockBatches batches_;
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

std::unique_ptr<RowEngine<MemoryKind::device>> make_device_engine(FilePlan const& plan, unsigned threads,
                                                                  EmitBlocks emit, AnnounceSizes announce,
                                                                  MemoryKind rows_lie_in) {
  require_device_engine();
  return std::make_unique<DeviceEngine>(gpu::current_context(), plan, threads, std::move(emit), std::move(announce),
                                        rows_lie_in == MemoryKind::device);
}

std::shared_ptr<void const> choose_device(std::optional<int> device) { return gpu::choose_device(device); }

void wait_for_stream(StreamView stream) { gpu::sync_callers_stream(stream.get(), "waiting for the caller's stream"); }

// The host engine seldom receives device rows, and gathers them first: the device packs the rows, and they are copied
// back in pieces.
void download_rows(ConstDeviceRows const& from, HostRows const& to) {
  constexpr std::size_t kPackedBytes = std::size_t{64} << 20;  // bytes at a time, unless a row is longer
  gpu::StreamHandle const stream = gpu::make_stream();
  for (auto const& plane : planes_of(from, to)) {
    std::uint32_t const step =
        static_cast<std::uint32_t>(std::clamp<std::size_t>(kPackedBytes / plane.row_bytes, 1, plane.from.height));
    gpu::DeviceBuffer const packed(gpu::pool_allocator(), plane.row_bytes * step, stream.get());
    ConstDeviceView source = plane.from;
    for (std::uint32_t row = 0; row < plane.from.height; row += step) {
      source.height = std::min(step, plane.from.height - row);
      gpu::copy_rows({0, source, {}}, {0, packed_like<DeviceView>(plane, packed.data(), source.height), {}},
                     stream.get());
      gpu::check_cuda(cudaMemcpyAsync(plane.to + row * plane.row_bytes, packed.data(), plane.row_bytes * source.height,
                                      cudaMemcpyDeviceToHost, stream.get()),
                      "downloading rows");
      source.data = static_cast<std::byte const*>(source.data) + std::int64_t{step} * source.row_stride_bytes;
    }
    gpu::sync_stream(stream.get(), "downloading rows");
  }
}

}  // namespace terrazzo::writing
