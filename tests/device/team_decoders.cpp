// SPDX-License-Identifier: Apache-2.0
//
// team_decoders --host | --device [--tiles N] [--seconds S] [--first SEED] [--coding deflate|zstd] [--no-rates]: the
// decoders of coding/team on tiles of all kinds and on damaged ones, compared with the host engine. What they accept,
// the host engine accepts too, with the same bytes; the host decodes what they refuse. --host runs the lanes in turn
// (CTest does so); --device runs the kernels, compares refusals with the lanes in turn, and prints rates beside
// nvCOMP's. A kernel that does not end within TERRAZZO_DEVICE_GUARD seconds ends the program. Prints PASS or FAIL.
#include "coding/deflate/inflate.hpp"
#include "coding/zstd/decode.hpp"
#include "device/team_tiles.hpp"
#include "gpu/decode/inflate.hpp"
#include "gpu/decode/zstd.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/vendor/nvcomp.hpp"

#include <cuda_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <thread>

namespace {

using namespace terrazzo;
using namespace terrazzo::device_test;
using tile::TileStatus;

// ---- The lanes in turn ----

class Twin {
 public:
  TileStatus decode(Coding coding, TestTile const& tile, Bytes& out) {
    memory_.resize(std::max(memory_.size(), tile.size / 16 + 1));
    auto* const data = reinterpret_cast<std::byte*>(memory_.data());
    Bytes const& in = tile.stream;
    TileStatus const status =
        coding == Coding::deflate
            ? coding::inflate_zlib(coding::LanesInTurn{}, *inflate_, in.data(), in.size(), data, tile.size)
            : coding::zstd_decode(coding::LanesInTurn{}, *zstd_, in.data(), in.size(), data, tile.size,
                                  scratch_.data());
    out.assign(data, data + tile.size);
    return status;
  }

