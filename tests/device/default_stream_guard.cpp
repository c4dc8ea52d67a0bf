// SPDX-License-Identifier: Apache-2.0
//
// Loaded before a program that links the shared CUDA runtime (LD_PRELOAD; preset cuda-shared): any use of the default
// stream, and any synchronisation of the whole device, ends it. Other waits of the host are counted:
// tests/read/device/pipeline_test.cpp asks for them. What a library does through a runtime of its own is not seen.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] void refuse(char const* what) {
  std::fprintf(stderr, "default_stream_guard: %s\n", what);
  std::abort();
}

std::atomic<std::uint64_t> waits{0};

void check(cudaStream_t stream, char const* what) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) { refuse(what); }
}

template <class Function>
Function* next(char const* name) {
  auto* const function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
  if (function == nullptr) { refuse("the CUDA runtime is not a shared library here"); }
  return function;
}

}  // namespace

extern "C" {

std::uint64_t terrazzo_guarded_waits() { return waits; }

// What <<<>>> becomes from CUDA 13 on; cudaLaunchKernel() before.
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                               cudaStream_t stream) {
  check(stream, "a kernel on the default stream");
  static auto* const real = next<decltype(__cudaLaunchKernel)>("__cudaLaunchKernel");
  return real(kernel, grid, block, arguments, shared, stream);
}

cudaError_t cudaLaunchKernel(void const* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t stream) {
  check(stream, "a kernel on the default stream");
  static auto* const real = next<decltype(cudaLaunchKernel)>("cudaLaunchKernel");
  return real(function, grid, block, arguments, shared, stream);
}

cudaError_t cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  check(stream, "a copy on the default stream");
  static auto* const real = next<decltype(cudaMemcpyAsync)>("cudaMemcpyAsync");
  return real(to, from, bytes, kind, stream);
}

cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  check(stream, "a memset on the default stream");
  static auto* const real = next<decltype(cudaMemsetAsync)>("cudaMemsetAsync");
  return real(to, value, bytes, stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  check(stream, "a wait for the default stream");
  ++waits;
  static auto* const real = next<decltype(cudaStreamSynchronize)>("cudaStreamSynchronize");
  return real(stream);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  ++waits;
  static auto* const real = next<decltype(cudaEventSynchronize)>("cudaEventSynchronize");
  return real(event);
}

cudaError_t cudaMemcpy(void*, void const*, std::size_t, cudaMemcpyKind) { refuse("a copy that waits for the device"); }
cudaError_t cudaMemset(void*, int, std::size_t) { refuse("a memset on the default stream"); }
cudaError_t cudaDeviceSynchronize() { refuse("a wait for the whole device"); }

}  // extern "C"
