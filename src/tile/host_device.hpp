// SPDX-License-Identifier: Apache-2.0
//
// Marks the per-tile algorithms that are compiled for the host and, under nvcc, for the device as well.
#pragma once

#if defined(__CUDACC__)
#define TERRAZZO_HOST_DEVICE __host__ __device__
#else
#define TERRAZZO_HOST_DEVICE
#endif