 private:
  std::unique_ptr<coding::InflateShared> inflate_ = std::make_unique<coding::InflateShared>();
  std::unique_ptr<coding::ZstdShared> zstd_ = std::make_unique<coding::ZstdShared>();
  Bytes scratch_ = Bytes(coding::kZstdScratchBytes);
  std::vector<coding::AdlerVector> memory_;  // aligned to 16 bytes
};

// ---- Device memory ----

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory const&) = delete;
  DeviceMemory& operator=(DeviceMemory const&) = delete;
  ~DeviceMemory() { (void)cudaFree(data_); }
  std::byte* of(std::size_t bytes) {
    if (bytes > bytes_) {
      gpu::check_cuda(cudaFree(data_), "freeing");
      data_ = nullptr;
      bytes_ = bytes + bytes / 4;
      gpu::check_cuda(cudaMalloc(reinterpret_cast<void**>(&data_), bytes_), "allocating");
    }
    return data_;
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// A batch of tiles in device memory, with room between the outputs that no kernel may write.
class DeviceBatch {
 public:
  static constexpr std::size_t kGuardBytes = 64;
  static constexpr int kPoison = 0xA5;

  std::vector<std::uint64_t> input_offsets, input_sizes, output_offsets, output_sizes;
  std::uint64_t input_bytes = 0, output_bytes = 0, most_output_bytes = 0;

  // `copies`: every tile so many times. `phase`: of input offsets, modulo 16, as nvCOMP wants them.
  void load(std::vector<TestTile> const& tiles, std::size_t copies, std::uint64_t phase, cudaStream_t stream) {
    input_offsets.clear(), input_sizes.clear(), output_offsets.clear(), output_sizes.clear();
    input_bytes = output_bytes = most_output_bytes = 0;
    for (std::size_t copy = 0; copy < copies; ++copy) {
      for (TestTile const& tile : tiles) {
        input_offsets.push_back((input_bytes + 15 - phase) / 16 * 16 + phase);
        input_sizes.push_back(tile.stream.size());
        input_bytes = input_offsets.back() + tile.stream.size() + 16;
        output_offsets.push_back((output_bytes + kGuardBytes + 15) / 16 * 16);
        output_sizes.push_back(tile.size);
        output_bytes = output_offsets.back() + tile.size;
        most_output_bytes = std::max<std::uint64_t>(most_output_bytes, tile.size);
      }
    }
    output_bytes += kGuardBytes;
    host_.assign(input_bytes, std::byte{0});
    for (std::size_t i = 0; i < count(); ++i) {
      Bytes const& in = tiles[i % tiles.size()].stream;
      std::copy(in.begin(), in.end(), host_.begin() + static_cast<std::ptrdiff_t>(input_offsets[i]));
    }
    std::size_t const list = count() * sizeof(std::uint64_t);
    up(input_.of(input_bytes + 16), host_.data(), input_bytes, stream);
    std::byte* const lists = lists_.of(4 * list + count());
    up(lists, input_offsets.data(), list, stream);
    up(lists + list, input_sizes.data(), list, stream);
    up(lists + 2 * list, output_offsets.data(), list, stream);
    up(lists + 3 * list, output_sizes.data(), list, stream);
    auto const numbers = [&](int i) { return reinterpret_cast<std::uint64_t const*>(lists + i * list); };
    tiles_ = {.input = input_.of(0),
              .input_offsets = numbers(0),
              .input_sizes = numbers(1),
              .output = output_.of(output_bytes + 16),
              .output_offsets = numbers(2),
              .output_sizes = numbers(3),
              .statuses = reinterpret_cast<TileStatus*>(lists + 4 * list),
              .count = static_cast<std::uint32_t>(count())};
    gpu::sync_stream(stream, "loading a batch");
  }
  [[nodiscard]] std::size_t count() const { return input_sizes.size(); }
  [[nodiscard]] tile::DeviceTiles const& tiles() const { return tiles_; }

  // Queues the decoder.
  void decode(Coding coding, cudaStream_t stream) {
    gpu::check_cuda(cudaMemsetAsync(tiles_.statuses, static_cast<int>(TileStatus::ok), count(), stream), "preparing");
    if (coding == Coding::deflate) { return gpu::decode_deflate(tiles_, stream); }
    std::size_t const bytes = gpu::zstd_decode_scratch_bytes(tiles_.count);
    gpu::decode_zstd(tiles_, scratch_.of(bytes), bytes, stream);
  }
  void decode_by_nvcomp(Coding coding, cudaStream_t stream) {
    auto const codec = coding == Coding::deflate ? gpu::NvcompCodec::deflate : gpu::NvcompCodec::zstd;
    gpu::check_cuda(cudaMemsetAsync(tiles_.statuses, static_cast<int>(TileStatus::ok), count(), stream), "preparing");
    std::uint64_t bytes_out = 0;
    for (std::uint64_t const size : output_sizes) { bytes_out += (size + 15) / 16 * 16; }
    std::size_t const bytes = gpu::nvcomp_decode_scratch_bytes(codec, tiles_.count, most_output_bytes, bytes_out);
    gpu::nvcomp_decode(codec, tiles_, most_output_bytes, bytes_out, scratch_.of(bytes), bytes, stream);
  }
  void poison(cudaStream_t stream) {
    gpu::check_cuda(cudaMemsetAsync(tiles_.output, kPoison, output_bytes, stream), "preparing");
  }
  void bring_back(cudaStream_t stream) {
    statuses.resize(count());
    output.resize(output_bytes);
    gpu::check_cuda(cudaMemcpyAsync(statuses.data(), tiles_.statuses, count(), cudaMemcpyDeviceToHost, stream), "copy");
    gpu::check_cuda(cudaMemcpyAsync(output.data(), tiles_.output, output_bytes, cudaMemcpyDeviceToHost, stream),
                    "copy");
    gpu::sync_stream(stream, "decoding a batch");
  }
  [[nodiscard]] bool guard_is_intact(std::size_t tile) const {
    auto const is_poison = [](std::byte b) { return b == std::byte{kPoison}; };
    auto const at = [&](std::uint64_t offset) { return output.begin() + static_cast<std::ptrdiff_t>(offset); };
    std::uint64_t const end = output_offsets[tile] + output_sizes[tile];
    return std::all_of(at(output_offsets[tile] - kGuardBytes), at(output_offsets[tile]), is_poison) &&
           std::all_of(at(end), at(end + kGuardBytes), is_poison);
  }

  std::vector<TileStatus> statuses;
  Bytes output;

 private:
  static void up(std::byte* to, void const* from, std::size_t bytes, cudaStream_t stream) {
    gpu::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "copy");
  }

  Bytes host_;
  DeviceMemory input_, output_, lists_, scratch_;
  tile::DeviceTiles tiles_;
};

