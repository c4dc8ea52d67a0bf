// SPDX-License-Identifier: Apache-2.0
//
// Compressed tiles that lie in device memory and that the device cannot decode come back to the host: gathered there
// into one packed buffer, brought in one copy, whatever their number. The host engine then reads them as if from the
// file, without reading the file again.
#pragma once

#include "base/byte_source.hpp"
#include "base/memory_budget.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "terrazzo/device.hpp"
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

// Where chosen tiles go in a packed buffer.
struct PackedLayout {
  std::vector<std::uint64_t> offsets;  // one a chosen tile; like the tile's own modulo 16, so that words are copied
  std::uint64_t packed_bytes = 0;
  std::uint64_t longest_bytes = 0;
  // Behind the tiles, in the same buffer: what the device must know to pack them.
  std::uint64_t list_offset = 0;  // `offsets`, then the tiles' numbers
  std::uint64_t list_bytes = 0;
  std::uint64_t total_bytes = 0;
};

// `input_offsets` and `input_sizes` are those of all tiles. Throws `usage` for a tile that is not there, `limit` when
// the sum is no number of bytes.
[[nodiscard]] PackedLayout packed_layout(std::span<std::uint64_t const> input_offsets,
                                         std::span<std::uint64_t const> input_sizes,
                                         std::span<std::uint32_t const> chosen);

// Pinned memory for what comes back. Grows and is kept: pinned memory is slow to make.
class ReturnBuffer {
 public:
  // At least `bytes`; what was there is lost when it has to grow.
  [[nodiscard]] std::span<std::byte> reserve(std::size_t bytes);
  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  gpu::PinnedMemory memory_;
  std::size_t bytes_ = 0;
};

struct TilesToReturn {
  tile::DeviceTiles tiles{};                       // only the input is looked at
  std::span<std::uint64_t const> input_offsets{};  // the numbers of `tiles`, as the host knows them
  std::span<std::uint64_t const> input_sizes{};
  std::span<std::uint32_t const> chosen{};         // numbers of tiles
  // Device memory that nobody needs any more, aligned to 16 bytes (a batch's output, once it is placed): taken where it
  // is enough.
  std::byte* scratch = nullptr;
  std::size_t scratch_bytes = 0;
};

// The bytes of each chosen tile, in the order given; an item's `tile` is the tile's number. The batch's buffer is
// `into`'s and holds until it is used again. Waits for `stream`. The total is reserved in `budget` first, unless the
// scratch is enough: a refusal is a `limit` error and allocates nothing.
[[nodiscard]] tile::TileBatch bring_back(TilesToReturn const& wanted, MemoryBudget& budget, DeviceAllocator& allocator,
                                         ReturnBuffer& into, cudaStream_t stream);

// A file some of whose bytes came back from the device: those are read from memory, all others from the file.
// Thread rule: any number of threads may read once the last piece has been kept.
class ReturnedSource final : public ByteSource {
 public:
  explicit ReturnedSource(ByteSourcePtr file) : file_(std::move(file)) {}

  // Copies `bytes`, which are the file's from `offset_bytes` on. Throws `limit` when the budget has no room for them.
  void keep(std::uint64_t offset_bytes, std::span<std::byte const> bytes, MemoryBudget& budget);

  [[nodiscard]] std::string const& name() const noexcept override { return file_->name(); }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return file_->size_bytes(); }
  [[nodiscard]] bool is_local() const noexcept override { return file_->is_local(); }
  [[nodiscard]] ReadTicket submit(std::span<RangeRead const> ranges) const override;

 private:
  struct Piece {
    std::vector<std::byte> bytes;
    MemoryBudget::Reservation reservation;
  };
  ByteSourcePtr file_;
  std::map<std::uint64_t, Piece> pieces_;  // by their offset in the file
};

}  // namespace terrazzo::reading
