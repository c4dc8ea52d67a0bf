// SPDX-License-Identifier: Apache-2.0
//
// A CUDA stream of the caller, by name and without CUDA's headers: cudaStream_t and CUstream are pointers to
// CUstream_st and convert implicitly.
//
//   cudaStream_t stream = ...;
//   terrazzo::read_device(dem, {}, stream);
#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;  // of cuda.h

#pragma GCC visibility push(default)
namespace terrazzo {

// Does not own the stream. A null StreamView means that there is no stream to wait for. CUDA's default streams are
// legacy_default() and per_thread_default().
class StreamView {
 public:
  constexpr StreamView() noexcept = default;
  constexpr StreamView(std::nullptr_t) noexcept {}
  constexpr StreamView(CUstream_st* stream) noexcept : stream_(stream) {}

  // cudaStreamLegacy and cudaStreamPerThread.
  [[nodiscard]] static StreamView legacy_default() noexcept { return from_address(1); }
  [[nodiscard]] static StreamView per_thread_default() noexcept { return from_address(2); }

  // Of a stream that another language passes as an integer, as `__dlpack__(stream=...)` does. 0 is null.
  [[nodiscard]] static StreamView from_address(std::uintptr_t address) noexcept {
    return {reinterpret_cast<CUstream_st*>(address)};
  }

  [[nodiscard]] constexpr CUstream_st* get() const noexcept { return stream_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return stream_ != nullptr; }
  friend constexpr bool operator==(StreamView const&, StreamView const&) noexcept = default;

 private:
  CUstream_st* stream_ = nullptr;
};

}  // namespace terrazzo
#pragma GCC visibility pop
