// SPDX-License-Identifier: Apache-2.0
//
// The plain C interface between Terrazzo and libkvikio, whose own is C++ and changes with compiler and version.
// libterrazzo_kvikio.so implements it; the engine finds the library at run time and works without it. The engine has
// a table of these functions (src/io/kvikio_fetch.hpp); the ABI number tells whether both mean the same.
//
// Thread rule: any thread may call; reads of one file may run side by side. No exception leaves the library.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif
#pragma GCC visibility push(default)

// Raised with every change of this file.
#define TERRAZZO_KVIKIO_ABI 1

typedef struct TerrazzoKvikioFile TerrazzoKvikioFile;
typedef struct TerrazzoKvikioRead TerrazzoKvikioRead;

int terrazzo_kvikio_abi(void);

// Of libkvikio: "26.10.0".
char const* terrazzo_kvikio_version(void);

// 1 when reads go through cuFile, which takes GPUDirect Storage where the machine has it; 0 when they are POSIX reads
// through kvikIO's pinned buffers.
int terrazzo_kvikio_gds_available(void);

// Threads that read; kvikIO's own default is 1. Waits for reads that are under way. KVIKIO_NTHREADS has precedence.
void terrazzo_kvikio_set_threads(unsigned threads);

// Null when the file cannot be opened: then `error` has the reason, cut to `error_bytes` with its 0.
TerrazzoKvikioFile* terrazzo_kvikio_open(char const* path, char* error, size_t error_bytes);

// Every read of the file must have been waited for.
void terrazzo_kvikio_close(TerrazzoKvikioFile* file);

// Starts a read into device (or host) memory and returns; null as in open. The memory is written by streams of
// kvikIO's own: what uses it before must be complete.
TerrazzoKvikioRead* terrazzo_kvikio_read_async(TerrazzoKvikioFile* file, void* to, uint64_t bytes,
                                               uint64_t file_offset_bytes, char* error, size_t error_bytes);

// Waits for the read and frees it. The bytes that are there, for every stream; or -1 with the reason in `error`.
int64_t terrazzo_kvikio_wait(TerrazzoKvikioRead* read, char* error, size_t error_bytes);

#pragma GCC visibility pop
#if defined(__cplusplus)
}
#endif
