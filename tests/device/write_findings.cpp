// SPDX-License-Identifier: Apache-2.0
//
// device_write_findings [RUNS]: packed compression, for 1,024 tiles of 16 KiB; equal bytes first, then medians of
// RUNS (default 11, at least 9). Needs a GPU.
//   allocation   of the outputs: one for each tile, by the driver and by our pool, against one for all of them
//   copies       of the compressed tiles to the host: one for each, against one of all, packed on the device
//   all of it    compressing too, the one way and the other
#include "finding.hpp"
#include "gpu/encode/deflate.hpp"
#include "gpu/encode/pack_encoded.hpp"
#include "gpu/encode/zstd.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/runtime/stream.hpp"
#include "tile/device_tiles.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace terrazzo;
using namespace terrazzo::test;

constexpr std::size_t kTiles = 1024, kTileBytes = 16384;

double line(char const* what, double ms) {
  std::printf("  %-66s %9.3f ms\n", what, ms);
  std::fflush(stdout);
  return ms;
}

// Bytes as a predictor leaves them: small, and not all alike.
std::vector<std::byte> small_numbers(std::size_t count) {
  std::mt19937 engine(2);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) { byte = static_cast<std::byte>(engine() % 5 * (engine() % 3)); }
  return bytes;
}

struct Encoder {
  char const* name;
  std::uint64_t bound;  // of a tile; a multiple of 16
  std::size_t scratch_bytes;
  std::function<void(tile::EncodeBatch const&, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t)> encode;
};

Encoder zstd() {
  return {"zstd", (gpu::zstd_encode_bound(kTileBytes) + 15) / 16 * 16,
          gpu::zstd_encode_scratch_bytes(kTiles, kTileBytes),
          [](tile::EncodeBatch const& batch, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
            constexpr int kLevel = 6;
            gpu::zstd_encode_tiles(batch, kLevel, scratch, scratch_bytes, stream);
          }};
}

Encoder deflate() {
  return {"deflate", (gpu::deflate_encode_bound(kTileBytes) + 15) / 16 * 16,
          gpu::deflate_encode_scratch_bytes(kTiles, kTileBytes),
          [](tile::EncodeBatch const& batch, std::byte* scratch, std::size_t scratch_bytes, cudaStream_t stream) {
            constexpr int kLevel = 6;
            gpu::deflate_encode_tiles(batch, kLevel, scratch, scratch_bytes, stream);
          }};
}

class Batch {
 public:
  explicit Batch(Encoder encoder) : encoder_(std::move(encoder)), bound_(encoder_.bound) {
    std::vector<std::uint64_t> numbers(3 * kTiles);
    for (std::size_t i = 0; i < kTiles; ++i) {
      numbers[i] = i * kTileBytes;
      numbers[kTiles + i] = kTileBytes;
      numbers[2 * kTiles + i] = i * bound_;
    }
    std::vector<std::byte> const input = small_numbers(kTiles * kTileBytes);
    numbers_ = make(4 * kTiles * sizeof(std::uint64_t));
    statuses_ = make(kTiles * sizeof(tile::TileStatus));
    input_ = make(input.size());
    output_ = make(kTiles * bound_);
    scratch_ = make(encoder_.scratch_bytes);
    packed_ = make(gpu::packed_bound(kTiles, bound_));
    places_ = make(kTiles * sizeof(gpu::PackedTile));
    copy(numbers_.data(), numbers.data(), numbers.size() * sizeof(std::uint64_t), cudaMemcpyHostToDevice);
    copy(input_.data(), input.data(), input.size(), cudaMemcpyHostToDevice);
    wait();
    auto const* const device_numbers = reinterpret_cast<std::uint64_t*>(numbers_.data());
    batch_ = {.input = input_.data(),
              .input_offsets = device_numbers,
              .input_sizes = device_numbers + kTiles,
              .output = output_.data(),
              .output_offsets = device_numbers + 2 * kTiles,
              .output_sizes = reinterpret_cast<std::uint64_t*>(numbers_.data()) + 3 * kTiles,
              .statuses = reinterpret_cast<tile::TileStatus*>(statuses_.data()),
              .count = kTiles,
              .longest_input_bytes = kTileBytes};
    offsets_.assign(numbers.begin() + 2 * kTiles, numbers.end());
    sizes_.resize(kTiles);
    each_.assign(kTiles, std::vector<std::byte>(bound_));
    pinned_ = gpu::make_pinned(gpu::packed_bound(kTiles, bound_));
    pinned_places_ = gpu::make_pinned(places_.size_bytes());
  }

