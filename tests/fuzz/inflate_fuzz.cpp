// SPDX-License-Identifier: Apache-2.0
//
// The device's Deflate decoder on the host, under arbitrary bytes: it accepts what libdeflate accepts, with the same
// bytes, except streams that only libdeflate takes. The first three bytes tell how long the output is (0: as libdeflate
// finds). The rest is a stream without frame: the target adds header and checksum, which no fuzzer finds.
#include "codec/registry/libraries.hpp"
#include "coding/deflate/inflate.hpp"

#include <cstddef>
#include <cstdint>

#if TERRAZZO_HAVE_LIBDEFLATE

#include <libdeflate.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace {

using namespace terrazzo;

void require(bool condition) {
  if (!condition) { std::abort(); }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  constexpr std::size_t kHeadBytes = 3;
  if (size < kHeadBytes) { return 0; }
  static libdeflate_decompressor* const state = libdeflate_alloc_decompressor();
  static std::vector<std::byte> room(std::size_t{1} << 20);
  std::size_t const stream_bytes = size - kHeadBytes;
  std::size_t told_bytes = (data[0] + std::size_t{256} * data[1] + std::size_t{65'536} * data[2]) % room.size();

  std::size_t taken = 0, made = 0;
  bool const is_good = libdeflate_deflate_decompress_ex(state, data + kHeadBytes, stream_bytes, room.data(),
                                                        room.size(), &taken, &made) == LIBDEFLATE_SUCCESS;
  if (told_bytes == 0) { told_bytes = made; }
  if (!is_good) { taken = stream_bytes; }

  // Exactly as long as the stream, so that AddressSanitizer sees a read behind it.
  auto const stream = std::make_unique<std::byte[]>(taken + coding::kZlibHeaderBytes + coding::kZlibTailBytes);
  stream[0] = std::byte{0x78};
  stream[1] = std::byte{0x01};
  std::transform(data + kHeadBytes, data + kHeadBytes + taken, stream.get() + coding::kZlibHeaderBytes,
                 [](std::uint8_t byte) { return std::byte{byte}; });
  std::uint32_t const sum = is_good ? libdeflate_adler32(1, room.data(), made) : 0;
  for (std::size_t i = 0; i < coding::kZlibTailBytes; ++i) {
    stream[coding::kZlibHeaderBytes + taken + i] = static_cast<std::byte>(sum >> (24 - 8 * i) & 0xFF);
  }

  auto const shared = std::make_unique<coding::InflateShared>();
  std::vector<coding::AdlerVector> memory((told_bytes + 15) / 16 + 1);  // aligned
  auto* const out = reinterpret_cast<std::byte*>(memory.data());
  tile::TileStatus const status =
      coding::inflate_zlib(coding::LanesInTurn{}, *shared, stream.get(),
                           taken + coding::kZlibHeaderBytes + coding::kZlibTailBytes, out, told_bytes);
  if (status == tile::TileStatus::ok) {
    require(is_good && made == told_bytes && std::equal(out, out + made, room.begin()));
  }
  require(std::all_of(out + told_bytes, out + memory.size() * 16, [](std::byte b) { return b == std::byte{0}; }));
  return 0;
}

#else

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const*, std::size_t) { return 0; }  // nothing to compare with

#endif
