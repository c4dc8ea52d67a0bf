// SPDX-License-Identifier: Apache-2.0
//
// Marks algorithms that are compiled for the host and, by nvcc, for the device.
#pragma once

#if defined(__CUDACC__)
#define TERRAZZO_HOST_DEVICE __host__ __device__
#else
#define TERRAZZO_HOST_DEVICE
#endif

// For a short loop over an array: the device keeps the array in registers only if the loop is unrolled.
#if defined(__CUDA_ARCH__)
#define TERRAZZO_UNROLL _Pragma("unroll")
#else
#define TERRAZZO_UNROLL
#endif
