// SPDX-License-Identifier: Apache-2.0
#include "gpu/reduce/reduce.hpp"

#include "gpu/reduce/launch.hpp"
#include "gpu/runtime/check.hpp"
#include "terrazzo/error.hpp"

#include <cstring>
#include <vector>

namespace terrazzo::gpu {
namespace {

[[nodiscard]] std::size_t axis_bytes(Resampling method, std::uint32_t source_size, std::uint32_t size) {
  std::size_t const taps = tile::longest_kernel_window(method, source_size, size);
  return size * (2 * taps * sizeof(double) + 2 * sizeof(std::uint32_t));
}

// Copies an axis to `staging` at `at`, advances `at`, and returns the view of its final location.
[[nodiscard]] tile::KernelAxisView stage_axis(tile::KernelAxis const& axis, std::vector<std::byte>& staging,
                                              std::size_t& at, std::byte const* device) {
  auto const put = [&]<class Value>(std::vector<Value> const& values) {
    std::size_t const bytes = values.size() * sizeof(Value);
    std::memcpy(staging.data() + at, values.data(), bytes);
    auto const* const there = reinterpret_cast<Value const*>(device + at);
    at += bytes;
    return there;
  };
  tile::KernelAxisView view;
  view.plain = put(axis.plain);
  view.normalised = put(axis.normalised);
  view.first = put(axis.first);
  view.count = put(axis.count);
  view.size = axis.size;
  return view;
}

// Byte: const for rows that are only read.
template <class Byte, class Void>
[[nodiscard]] tile::LevelSamples<Byte> samples_of(View<MemoryKind::device, Void> const& view, std::uint32_t first,
                                                  std::size_t alignment_bytes) {
  if (!is_aligned(view, alignment_bytes)) {
    throw Error(ErrorKind::usage, "addresses and strides of device rows must be multiples of the sample's size");
  }
  return {static_cast<Byte*>(view.data), view.band_stride_bytes, view.row_stride_bytes, view.pixel_stride_bytes, first};
}

}  // namespace

DeviceReduction::DeviceReduction(tile::ReductionSpec const& spec, std::shared_ptr<DeviceAllocator> const& allocator,
                                 cudaStream_t stream)
    : spec_(spec) {
  tile::check_reduction(spec);
  if (!tile::is_kernel(spec.method)) { return; }
  std::vector<std::byte> staging(table_bytes(spec));
  tables_ = DeviceBuffer(allocator, staging.size(), stream);
  std::size_t at = 0;
  columns_ = stage_axis({spec.method, spec.source_width, spec.width, tile::kColumnUnit}, staging, at, tables_.data());
  rows_ = stage_axis({spec.method, spec.source_height, spec.height, tile::kRowUnit}, staging, at, tables_.data());
  check_cuda(cudaMemcpyAsync(tables_.data(), staging.data(), at, cudaMemcpyHostToDevice, stream),
             "uploading the weights of an overview");
}

std::size_t DeviceReduction::table_bytes(tile::ReductionSpec const& spec) {
  if (!tile::is_kernel(spec.method)) { return 0; }
  return axis_bytes(spec.method, spec.source_width, spec.width) +
         axis_bytes(spec.method, spec.source_height, spec.height);
}

void DeviceReduction::reduce(ConstDeviceRows const& source, DeviceRows const& result, cudaStream_t stream) const {
  if (result.pixels.height == 0) { return; }
  std::size_t const sample_bytes = size_bytes(spec_.dtype);
  std::size_t const alignment_bytes = is_complex(spec_.dtype) ? sample_bytes / 2 : sample_bytes;
  tile::ReduceTask task = tile::reduce_task(spec_);
  task.source = samples_of<std::byte const>(source.pixels, source.first, alignment_bytes);
  task.result = samples_of<std::byte>(result.pixels, result.first, alignment_bytes);
  task.first_row = result.first;
  task.row_count = result.pixels.height;
  if (spec_.mask) {
    task.source_mask = samples_of<std::byte const>(source.mask, source.first, 1);
    task.result_mask = samples_of<std::byte>(result.mask, result.first, 1);
    launch_mask(task, spec_, columns_, rows_, stream);
  }
  switch (spec_.method) {
    case Resampling::nearest: return launch_nearest(task, spec_.dtype, stream);
    case Resampling::average: return launch_average(task, spec_, stream);
    case Resampling::rms: return launch_rms(task, spec_, stream);
    case Resampling::bilinear:
    case Resampling::cubic:
    case Resampling::cubic_spline:
    case Resampling::lanczos: return launch_filter(task, spec_, columns_, rows_, stream);
    default: return launch_rank(task, spec_, stream);
  }
}

}  // namespace terrazzo::gpu
