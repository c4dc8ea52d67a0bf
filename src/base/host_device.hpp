// SPDX-License-Identifier: Apache-2.0
//
// Marks the algorithms that are compiled for the host and, under nvcc, for the device as well.
#pragma once

#if defined(__CUDACC__)
#define TERRAZZO_HOST_DEVICE __host__ __device__
#else
#define TERRAZZO_HOST_DEVICE
#endif

// Before a loop of few steps over an array, which the device keeps in registers only when the loop is unrolled.
#if defined(__CUDA_ARCH__)
#define TERRAZZO_UNROLL _Pragma("unroll")
#else
#define TERRAZZO_UNROLL
#endif
