// SPDX-License-Identifier: Apache-2.0
//
// Reading into GPU memory.
//
//   terrazzo::Dataset dem = terrazzo::open("dem.tif");
//   terrazzo::DeviceArray a = terrazzo::read_device(dem, {.bands = {1}}, stream);
//   my_kernel<<<..., stream>>>(static_cast<float*>(a.data()), ...);
//
// The device engine copies compressed bytes to the GPU and decodes them there. Tiles without a device decoder are
// decoded by host threads and uploaded. Both ways give the same pixels, except for lossy codecs (ReadRequest::exact).
// This header needs no CUDA headers: a cudaStream_t converts to a StreamView. Without a GPU, or in a build without
// CUDA, device_state() reports the reason and reads into device memory are an `unsupported` or `device` error.
//
// Streams: a call waits for work that the caller queued on `stream` before it (null: waits for nothing; for the default
// stream pass StreamView::legacy_default()). When the call returns, the pixels are ready for use on any stream. The
// library never uses the default stream.
#pragma once

#include "terrazzo/read.hpp"
#include "terrazzo/stream.hpp"
#include "terrazzo/view.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

// ---------------------------------------------------------------------------------------------------------------
// Results

// A tensor [count, bands, height, width]: one item for each window of read_windows() and read_windows_device(). Four
// zero strides mean packed.
struct DeviceBatchView {
  DeviceView item{};  // the first item
  std::uint32_t count = 0;
  std::int64_t item_stride_bytes = 0;
};

// An allocator of device memory. It must be thread-safe and throw on failure. All memory taken from it keeps it alive:
// arrays, DLPack tensors, and scratch that reads keep for later reads (release_device_memory() frees that).
class DeviceAllocator {
 public:
  virtual ~DeviceAllocator() = default;
  [[nodiscard]] virtual void* allocate(std::size_t bytes, StreamView stream) = 0;  // aligned to 256 bytes
  virtual void deallocate(void* memory, std::size_t bytes, StreamView stream) noexcept = 0;
};

// Memory on a GPU, shared by arrays and DLPack tensors. The destructor frees it when the recorded streams are done.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  [[nodiscard]] virtual void* data() const noexcept = 0;
  virtual void record_stream(StreamView stream) = 0;  // as DeviceArray::record_stream()
};

// An owned array of bands x height x width, C order, on one GPU. Copies share the memory. When the last owner is
// destroyed, the memory is reused at once, or when the streams named by record_stream() are done. to_host() does not
// synchronise: if kernels wrote to the array, synchronise their stream first.
class DeviceArray {
 public:
  DeviceArray(std::shared_ptr<DeviceMemory> memory, DeviceView const& view, int device) noexcept;

