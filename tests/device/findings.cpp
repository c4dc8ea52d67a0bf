// SPDX-License-Identifier: Apache-2.0
//
// findings FILE [RUNS]: two comparisons of ways to copy tiles (docs/performance.md, "Files to GPU memory"). Checks that
// both ways give equal bytes, then prints medians of RUNS (default 11, at least 9). Needs a GPU.
//   fetch:  the file's compressed tiles into device memory, one after the other (read, copy, wait), in batches by our
//           ring (threads, pinned chunks, asynchronous copies), and by kvikIO where its plugin is found
//   return: 256 compressed tiles of 10 MiB in all from device memory, a copy for each against one packed copy
#include "base/thread_pool.hpp"
#include "finding.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/device_context.hpp"
#include "gpu/runtime/device_memory.hpp"
#include "gpu/runtime/pinned_pool.hpp"
#include "gpu/runtime/stream.hpp"
#include "io/file_source.hpp"
#include "io/kvikio_fetch.hpp"
#include "read/device/fallback/packed_return.hpp"
#include "terrazzo/error.hpp"
#include "tiff/block_index.hpp"
#include "tiff/directory.hpp"
#include "tiff/image.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace terrazzo;
using namespace terrazzo::test;

void line(std::string const& what, double ms, std::uint64_t bytes) {
  std::printf("  %-58s %9.3f ms %8.2f GB/s\n", what.c_str(), ms, static_cast<double>(bytes) / ms / 1e6);
  std::fflush(stdout);
}

// What a thread reads and sends at a time: as the engine does it.
constexpr std::uint64_t kPieceBytes = gpu::PinnedPool::kChunkBytes;

struct Tile {
  std::uint64_t offset_bytes = 0;  // in the file
  std::uint64_t size_bytes = 0;
  std::uint64_t place_bytes = 0;  // in device memory
};

// ---- fetch

class Fetch {
 public:
  Fetch(std::string path, std::vector<Tile> tiles) : path_(std::move(path)), source_(path_), tiles_(std::move(tiles)) {
    std::uint64_t end = 0;
    for (Tile& tile : tiles_) {
      tile.place_bytes = (end + 15) / 16 * 16;
      end = tile.place_bytes + tile.size_bytes;
      bytes_ += tile.size_bytes;
    }
    memory_ = gpu::DeviceBuffer(gpu::pool_allocator(), static_cast<std::size_t>(end + 16), stream_.get());
    gpu::check_cuda(cudaStreamSynchronize(stream_.get()), "allocating");
  }

  void run(int runs) {
    std::printf("fetch: %zu tiles, %.1f MB, %u threads\n", tiles_.size(), static_cast<double>(bytes_) / 1e6, threads_);
    measure("read, copy, wait: one tile after the other", runs, [&] { serial(); });
    measure("our ring: all reads under way, one buffer", runs, [&] { ring(); });
    io::KvikioState const& state = io::kvikio_state();
    if (!state.found) {
      std::printf("  kvikIO: %s\n", state.hint.c_str());
      return;
    }
    std::printf("  kvikIO %s, %s, %s\n", state.version.c_str(), state.gds ? "cuFile" : "POSIX reads",
                state.path.c_str());
    kvikio_ = io::KvikioFile::open(path_);
    measure("kvikIO: one tile after the other", runs, [&] {
      for (Tile const& tile : tiles_) { submit({&tile, 1}).wait(); }
    });
    measure("kvikIO: all reads submitted before the first wait", runs, [&] { submit(tiles_).wait(); });
    measure("kvikIO: the same, submitted by all threads in pieces", runs, [&] { kvikio_pieces(); });
    kvikio_.reset();
  }

