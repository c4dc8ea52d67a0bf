// SPDX-License-Identifier: Apache-2.0
//
// The settings in effect, with defaults taken from the machine.
#pragma once

#include "terrazzo/read.hpp"
#include "terrazzo/settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo {

// Threads of a call that requested `requested` (0: the process's default).
[[nodiscard]] unsigned resolve_threads(unsigned requested);

// Bytes that a call may hold, result included, if it requested `requested` (0: the process's default).
[[nodiscard]] std::uint64_t resolve_memory_limit(std::uint64_t requested);

// Bytes of decoded tiles that all open datasets together may keep.
[[nodiscard]] std::uint64_t resolve_tile_cache();

// Seconds after which a batch on the GPU counts as hung.
[[nodiscard]] double resolve_device_guard();

// The folders of set_vendor_folders().
[[nodiscard]] std::vector<std::string> vendor_folders();

// The engine of the call or, if that is automatic, TERRAZZO_ENGINE (auto, host, device).
[[nodiscard]] Engine resolve_engine(Engine requested);

// True if TERRAZZO_DISABLE, a comma-separated list, names this capability: libjxl, gpu, nvcomp, nvjpeg, nvjpeg2k,
// kvikio. Reads the environment on every call.
[[nodiscard]] bool is_disabled(std::string_view capability);
// The same for a part of the device engine: "gpu" disables all of them.
[[nodiscard]] bool is_gpu_part_disabled(std::string_view capability);
// Checks a given list: "nvcomp, kvikio".
[[nodiscard]] bool is_listed(std::string_view comma_list, std::string_view capability) noexcept;

// Sends a note for people; repeated notes are sent once per process.
void log_once(std::string_view message);

}  // namespace terrazzo
