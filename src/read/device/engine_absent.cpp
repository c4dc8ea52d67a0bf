// SPDX-License-Identifier: Apache-2.0
#include "read/device/engine.hpp"

#include "terrazzo/error.hpp"

namespace terrazzo::reading {

namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorKind::unsupported, "this build has no device engine: it was made without CUDA (TERRAZZO_CUDA)");
}

}  // namespace

DeviceState device_engine_state() {
  DeviceState state;
  state.reason = "this build has no device engine: it was made without CUDA";
  return state;
}

DeviceFacts device_facts() { return {.reason = device_engine_state().reason}; }

std::shared_ptr<void const> choose_device(std::optional<int>) { return nullptr; }

void DeviceEngine::execute(std::span<ReadJob const>, ReadReport&) { refuse(); }

std::shared_ptr<DeviceMemory> allocate_result(std::uint64_t, ReadRequest const&) { refuse(); }

int current_device() { refuse(); }

std::uint64_t engine_budget_bytes(ReadRequest const&) { refuse(); }

void copy_to_host(void const*, std::span<std::byte>, unsigned, StreamView) { refuse(); }

void release_engine_memory() {}

DeviceMemoryUse engine_memory_use() { return {}; }

void reset_engine_memory_peak() {}

}  // namespace terrazzo::reading
