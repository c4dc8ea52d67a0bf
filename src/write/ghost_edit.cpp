// SPDX-License-Identifier: Apache-2.0
#include "write/ghost_edit.hpp"

#include "tiff/directory_writer.hpp"

#include <array>
#include <span>
#include <string_view>

namespace terrazzo::writing {

std::optional<GhostEdit> break_ghost(tiff::Directory const& directory) {
  constexpr std::string_view kMagic = "GDAL_STRUCTURAL_METADATA_SIZE=";
  constexpr std::string_view kIntact = "KNOWN_INCOMPATIBLE_EDITION=NO\n ";
  constexpr std::string_view kBroken = "KNOWN_INCOMPATIBLE_EDITION=YES\n";
  static_assert(kIntact.size() == kBroken.size());
  constexpr std::size_t kMaxBytes = 512;
  std::array<char, kMaxBytes> bytes{};
  std::uint64_t const start = tiff::header_bytes(directory.header().big);
  std::size_t const got = directory.reader().read_some(start, std::as_writable_bytes(std::span(bytes)));
  std::string_view const area(bytes.data(), got);
  std::size_t const at = area.find(kIntact);
  if (!area.starts_with(kMagic) || at == std::string_view::npos ||
      start + at + kIntact.size() > directory.offset_bytes()) {
    return std::nullopt;
  }
  auto const text = std::as_bytes(std::span(kBroken));
  return GhostEdit{start + at, {text.begin(), text.end()}};
}

}  // namespace terrazzo::writing
