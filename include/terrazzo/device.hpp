// SPDX-License-Identifier: Apache-2.0
//
// Reading straight into GPU memory.
//
//   terrazzo::Dataset dem = terrazzo::open("dem.tif");
//   terrazzo::DeviceArray a = terrazzo::read_device(dem, {.bands = {1}}, stream);
//   my_kernel<<<..., stream>>>(static_cast<float*>(a.data()), ...);
//
// Compressed bytes go to the device and are decoded there; what no device decoder takes is decoded on the host's
// threads and uploaded. The pixels are the same either way (lossy codecs excepted: see ReadRequest::exact). This header
// needs no CUDA: a stream is a cudaStream_t passed as void*. Where there is no GPU, or the library was built without
// CUDA, device_state() says so and reads into device memory are an `unsupported` or `device` error.
//
// Streams: work that the caller put on `stream` before the call is waited for (null: nothing is; for work on the
// default stream pass cudaStreamLegacy, (void*)1). When the call returns the pixels are there for any stream. Nothing
// of ours runs on the default stream.
#pragma once

#include "terrazzo/read.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct DLManagedTensor;  // of dlpack.h

namespace terrazzo {

// ---------------------------------------------------------------------------------------------------------------
// Results

// Somebody's memory on a GPU, described; as HostView.
struct DeviceView {
  void* data = nullptr;  // of band 0, row 0, column 0
  DType dtype = DType::u8;
  std::uint32_t bands = 0, height = 0, width = 0;
  std::int64_t band_stride_bytes = 0, row_stride_bytes = 0, pixel_stride_bytes = 0;
};

// [count, bands, height, width]: one item for each window of read_windows() and read_windows_device(). All four strides
// 0 mean packed.
struct DeviceBatchView {
  DeviceView item{};  // the first
  std::uint32_t count = 0;
  std::int64_t item_stride_bytes = 0;
};

// Where device memory comes from. Thread-safe; throws on failure. Must outlive every array made with it, and scratch of
// it is kept for the next read: call release_device_memory() before it goes.
class DeviceAllocator {
 public:
  virtual ~DeviceAllocator() = default;
  [[nodiscard]] virtual void* allocate(std::size_t bytes, void* stream) = 0;  // aligned to 256 bytes
  virtual void deallocate(void* memory, std::size_t bytes, void* stream) noexcept = 0;
};

// bands x height x width, C order, owned, on one GPU. The memory is used again as soon as its last owner goes: kernels
// that work on it must be done by then. to_host() waits for nobody: synchronise first if you wrote to the array.
class DeviceArray {
 public:
  DeviceArray(std::shared_ptr<void> memory, DeviceView const& view, int device) noexcept;

  [[nodiscard]] void* data() const noexcept { return view_.data; }
  [[nodiscard]] DType dtype() const noexcept { return view_.dtype; }
  [[nodiscard]] std::uint32_t bands() const noexcept { return view_.bands; }
  [[nodiscard]] std::uint32_t height() const noexcept { return view_.height; }
  [[nodiscard]] std::uint32_t width() const noexcept { return view_.width; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  [[nodiscard]] DeviceView const& view() const noexcept { return view_; }
  [[nodiscard]] int device() const noexcept { return device_; }

  // A DLPack tensor (version 0 of the ABI) that shares the memory; the receiver calls its deleter. Complex integers
  // and complex float16 have no DLPack type: `unsupported`.
  [[nodiscard]] DLManagedTensor* to_dlpack() const;

  [[nodiscard]] HostArray to_host() const;

 private:
  std::shared_ptr<void> memory_;
  DeviceView view_;
  int device_;
};

// count x bands x height x width, C order, owned, on one GPU; as DeviceArray.
class DeviceBatch {
 public:
  DeviceBatch(std::shared_ptr<void> memory, DeviceBatchView const& view, int device) noexcept;

