// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_facts.hpp"

#include "terrazzo/settings.hpp"
#include "terrazzo/version.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace terrazzo::cli {
namespace {

struct KnownSetting {
  std::string_view name, meaning;
};

// docs/settings.md has the details.
constexpr std::array<KnownSetting, 9> kKnown{{
    {"CUDA_VISIBLE_DEVICES", "the GPUs that CUDA may use"},
    {"TERRAZZO_DEVICE_BUDGET", "GPU memory for scratch of a read"},
    {"TERRAZZO_DEVICE_GUARD", "seconds after which the GPU counts as hung"},
    {"TERRAZZO_DISABLE", "what is treated as absent"},
    {"TERRAZZO_ENGINE", "who decodes: auto, host or device"},
    {"TERRAZZO_MEMORY_LIMIT", "most memory of a read"},
    {"TERRAZZO_THREADS", "threads of a read"},
    {"TERRAZZO_TILE_CACHE", "memory for decoded tiles"},
    {"TERRAZZO_VENDOR_PATH", "folders of NVIDIA's libraries"},
}};

// A GeoTIFF of one pixel whose coordinate system is EPSG:4326: only PROJ has its WKT. Little-endian.
std::vector<std::byte> one_pixel_on_earth() {
  struct Entry {
    std::uint16_t tag, type;
    std::uint32_t count, value;
  };
  constexpr std::uint16_t kShort = 3, kLong = 4;
  constexpr std::array<std::uint16_t, 12> kKeys{1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 4326};
  constexpr std::uint32_t kEntries = 10;
  constexpr std::uint32_t kKeysAt = 8 + 2 + kEntries * 12 + 4;
  constexpr std::uint32_t kPixelAt = kKeysAt + kKeys.size() * 2;
  constexpr std::array<Entry, kEntries> kDirectory{{
      {256, kLong, 1, 1},                // ImageWidth
      {257, kLong, 1, 1},                // ImageLength
      {258, kShort, 1, 8},               // BitsPerSample
      {259, kShort, 1, 1},               // Compression: none
      {262, kShort, 1, 1},               // PhotometricInterpretation
      {273, kLong, 1, kPixelAt},         // StripOffsets
      {277, kShort, 1, 1},               // SamplesPerPixel
      {278, kLong, 1, 1},                // RowsPerStrip
      {279, kLong, 1, 1},                // StripByteCounts
      {34735, kShort, kKeys.size(), kKeysAt},
  }};
  std::vector<std::byte> bytes;
  auto const put = [&](std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) { bytes.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff)); }
  };
  put(0x002a4949, 4);  // "II", 42
  put(8, 4);
  put(kEntries, 2);
  for (Entry const& entry : kDirectory) {
    put(entry.tag, 2);
    put(entry.type, 2);
    put(entry.count, 4);
    put(entry.value, 4);
  }
  put(0, 4);
  for (std::uint16_t const key : kKeys) { put(key, 2); }
  put(0, 1);
  return bytes;
}

bool knows_epsg_codes() {
  std::vector<std::byte> const file = one_pixel_on_earth();
  auto const crs = open_memory(file, "one pixel").detailed_info().georeference.crs;
  return crs && !crs->wkt.empty();
}

}  // namespace

std::vector<EnvironmentSetting> settings_among(char const* const* environment) {
  std::vector<EnvironmentSetting> found;
  for (; *environment != nullptr; ++environment) {
    std::string_view const line(*environment);
    std::size_t const equals = std::min(line.find('='), line.size());
    std::string_view const name = line.substr(0, equals);
    auto const known = std::find_if(kKnown.begin(), kKnown.end(), [&](auto const& k) { return k.name == name; });
    if (known == kKnown.end() && !name.starts_with("TERRAZZO_")) { continue; }
    std::string_view const value = line.substr(std::min(equals + 1, line.size()));
    found.push_back({std::string(name), std::string(value),
                     std::string(known == kKnown.end() ? std::string_view() : known->meaning)});
  }
  std::sort(found.begin(), found.end(), [](auto const& a, auto const& b) { return a.name < b.name; });
  return found;
}

DoctorFacts gather_facts() {
  Settings const in_force = settings();
  DoctorFacts facts;
  facts.version = std::string(version());
  facts.device = device_state();
  facts.device_budget_bytes = in_force.device_budget_bytes;
  facts.cores = machine().cores;
  facts.threads = in_force.threads != 0 ? in_force.threads : facts.cores;
  facts.memory_bytes = machine().memory_bytes;
  facts.memory_limit_bytes = in_force.memory_limit_bytes != 0 ? in_force.memory_limit_bytes : facts.memory_bytes / 2;
  facts.tile_cache_bytes = in_force.tile_cache_bytes.value_or(facts.memory_bytes / 20);
  facts.codecs = codecs();
  facts.proj = knows_epsg_codes();
  facts.environment = settings_among(environ);
  return facts;
}

}  // namespace terrazzo::cli
