// SPDX-License-Identifier: Apache-2.0
#include "read/device/fallback/packed_return.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/transfer/pack.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace terrazzo::reading {

namespace {

constexpr std::uint64_t kWordBytes = 16;

// The first number >= `at` that is congruent to `like` modulo kWordBytes.
std::optional<std::uint64_t> aligned_like(std::uint64_t at, std::uint64_t like) {
  return checked_add(at, (like - at) % kWordBytes);  // a wrapped difference is harmless: 16 divides 2^64
}

std::size_t narrow(std::uint64_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max()) { throw Error(ErrorKind::limit, "tiles larger than memory"); }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

PackedLayout packed_layout(std::span<std::uint64_t const> input_offsets, std::span<std::uint64_t const> input_sizes,
                           std::span<std::uint32_t const> chosen) {
  if (input_offsets.size() != input_sizes.size()) {
    throw Error(ErrorKind::usage, text(input_offsets.size(), " offsets and ", input_sizes.size(), " sizes of tiles"));
  }
  PackedLayout layout;
  layout.offsets.reserve(chosen.size());
  std::optional<std::uint64_t> end = 0;
  for (std::uint32_t const tile : chosen) {
    if (tile >= input_sizes.size()) {
      throw Error(ErrorKind::usage, text("tile ", tile, " of a batch of ", input_sizes.size()));
    }
    std::uint64_t const bytes = input_sizes[tile];
    std::optional<std::uint64_t> const begin = bytes == 0 ? end : aligned_like(*end, input_offsets[tile]);
    end = begin ? checked_add(*begin, bytes) : std::nullopt;
    if (!end) { break; }
    layout.offsets.push_back(*begin);
    layout.longest_bytes = std::max(layout.longest_bytes, bytes);
  }
  constexpr std::uint64_t kListItemBytes = sizeof(std::uint64_t) + sizeof(std::uint32_t);
  layout.list_bytes = chosen.size() * kListItemBytes;
  std::optional<std::uint64_t> const list = end ? aligned_like(*end, 0) : std::nullopt;
  std::optional<std::uint64_t> const total = list ? checked_add(*list, layout.list_bytes) : std::nullopt;
  if (!total) { throw Error(ErrorKind::limit, text("the sizes of ", chosen.size(), " tiles have no sum")); }
  layout.packed_bytes = *end;
  layout.list_offset = *list;
  layout.total_bytes = *total;
  return layout;
}

std::span<std::byte> ReturnBuffer::reserve(std::size_t bytes) {
  if (bytes > bytes_) {
    memory_.reset();
    bytes_ = 0;
    memory_ = gpu::make_pinned(bytes);
    bytes_ = bytes;
  }
  return {memory_.get(), bytes_};
}

tile::TileBatch copy_back_packed(TilesToReturn const& wanted, MemoryBudget& budget,
                                 std::shared_ptr<DeviceAllocator> const& allocator, ReturnBuffer& into,
                                 cudaStream_t stream) {
  PackedLayout const layout = packed_layout(wanted.input_offsets, wanted.input_sizes, wanted.chosen);
  tile::TileBatch batch;
  batch.items.reserve(wanted.chosen.size());
  for (std::size_t i = 0; i < wanted.chosen.size(); ++i) {
    batch.items.push_back({.tile = wanted.chosen[i],
                           .offset_bytes = narrow(layout.offsets[i]),
                           .size_bytes = narrow(wanted.input_sizes[wanted.chosen[i]])});
  }
  if (layout.packed_bytes == 0) { return batch; }

  std::size_t const total = narrow(layout.total_bytes);
  bool const fits_scratch = wanted.scratch != nullptr && wanted.scratch_bytes >= total;
  MemoryBudget::Reservation reservation;
  gpu::DeviceBuffer own;
  if (!fits_scratch) {
    reservation = budget.reserve(layout.total_bytes, "compressed tiles on their way back to the host");
    own = gpu::DeviceBuffer(allocator, total, stream);
  }
  std::byte* const packed = fits_scratch ? wanted.scratch : own.data();
  std::span<std::byte> const host = into.reserve(total);

  std::size_t const tiles_at = wanted.chosen.size() * sizeof(std::uint64_t);  // after the offsets
  std::byte* const list = host.data() + layout.list_offset;
  std::memcpy(list, layout.offsets.data(), tiles_at);
  std::memcpy(list + tiles_at, wanted.chosen.data(), wanted.chosen.size_bytes());
  std::byte* const device_list = packed + layout.list_offset;
  gpu::check_cuda(cudaMemcpyAsync(device_list, list, narrow(layout.list_bytes), cudaMemcpyHostToDevice, stream),
                  "uploading the list of tiles to bring back");
  gpu::pack_tiles(wanted.tiles,
                  {.tiles = reinterpret_cast<std::uint32_t const*>(device_list + tiles_at),
                   .packed_offsets = reinterpret_cast<std::uint64_t const*>(device_list),
                   .packed = packed,
                   .count = static_cast<std::uint32_t>(wanted.chosen.size()),
                   .longest_bytes = layout.longest_bytes},
                  stream);
  gpu::check_cuda(cudaMemcpyAsync(host.data(), packed, narrow(layout.packed_bytes), cudaMemcpyDeviceToHost, stream),
                  "bringing compressed tiles back");
  gpu::sync_stream(stream, "bringing compressed tiles back");
  batch.buffer = host.first(narrow(layout.packed_bytes));
  return batch;
}

void ReturnedSource::keep(std::uint64_t offset_bytes, std::span<std::byte const> bytes, MemoryBudget& budget) {
  auto const known = pieces_.find(offset_bytes);
  if (bytes.empty() || (known != pieces_.end() && known->second.bytes.size() >= bytes.size())) { return; }
  auto reservation = budget.reserve(bytes.size(), "compressed tiles that came back from the device");
  pieces_.insert_or_assign(offset_bytes, Piece{{bytes.begin(), bytes.end()}, std::move(reservation)});
}

ReadTicket ReturnedSource::submit(std::span<RangeRead const> ranges) const {
  std::vector<RangeRead> of_file;
  for (RangeRead range : ranges) {
    while (!range.into.empty()) {
      auto const next = pieces_.upper_bound(range.offset_bytes);
      std::size_t count = range.into.size();
      // The piece that begins at or before the range's first byte may contain it; otherwise read the file up to the
      // next piece. Overlapping pieces hold the same bytes, so a missed piece costs only an extra read.
      if (next != pieces_.begin()) {
        auto const& [begin, piece] = *std::prev(next);
        std::uint64_t const skip = range.offset_bytes - begin;
        if (skip < piece.bytes.size()) {
          count = std::min(count, piece.bytes.size() - static_cast<std::size_t>(skip));
          std::memcpy(range.into.data(), piece.bytes.data() + skip, count);
          range = {range.offset_bytes + count, range.into.subspan(count)};
          continue;
        }
      }
      if (next != pieces_.end()) {
        count = static_cast<std::size_t>(std::min<std::uint64_t>(count, next->first - range.offset_bytes));
      }
      of_file.push_back({range.offset_bytes, range.into.first(count)});
      range = {range.offset_bytes + count, range.into.subspan(count)};
    }
  }
  // Wait here: the list of ranges is local to this function.
  if (of_file.empty()) { return {}; }
  try {
    file_->submit(of_file).wait();
  } catch (Error const&) { return ReadTicket(std::current_exception()); }
  return {};
}

}  // namespace terrazzo::reading
