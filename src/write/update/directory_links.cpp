// SPDX-License-Identifier: Apache-2.0
#include "write/update/directory_links.hpp"

#include "base/byte_view.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>

namespace terrazzo::writing {
namespace {

// The number of entries in the file, including entries that the parser rejected.
std::uint64_t entry_count(tiff::Directory const& directory) {
  tiff::Header const& header = directory.header();
  std::array<std::byte, 8> bytes{};
  directory.reader().read(directory.offset_bytes(), std::span(bytes).first(header.big ? 8 : 2));
  return header.big ? load<std::uint64_t>(bytes.data(), header.order) : load<std::uint16_t>(bytes.data(), header.order);
}

}  // namespace

std::uint64_t first_pointer_offset_bytes(tiff::Header const& header) noexcept { return header.big ? 8 : 4; }

std::uint64_t next_pointer_offset_bytes(tiff::Directory const& directory) {
  bool const big = directory.header().big;
  return directory.offset_bytes() + (big ? 8 : 2) + entry_count(directory) * (big ? 20 : 12);
}

std::vector<std::byte> encode_pointer(tiff::Header const& header, std::uint64_t offset_bytes) {
  if (!header.big && offset_bytes > 0xFFFFFFFFULL) {
    throw Error(ErrorKind::limit, text("offset ", offset_bytes, " needs a BigTIFF file"));
  }
  std::vector<std::byte> bytes(header.big ? 8 : 4);
  std::memcpy(bytes.data(), &offset_bytes, bytes.size());
  if (header.order != std::endian::native) { std::ranges::reverse(bytes); }
  return bytes;
}

std::vector<std::byte> relinked(tiff::Directory const& directory, std::uint64_t next_bytes) {
  std::vector<std::byte> const pointer = encode_pointer(directory.header(), next_bytes);
  std::uint64_t const length = next_pointer_offset_bytes(directory) - directory.offset_bytes();
  std::vector<std::byte> bytes(length + pointer.size());
  // Excludes the old pointer: a truncated file may lack it.
  directory.reader().read(directory.offset_bytes(), std::span(bytes).first(length));
  std::memcpy(bytes.data() + length, pointer.data(), pointer.size());
  return bytes;
}

}  // namespace terrazzo::writing
