// SPDX-License-Identifier: Apache-2.0
//
// Equal tiles in device memory with slots for their streams, as the device tests of the encoders use them.
#pragma once

#include "device_test.hpp"
#include "gpu/runtime/stream.hpp"
#include "tile/device_tiles.hpp"

namespace terrazzo::gpu::device_test {

using EncodedBytes = std::vector<std::byte>;

class EncodeTiles {
 public:
  // Tile i is distinct[i % distinct.size()].
  EncodeTiles(std::vector<EncodedBytes> const& distinct, std::size_t count, std::uint64_t slot_bytes)
      : count_(count), slot_bytes_((slot_bytes + 15) / 16 * 16), stream_(make_stream()) {
    std::size_t const tile_bytes = distinct[0].size();
    std::size_t const stride = (tile_bytes + 15) / 16 * 16;
    input_ = device_bytes(stride * count);
    std::vector<std::uint64_t> input_offsets, output_offsets;
    for (std::size_t i = 0; i < count; ++i) {
      input_offsets.push_back(i * stride);
      output_offsets.push_back(i * slot_bytes_);
      check_cuda(cudaMemcpy(input_.get() + i * stride, distinct[i % distinct.size()].data(), tile_bytes,
                            cudaMemcpyHostToDevice),
                 "uploading a tile");
    }
    sizes_.assign(count, tile_bytes);
    input_offsets_ = uploaded(input_offsets);
    output_offsets_ = uploaded(output_offsets);
    input_sizes_ = uploaded(sizes_);
    output_ = device_bytes(slot_bytes_ * count);
    output_sizes_ = device_bytes(count * sizeof(std::uint64_t));
    statuses_ = device_bytes(count);
  }

  // Before encoding: the tile has this many bytes; 0 is sparse.
  void set_size(std::size_t tile, std::uint64_t bytes) {
    sizes_[tile] = bytes;
    input_sizes_ = uploaded(sizes_);
  }

  [[nodiscard]] tile::EncodeBatch batch() const {
    return {.input = input_.get(),
            .input_offsets = reinterpret_cast<std::uint64_t const*>(input_offsets_.get()),
            .input_sizes = reinterpret_cast<std::uint64_t const*>(input_sizes_.get()),
            .output = output_.get(),
            .output_offsets = reinterpret_cast<std::uint64_t const*>(output_offsets_.get()),
            .output_sizes = reinterpret_cast<std::uint64_t*>(output_sizes_.get()),
            .statuses = reinterpret_cast<tile::TileStatus*>(statuses_.get()),
            .count = static_cast<std::uint32_t>(count_),
            .longest_input_bytes = sizes_[0]};
  }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

  // After encoding.
  void wait() const { check_cuda(cudaStreamSynchronize(stream_.get()), "encoding"); }
  [[nodiscard]] std::vector<tile::TileStatus> statuses() const {
    return downloaded<tile::TileStatus>(statuses_.get(), count_);
  }
  [[nodiscard]] std::vector<EncodedBytes> streams() const {
    auto const sizes = downloaded<std::uint64_t>(output_sizes_.get(), count_);
    std::vector<EncodedBytes> out;
    for (std::size_t i = 0; i < count_; ++i) {
      bool const fits = sizes[i] <= slot_bytes_;
      out.push_back(fits ? downloaded<std::byte>(output_.get() + i * slot_bytes_, sizes[i]) : EncodedBytes());
    }
    return out;
  }
  [[nodiscard]] std::size_t good() const {
    auto const all = statuses();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), tile::TileStatus::ok));
  }

 private:
  std::size_t count_;
  std::uint64_t slot_bytes_;
  StreamHandle stream_;
  std::vector<std::uint64_t> sizes_;
  Device input_, input_offsets_, input_sizes_, output_, output_offsets_, output_sizes_, statuses_;
};

}  // namespace terrazzo::gpu::device_test