  [[nodiscard]] void* data() const noexcept { return view_.data; }
  [[nodiscard]] DType dtype() const noexcept { return view_.dtype; }
  [[nodiscard]] std::uint32_t bands() const noexcept { return view_.bands; }
  [[nodiscard]] std::uint32_t height() const noexcept { return view_.height; }
  [[nodiscard]] std::uint32_t width() const noexcept { return view_.width; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  [[nodiscard]] DeviceView const& view() const noexcept { return view_; }
  [[nodiscard]] int device() const noexcept { return device_; }

  // Names a stream whose kernels use the array. The memory is not reused before the work that the stream holds when the
  // last owner is destroyed is done. The stream must belong to the array's device and exist until then. Null stands for
  // legacy_default(). For per_thread_default(), only work queued before this call counts. Thread-safe.
  void record_stream(StreamView stream) const { memory_->record_stream(stream); }

  // Exports a DLPack tensor (ABI version 0 or 1) that shares the memory; the receiver calls its deleter. `consumer` is
  // the stream that the receiver uses; it is recorded (null: none). Complex integers and complex float16 have no DLPack
  // type and are an `unsupported` error.
  [[nodiscard]] DLManagedTensor* to_dlpack(StreamView consumer = {}) const;
  [[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(StreamView consumer = {}, DlpackFlags flags = {}) const;

  [[nodiscard]] HostArray to_host() const;

 private:
  std::shared_ptr<DeviceMemory> memory_;
  DeviceView view_;
  int device_;
};

// An owned array of count x bands x height x width, C order, on one GPU; the ownership rules are those of DeviceArray.
class DeviceBatch {
 public:
  DeviceBatch(std::shared_ptr<DeviceMemory> memory, DeviceBatchView const& view, int device) noexcept;

  [[nodiscard]] void* data() const noexcept { return view_.item.data; }
  [[nodiscard]] DType dtype() const noexcept { return view_.item.dtype; }
  [[nodiscard]] std::uint32_t count() const noexcept { return view_.count; }
  [[nodiscard]] std::uint32_t bands() const noexcept { return view_.item.bands; }
  [[nodiscard]] std::uint32_t height() const noexcept { return view_.item.height; }
  [[nodiscard]] std::uint32_t width() const noexcept { return view_.item.width; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
  [[nodiscard]] DeviceBatchView const& view() const noexcept { return view_; }
  [[nodiscard]] int device() const noexcept { return device_; }

  // The item of window `index`; it shares the batch's memory. REQUIRES: index < count().
  [[nodiscard]] DeviceArray item(std::uint32_t index) const noexcept;

  // As in DeviceArray; tensors have four dimensions.
  void record_stream(StreamView stream) const { memory_->record_stream(stream); }
  [[nodiscard]] DLManagedTensor* to_dlpack(StreamView consumer = {}) const;
  [[nodiscard]] DLManagedTensorVersioned* to_dlpack_versioned(StreamView consumer = {}, DlpackFlags flags = {}) const;

 private:
  std::shared_ptr<DeviceMemory> memory_;
  DeviceBatchView view_;
  int device_;
};

// Allocates an uninitialised array on a GPU; default: the current device of the calling thread.
[[nodiscard]] DeviceArray make_device_array(DType dtype, std::uint32_t bands, std::uint32_t height, std::uint32_t width,
                                            std::optional<int> device = {});

// ---------------------------------------------------------------------------------------------------------------
// Reading

// Reads into the memory of `request.device`, by default of the calling thread's current device; the stream must belong
// to that device. `request.engine` chooses the decoder: `device`, or `host`, which
// decodes on host threads and uploads the pixels.
[[nodiscard]] DeviceArray read_device(Dataset const& dataset, ReadRequest const& request = {}, StreamView stream = {},
                                      ReadReport* report = nullptr);

// Reads into the caller's device memory; the rules are those of read_into() for host memory.
void read_into(Dataset const& dataset, ReadRequest const& request, DeviceView const& destination,
               StreamView stream = {}, ReadReport* report = nullptr);

// Reads many windows of one size, from one file or several, into one tensor. The device engine decodes each tile once
// for all windows; the host engine once for all windows that share an upload. `request.window` and
// the request's target must be empty; all datasets must have the requested bands.
void read_windows(std::span<WindowOf const> windows, ReadRequest const& request, DeviceBatchView const& destination,
                  StreamView stream = {}, ReadReport* report = nullptr);

// As read_windows(), into newly allocated memory. `windows` must not be empty. Without `request.dtype`, all datasets
// must have the same type.
[[nodiscard]] DeviceBatch read_windows_device(std::span<WindowOf const> windows, ReadRequest const& request = {},
                                              StreamView stream = {}, ReadReport* report = nullptr);

// Reads a result that may be larger than GPU memory, in pieces of full-width rows from top to bottom. Each piece is
// valid until `piece` returns. A piece fits `piece_bytes` (0: half of the device budget) and holds whole tile rows if
// possible.
using DevicePiece = std::function<void(DeviceView const& rows, std::uint32_t first_row)>;
void read_pieces(Dataset const& dataset, ReadRequest const& request, std::uint64_t piece_bytes,
                 DevicePiece const& piece, StreamView stream = {}, ReadReport* report = nullptr);

// The engine that a read into device memory would use, and the reason. Computed without reading pixels.
struct EnginePlan {
  bool possible = false;  // a GPU is available; if false, `reason` says what is missing
  Engine engine = Engine::host;  // host or device
  std::string decoder;  // "nvCOMP zstd", "LZW kernel", "host threads"
  std::string reason;  // a sentence for people
};
[[nodiscard]] EnginePlan plan_device_read(Dataset const& dataset, ReadRequest const& request = {});

// Frees the scratch, on all GPUs, and the pinned memory that reads keep for later reads.
void release_device_memory();

// ---------------------------------------------------------------------------------------------------------------
// State of the GPU and its libraries

struct DeviceLibrary {
  std::string name;  // "nvcomp": the name used in TERRAZZO_DISABLE
  std::string purpose;  // "deflate and zstd"
  bool found = false;
  std::string path, version;
  std::string hint;  // the package to install, or the reason why the library is unusable
  std::string refused;  // files refused because other users could replace them, with reasons; empty: none
};

struct DeviceState {
  bool built = false;  // this build has a device engine
  bool usable = false;  // this build has a device engine and the machine has a GPU for it
  std::string reason;  // why the device engine is unusable
  int device = 0;
  std::string name;  // "NVIDIA H200"
  int driver_version = 0, runtime_version = 0;  // 13000 is 13.0
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  std::uint64_t total_bytes = 0, free_bytes = 0;
  std::uint64_t default_budget_bytes = 0;
  bool gds = false;  // GPUDirect Storage (cuFile's direct path) is available
  std::vector<DeviceLibrary> libraries;
};

// Default: the current device of the calling thread.
[[nodiscard]] DeviceState device_state(std::optional<int> device = {});

// Bytes in use in the library's pool of a GPU's memory (default: of the current device): live results, and scratch kept
// for later reads. `peak_bytes` is the maximum since the last reset. Memory from a caller's allocator is not counted.
struct DeviceMemoryUse {
  std::uint64_t used_bytes = 0, peak_bytes = 0;
};
[[nodiscard]] DeviceMemoryUse device_memory_use(std::optional<int> device = {});
void reset_device_memory_peak(std::optional<int> device = {});

}  // namespace terrazzo
#pragma GCC visibility pop
