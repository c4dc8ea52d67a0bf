// SPDX-License-Identifier: Apache-2.0
#include "write/device/engine.hpp"

#include "terrazzo/error.hpp"

namespace terrazzo::writing {

void require_device_engine() {
  throw Error(ErrorKind::unsupported, "this build has no device engine: it was made without CUDA (TERRAZZO_CUDA)");
}

std::unique_ptr<RowEngine<MemoryKind::device>> make_device_engine(FilePlan const&, unsigned, EmitBlocks, AnnounceSizes,
                                                                  MemoryKind) {
  require_device_engine();
  return nullptr;
}

void download_rows(ConstDeviceRows const&, HostRows const&) { require_device_engine(); }

std::shared_ptr<void const> choose_device(std::optional<int>) { return nullptr; }

void wait_for_stream(StreamView) { require_device_engine(); }

}  // namespace terrazzo::writing
