// SPDX-License-Identifier: Apache-2.0
#include "tiff/ghost_area.hpp"

#include "tiff/directory_writer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace terrazzo::tiff {

namespace {

constexpr std::string_view kMagic = "GDAL_STRUCTURAL_METADATA_SIZE=";
constexpr std::string_view kUnit = " bytes\n";
constexpr std::size_t kDigits = 6;
constexpr std::size_t kFirstLineBytes = kMagic.size() + kDigits + kUnit.size();
constexpr std::string_view kIntact = "KNOWN_INCOMPATIBLE_EDITION=NO\n ";  // the blank is room for the other
constexpr std::string_view kEdited = "KNOWN_INCOMPATIBLE_EDITION=YES\n";
static_assert(kIntact.size() == kEdited.size());

constexpr std::string_view kText =
    "GDAL_STRUCTURAL_METADATA_SIZE=000140 bytes\n"
    "LAYOUT=IFDS_BEFORE_DATA\n"
    "BLOCK_ORDER=ROW_MAJOR\n"
    "BLOCK_LEADER=SIZE_AS_UINT4\n"
    "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\n"
    "KNOWN_INCOMPATIBLE_EDITION=NO\n ";
constexpr std::string_view kTextWithMask =
    "GDAL_STRUCTURAL_METADATA_SIZE=000174 bytes\n"
    "LAYOUT=IFDS_BEFORE_DATA\n"
    "BLOCK_ORDER=ROW_MAJOR\n"
    "BLOCK_LEADER=SIZE_AS_UINT4\n"
    "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\n"
    "KNOWN_INCOMPATIBLE_EDITION=NO\n "
    "MASK_INTERLEAVED_WITH_IMAGERY=YES\n";
static_assert(kText.size() == kFirstLineBytes + 140 && kTextWithMask.size() == kFirstLineBytes + 174);

std::string read_text(MetadataReader const& reader, std::uint64_t offset_bytes, std::size_t size_bytes) {
  std::string content(size_bytes, '\0');
  content.resize(reader.read_some(offset_bytes, std::as_writable_bytes(std::span(content))));
  return content;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string_view ghost_text(bool mask) noexcept { return mask ? kTextWithMask : kText; }

// GDAL writes a space before a line that it may lengthen later, and pads with spaces at the end.
bool GhostArea::is_well_formed() const noexcept {
  bool const plain = std::ranges::all_of(lines, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
  if (!plain) { return false; }
  for (std::string_view rest = lines; !rest.empty();) {
    std::size_t const end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    bool const last = end == std::string_view::npos;
    if (last) { return line.empty(); }  // a line without an end: the size is too small
    if (line.find('=') == std::string_view::npos || line.starts_with('=')) { return false; }
    rest.remove_prefix(end + 1);
  }
  return true;
}

std::optional<GhostArea> read_ghost_area(MetadataReader const& reader, Header const& header) {
  GhostArea area;
  area.start_bytes = area.end_bytes = header_bytes(header.big);
  // A directory that begins here leaves no room for text, for any bytes.
  std::uint64_t const lines_bytes = area.start_bytes + kFirstLineBytes;
  if (header.first_ifd_bytes < lines_bytes) { return std::nullopt; }
  std::string const first = read_text(reader, area.start_bytes, kFirstLineBytes);
  if (first.size() < kFirstLineBytes || !first.starts_with(kMagic)) { return std::nullopt; }

  std::string_view const digits = std::string_view(first).substr(kMagic.size(), kDigits);
  area.has_size = std::ranges::all_of(digits, is_digit);
  if (!area.has_size) { return area; }
  area.has_unit = first.ends_with(kUnit);
  for (char const digit : digits) {
    area.declared_bytes = area.declared_bytes * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  area.end_bytes = lines_bytes + area.declared_bytes;
  area.end_bytes += area.end_bytes % 2;  // directories begin at even bytes
  area.lines = read_text(reader, lines_bytes, static_cast<std::size_t>(area.declared_bytes));
  // Anywhere in the text, as in GDAL.
  auto const declares = [&](std::string_view line) { return area.lines.find(line) != std::string::npos; };
  area.ifds_before_data = declares("LAYOUT=IFDS_BEFORE_DATA");
  area.row_major = declares("BLOCK_ORDER=ROW_MAJOR");
  area.has_leaders = declares("BLOCK_LEADER=SIZE_AS_UINT4");
  area.has_trailers = declares("BLOCK_TRAILER=LAST_4_BYTES_REPEATED");
  area.mask_interleaved = declares("MASK_INTERLEAVED_WITH_IMAGERY=YES");
  area.tile_interleaved = declares("INTERLEAVE=TILE");
  area.edited = declares(kEdited.substr(0, kEdited.size() - 1));
  return area;
}

std::optional<GhostEdit> take_back_ghost(MetadataReader const& reader, Header const& header) {
  auto const area = read_ghost_area(reader, header);
  std::size_t const at = area ? area->lines.find(kIntact) : std::string::npos;
  if (at == std::string::npos) { return std::nullopt; }
  std::uint64_t const offset = area->start_bytes + kFirstLineBytes + at;
  // An area that claims the bytes of the first directory is ignored.
  if (offset + kEdited.size() > header.first_ifd_bytes) { return std::nullopt; }
  return GhostEdit{offset, kEdited};
}

TileFrame tile_leader(std::uint32_t size_bytes) noexcept {
  static_assert(std::endian::native == std::endian::little);
  return std::bit_cast<TileFrame>(size_bytes);
}

TileFrame tile_trailer(std::span<std::byte const> tile) noexcept {
  TileFrame trailer{};
  std::size_t const last = std::min(kTileFrameBytes, tile.size());
  if (last != 0) { std::memcpy(trailer.data(), tile.data() + tile.size() - last, last); }
  return trailer;
}

}  // namespace terrazzo::tiff
