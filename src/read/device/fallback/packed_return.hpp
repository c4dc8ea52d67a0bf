// SPDX-License-Identifier: Apache-2.0
//
// Returns compressed tiles that the device cannot decode from device memory to the host. The device gathers them into
// one packed buffer, and one copy brings them back, whatever their number. The host engine then reads them as if from
// the file, without reading the file again.
#pragma once

#include "base/memory_budget.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/source.hpp"
#include "tile/device_tiles.hpp"
#include "tile/tile_batch.hpp"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::reading {

// The layout of chosen tiles in a packed buffer.
struct PackedLayout {
  std::vector<std::uint64_t> offsets;  // one per chosen tile; equal to the tile's own modulo 16
  std::uint64_t packed_bytes = 0;
  std::uint64_t longest_bytes = 0;
  // After the tiles, in the same buffer: the list that the packing kernel reads.
  std::uint64_t list_offset = 0;  // `offsets`, then the tiles' numbers
  std::uint64_t list_bytes = 0;
  std::uint64_t total_bytes = 0;
};

// `input_offsets` and `input_sizes` cover all tiles. Throws `usage` for a tile number out of range, and `limit` if the
// sum overflows.
[[nodiscard]] PackedLayout packed_layout(std::span<std::uint64_t const> input_offsets,
                                         std::span<std::uint64_t const> input_sizes,
                                         std::span<std::uint32_t const> chosen);

// Pinned memory for returned tiles. It grows and is kept, since allocating pinned memory is slow.
class ReturnBuffer {
 public:
  // Provides at least `bytes`. Growing loses the contents.
  [[nodiscard]] std::span<std::byte> reserve(std::size_t bytes);
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  gpu::PinnedMemory memory_;
  std::size_t bytes_ = 0;
};

struct TilesToReturn {
  tile::DeviceTiles tiles{};                       // only the input members are read
  std::span<std::uint64_t const> input_offsets{};  // host copies of the offsets in `tiles`
  std::span<std::uint64_t const> input_sizes{};
  std::span<std::uint32_t const> chosen{};         // numbers of tiles
  // Device memory that is no longer in use, aligned to 16 bytes (a batch's output after placing). It is used if it is
  // large enough.
  std::byte* scratch = nullptr;
  std::size_t scratch_bytes = 0;
};

// Returns the bytes of each chosen tile, in the order given; an item's `tile` is the tile's number. The batch's buffer
// belongs to `into` and is valid until the next use of `into`. Waits for `stream`. If the scratch is too small, the
// total is reserved in `budget` first: throws `limit` before it allocates.
[[nodiscard]] tile::TileBatch copy_back_packed(TilesToReturn const& wanted, MemoryBudget& budget,
                                               std::shared_ptr<DeviceAllocator> const& allocator, ReturnBuffer& into,
                                               cudaStream_t stream);

// A file with some bytes returned from the device: those are read from memory, all others from the file. Thread rule:
// any number of threads may read after the last keep().
class ReturnedSource final : public ByteSource {
 public:
  explicit ReturnedSource(ByteSourcePtr file) : file_(std::move(file)) {}

  // Copies `bytes`, which start at `offset_bytes` of the file. Throws `limit` if they exceed the budget.
  void keep(std::uint64_t offset_bytes, std::span<std::byte const> bytes, MemoryBudget& budget);

  [[nodiscard]] std::string const& name() const noexcept override { return file_->name(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return file_->size_bytes(); }
  [[nodiscard]] SourceHints hints() const noexcept override { return file_->hints(); }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override;

 private:
  struct Piece {
    std::vector<std::byte> bytes;
    MemoryBudget::Reservation reservation;
  };
  ByteSourcePtr file_;
  std::map<std::uint64_t, Piece> pieces_;  // keyed by their offset in the file
};

}  // namespace terrazzo::reading
