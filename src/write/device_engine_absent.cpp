// SPDX-License-Identifier: Apache-2.0
#include "write/device_engine.hpp"

#include "terrazzo/error.hpp"

namespace terrazzo::writing {

void require_device_engine() {
  throw Error(ErrorKind::unsupported, "this build has no device engine: it was made without CUDA (TERRAZZO_CUDA)");
}

std::unique_ptr<RowEngine> make_device_engine(FilePlan const&, unsigned, RowEngine::Emit, RowEngine::Announce, Memory) {
  require_device_engine();
  return nullptr;
}

void download_rows(LevelRows const&, LevelRows const&) { require_device_engine(); }

void wait_for_stream(void*) { require_device_engine(); }

}  // namespace terrazzo::writing
