// SPDX-License-Identifier: Apache-2.0
//
// Reading a raster block by block, for work that must not hold all of it in memory: blocks are windows of whole tile
// rows, full width of the request, top-down, so that no tile is decoded twice.
//
//   terrazzo::RowBlocks blocks(dataset, {.bands = {1}}, 64 << 20);
//   std::optional<terrazzo::HostArray> buffer;                     // allocated once, used for every block
//   for (std::uint64_t i = 0; i < blocks.count(); ++i) { consume(blocks.read(i, buffer)); }
//
// Thread rule: const functions may run on several threads, each with a buffer of its own; the request's progress
// function is called by whoever reads.
#pragma once

#include "terrazzo/read.hpp"

#include <cstdint>
#include <optional>

namespace terrazzo {

class RowBlocks {
 public:
  enum class Order : std::uint8_t { band, pixel };  // of the samples in a block: bands x rows x columns, or bands last

  // `block_bytes` bounds the pixels of one block, and so does half of the request's memory limit; one tile row is the
  // least unless tiles are uncompressed. The largest number there is means one block whatever its size, and a request
  // with a target size is one block too. Progress is reported over the whole request, not block by block.
  RowBlocks(Dataset dataset, ReadRequest request, std::uint64_t block_bytes);

  [[nodiscard]] Dataset const& dataset() const noexcept { return dataset_; }
  [[nodiscard]] ReadRequest const& request() const noexcept { return request_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  // The part of the raster that block `index` covers, in pixels of the level that is read.
  [[nodiscard]] Window window(std::uint64_t index) const noexcept;
  // Rows above block `index` in the result of the whole request.
  [[nodiscard]] std::uint32_t first_row(std::uint64_t index) const noexcept;

  // Result of the whole request.
  [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
  [[nodiscard]] std::uint32_t height() const noexcept { return height_; }
  [[nodiscard]] std::uint32_t bands() const noexcept { return bands_; }
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] unsigned threads() const noexcept { return threads_; }

  // Pixels of block `index`, in `buffer`, which is allocated when it is empty or too small. The counts of `report` are
  // added to, not replaced.
  HostView read(std::uint64_t index, std::optional<HostArray>& buffer, ReadReport* report = nullptr,
                Order order = Order::band) const;
  // Validity of the block's pixels, as read_mask() gives it. The counts of `report` are added to.
  [[nodiscard]] HostArray read_mask(std::uint64_t index, ReadReport* report = nullptr) const;

 private:
  [[nodiscard]] ReadRequest request_of(std::uint64_t index) const;

  Dataset dataset_;
  ReadRequest request_;
  Window window_{};  // of the whole request, in pixels of the level
  std::uint32_t width_ = 0, height_ = 0, bands_ = 0;
  DType dtype_ = DType::u8;
  unsigned threads_ = 1;
  std::uint64_t tile_count_ = 0;
  std::uint64_t grid_row_ = 0;  // row at which block 0 would start if it were whole
  std::uint64_t block_rows_ = 1;
  std::uint64_t count_ = 0;
};

}  // namespace terrazzo