  [[nodiscard]] void* data() const noexcept { return view_.item.data; }
  [[nodiscard]] DType dtype() const noexcept { return view_.item.dtype; }
  [[nodiscard]] std::uint32_t count() const noexcept { return view_.count; }
  [[nodiscard]] std::uint32_t bands() const noexcept { return view_.item.bands; }
  [[nodiscard]] std::uint32_t height() const noexcept { return view_.item.height; }
  [[nodiscard]] std::uint32_t width() const noexcept { return view_.item.width; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  [[nodiscard]] DeviceBatchView const& view() const noexcept { return view_; }
  [[nodiscard]] int device() const noexcept { return device_; }

  // The item of that window, sharing the memory. REQUIRES: index < count().
  [[nodiscard]] DeviceArray item(std::uint32_t index) const noexcept;

  // As DeviceArray::to_dlpack(), of four dimensions.
  [[nodiscard]] DLManagedTensor* to_dlpack() const;

 private:
  std::shared_ptr<void> memory_;
  DeviceBatchView view_;
  int device_;
};

// Device memory to read into, uninitialised.
[[nodiscard]] DeviceArray make_device_array(DType dtype, std::uint32_t bands, std::uint32_t height,
                                            std::uint32_t width);

// ---------------------------------------------------------------------------------------------------------------
// Reading

// The device that is current in the calling thread is used. `request.engine` says who decodes; `host` decodes on the
// host and uploads.
[[nodiscard]] DeviceArray read_device(Dataset const& dataset, ReadRequest const& request = {}, void* stream = nullptr,
                                      ReadReport* report = nullptr);

// Into the caller's memory, as read_into() for the host.
void read_into(Dataset const& dataset, ReadRequest const& request, DeviceView const& destination,
               void* stream = nullptr, ReadReport* report = nullptr);

struct WindowOf {
  Dataset dataset;
  Window window{};
};

// Many windows of one size, of one file or many, into one tensor: one plan, in which the device decodes each tile once
// (the host decodes it for each window that wants it). `request.window` and `request.target_size` must be empty; all
// datasets must have the requested bands.
void read_windows(std::span<WindowOf const> windows, ReadRequest const& request, DeviceBatchView const& destination,
                  void* stream = nullptr, ReadReport* report = nullptr);

// The same into memory of ours, as read_device(). There must be a window, and without `request.dtype` all datasets
// must have one type.
[[nodiscard]] DeviceBatch read_windows_device(std::span<WindowOf const> windows, ReadRequest const& request = {},
                                              void* stream = nullptr, ReadReport* report = nullptr);

// A result larger than the GPU: full-width bands of rows, top down, each valid until `piece` returns. Its rows are
// chosen so that they fit `piece_bytes` (0: half of what the budget leaves), in whole tile rows where that is possible.
using DevicePiece = std::function<void(DeviceView const& rows, std::uint32_t first_row)>;
void read_pieces(Dataset const& dataset, ReadRequest const& request, std::uint64_t piece_bytes,
                 DevicePiece const& piece, void* stream = nullptr, ReadReport* report = nullptr);

// Who would decode such a read, and why; without touching a pixel.
struct EnginePlan {
  bool possible = false;  // there is a GPU for the result; without one the rest says what is lacking
  Engine engine = Engine::host;  // host or device
  std::string decoder;  // "nvCOMP zstd", "LZW kernel", "host threads"
  std::string reason;  // for people
};
[[nodiscard]] EnginePlan plan_device_read(Dataset const& dataset, ReadRequest const& request = {});

// Gives back the scratch and pinned memory that reads keep for the next one.
void release_device_memory();

// ---------------------------------------------------------------------------------------------------------------
// What there is

struct DeviceLibrary {
  std::string name;  // "nvcomp", as TERRAZZO_DISABLE has it
  std::string purpose;  // "deflate and zstd"
  bool found = false;
  std::string path, version;
  std::string hint;  // what to install, or why it cannot be used
  std::string refused;  // files of that name which other users could replace, and why; empty when there are none
};

struct DeviceState {
  bool built = false;  // this library has a device engine
  bool usable = false;  // and there is a GPU for it
  std::string reason;  // when it is not usable
  int device = 0;
  std::string name;  // "NVIDIA H200"
  int driver_version = 0, runtime_version = 0;  // 13000 is 13.0
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t total_bytes = 0, free_bytes = 0;
  std::uint64_t default_budget_bytes = 0;
  bool gds = false;  // cuFile's direct path is to be had
  std::vector<DeviceLibrary> libraries;
};

[[nodiscard]] DeviceState device_state();

// What our pool of device memory holds: results that are alive, and scratch kept for the next read. `peak_bytes` is
// the most since the last reset. Memory of a caller's allocator is not in it.
struct DeviceMemoryUse {
  std::uint64_t used_bytes = 0, peak_bytes = 0;
};
[[nodiscard]] DeviceMemoryUse device_memory_use();
void reset_device_memory_peak();

// What the stages of a device read take when each runs alone, batch after batch. kvikIO brings bytes from the file to
// the device in one: with DeviceFetch::kvikio neither `fetch_s` nor `upload_s` is told.
struct StageTimes {
  double fetch_s = 0, upload_s = 0, decode_s = 0, place_s = 0;
  std::uint64_t fetched_bytes = 0, decoded_bytes = 0;
  std::uint64_t batches = 0, device_tiles = 0, host_tiles = 0;
};
[[nodiscard]] StageTimes profile_device_read(Dataset const& dataset, ReadRequest const& request = {});

}  // namespace terrazzo
