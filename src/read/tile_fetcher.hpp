// SPDX-License-Identifier: Apache-2.0
//
// Brings the compressed bytes of a batch to the device, by one of two ways: threads that read into the pinned pool and
// copy from there, or kvikIO, which reads into device memory by itself (over GPUDirect Storage where there is one).
// Every read of a batch is under way before the first is waited for.
#pragma once

#include "io/kvikio_fetch.hpp"
#include "read/device_batches.hpp"
#include "read/device_slots.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace terrazzo::reading {

class TileFetcher {
 public:
  // Throws `unsupported` when kvikIO is asked for and cannot be used.
  TileFetcher(DeviceWork const& work, DeviceMethod method, bool host_input, DeviceFetch wanted);

  // Once for every slot, before its first batch.
  void prepare(DeviceSlot& slot);

  // Any thread. `input` is where the batch's bytes begin: device memory, or the host's for decoders that read that.
  void fetch(Piece const& piece, DeviceSlot& slot, std::byte* input);

  // When every piece of the slot's batch was fetched: what is put on its stream after this finds the bytes.
  void complete(DeviceSlot& slot);

  // The two halves of the first way, for the clock.
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
  std::map<ByteSource const*, std::shared_ptr<io::KvikioFile>> files_;  // empty: the pinned pool
  std::map<DeviceSlot const*, Pending> pending_;
};

}  // namespace terrazzo::reading
