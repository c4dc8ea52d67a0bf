// SPDX-License-Identifier: Apache-2.0
//
// latency_source [TILES] [LATENCY_MS] [LANES]: reads a raster of that many tiles through a source that answers each
// request after a delay and serves `lanes` requests at once. Prints the time of reads with one request in flight per
// thread, of reads with `lanes` in flight, and the least possible time (latency x tiles / lanes), one JSON object a
// line. Best and median of five. Defaults: 256 tiles, 20 ms, 64 lanes.
#include "json_line.hpp"

#include "terrazzo/read.hpp"
#include "terrazzo/source.hpp"
#include "terrazzo/write.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace terrazzo;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kTilePx = 64;  // small: latency is measured, not decoding

// A square of noise, whose tiles have different sizes.
std::vector<std::byte> make_file(std::uint32_t tiles_across) {
  std::uint32_t const size = tiles_across * kTilePx;
  std::vector<std::uint16_t> pixels(std::size_t{size} * size);
  std::uint32_t state = 1;
  for (std::uint16_t& pixel : pixels) {
    state = state * 1664525u + 1013904223u;
    pixel = static_cast<std::uint16_t>(state >> 20);
  }
  std::vector<std::byte> file;
  WriteOptions options{.tile_size = {kTilePx, kTilePx}, .compression = Compression::lzw};
  static_cast<void>(write(memory_sink(file), HostView{pixels.data(), DType::u16, 1, size, size}, options));
  return file;
}

constexpr int kRepeats = 5;

struct Measured {
  std::vector<double> ms{};  // sorted
  bool is_right = true;
};

Measured measure(std::vector<std::byte> const& file, HostArray const& expected, std::chrono::milliseconds latency,
                 std::uint32_t in_flight) {
  ReadAt const read_at = [&](std::uint64_t offset_bytes, std::span<std::byte> into) {
    std::this_thread::sleep_for(latency);
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(offset_bytes), into.size(), into.begin());
    return into.size();
  };
  // One tile a submit(): neighbours are not merged.
  Dataset const dataset = open(callback_source(
      "slow", file.size(), read_at,
      {.merge_gap_bytes = 0, .batch_bytes = 1, .read_ahead_bytes = 256 << 10, .requests_in_flight = in_flight}));
  Measured measured;
  for (int i = 0; i < kRepeats; ++i) {
    auto const start = Clock::now();
    HostArray const result = read(dataset);
    measured.ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    measured.is_right = measured.is_right && std::ranges::equal(result.bytes(), expected.bytes());
  }
  std::ranges::sort(measured.ms);
  return measured;
}

}  // namespace

int main(int argc, char** argv) try {
  auto const number = [&](int i, long otherwise) { return argc > i ? std::strtol(argv[i], nullptr, 10) : otherwise; };
  long const tiles = number(1, 256), latency_ms = number(2, 20), lanes = number(3, 64);
  if (tiles < 1 || tiles > 65536 || latency_ms < 0 || lanes < 1 || lanes > 256) {
    std::fputs("usage: latency_source [TILES] [LATENCY_MS] [LANES]\n", stderr);
    return 2;
  }
  auto const across = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(tiles))));
  std::vector<std::byte> const file = make_file(across);
  HostArray const expected = read(open_memory(file));
  double const least_ms = static_cast<double>(latency_ms) * across * across / static_cast<double>(lanes);
  bool all_right = true;
  for (std::uint32_t const in_flight : {1u, static_cast<std::uint32_t>(lanes)}) {
    Measured const measured = measure(file, expected, std::chrono::milliseconds(latency_ms), in_flight);
    all_right = all_right && measured.is_right;
    bench::JsonLine("latency source")
        .put("tiles", std::uint64_t{across} * across)
        .put("latency_ms", static_cast<std::uint64_t>(latency_ms))
        .put("in_flight", std::uint64_t{in_flight})
        .put("best_ms", measured.ms.front())
        .put("median_ms", measured.ms[kRepeats / 2])
        .put("least_ms", least_ms)
        .put("best_ratio", measured.ms.front() / least_ms)
        .put("pixels_equal", measured.is_right)
        .print();
  }
  return all_right ? 0 : 1;
} catch (std::exception const& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
