// SPDX-License-Identifier: Apache-2.0
#include "terrazzo_kvikio.h"

#include <kvikio/defaults.hpp>
#include <kvikio/file_handle.hpp>
#include <kvikio/shim/cufile.hpp>
#include <kvikio/version_config.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <future>
#include <memory>

struct TerrazzoKvikioFile {
  kvikio::FileHandle handle;
};

struct TerrazzoKvikioRead {
  std::future<std::size_t> bytes;
};

namespace {

void tell(char const* reason, char* error, std::size_t error_bytes) noexcept {
  if (error == nullptr || error_bytes == 0) { return; }
  std::size_t const length = std::min(std::strlen(reason), error_bytes - 1);
  std::memcpy(error, reason, length);
  error[length] = '\0';
}

// Runs `work`; an exception becomes its text and `otherwise`.
template <class Work, class Result>
Result guarded(Work const& work, Result otherwise, char* error, std::size_t error_bytes) noexcept {
  try {
    return work();
  } catch (std::exception const& failure) { tell(failure.what(), error, error_bytes); } catch (...) {
    tell("unknown failure in libkvikio", error, error_bytes);
  }
  return otherwise;
}

}  // namespace

extern "C" {

int terrazzo_kvikio_abi() { return TERRAZZO_KVIKIO_ABI; }

char const* terrazzo_kvikio_version() { return KvikIO_VERSION; }

int terrazzo_kvikio_gds_available() {
  return guarded([] { return kvikio::is_cufile_available() && !kvikio::defaults::is_compat_mode_preferred() ? 1 : 0; },
                 0, nullptr, 0);
}

void terrazzo_kvikio_set_threads(unsigned threads) {
  if (std::getenv("KVIKIO_NTHREADS") != nullptr) { return; }
  (void)guarded(
      [&] {
        kvikio::defaults::set_thread_pool_nthreads(std::max(1u, threads));
        return 0;
      },
      0, nullptr, 0);
}

TerrazzoKvikioFile* terrazzo_kvikio_open(char const* path, char* error, size_t error_bytes) {
  return guarded([&] { return new TerrazzoKvikioFile{kvikio::FileHandle(path, "r")}; },
                 static_cast<TerrazzoKvikioFile*>(nullptr), error, error_bytes);
}

void terrazzo_kvikio_close(TerrazzoKvikioFile* file) { delete file; }

TerrazzoKvikioRead* terrazzo_kvikio_read_async(TerrazzoKvikioFile* file, void* to, uint64_t bytes,
                                               uint64_t file_offset_bytes, char* error, size_t error_bytes) {
  return guarded(
      [&] {
        auto read = std::make_unique<TerrazzoKvikioRead>();
        // Below its threshold kvikIO reads before it returns, which would make small tiles wait for one another: 0
        // sends every read to the pool. The default stream is nobody's here, so it is not waited for.
        constexpr std::size_t kNoThreshold = 0;
        constexpr bool kWaitForDefaultStream = false;
        read->bytes = file->handle.pread(to, bytes, file_offset_bytes, kvikio::defaults::task_size(), kNoThreshold,
                                         kWaitForDefaultStream);
        return read.release();
      },
      static_cast<TerrazzoKvikioRead*>(nullptr), error, error_bytes);
}

int64_t terrazzo_kvikio_wait(TerrazzoKvikioRead* read, char* error, size_t error_bytes) {
  std::unique_ptr<TerrazzoKvikioRead> const owned(read);
  return guarded([&] { return static_cast<int64_t>(owned->bytes.get()); }, int64_t{-1}, error, error_bytes);
}

}  // extern "C"
