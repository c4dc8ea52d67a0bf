// SPDX-License-Identifier: Apache-2.0
//
// A whole file of arbitrary bytes: opened, described, planned and read, as a stranger's file would be. Beyond what the
// sanitizers see: only terrazzo::Error comes out, memory stays under the limit, and two reads into memory that held
// different bytes give the same pixels, so that nothing uninitialised leaks into a result.
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "terrazzo/settings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace {

using namespace terrazzo;

constexpr std::uint64_t kMemoryLimitBytes = 64u << 20;
constexpr std::uint32_t kWindowSide = 48;
constexpr std::uint64_t kMaxTiles = 4096;  // a window of a raster of one-pixel tiles has that many

void require(bool condition) {
  if (!condition) { std::abort(); }
}

ReadRequest request_of(Dataset const& dataset, std::uint32_t level, unsigned threads) {
  Info const& info = dataset.info();
  std::uint32_t const width = level == 0 ? info.width : info.overviews[level - 1].width;
  std::uint32_t const height = level == 0 ? info.height : info.overviews[level - 1].height;
  ReadRequest request;
  // The bottom right corner: short strips and padded tiles are there.
  std::uint32_t const w = std::min(width, kWindowSide), h = std::min(height, kWindowSide);
  request.window = Window{width - w, height - h, w, h};
  request.level = level;
  for (std::uint32_t band = 1; band <= std::min<std::size_t>(info.bands.size(), 4); ++band) {
    request.bands.push_back(band);
  }
  request.threads = threads;
  request.memory_limit_bytes = kMemoryLimitBytes;
  request.bad_tile = BadTile::fill;
  return request;
}

std::vector<std::byte> pixels(Dataset const& dataset, ReadRequest const& request, std::byte before) {
  ReadPlan const p = plan(dataset, request);
  if (p.tile_count() > kMaxTiles) { throw Error(ErrorKind::limit, "too many tiles for a fuzz run"); }
  static_cast<void>(p.tile(p.tile_count() - 1));
  std::vector<std::byte> memory(p.result_bytes(), before);
  auto const sample = static_cast<std::int64_t>(size_bytes(p.dtype()));
  HostView const view{memory.data(),      p.dtype(), static_cast<std::uint32_t>(p.bands().size()),
                      p.height(),         p.width(), sample * p.width() * p.height(),
                      sample * p.width(), sample};
  read_into(dataset, request, view);
  return memory;
}

// Any failure but a wrong kind is fine; the kinds that a file cannot cause are not.
template <class F>
void attempt(F const& f) {
  try {
    f();
  } catch (Error const& error) {
    require(error.kind() != ErrorKind::device && error.kind() != ErrorKind::cancelled && error.kind() != ErrorKind::io);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // A cache that keeps tiles would hide that the second read decodes again.
  set_settings({.threads = 2, .memory_limit_bytes = kMemoryLimitBytes, .tile_cache_bytes = 0});
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  attempt([&] {
    Dataset const dataset = open_memory(std::as_bytes(std::span(data, size)), "fuzz");
    Info const& info = dataset.info();
    require(info.width > 0 && info.height > 0 && !info.bands.empty());
    auto const level = static_cast<std::uint32_t>(size % (std::min<std::size_t>(info.overviews.size(), 2) + 1));
    attempt([&] {
      ReadRequest const one = request_of(dataset, level, 1), two = request_of(dataset, level, 2);
      require(pixels(dataset, one, std::byte{0xA5}) == pixels(dataset, two, std::byte{0x5A}));
    });
    // One more way of reading, chosen by the input: all of them for every input would be slow.
    ReadRequest request = request_of(dataset, 0, 1);
    switch (data[size - 1] % 4) {
      case 0:
        request.masked = request.unpack = true;
        request.dtype = DType::f32;
        break;
      case 1:
        request.window.reset();
        request.target_size = TargetSize{7, 5};
        break;
      case 2:
        request.bad_tile = BadTile::error;
        request.strict = true;
        break;
      default: static_cast<void>(read_mask(dataset, request)); return;
    }
    static_cast<void>(pixels(dataset, request, std::byte{}));
  });
  return 0;
}
