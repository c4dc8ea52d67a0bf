// SPDX-License-Identifier: Apache-2.0
#include "read/arrays/host_array.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "read/arrays/dlpack.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "tile/view_strides.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace terrazzo {

namespace {

// Large results use huge pages: a 1 GiB array costs 512 page faults instead of 262,144.
constexpr std::size_t kHugePageBytes = 2u << 20;

std::byte* allocate(std::size_t bytes) {
  bool const large = bytes >= 4 * kHugePageBytes;
  std::size_t const alignment = large ? kHugePageBytes : 64;
  std::size_t const rounded = round_up(std::max<std::size_t>(bytes, 1), alignment);
  void* const memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) { throw Error(ErrorKind::limit, text("no memory for a result of ", bytes, " bytes")); }
  if (large) { madvise(memory, rounded, MADV_HUGEPAGE); }
  return static_cast<std::byte*>(memory);
}

reading::DlpackSource dlpack_source(std::shared_ptr<std::byte> const& memory, HostView const& view) {
  return {memory, view.data, view.dtype, {kDLCPU, 0}, {view.bands, view.height, view.width}};
}

}  // namespace

std::uint64_t reading::array_bytes(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width) {
  auto const bytes = checked_product(size_bytes(dtype), bands, height, width);
  if (!bytes || *bytes > SIZE_MAX / 2) {
    throw Error(ErrorKind::limit, text("a result of ", bands, " x ", height, " x ", width, " samples"));
  }
  return *bytes;
}

HostArray::HostArray(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width)
    : size_bytes_(static_cast<std::size_t>(reading::array_bytes(dtype, bands, height, width))) {
  data_.reset(allocate(size_bytes_), &std::free);
  view_ = tile::contiguous_view<HostView>(data_.get(), dtype, bands, height, width);
}

DLManagedTensor* HostArray::to_dlpack() { return reading::export_dlpack(dlpack_source(data_, view_)); }

DLManagedTensorVersioned* HostArray::to_dlpack_versioned(DlpackFlags flags) {
  return reading::export_dlpack_versioned(dlpack_source(data_, view_), flags);
}

void HostArray::require_dtype(DType wanted) const {
  if (wanted == dtype()) { return; }
  throw Error(ErrorKind::usage, text("the array has samples of ", to_string(dtype()), ", not ", to_string(wanted)));
}

}  // namespace terrazzo
