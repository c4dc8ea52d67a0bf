// SPDX-License-Identifier: Apache-2.0
//
// Process-wide defaults. Each can be set here or by an environment variable, which is read at first use (table:
// docs/settings.md). A value in a request or in options takes precedence over both.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace terrazzo {

struct Settings {
  unsigned threads = 0;                   // TERRAZZO_THREADS; 0: the cores this process may use
  std::uint64_t memory_limit_bytes = 0;   // TERRAZZO_MEMORY_LIMIT; 0: half of the machine's memory (cgroup-aware)
  // Size of the cache of decoded tiles, shared by all datasets. It keeps tiles of which a window used only a part.
  // TERRAZZO_TILE_CACHE; unset: 5 % of the machine's memory, as in GDAL; 0: no cache.
  std::optional<std::uint64_t> tile_cache_bytes{};
  // Device memory of a read beyond its result, or of a write beyond the caller's rows; the two sides of a conversion
  // share it. TERRAZZO_DEVICE_BUDGET; 0: a quarter of the GPU's free memory at first use, at most 8 GiB.
  std::uint64_t device_budget_bytes = 0;
  // Seconds that a batch may take before the GPU counts as hung (docs/device.md, "A GPU that hangs").
  // TERRAZZO_DEVICE_GUARD; 0: 30 seconds.
  double device_guard_s = 0;
};

// The basis of the defaults: cores in the affinity mask, and memory within the limits of the cgroup and of the address
// space.
struct Machine {
  unsigned cores = 1;
  std::uint64_t memory_bytes = 0;
};
[[nodiscard]] Machine machine();

[[nodiscard]] Settings settings();
void set_settings(Settings const& settings);

// Sets folders to search for NVIDIA's libraries and the kvikIO plugin, after TERRAZZO_VENDOR_PATH and before the
// loader's default search. Call this before the first use of the GPU: each library is searched once. Folders that other
// users can write to are refused and reported by device_state().
void set_vendor_folders(std::vector<std::string> folders);

// Parses a size in bytes in the notation of the environment and the command line: "65536", "512M", "1.5G" (units of
// 1024). Returns nullopt for other texts.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

// Receives notes for people, such as a fallback or a missing library; each note is sent once. The function must be
// thread-safe. By default notes are dropped; the command line prints them on stderr.
using LogFunction = std::function<void(std::string_view message)>;
void set_log(LogFunction log);

}  // namespace terrazzo
#pragma GCC visibility pop
