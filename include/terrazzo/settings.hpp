// SPDX-License-Identifier: Apache-2.0
//
// Process-wide defaults. Each can be set here or by an environment variable read at first use (docs/settings.md has
// the table); a setting on the call wins over both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo {

struct Settings {
  unsigned threads = 0;                   // TERRAZZO_THREADS; 0: the cores this process may use
  std::uint64_t memory_limit_bytes = 0;   // TERRAZZO_MEMORY_LIMIT; 0: half of the machine's memory (cgroup-aware)
  // Decoded tiles that windows used in part are kept for the next window, all datasets together, up to this much.
  // TERRAZZO_TILE_CACHE; unset: 5 % of the machine's memory, as GDAL does; 0: no cache. Whole tiles are never kept.
  std::optional<std::uint64_t> tile_cache_bytes{};
  // Device memory of a read beyond its result, or of a write beyond the caller's rows; a conversion shares it.
  // TERRAZZO_DEVICE_BUDGET; 0: a quarter of what the GPU had free at first use, at most 8 GiB.
  std::uint64_t device_budget_bytes = 0;
  // How long a batch on the GPU may take before the GPU counts as hung (docs/device.md, "A GPU that hangs").
  // TERRAZZO_DEVICE_GUARD; 0: 30 seconds.
  double device_guard_s = 0;
};

// What the defaults are taken from: cores of the affinity mask, memory within the limits of the cgroup and of the
// address space.
struct Machine {
  unsigned cores = 1;
  std::uint64_t memory_bytes = 0;
};
[[nodiscard]] Machine machine();

[[nodiscard]] Settings settings();
void set_settings(Settings const& settings);

// Folders in which NVIDIA's libraries and the kvikIO plugin are looked for, after those of TERRAZZO_VENDOR_PATH and
// before the loader's own search. Call it before the first use of the GPU: a library is looked for once. Folders that
// other users can write to are refused; device_state() says so.
void set_vendor_folders(std::vector<std::string> folders);

// "65536", "512M", "1.5G": bytes, with units of 1024, as the environment and the command line take them. Nothing when
// it is no size.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

// Notes for people (a fallback taken, a library not found), each told once. Default: dropped. The command line prints
// them on stderr. The function must be thread-safe.
using LogFunction = std::function<void(std::string_view message)>;
void set_log(LogFunction log);

}  // namespace terrazzo
