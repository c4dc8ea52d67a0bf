// SPDX-License-Identifier: Apache-2.0
#include "read/plan/engine_choice.hpp"

#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "read/device/engine.hpp"

#include <algorithm>
#include <cstdio>

namespace terrazzo::reading {

namespace {

// Rates in bytes of decoded output per second. Host: one core. Device: a whole batch, and a single tile, which sets the
// minimum time of a read.
struct Rates {
  double host_core, device, device_tile;
};

// From docs/performance.md (one H200, 16 cores of the same machine).
Rates h200_rates(DeviceMethod method) noexcept {
  switch (method) {
    case DeviceMethod::raw: return {4e9, 40e9, 2e9};
    case DeviceMethod::zstd: return {0.55e9, 64e9, 0.07e9};
    case DeviceMethod::deflate: return {0.25e9, 20e9, 0.012e9};
    case DeviceMethod::lzw: return {0.35e9, 110e9, 2.8e9};
    case DeviceMethod::packbits: return {2e9, 10e9, 0.1e9};
    case DeviceMethod::jpeg: return {0.25e9, 10e9, 0.1e9};
    case DeviceMethod::jpeg2000: return {0.03e9, 1.5e9, 0.01e9};
    case DeviceMethod::host: return {0.2e9, 0.2e9, 0.2e9};
  }
  return {1e9, 1e9, 1e9};
}

// The rates of the load's GPU. Uncompressed tiles are only copied, so the link limits them.
Rates rates_of(EngineLoad const& load) noexcept {
  Rates rates = h200_rates(load.method);
  bool const copied = load.method == DeviceMethod::raw;
  rates.device *= copied ? load.speed.link : load.speed.all_tiles;
  rates.device_tile *= copied ? load.speed.link : load.speed.one_tile;
  return rates;
}

constexpr double kDeviceCallS = 250e-6;  // launches, events and the last wait of a read
constexpr double kHostCallS = 60e-6;  // the same on the host, with an upload
// Rates of an H200's link.
constexpr double kUploadRate = 20e9;  // upload of host results, through the pinned pool
constexpr double kFetchRate = 43e9;  // page cache to device, all threads

}  // namespace

double expected_host_s(EngineLoad const& load) noexcept {
  double const workers = static_cast<double>(std::clamp<std::uint64_t>(load.tiles, 1, load.threads));
  return kHostCallS + static_cast<double>(load.decoded_bytes) / (rates_of(load).host_core * workers) +
         static_cast<double>(load.result_bytes) / (kUploadRate * load.speed.link);
}

double expected_device_s(EngineLoad const& load) noexcept {
  Rates const rates = rates_of(load);
  double const tile_bytes =
      static_cast<double>(load.decoded_bytes) / static_cast<double>(std::max<std::uint64_t>(1, load.tiles));
  return kDeviceCallS +
         std::max(static_cast<double>(load.decoded_bytes) / rates.device, tile_bytes / rates.device_tile);
}

double best_host_share(EngineLoad const& load, std::uint64_t compressed_bytes) noexcept {
  // The other decoders are about as fast as the links that feed them: little work is left when the cores become free.
  if (load.method != DeviceMethod::deflate && load.method != DeviceMethod::zstd) { return 0; }
  Rates const rates = rates_of(load);
  double const bytes = static_cast<double>(load.decoded_bytes);
  double const fetch_s = static_cast<double>(compressed_bytes) / (kFetchRate * load.speed.link);
  double const tile_s = bytes / static_cast<double>(std::max<std::uint64_t>(1, load.tiles)) / rates.device_tile;
  // So is the ZSTD decoder, unless its tiles are so large that decoding the last ones takes long after their arrival.
  if (load.method == DeviceMethod::zstd && tile_s < bytes / rates.device / 2) { return 0; }
  double const cores = load.threads;
  auto const expected_s = [&](double share) {
    double const fetched_s = fetch_s * (1 - share);
    double const device_s = std::max(bytes * (1 - share) / rates.device, tile_s);
    return fetched_s + std::max(device_s, bytes * share / (rates.host_core * cores));
  };
  constexpr double kStep = 0.025, kMost = 0.5;
  double best = 0;
  for (double share = kStep; share <= kMost; share += kStep) {
    if (expected_s(share) < expected_s(best)) { best = share; }
  }
  return best;
}

EngineChoice choose_engine(std::span<ReadJob const> jobs, ReadRequest const& request) {
  if (jobs.front().plan->filter) { return {Engine::host, "the host resamples"}; }
  switch (resolve_engine(request.engine)) {
    case Engine::host: return {Engine::host, "the host engine was asked for"};
    case Engine::device: return {Engine::device, "the device engine was asked for"};
    case Engine::automatic: break;
  }
  DeviceFacts const facts = device_facts();
  if (!facts.usable) { return {Engine::host, facts.reason}; }
  ReadPlan::Impl const& plan = *jobs.front().plan;
  MethodChoice const method = choose_device_method(*plan.level, plan.dataset->trust(), request, facts.abilities);
  if (method.method == DeviceMethod::host) { return {Engine::host, method.reason}; }
  EngineLoad load;
  load.method = method.method;
  load.threads = resolve_threads(request.threads);
  load.speed = facts.speed;
  for (ReadJob const& job : jobs) {
    tiff::Image const& image = job.plan->level->image;
    load.tiles += job.plan->block_count();
    load.decoded_bytes = saturating_sum(
        load.decoded_bytes, saturating_product(job.plan->block_count(), image.block_bytes(image.block_height_px)));
    load.result_bytes =
        saturating_sum(load.result_bytes, saturating_product(job.plan->out_width, job.plan->out_height,
                                                             job.plan->bands.size(), size_bytes(job.plan->dtype)));
  }
  EngineChoice choice;
  choice.host_s = expected_host_s(load);
  choice.device_s = expected_device_s(load);
  choice.engine = choice.device_s < choice.host_s ? Engine::device : Engine::host;
  char times[96];
  std::snprintf(times, sizeof times, "expected %.2f ms on the host, %.2f ms on the device", choice.host_s * 1e3,
                choice.device_s * 1e3);
  choice.reason = times;
  return choice;
}

std::string host_note(EngineChoice const& choice) {
  bool const by_model = choice.host_s != 0;
  return text("device engine: ", by_model ? "the host decodes, because it is expected to finish first" : choice.reason);
}

}  // namespace terrazzo::reading