  void run(int runs) {
    std::string const name = std::string("packed compression, ") + encoder_.name;
    encode();
    copy_each(true);
    copy_packed();
    report(same_tiles(), name + ": packed tiles are the tiles");
    std::printf("%s, %zu tiles of %zu bytes, %llu compressed\n", name.c_str(), kTiles, kTileBytes,
                static_cast<unsigned long long>(compressed_bytes()));
    double const driver =
        line("allocation: cudaMalloc and cudaFree for each tile", median_ms(runs, [&] { malloc_each(); }));
    line("allocation: our pool, for each tile", median_ms(runs, [&] { pool_each(); }));
    double const pool = line("allocation: our pool, one for all", median_ms(runs, [&] { pool_once(); }));
    double const copies =
        line("copies: a copy and a wait for each tile, pageable memory", median_ms(runs, [&] { copy_each(true); }));
    line("copies: a copy for each tile, one wait", median_ms(runs, [&] { copy_each(false); }));
    double const packed = line("copies: packed on the device, one copy", median_ms(runs, [&] { copy_packed(); }));
    double const slow = line("all of it: allocated, compressed, copied tile by tile", median_ms(runs, [&] {
                               malloc_each();
                               encode();
                               copy_each(true);
                             }));
    double const fast = line("all of it: one allocation, compressed, one packed copy", median_ms(runs, [&] {
                               pool_once();
                               encode();
                               copy_packed();
                             }));
    std::printf("  allocation %.1fx, copies %.1fx, all of it %.1fx\n", driver / pool, copies / packed, slow / fast);
  }

 private:
  [[nodiscard]] gpu::DeviceBuffer make(std::size_t bytes) { return {gpu::pool_allocator(), bytes, stream_.get()}; }
  void copy(void* to, void const* from, std::size_t bytes, cudaMemcpyKind kind) {
    gpu::check_cuda(cudaMemcpyAsync(to, from, bytes, kind, stream_.get()), "copying");
  }
  void wait() { gpu::check_cuda(cudaStreamSynchronize(stream_.get()), "waiting"); }

  void encode() {
    encoder_.encode(batch_, scratch_.data(), encoder_.scratch_bytes, stream_.get());
    wait();
  }

  void malloc_each() {
    std::vector<void*> memory(kTiles);
    for (void*& one : memory) { gpu::check_cuda(cudaMalloc(&one, bound_), "allocating a tile"); }
    for (void* const one : memory) { gpu::check_cuda(cudaFree(one), "freeing a tile"); }
  }
  void pool_each() {
    std::vector<gpu::DeviceBuffer> memory;
    for (std::size_t i = 0; i < kTiles; ++i) { memory.push_back(make(bound_)); }
    memory.clear();
    wait();
  }
  void pool_once() {
    { gpu::DeviceBuffer const memory = make(kTiles * bound_); }
    wait();
  }

  void copy_each(bool wait_for_each) {
    copy(sizes_.data(), batch_.output_sizes, kTiles * sizeof(std::uint64_t), cudaMemcpyDeviceToHost);
    wait();
    for (std::size_t i = 0; i < kTiles; ++i) {
      copy(each_[i].data(), output_.data() + offsets_[i], sizes_[i], cudaMemcpyDeviceToHost);
      if (wait_for_each) { wait(); }
    }
    wait();
  }

  void copy_packed() {
    auto* const places = reinterpret_cast<gpu::PackedTile*>(places_.data());
    gpu::pack_encoded(batch_, packed_.data(), places, stream_.get());
    copy(pinned_places_.get(), places, places_.size_bytes(), cudaMemcpyDeviceToHost);
    wait();
    auto const& last = reinterpret_cast<gpu::PackedTile const*>(pinned_places_.get())[kTiles - 1];
    copy(pinned_.get(), packed_.data(), last.offset + last.size, cudaMemcpyDeviceToHost);
    wait();
  }

  [[nodiscard]] bool same_tiles() const {
    auto const* const places = reinterpret_cast<gpu::PackedTile const*>(pinned_places_.get());
    for (std::size_t i = 0; i < kTiles; ++i) {
      bool const same = places[i].status == tile::TileStatus::ok && places[i].size == sizes_[i] && sizes_[i] != 0 &&
                        std::memcmp(pinned_.get() + places[i].offset, each_[i].data(), sizes_[i]) == 0;
      if (!same) { return false; }
    }
    return true;
  }
  [[nodiscard]] std::uint64_t compressed_bytes() const {
    std::uint64_t sum = 0;
    for (std::uint64_t const size : sizes_) { sum += size; }
    return sum;
  }

  Encoder encoder_;
  std::uint64_t bound_;
  gpu::StreamHandle stream_ = gpu::make_stream();
  gpu::DeviceBuffer numbers_, statuses_, input_, output_, scratch_, packed_, places_;
  tile::EncodeBatch batch_;
  std::vector<std::uint64_t> offsets_, sizes_;
  std::vector<std::vector<std::byte>> each_;
  gpu::PinnedMemory pinned_, pinned_places_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    int const runs = argc > 1 ? std::max(9, std::atoi(argv[1])) : 11;
    Batch(deflate()).run(runs);
    Batch(zstd()).run(runs);
  } catch (std::exception const& error) { report(false, error.what()); }
  return any_failed ? 1 : 0;
}
