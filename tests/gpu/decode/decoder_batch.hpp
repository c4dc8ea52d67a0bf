// SPDX-License-Identifier: Apache-2.0
//
// Runs a device decoder on a batch and brings everything back. Every output lies between guard bytes, which are
// checked; the inputs end where their buffer ends, so that compute-sanitizer sees a read behind them.
#pragma once

#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_fixture.hpp"
#include "gpu/runtime/stream.hpp"
#include "tile/device_tiles.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace terrazzo::gpu::test {

using Bytes = std::vector<std::byte>;

// The reason to skip, or null.
inline char const* why_no_device() {
  int count = 0;
  cudaError_t const result = cudaGetDeviceCount(&count);
  if (result != cudaSuccess) {
    (void)cudaGetLastError();
    return cudaGetErrorString(result);
  }
  return count == 0 ? "no CUDA device" : nullptr;
}

template <typename T>
class DeviceCopy {
 public:
  explicit DeviceCopy(std::vector<T> const& values) : count_(values.size()) {
    check_cuda(cudaMalloc(reinterpret_cast<void**>(&data_), std::max<std::size_t>(bytes(), 1)), "test allocation");
    check_cuda(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "test upload");
    // A copy from pageable memory may return before it has arrived, and streams of ours do not wait for it.
    check_cuda(cudaDeviceSynchronize(), "test upload");
  }
  DeviceCopy(DeviceCopy const&) = delete;
  DeviceCopy& operator=(DeviceCopy const&) = delete;
  ~DeviceCopy() { (void)cudaFree(data_); }

  [[nodiscard]] T* get() const { return data_; }
  [[nodiscard]] std::size_t bytes() const { return count_ * sizeof(T); }
  [[nodiscard]] std::vector<T> back() const {
    std::vector<T> values(count_);
    check_cuda(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), "test download");
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

struct Decoded {
  std::vector<tile::TileStatus> statuses;
  std::vector<Bytes> outputs;
};

struct BatchInput {
  std::vector<Bytes> streams;
  std::vector<std::size_t> output_sizes;
  std::size_t input_alignment = 16;  // of the streams' offsets; the contract says 16, the decoders take any
  std::size_t output_alignment = 16;

  void add(Bytes stream, std::size_t output_size) {
    streams.push_back(std::move(stream));
    output_sizes.push_back(output_size);
  }
  [[nodiscard]] std::uint64_t stream_bytes() const {
    std::uint64_t sum = 0;
    for (Bytes const& stream : streams) { sum += stream.size(); }
    return sum;
  }
  [[nodiscard]] std::uint64_t longest_stream() const {
    std::size_t longest = 0;
    for (Bytes const& stream : streams) { longest = std::max(longest, stream.size()); }
    return longest;
  }
};

// `decode(tiles, stream)` is the wrapper under test.
template <typename Decode>
Decoded run_batch(BatchInput const& batch, Decode const& decode) {
  constexpr std::size_t kGuard = 64;
  constexpr std::byte kPoison{0xA5};
  auto const up = [](std::size_t value, std::size_t to) { return (value + to - 1) / to * to; };
  std::size_t const count = batch.streams.size();
  Bytes input;
  std::vector<std::uint64_t> input_offsets(count);
  std::vector<std::uint64_t> input_sizes(count);
  std::vector<std::uint64_t> output_offsets(count);
  std::vector<std::uint64_t> output_sizes(count);
  std::size_t output_bytes = kGuard;
  for (std::size_t i = 0; i < count; ++i) {
    input.resize(up(input.size(), batch.input_alignment));
    input_offsets[i] = input.size();
    input_sizes[i] = batch.streams[i].size();
    input.insert(input.end(), batch.streams[i].begin(), batch.streams[i].end());
    output_bytes = up(output_bytes, batch.output_alignment);
    output_offsets[i] = output_bytes;
    output_sizes[i] = batch.output_sizes[i];
    output_bytes += batch.output_sizes[i] + kGuard;
  }
  DeviceCopy const device_input(input);
  DeviceCopy const device_input_offsets(input_offsets);
  DeviceCopy const device_input_sizes(input_sizes);
  DeviceCopy const device_output(Bytes(output_bytes, kPoison));
  DeviceCopy const device_output_offsets(output_offsets);
  DeviceCopy const device_output_sizes(output_sizes);
  DeviceCopy const device_statuses(std::vector<tile::TileStatus>(count, tile::TileStatus::sparse));
  tile::DeviceTiles const tiles{.input = device_input.get(),
                                .input_offsets = device_input_offsets.get(),
                                .input_sizes = device_input_sizes.get(),
                                .output = device_output.get(),
                                .output_offsets = device_output_offsets.get(),
                                .output_sizes = device_output_sizes.get(),
                                .statuses = device_statuses.get(),
                                .count = static_cast<std::uint32_t>(count)};
  StreamHandle const stream = make_stream();
  decode(tiles, stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "decoding");

  Decoded decoded{.statuses = device_statuses.back(), .outputs = {}};
  Bytes output = device_output.back();
  for (std::size_t i = 0; i < count; ++i) {
    auto const begin = output.begin() + static_cast<std::ptrdiff_t>(output_offsets[i]);
    auto const end = begin + static_cast<std::ptrdiff_t>(output_sizes[i]);
    decoded.outputs.emplace_back(begin, end);
    std::fill(begin, end, kPoison);
  }
  auto const is_poison = [](std::byte b) { return b == kPoison; };
  EXPECT_TRUE(std::all_of(output.begin(), output.end(), is_poison)) << "bytes outside the outputs were written";
  return decoded;
}

}  // namespace terrazzo::gpu::test