 private:
  void measure(char const* what, int runs, std::function<void()> const& fetch) {
    gpu::check_cuda(cudaMemsetAsync(memory_.data(), 0x5A, memory_.size_bytes(), stream_.get()), "clearing");
    gpu::check_cuda(cudaStreamSynchronize(stream_.get()), "clearing");
    fetch();
    report(is_right(), std::string(what) + ": bytes are the file's");
    line(what, median_ms(runs, fetch), bytes_);
  }

  bool is_right() {
    std::vector<std::byte> there(memory_.size_bytes());
    gpu::check_cuda(cudaMemcpyAsync(there.data(), memory_.data(), there.size(), cudaMemcpyDeviceToHost, stream_.get()),
                    "downloading");
    gpu::check_cuda(cudaStreamSynchronize(stream_.get()), "downloading");
    std::vector<std::byte> expected;
    for (Tile const& tile : tiles_) {
      expected.resize(static_cast<std::size_t>(tile.size_bytes));
      source_.read(tile.offset_bytes, expected);
      if (std::memcmp(expected.data(), there.data() + tile.place_bytes, expected.size()) != 0) { return false; }
    }
    return true;
  }

  void serial() {
    std::uint64_t longest = 1;
    for (Tile const& tile : tiles_) { longest = std::max(longest, tile.size_bytes); }
    if (!staging_) { staging_ = gpu::make_pinned(static_cast<std::size_t>(longest)); }
    for (Tile const& tile : tiles_) {
      auto const bytes = static_cast<std::size_t>(tile.size_bytes);
      source_.read(tile.offset_bytes, {staging_.get(), bytes});
      gpu::check_cuda(cudaMemcpyAsync(memory_.data() + tile.place_bytes, staging_.get(), bytes, cudaMemcpyHostToDevice,
                                      stream_.get()),
                      "uploading");
      gpu::check_cuda(cudaStreamSynchronize(stream_.get()), "uploading");
    }
  }

  // Calls body(tiles) for runs of tiles that fit a pinned chunk, on all threads. REQUIRES: no tile is larger.
  void for_each_piece(std::function<void(std::span<Tile const>)> const& body) {
    std::vector<std::span<Tile const>> pieces;
    for (std::size_t t = 0; t < tiles_.size();) {
      std::size_t const first = t;
      while (t < tiles_.size() &&
             tiles_[t].place_bytes + tiles_[t].size_bytes - tiles_[first].place_bytes <= kPieceBytes) {
        ++t;
      }
      pieces.push_back(std::span(tiles_).subspan(first, t - first));
    }
    std::atomic<std::size_t> next{0};
    run_on_pool(threads_, [&](unsigned) {
      for (std::size_t p = next++; p < pieces.size(); p = next++) { body(pieces[p]); }
    });
  }

  // As the device engine fetches.
  void ring() {
    for_each_piece([&](std::span<Tile const> piece) {
      gpu::PinnedPool::Chunk chunk = gpu::PinnedPool::instance().acquire();
      std::uint64_t const begin = piece.front().place_bytes;
      std::vector<RangeRead> ranges;
      for (Tile const& tile : piece) {
        ranges.push_back({tile.offset_bytes,
                          {chunk.data() + (tile.place_bytes - begin), static_cast<std::size_t>(tile.size_bytes)}});
      }
      source_.submit(ranges).wait();
      std::uint64_t const bytes = piece.back().place_bytes + piece.back().size_bytes - begin;
      gpu::check_cuda(cudaMemcpyAsync(memory_.data() + begin, chunk.data(), static_cast<std::size_t>(bytes),
                                      cudaMemcpyHostToDevice, stream_.get()),
                      "uploading");
      chunk.release_after(stream_.get());
    });
    gpu::check_cuda(cudaStreamSynchronize(stream_.get()), "uploading");
  }

  io::KvikioReads submit(std::span<Tile const> tiles) {
    std::vector<io::DeviceRange> ranges;
    ranges.reserve(tiles.size());
    for (Tile const& tile : tiles) {
      ranges.push_back(
          {tile.offset_bytes, memory_.data() + tile.place_bytes, static_cast<std::size_t>(tile.size_bytes)});
    }
    return kvikio_->submit(ranges);
  }

