// SPDX-License-Identifier: Apache-2.0
//
// Reads a raster in blocks, for work that must not hold all of it in memory. A block is a window of whole tile rows
// over the full width of the request; blocks run from top to bottom. No tile is decoded twice, except for blocks of a
// target grid, which share tiles at their edges.
//
//   terrazzo::RowBlocks blocks(dataset, {.bands = {1}}, 64 << 20);
//   std::optional<terrazzo::HostArray> buffer;                     // allocated once, reused for every block
//   for (std::uint64_t i = 0; i < blocks.count(); ++i) { consume(blocks.read(i, buffer)); }
//
// Thread rule: const functions may run on several threads, each with its own buffer. The request's progress function is
// called on the threads that read.
#pragma once

#include "terrazzo/read.hpp"

#include <cstdint>
#include <optional>

#pragma GCC visibility push(default)
namespace terrazzo {

class RowBlocks {
 public:
  enum class Order : std::uint8_t {
    band,
    pixel
  };  // order of samples: bands x rows x columns, or rows x columns x bands

  // The pixels of a block take at most `block_bytes` and at most half of the request's memory limit, but at least one
  // tile row (one row if tiles are uncompressed). The maximum value of uint64 gives one block of any size; a request
  // with a target size or resolution is always one block. Progress covers the whole request.
  RowBlocks(Dataset dataset, ReadRequest request, std::uint64_t block_bytes);

  [[nodiscard]] Dataset const& dataset() const noexcept { return dataset_; }
  [[nodiscard]] ReadRequest const& request() const noexcept { return request_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  // The window of block `index`, in pixels of the level that is read.
  [[nodiscard]] Window window(std::uint64_t index) const noexcept;
  // The first row of block `index` in the result of the whole request.
  [[nodiscard]] std::uint32_t first_row(std::uint64_t index) const noexcept;

  // The number of rows of block `index`.
  [[nodiscard]] std::uint32_t rows_of(std::uint64_t index) const noexcept;

  // Size and type of the result of the whole request.
  [[nodiscard]] std::uint32_t width() const noexcept { return width_; }
  [[nodiscard]] std::uint32_t height() const noexcept { return height_; }
  [[nodiscard]] std::uint32_t bands() const noexcept { return bands_; }
  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] unsigned threads() const noexcept { return threads_; }

  // Reads block `index` into `buffer`, which is allocated if it is empty or too small. Adds to the counts in `report`.
  HostView read(std::uint64_t index, std::optional<HostArray>& buffer, ReadReport* report = nullptr,
                Order order = Order::band) const;
  // Validity of the block's pixels, in the form of terrazzo::read_mask(). Adds to the counts in `report`.
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
  std::uint64_t tile_rows_ = 1;  // decoded together
  std::uint64_t block_rows_ = 1;
  std::uint64_t count_ = 0;
};

}  // namespace terrazzo
#pragma GCC visibility pop
