// SPDX-License-Identifier: Apache-2.0
#include "write/layout/file_head.hpp"

#include "base/checked.hpp"
#include "tiff/ghost_area.hpp"

#include <string_view>

namespace terrazzo::writing {

namespace {

constexpr std::uint64_t kLongFrontBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kFrontUnitBytes = std::uint64_t{64} << 10;

}  // namespace

std::uint64_t raster_start_bytes(std::uint64_t head_bytes) noexcept {
  return head_bytes >= kLongFrontBytes ? round_up(head_bytes, kFrontUnitBytes) : head_bytes;
}

std::uint64_t first_directory_bytes(FileHeadFormat const& format) noexcept {
  std::uint64_t const header = tiff::header_bytes(format.bigtiff);
  if (!format.cog) { return header; }
  // No padding before the ghost area, in BigTIFF too: validators expect it right after the header.
  return round_up(header + tiff::ghost_text(format.mask).size(), 2);
}

std::vector<std::byte> encode_file_head(FileHeadFormat const& format, std::span<tiff::TagSet const> directories) {
  std::uint64_t const first = first_directory_bytes(format);
  std::vector<std::byte> front = tiff::encode_header(format.bigtiff, first, format.order);
  if (format.cog) {
    auto const ghost = std::as_bytes(std::span(tiff::ghost_text(format.mask)));
    front.insert(front.end(), ghost.begin(), ghost.end());
  }
  front.resize(first);
  std::vector<std::byte> const chain = tiff::encode_chain(directories, format.bigtiff, first, format.order);
  front.insert(front.end(), chain.begin(), chain.end());
  return front;
}

}  // namespace terrazzo::writing