  void kvikio_pieces() {
    for_each_piece([&](std::span<Tile const> piece) { submit(piece).wait(); });
  }

  std::string path_;
  io::FileSource source_;
  std::vector<Tile> tiles_;
  std::uint64_t bytes_ = 0;
  unsigned threads_ = std::clamp(std::thread::hardware_concurrency(), 1u, 16u);
  gpu::StreamHandle stream_ = gpu::make_stream();
  gpu::DeviceBuffer memory_;
  gpu::PinnedMemory staging_;
  std::shared_ptr<io::KvikioFile> kvikio_;
};

// The blocks of the file's first image, in file order.
std::vector<Tile> tiles_of(std::string const& path) {
  auto const source = std::make_shared<io::FileSource>(path);
  tiff::Directory const directory = tiff::read_chain(source, 1).directories.at(0);
  std::vector<std::string> warnings;
  tiff::Image const image = tiff::parse_image(directory, warnings);
  tiff::BlockIndex const index(directory, image);
  std::vector<Tile> tiles;
  for (std::uint64_t block = 0; block < image.block_count(); ++block) {
    tiff::BlockRange const range = index.range(block);
    if (range.size_bytes > kPieceBytes) {
      throw Error(ErrorKind::unsupported, "a tile is larger than a pinned chunk: take another file");
    }
    if (range.size_bytes != 0) { tiles.push_back({range.offset_bytes, range.size_bytes, 0}); }
  }
  std::ranges::sort(tiles, {}, &Tile::offset_bytes);
  return tiles;
}

// ---- return

class Return {
 public:
  Return() {
    std::mt19937 engine(4);
    // Sizes differ as those of compressed tiles do; the sum is 10 MiB.
    std::uint64_t left = kTotalBytes, end = 0;
    for (std::size_t i = 0; i < kTiles; ++i) {
      std::uint64_t const mean = left / (kTiles - i);
      std::uint64_t const size = i + 1 == kTiles ? left : mean / 2 + engine() % mean;
      numbers_[i] = end;
      numbers_[kTiles + i] = size;
      left -= size;
      end = (end + size + 15) / 16 * 16;
    }
    input_.resize(static_cast<std::size_t>(end));
    for (std::byte& byte : input_) { byte = static_cast<std::byte>(engine()); }
    std::iota(chosen_.begin(), chosen_.end(), 0u);
    memory_ = gpu::DeviceBuffer(gpu::pool_allocator(), numbers_bytes() + 3 * input_.size(), stream_.get());
    upload(memory_.data(), numbers_.data(), numbers_bytes());
    upload(device_input(), input_.data(), input_.size());
    wanted_.tiles.input = device_input();
    wanted_.tiles.input_offsets = reinterpret_cast<std::uint64_t const*>(memory_.data());
    wanted_.tiles.input_sizes = wanted_.tiles.input_offsets + kTiles;
    wanted_.tiles.count = kTiles;
    wanted_.input_offsets = std::span(numbers_).first(kTiles);
    wanted_.input_sizes = std::span(numbers_).last(kTiles);
    wanted_.chosen = chosen_;
    for (std::size_t i = 0; i < kTiles; ++i) { pageable_.emplace_back(static_cast<std::size_t>(size_of(i))); }
    pinned_ = gpu::make_pinned(input_.size());
  }

