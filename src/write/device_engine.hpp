// SPDX-License-Identifier: Apache-2.0
//
// The device engine as the rest of write/ sees it: no CUDA here. A build without CUDA has device_engine_absent.cpp
// instead of device_engine.cpp; every function then throws `unsupported`.
#pragma once

#include "write/row_engine.hpp"

#include <memory>

namespace terrazzo::writing {

// Throws `device` when there is no GPU that this build has code for.
void require_device_engine();

// Rows are cut, reduced and compressed on the device that is current in the calling thread; blocks that no device
// encoder takes come back in one packed copy and are encoded on the host's threads. The plan outlives the engine.
// `rows_lie_in`: where the first rows do, which decides what memory is held ready.
[[nodiscard]] std::unique_ptr<RowEngine> make_device_engine(FilePlan const& plan, unsigned threads,
                                                            RowEngine::Emit emit, RowEngine::Announce announce,
                                                            Memory rows_lie_in);

// Device rows to host rows of the same number: for the host engine, when it is given rows of a device.
void download_rows(LevelRows const& from, LevelRows const& to);

// Returns when all that is on `stream` (null: nothing) is done.
void wait_for_stream(void* stream);

}  // namespace terrazzo::writing