// ---- Comparison ----

struct Tally {
  std::atomic<std::uint64_t> tiles{0}, accepted{0}, left_to_host{0}, failures{0};

  void fail(Coding coding, TestTile const& tile, char const* what) {
    if (failures.fetch_add(1) < 20) {
      std::printf("FAIL %s, %s: %s\n", coding == Coding::deflate ? "deflate" : "zstd", tile.name.c_str(), what);
    }
  }
};

// Runs work(i, own) for all i on all cores; `own` belongs to the thread.
struct Own {
  codec::Workspace workspace;
  Twin twin;
  Bytes room, bytes;
};
template <class Work>
void on_all_cores(std::size_t count, Work const& work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t) {
    threads.emplace_back([&] {
      Own own;
      for (std::size_t i = next++; i < count; i = next++) { work(i, own); }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
}

// `bytes`: what the decoder under test wrote. `is_twin`: it is the lanes in turn.
void compare(Coding coding, TestTile const& tile, TileStatus status, std::byte const* bytes, bool is_twin, Own& own,
             Tally& tally) {
  ++tally.tiles;
  Verdict const host = host_verdict(coding, tile, own.workspace);
  if (status == TileStatus::ok) {
    ++tally.accepted;
    if (!host.is_good) { return tally.fail(coding, tile, "accepted, and the host engine refuses it"); }
    if (tile.size != 0 && std::memcmp(bytes, host.bytes.data(), tile.size) != 0) {
      tally.fail(coding, tile, "other bytes than the host engine's");
    }
    return;
  }
  if (status != TileStatus::unsupported) { return tally.fail(coding, tile, "neither accepted nor left to the host"); }
  if (!host.is_good) { return; }
  ++tally.left_to_host;
  if (!is_twin && own.twin.decode(coding, tile, own.bytes) != status) {
    tally.fail(coding, tile, "refused, and the lanes in turn accept it");
  }
}

// A tile that every decoder must accept, unless it has a checksum of ZSTD.
void expect_accepted(Coding coding, TestTile const& tile, TileStatus status, Tally& tally) {
  bool const may_refuse = tile.name.ends_with("checksum");
  if (status != TileStatus::ok && !may_refuse) { tally.fail(coding, tile, "valid, and refused"); }
}

class Check {
 public:
  explicit Check(bool on_device) : on_device_(on_device), stream_(on_device ? gpu::make_stream() : nullptr) {}

  void run(Coding coding, std::vector<TestTile> const& tiles, bool are_valid, Tally& tally) {
    if (on_device_) {
      batch_.load(tiles, 1, 0, stream_.get());
      batch_.poison(stream_.get());
      batch_.decode(coding, stream_.get());
      batch_.bring_back(stream_.get());
    }
    on_all_cores(tiles.size(), [&](std::size_t i, Own& own) {
      TestTile const& tile = tiles[i];
      TileStatus status{};
      if (on_device_) {
        status = batch_.statuses[i];
        if (!batch_.guard_is_intact(i)) { tally.fail(coding, tile, "bytes outside its output were written"); }
        compare(coding, tile, status, batch_.output.data() + batch_.output_offsets[i], false, own, tally);
      } else {
        status = own.twin.decode(coding, tile, own.bytes);
        compare(coding, tile, status, own.bytes.data(), true, own, tally);
      }
      if (are_valid) { expect_accepted(coding, tile, status, tally); }
    });
  }

 private:
  bool on_device_;
  gpu::StreamHandle stream_;
  DeviceBatch batch_;
};

// ---- Rates ----

template <class Decode>
double best_ms(cudaStream_t stream, Decode const& decode) {
  cudaEvent_t begin = nullptr, end = nullptr;
  gpu::check_cuda(cudaEventCreate(&begin), "timing");
  gpu::check_cuda(cudaEventCreate(&end), "timing");
  std::vector<float> times;
  for (int i = 0; i < 8; ++i) {
    gpu::check_cuda(cudaEventRecord(begin, stream), "timing");
    decode();
    gpu::check_cuda(cudaEventRecord(end, stream), "timing");
    gpu::sync_stream(stream, "timing");
    float ms = 0;
    gpu::check_cuda(cudaEventElapsedTime(&ms, begin, end), "timing");
    if (i >= 3) { times.push_back(ms); }  // after three to warm up
  }
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void print_rates(Coding coding, std::uint64_t total_bytes) {
  gpu::StreamHandle const stream = gpu::make_stream();
  bool const has_nvcomp = gpu::nvcomp_available();
  std::printf("%s, decoded GB/s, medians of 5; nvCOMP: %s\n", coding == Coding::deflate ? "deflate" : "zstd",
              has_nvcomp ? "present" : "absent");
  std::printf("%-18s %9s %8s %7s %8s %8s\n", "data", "tile KiB", "tiles", "ratio", "own", "nvCOMP");
  struct Data {
    char const* name;
    Bytes (*make)(std::size_t, std::uint32_t);
    int level;
  };
  Data const all[] = {
      {"elevations",
       [](std::size_t n, std::uint32_t s) { return coding::test::deflate_scene(DeflateScene::elevations, n, s); }, 6},
      {"words", [](std::size_t n, std::uint32_t s) { return coding::test::deflate_scene(DeflateScene::words, n, s); },
       6},
      {"skewed, level 1",
       [](std::size_t n, std::uint32_t s) { return coding::test::deflate_scene(DeflateScene::skewed, n, s); }, 1},
      {"10:1", [](std::size_t n, std::uint32_t s) { return bytes_of_ratio(n, 5, s); }, 9},
      {"100:1", [](std::size_t n, std::uint32_t s) { return bytes_of_ratio(n, 50, s); }, 6},
      {"noise", [](std::size_t n, std::uint32_t s) { return coding::test::deflate_scene(DeflateScene::noise, n, s); },
       6}};
  for (Data const& data : all) {
    for (std::size_t const size : {4u << 10, 16u << 10, 64u << 10, 256u << 10, 1u << 20, 4u << 20}) {
      constexpr std::size_t kDifferent = 16;
      std::vector<TestTile> tiles(kDifferent);
      Encoding const encoding{"", data.level, Z_DEFAULT_STRATEGY, {.level = data.level}};
      on_all_cores(kDifferent, [&](std::size_t i, Own&) {
        tiles[i] = {encoded(coding, encoding, data.make(size, static_cast<std::uint32_t>(i + 1))), size};
      });
      DeviceBatch batch;
      std::size_t const copies = std::max<std::size_t>(1, total_bytes / size / kDifferent);
      batch.load(tiles, copies, coding == Coding::deflate ? 14 : 0, stream.get());
      double const bytes = static_cast<double>(size) * static_cast<double>(batch.count());
      double const own_ms = best_ms(stream.get(), [&] { batch.decode(coding, stream.get()); });
      double const nvcomp_ms =
          has_nvcomp ? best_ms(stream.get(), [&] { batch.decode_by_nvcomp(coding, stream.get()); }) : 0;
      std::printf("%-18s %9zu %8zu %7.1f %8.1f %8.1f\n", data.name, size >> 10, batch.count(),
                  static_cast<double>(size) / static_cast<double>(tiles[0].stream.size()), bytes / own_ms / 1e6,
                  has_nvcomp ? bytes / nvcomp_ms / 1e6 : 0.0);
      std::fflush(stdout);
    }
  }
}

// ---- The program ----

struct Options {
  bool on_device = false, rates = true;
  std::uint64_t tiles = 3'000, first_seed = 1;
  double seconds = 1e9;
  std::vector<Coding> codings{Coding::deflate, Coding::zstd};
};

// Returns false if there is no choice of engine.
bool parse(int argc, char** argv, Options& options) {
  bool is_chosen = false;
  for (int i = 1; i < argc; ++i) {
    std::string_view const word = argv[i];
    char const* const value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--host" || word == "--device") {
      options.on_device = word == "--device";
      is_chosen = true;
    } else if (word == "--no-rates") {
      options.rates = false;
    } else if (word == "--tiles") {
      options.tiles = std::strtoull(value, nullptr, 10), ++i;
    } else if (word == "--seconds") {
      options.seconds = std::strtod(value, nullptr), ++i;
    } else if (word == "--first") {
      options.first_seed = std::strtoull(value, nullptr, 10), ++i;
    } else if (word == "--coding") {
      options.codings = {std::string_view(value) == "zstd" ? Coding::zstd : Coding::deflate}, ++i;
    } else {
      return false;
    }
  }
  return is_chosen;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::uint64_t check(Coding coding, Options const& options) {
  auto const begin = std::chrono::steady_clock::now();
  char const* const name = coding == Coding::deflate ? "deflate" : "zstd";
  Check check(options.on_device);
  Tally valid, damaged;
  check.run(coding, valid_tiles(coding, options.on_device ? 4u << 20 : 65'536), true, valid);
  std::printf("%s %s valid: %llu tiles, %llu accepted, %llu failures, %.1f s\n", valid.failures == 0 ? "PASS" : "FAIL",
              name, static_cast<unsigned long long>(valid.tiles), static_cast<unsigned long long>(valid.accepted),
              static_cast<unsigned long long>(valid.failures), seconds_since(begin));
  std::fflush(stdout);
  if (options.on_device && options.rates) { print_rates(coding, std::uint64_t{512} << 20); }

  std::size_t const most_bytes = options.on_device ? 1u << 20 : 65'536;
  std::vector<TestTile> const bases = base_tiles(coding, options.on_device ? 4'000 : 300, most_bytes);
  std::size_t const batch_tiles = options.on_device ? 16'384 : 500;
  std::uint64_t done = 0;
  auto told = std::chrono::steady_clock::now();
  while (done < options.tiles && seconds_since(begin) < options.seconds) {
    std::vector<TestTile> tiles(std::min<std::uint64_t>(batch_tiles, options.tiles - done));
    std::uint64_t const first = options.first_seed + done;
    on_all_cores(tiles.size(),
                 [&](std::size_t i, Own& own) { tiles[i] = damaged_tile(coding, bases, first + i, own.room); });
    check.run(coding, tiles, false, damaged);
    done += tiles.size();
    if (seconds_since(told) > 30) {
      std::printf("  %llu damaged tiles, %llu failures\n", static_cast<unsigned long long>(done),
                  static_cast<unsigned long long>(damaged.failures));
      std::fflush(stdout);
      told = std::chrono::steady_clock::now();
    }
  }
  std::printf(
      "%s %s damaged: seeds %llu to %llu, %llu accepted, %llu left to the host that it accepts, %llu failures, %.1f "
      "s\n",
      damaged.failures == 0 ? "PASS" : "FAIL", name, static_cast<unsigned long long>(options.first_seed),
      static_cast<unsigned long long>(options.first_seed + done - 1), static_cast<unsigned long long>(damaged.accepted),
      static_cast<unsigned long long>(damaged.left_to_host), static_cast<unsigned long long>(damaged.failures),
      seconds_since(begin));
  std::fflush(stdout);
  return valid.failures + damaged.failures;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: team_decoders --host|--device [--tiles N] [--seconds S] [--first SEED] "
                 "[--coding deflate|zstd] [--no-rates]\n");
    return 2;
  }
  try {
    std::uint64_t failures = 0;
    for (Coding const coding : options.codings) { failures += check(coding, options); }
    return failures == 0 ? 0 : 1;
  } catch (std::exception const& error) {
    std::printf("FAIL %s\n", error.what());
    std::fflush(stdout);
    std::_Exit(3);  // a kernel may still run
  }
}
