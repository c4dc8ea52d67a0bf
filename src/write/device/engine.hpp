// SPDX-License-Identifier: Apache-2.0
//
// The interface of the device engine for the rest of write/: no CUDA here. A build without CUDA has engine_absent.cpp
// instead of engine.cpp; every function then throws `unsupported`.
#pragma once

#include "write/row_engine.hpp"

#include <memory>
#include <optional>

namespace terrazzo::writing {

// Throws `device` if there is no GPU that this build has code for.
void require_device_engine();

// Cuts, reduces and compresses rows on the current device of the calling thread. Blocks without a device encoder are
// copied back packed and encoded on the host's threads. The plan outlives the engine. `rows_lie_in`: the memory of the
// first rows; it decides which memory is allocated in advance.
[[nodiscard]] std::unique_ptr<RowEngine<MemoryKind::device>> make_device_engine(FilePlan const& plan, unsigned threads,
                                                                                EmitBlocks emit, AnnounceSizes announce,
                                                                                MemoryKind rows_lie_in);

// Copies device rows to as many host rows: for the host engine if it receives device rows.
void download_rows(ConstDeviceRows const& from, HostRows const& to);

// As gpu::choose_device(): makes the GPU of the options current until the result is destroyed.
[[nodiscard]] std::shared_ptr<void const> choose_device(std::optional<int> device);

// Returns when all work on `stream` (null: none) is done.
void wait_for_stream(StreamView stream);

}  // namespace terrazzo::writing
