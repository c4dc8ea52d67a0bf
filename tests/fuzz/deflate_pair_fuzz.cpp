// SPDX-License-Identifier: Apache-2.0
//
// Our decoder of two Deflate streams under arbitrary bytes: what it takes, libdeflate takes too and makes the same
// bytes of. The first two bytes tell how long the first stream is, the next four how long the two outputs are; 0: as
// libdeflate finds. The rest is the streams.
#include "codec/deflate/pair_decoder.hpp"
#include "codec/registry/libraries.hpp"
#include "tile/host/cpu.hpp"

#include <cstddef>
#include <cstdint>

#if TERRAZZO_HAVE_LIBDEFLATE && TERRAZZO_HAVE_X86

#include <libdeflate.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

namespace {

using namespace terrazzo;

void require(bool condition) {
  if (!condition) { std::abort(); }
}

struct Piece {
  Piece(std::span<std::uint8_t const> data, std::size_t told_bytes)
      : size(data.size()), stream(std::make_unique<std::byte[]>(data.size())) {
    std::ranges::transform(data, stream.get(), [](std::uint8_t value) { return std::byte{value}; });
    out.resize(told_bytes != 0 ? told_bytes : found_bytes());
    out.shrink_to_fit();
  }

  [[nodiscard]] std::span<std::byte const> in() const { return {stream.get(), size}; }

  // Whether it takes the stream, and how much of it.
  static bool inflate(std::span<std::byte const> in, std::vector<std::byte>& bytes, std::size_t& taken,
                      std::size_t& made) {
    static libdeflate_decompressor* const state = libdeflate_alloc_decompressor();
    return libdeflate_deflate_decompress_ex(state, in.data(), in.size(), bytes.data(), bytes.size(), &taken, &made) ==
           LIBDEFLATE_SUCCESS;
  }
  [[nodiscard]] std::size_t found_bytes() const {
    static std::vector<std::byte> room(std::size_t{1} << 18);
    std::size_t taken = 0, made = 0;
    return inflate(in(), room, taken, made) ? made : 0;
  }
  void require_as_libdeflate() const {
    std::vector<std::byte> theirs(out.size(), std::byte{0x5A});
    std::size_t taken = 0, made = 0;
    require(inflate(in(), theirs, taken, made));
    require(taken == size && made == out.size() && theirs == out);
  }

  std::size_t size;
  std::unique_ptr<std::byte[]> stream;  // of exactly its size
  std::vector<std::byte> out;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  constexpr std::size_t kHeadBytes = 6;
  if (size < kHeadBytes || !tile::has_avx2()) { return 0; }
  auto const number = [&](std::size_t at) { return data[at] + std::size_t{256} * data[at + 1]; };
  std::span const streams(data + kHeadBytes, size - kHeadBytes);
  std::size_t const first_bytes = std::min(number(0), streams.size());
  Piece first(streams.first(first_bytes), number(2)), second(streams.subspan(first_bytes), number(4));
  static codec::DeflatePair decoder;  // used before, as that of a thread is
  static_cast<void>(codec::DeflatePair::is_for(first.in()));
  if (!decoder.decode({codec::DeflateTile{first.in(), first.out}, codec::DeflateTile{second.in(), second.out}})) {
    return 0;
  }
  first.require_as_libdeflate();
  second.require_as_libdeflate();
  return 0;
}

#else

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const*, std::size_t) { return 0; }

#endif
