// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/zlib_pair_decoder.hpp"

#include "codec/deflate/pair_decoder.hpp"
#include "codec/registry/workspace.hpp"
#include "coding/deflate/format.hpp"

namespace terrazzo::codec {

#if TERRAZZO_HAVE_LIBDEFLATE

namespace {

// The stream inside a plain zlib frame (RFC 1950, 2.2), and its checksum.
struct ZlibFrame {
  std::span<std::byte const> stream{};
  std::uint32_t adler = 0;

  [[nodiscard]] bool read(std::span<std::byte const> in) noexcept {
    if (in.size() <= coding::kZlibHeaderBytes + coding::kZlibTailBytes) { return false; }
    if (!coding::is_zlib_header(std::to_integer<unsigned>(in[0]), std::to_integer<unsigned>(in[1]))) { return false; }
    stream = in.first(in.size() - coding::kZlibTailBytes).subspan(coding::kZlibHeaderBytes);
    for (std::byte const byte : in.last(coding::kZlibTailBytes)) {
      adler = adler << 8 | std::to_integer<std::uint32_t>(byte);
    }
    return true;
  }
};

}  // namespace

bool can_inflate_two() noexcept { return DeflatePair::is_fast_here(); }

ZlibPair inflate_two(std::array<std::span<std::byte const>, 2> const& in,
                     std::array<std::span<std::byte>, 2> const& out, Workspace& workspace) noexcept {
  if (!can_inflate_two()) { return ZlibPair::unsuited; }
  ZlibFrame first, second;
  if (!first.read(in[0]) || !DeflatePair::is_for(first.stream)) { return ZlibPair::unsuited; }
  if (!second.read(in[1]) || !DeflatePair::is_for(second.stream)) { return ZlibPair::unsuited; }
  DeflatePair* const decoder = workspace.impl().deflate_pair();
  if (decoder == nullptr) { return ZlibPair::unsuited; }
  bool const are_good = decoder->decode({DeflateTile{first.stream, out[0]}, DeflateTile{second.stream, out[1]}}) &&
                        libdeflate_adler32(1, out[0].data(), out[0].size()) == first.adler &&
                        libdeflate_adler32(1, out[1].data(), out[1].size()) == second.adler;
  return are_good ? ZlibPair::done : ZlibPair::failed;
}

#else

bool can_inflate_two() noexcept { return false; }

ZlibPair inflate_two(std::array<std::span<std::byte const>, 2> const&, std::array<std::span<std::byte>, 2> const&,
                     Workspace&) noexcept {
  return ZlibPair::unsuited;
}

#endif

}  // namespace terrazzo::codec