  void run(int runs) {
    std::printf("return: %zu tiles, %.1f MiB in all\n", kTiles, static_cast<double>(kTotalBytes) / (1 << 20));
    auto const measure = [&](char const* what, std::function<void()> const& work,
                             std::function<std::byte const*(std::size_t)> const& bytes_of) {
      work();
      bool right = true;
      for (std::size_t i = 0; i < kTiles; ++i) {
        right =
            right && std::memcmp(bytes_of(i), input_.data() + numbers_[i], static_cast<std::size_t>(size_of(i))) == 0;
      }
      report(right, std::string(what) + ": bytes are the tiles'");
      double const ms = median_ms(runs, work);
      line(what, ms, kTotalBytes);
      return ms;
    };
    double const each = measure(
        "a copy and a wait for each tile, pageable memory", [&] { copy_each(true, true); },
        [&](std::size_t i) { return pageable_[i].data(); });
    measure(
        "a copy and a wait for each tile, pinned memory", [&] { copy_each(false, true); },
        [&](std::size_t i) { return pinned_.get() + numbers_[i]; });
    measure(
        "a copy for each tile, one wait, pinned memory", [&] { copy_each(false, false); },
        [&](std::size_t i) { return pinned_.get() + numbers_[i]; });
    auto const back = [&](std::size_t i) { return batch_.bytes_of(batch_.items[i]).data(); };
    double const packed = measure(
        "one packed copy, packed buffer allocated", [&] { bring(); }, back);
    wanted_.scratch = device_input() + input_.size();
    wanted_.scratch_bytes = 2 * input_.size();
    double const scratch = measure(
        "one packed copy, in allocated memory", [&] { bring(); }, back);
    std::printf("  packed against per tile: %.1fx, %.1fx with allocated memory\n", each / packed, each / scratch);
  }

 private:
  static constexpr std::size_t kTiles = 256;
  static constexpr std::uint64_t kTotalBytes = 10u << 20;

  [[nodiscard]] static std::size_t numbers_bytes() { return 2 * kTiles * sizeof(std::uint64_t); }
  [[nodiscard]] std::byte* device_input() const { return memory_.data() + numbers_bytes(); }
  [[nodiscard]] std::uint64_t size_of(std::size_t i) const { return numbers_[kTiles + i]; }

  void upload(std::byte* to, void const* from, std::size_t bytes) {
    gpu::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_.get()), "uploading");
    gpu::check_cuda(cudaStreamSynchronize(stream_.get()), "uploading");
  }

  void copy_each(bool pageable, bool wait_for_each) {
    for (std::size_t i = 0; i < kTiles; ++i) {
      std::byte* const to = pageable ? pageable_[i].data() : pinned_.get() + numbers_[i];
      gpu::check_cuda(cudaMemcpyAsync(to, device_input() + numbers_[i], static_cast<std::size_t>(size_of(i)),
                                      cudaMemcpyDeviceToHost, stream_.get()),
                      "downloading");
      if (wait_for_each) { gpu::check_cuda(cudaStreamSynchronize(stream_.get()), "downloading"); }
    }
    gpu::check_cuda(cudaStreamSynchronize(stream_.get()), "downloading");
  }

  void bring() { batch_ = reading::copy_back_packed(wanted_, budget_, gpu::pool_allocator(), into_, stream_.get()); }

  gpu::StreamHandle stream_ = gpu::make_stream();
  std::vector<std::uint64_t> numbers_ = std::vector<std::uint64_t>(2 * kTiles);  // offsets, then sizes
  std::vector<std::byte> input_;
  std::vector<std::uint32_t> chosen_ = std::vector<std::uint32_t>(kTiles);
  gpu::DeviceBuffer memory_;
  reading::TilesToReturn wanted_;
  std::vector<std::vector<std::byte>> pageable_;
  gpu::PinnedMemory pinned_;
  MemoryBudget budget_{64u << 20};
  reading::ReturnBuffer into_;
  tile::TileBatch batch_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: findings FILE [RUNS]\n");
    return 2;
  }
  try {
    int const runs = argc > 2 ? std::max(9, std::atoi(argv[2])) : 11;
    Fetch(argv[1], tiles_of(argv[1])).run(runs);
    Return().run(runs);
  } catch (std::exception const& error) { report(false, error.what()); }
  return any_failed ? 1 : 0;
}
