// SPDX-License-Identifier: Apache-2.0
//
// What the parts of vendor_device_test share: they run on a machine with a GPU, each in a process of its own, and print
// figures and PASS or FAIL lines, with the seconds since the part began, so that one that hangs shows where.
#pragma once

#include "gpu/runtime/check.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace terrazzo::gpu::device_test {

struct Part {
  char const* name;
  bool (*run)();  // true when everything passed
  unsigned seconds = 150;  // then it is ended, and has failed
  bool on_request = false;  // too slow for every run: only when its whole name is given
};

// The parts of each file.
[[nodiscard]] std::vector<Part> encode_raw_parts();
[[nodiscard]] std::vector<Part> nvcomp_parts();
[[nodiscard]] std::vector<Part> nvjpeg_encode_parts();
[[nodiscard]] std::vector<Part> nvjpeg_parts();
[[nodiscard]] std::vector<Part> nvjpeg2k_encode_parts();
[[nodiscard]] std::vector<Part> nvjpeg2k_parts();

// Since the first call in this process, which is the part's beginning.
inline double seconds_taken() {
  static auto const kStart = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - kStart).count();
}

// What comes next.
inline void step(std::string const& what) {
  std::printf("[%6.2f s] %s\n", seconds_taken(), what.c_str());
  std::fflush(stdout);
}

inline bool report(bool passed, std::string const& what) {
  std::printf("[%6.2f s] %s %s\n", seconds_taken(), passed ? "PASS" : "FAIL", what.c_str());
  std::fflush(stdout);
  return passed;
}

struct FreeDevice {
  void operator()(std::byte* pointer) const noexcept { (void)cudaFree(pointer); }
};
struct FreePinned {
  void operator()(std::byte* pointer) const noexcept { (void)cudaFreeHost(pointer); }
};
using Device = std::unique_ptr<std::byte, FreeDevice>;
using Pinned = std::unique_ptr<std::byte, FreePinned>;

inline Device device_bytes(std::size_t bytes) {
  void* pointer = nullptr;
  check_cuda(cudaMalloc(&pointer, std::max<std::size_t>(bytes, 1)), "cudaMalloc");
  return Device(static_cast<std::byte*>(pointer));
}

inline Pinned pinned_bytes(std::size_t bytes) {
  void* pointer = nullptr;
  check_cuda(cudaMallocHost(&pointer, std::max<std::size_t>(bytes, 1)), "cudaMallocHost");
  return Pinned(static_cast<std::byte*>(pointer));
}

template <class T>
Device uploaded(std::vector<T> const& values) {
  Device device = device_bytes(values.size() * sizeof(T));
  check_cuda(cudaMemcpy(device.get(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  // A copy from pageable memory may return before it has arrived, and streams of ours do not wait for it.
  check_cuda(cudaDeviceSynchronize(), "upload");
  return device;
}

template <class T>
std::vector<T> downloaded(void const* device, std::size_t count) {
  std::vector<T> values(count);
  check_cuda(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), "download");
  return values;
}

inline void parallel(std::size_t count, std::function<void(std::size_t)> const& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = next++; i < count; i = next++) { work(i); }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
}

// Repeatable noise, different for each seed.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) noexcept : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  std::uint32_t next() noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>(state_ >> 32);
  }

 private:
  std::uint64_t state_;
};

// Best of `runs`, in milliseconds of the wall clock, with the device idle before and after. One run warms up.
inline double best_ms(int runs, std::function<void()> const& work) {
  double best = 1e30;
  for (int i = 0; i <= runs; ++i) {
    check_cuda(cudaDeviceSynchronize(), "waiting");
    auto const start = std::chrono::steady_clock::now();
    work();
    check_cuda(cudaDeviceSynchronize(), "waiting");
    std::chrono::duration<double, std::milli> const taken = std::chrono::steady_clock::now() - start;
    if (i > 0) { best = std::min(best, taken.count()); }
  }
  return best;
}

}  // namespace terrazzo::gpu::device_test
