// SPDX-License-Identifier: Apache-2.0
#include "write/row_window.hpp"

#include <algorithm>
#include <utility>

namespace terrazzo::writing {

template <MemoryKind kind>
RowWindow<kind>::RowWindow(FilePlan const& plan, RowMemory<kind>& memory, std::uint32_t width, std::uint32_t room)
    : memory_(memory),
      width_(width),
      room_(room),
      bands_(plan.options.bands),
      planes_(plan.planes),
      dtype_(plan.options.dtype),
      mask_(plan.options.mask),
      sample_bytes_(plan.sample_bytes()),
      row_bytes_(std::size_t{width} * plan.samples_per_block * plan.sample_bytes()) {}

template <MemoryKind kind>
Rows<kind> RowWindow<kind>::part(std::uint32_t first, std::uint32_t last) const noexcept {
  Rows<kind> rows;
  rows.first = first;
  std::size_t const skip = start_ + (first - first_);
  bool const apart = planes_ > 1;
  rows.pixels.data = data_.get() + skip * row_bytes_;
  rows.pixels.dtype = dtype_;
  rows.pixels.bands = bands_;
  rows.pixels.height = last - first;
  rows.pixels.width = width_;
  rows.pixels.row_stride_bytes = static_cast<std::int64_t>(row_bytes_);
  rows.pixels.pixel_stride_bytes = static_cast<std::int64_t>(apart ? sample_bytes_ : sample_bytes_ * bands_);
  rows.pixels.band_stride_bytes = static_cast<std::int64_t>(apart ? plane_bytes(capacity_) : sample_bytes_);
  if (mask_) {
    rows.mask = {data_.get() + mask_offset(capacity_) + skip * width_,
                 DType::u8,
                 1,
                 last - first,
                 width_,
                 0,
                 static_cast<std::int64_t>(width_),
                 1};
  }
  return rows;
}

template <MemoryKind kind>
void RowWindow<kind>::move_rows(std::byte* to, std::uint32_t to_capacity) const {
  if (count_ == 0) { return; }
  for (std::uint32_t plane = 0; plane < planes_; ++plane) {
    memory_.move(to + plane_bytes(to_capacity) * plane,
                 data_.get() + plane_bytes(capacity_) * plane + start_ * row_bytes_, count_ * row_bytes_);
  }
  if (mask_) {
    memory_.move(to + mask_offset(to_capacity), data_.get() + mask_offset(capacity_) + std::size_t{start_} * width_,
                 std::size_t{count_} * width_);
  }
}

template <MemoryKind kind>
Rows<kind> RowWindow<kind>::append(std::uint32_t count) {
  if (count_ + count > capacity_) {
    std::uint32_t const capacity = std::max(count_ + count, room_);
    std::shared_ptr<std::byte> grown =
        memory_.allocate(mask_offset(capacity) + (mask_ ? std::size_t{width_} * capacity : 0));
    move_rows(grown.get(), capacity);
    data_ = std::move(grown);
    capacity_ = capacity;
    start_ = 0;
  } else if (start_ + count_ + count > capacity_) {
    move_rows(data_.get(), capacity_);
    start_ = 0;
  }
  count_ += count;
  return part(end() - count, end());
}

template <MemoryKind kind>
void RowWindow<kind>::drop_before(std::uint32_t row) {
  if (row <= first_) { return; }
  std::uint32_t const skip = std::min(row - first_, count_);
  first_ += skip;
  count_ -= skip;
  start_ = count_ == 0 ? 0 : start_ + skip;
}

template class RowWindow<MemoryKind::host>;
template class RowWindow<MemoryKind::device>;

}  // namespace terrazzo::writing
