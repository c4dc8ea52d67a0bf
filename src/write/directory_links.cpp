// SPDX-License-Identifier: Apache-2.0
#include "write/directory_links.hpp"

#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <array>
#include <cstring>
#include <span>

namespace terrazzo::writing {
namespace {

// Entries as the file counts them, also those that the parser could make nothing of.
std::uint64_t entry_count(tiff::Directory const& directory) {
  std::array<std::byte, 8> bytes{};
  directory.reader().read(directory.offset_bytes(), std::span(bytes).first(directory.header().big ? 8 : 2));
  std::uint64_t count = 0;
  std::memcpy(&count, bytes.data(), bytes.size());
  return count;
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
  return bytes;
}

std::vector<std::byte> relinked(tiff::Directory const& directory, std::uint64_t next_bytes) {
  std::vector<std::byte> const pointer = encode_pointer(directory.header(), next_bytes);
  std::uint64_t const length = next_pointer_offset_bytes(directory) - directory.offset_bytes();
  std::vector<std::byte> bytes(length + pointer.size());
  directory.reader().read(directory.offset_bytes(), bytes);
  std::memcpy(bytes.data() + length, pointer.data(), pointer.size());
  return bytes;
}

}  // namespace terrazzo::writing
