// SPDX-License-Identifier: Apache-2.0
//
// The part of nvCOMP 6's C interface that we call, as our own declarations, so that building needs no vendor header.
// tests/gpu/vendor/vendor_abi_test.cpp compares them with the vendor's headers if those are installed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace terrazzo::gpu::nvcomp {

using Status = int;  // an enum of int width
inline constexpr Status kSuccess = 0;

struct Properties {
  std::uint32_t version;  // 1000 * major + 100 * minor + patch
  std::uint32_t cudart_version;
};

struct Alignments {
  std::size_t input;
  std::size_t output;
  std::size_t temp;
};

// The vendor has a type of this size for each codec; all start with the backend; unused fields must be zero.
struct DecodeOptions {
  int backend;
  std::uint8_t zeros[60];
};

inline constexpr int kBackendCuda = 2;

using GetProperties = Status(Properties*);
using GetStatusString = char const*(Status);
using DecodeAlignments = Status(DecodeOptions, Alignments*);
using DecodeTempSize = Status(std::size_t tile_count, std::size_t max_output_bytes, DecodeOptions,
                              std::size_t* temp_bytes, std::size_t total_output_bytes, cudaStream_t);
// Arrays are device arrays of `tile_count`.
using DecodeAsync = Status(void const* const* inputs, std::size_t const* input_bytes, std::size_t const* output_bytes,
                           std::size_t* written_bytes, std::size_t tile_count, void* temp, std::size_t temp_bytes,
                           void* const* outputs, DecodeOptions, Status* statuses, cudaStream_t);

}  // namespace terrazzo::gpu::nvcomp
