// SPDX-License-Identifier: Apache-2.0
//
// Brings the compressed bytes of a batch to the device in one of two ways: threads read into the pinned pool and copy
// from there, or kvikIO reads into device memory (over GPUDirect Storage if available). Every read of a batch is
// started before the first one is waited for.
#pragma once

#include "io/kvikio_fetch.hpp"
#include "read/device/batch_plan.hpp"
#include "read/device/slots.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace terrazzo::reading {

class TileFetcher {
 public:
  // Throws `unsupported` if kvikIO is requested and unavailable.
  TileFetcher(DeviceWork const& work, DeviceMethod method, bool host_input, DeviceFetch wanted);

  // Call it once for every slot, before its first batch.
  void prepare(DeviceSlot& slot);

  // Any thread. `input` is the beginning of the batch's bytes: device memory, or host memory for decoders that read it.
  void fetch(Piece const& piece, DeviceSlot& slot, std::byte* input);

  // Call it when every piece of the slot's batch was fetched: later work on its stream sees the bytes.
  void complete(DeviceSlot& slot);

  // The two halves of a fetch through the pinned pool, for profiling.
  void read(Piece const& piece, std::byte* to) const;
  void upload(Piece const& piece, std::byte const* from, DeviceSlot& slot, std::byte* input) const;

 private:
  void submit_to_kvikio(Piece const& piece, DeviceSlot& slot, std::byte* input);

  struct Pending {
    std::mutex mutex;
    std::vector<io::KvikioReads> reads;  // guarded by mutex
  };

  DeviceWork const& work_;
  DeviceMethod method_;
  bool host_input_;
  std::map<ByteSource const*, std::shared_ptr<io::KvikioFile>> files_;  // empty if the pinned pool is used
  std::map<DeviceSlot const*, Pending> pending_;
};

}  // namespace terrazzo::reading
