// SPDX-License-Identifier: Apache-2.0
//
// The settings in force, with the machine's own numbers filled in.
#pragma once

#include "terrazzo/read.hpp"
#include "terrazzo/settings.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo {

// Threads for a call that asked for `requested` (0: the process's default).
[[nodiscard]] unsigned resolve_threads(unsigned requested);

// Bytes a call may hold, result included, when it asked for `requested` (0: the process's default).
[[nodiscard]] std::uint64_t resolve_memory_limit(std::uint64_t requested);

// Bytes of decoded tiles that open datasets may keep together.
[[nodiscard]] std::uint64_t resolve_tile_cache();

// Seconds after which a batch on the GPU counts as hung.
[[nodiscard]] double resolve_device_guard();

// What set_vendor_folders() was given.
[[nodiscard]] std::vector<std::string> vendor_folders();

// The engine that a call asked for or, when it leaves it open, TERRAZZO_ENGINE (auto, host, device).
[[nodiscard]] Engine resolve_engine(Engine requested);

// Whether TERRAZZO_DISABLE, a comma list, names this capability: gpu, nvcomp, nvjpeg, nvjpeg2k, kvikio. "gpu" disables
// all of them. Asked of the environment every time.
[[nodiscard]] bool is_disabled(std::string_view capability);
// The same for a list given, word by word: "nvcomp, kvikio".
[[nodiscard]] bool is_listed(std::string_view comma_list, std::string_view capability) noexcept;

// A note for people, told once per process however often it is said.
void log_once(std::string_view message);

}  // namespace terrazzo
