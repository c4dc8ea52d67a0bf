// SPDX-License-Identifier: Apache-2.0
#include "ops/validate_ghost.hpp"

#include "base/text.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo::ops {

namespace {

constexpr std::string_view kMagic = "GDAL_STRUCTURAL_METADATA_SIZE=";
constexpr std::string_view kUnit = " bytes\n";
constexpr std::size_t kDigits = 6;
constexpr std::size_t kFirstLineBytes = kMagic.size() + kDigits + kUnit.size();

std::string read_text(tiff::MetadataReader const& reader, std::uint64_t offset_bytes, std::size_t size_bytes) {
  std::string content(size_bytes, '\0');
  content.resize(reader.read_some(offset_bytes, std::as_writable_bytes(std::span(content))));
  return content;
}

bool is_digits(std::string_view s) {
  return std::ranges::all_of(s, [](char c) { return c >= '0' && c <= '9'; });
}

// Lines of KEY=VALUE. GDAL puts a space before a line that it may want to lengthen, and pads with spaces at the end.
bool is_well_formed(std::string_view body) {
  bool const plain = std::ranges::all_of(body, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
  if (!plain) { return false; }
  while (!body.empty()) {
    std::size_t const end = body.find('\n');
    std::string_view line = body.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    bool const last = end == std::string_view::npos;
    if (last) { return line.empty(); }  // a line without its end: the length is too small
    if (line.find('=') == std::string_view::npos || line.starts_with('=')) { return false; }
    body.remove_prefix(end + 1);
  }
  return true;
}

bool declares(std::string_view body, std::string_view line) { return body.find(line) != std::string_view::npos; }

}  // namespace

GhostArea read_ghost_area(tiff::MetadataReader const& reader, tiff::Header const& header, Findings& findings) {
  GhostArea ghost;
  std::uint64_t const start = header.big ? 16 : 8;
  ghost.end_bytes = start;
  // A directory that follows the header at once leaves no room for text, whatever the bytes look like.
  if (header.first_ifd_bytes <= 16) { return ghost; }
  std::string const first_line = read_text(reader, start, kFirstLineBytes);
  if (first_line.size() < kFirstLineBytes || !first_line.starts_with(kMagic)) { return ghost; }

  std::string_view const digits = std::string_view(first_line).substr(kMagic.size(), kDigits);
  if (!is_digits(digits)) {
    findings.add(
        Rule::ghost_area, {.offset = start},
        [] { return std::string("the ghost area after the header does not tell its length in six digits"); }, true);
    return ghost;
  }
  if (!first_line.ends_with(kUnit)) {
    findings.add(Rule::ghost_area, {.offset = start},
                 [] { return std::string("the first line of the ghost area does not end with \" bytes\""); });
  }
  std::size_t const size = std::stoul(std::string(digits));
  std::string const body = read_text(reader, start + kFirstLineBytes, size);
  ghost.row_major = declares(body, "BLOCK_ORDER=ROW_MAJOR");
  ghost.has_leaders = declares(body, "BLOCK_LEADER=SIZE_AS_UINT4");
  ghost.has_trailers = declares(body, "BLOCK_TRAILER=LAST_4_BYTES_REPEATED");
  ghost.mask_interleaved = declares(body, "MASK_INTERLEAVED_WITH_IMAGERY=YES");
  ghost.tile_interleaved = declares(body, "INTERLEAVE=TILE");
  ghost.end_bytes = start + kFirstLineBytes + size;
  ghost.end_bytes += ghost.end_bytes % 2;  // directories begin at even bytes

  if (declares(body, "KNOWN_INCOMPATIBLE_EDITION=YES")) {
    findings.add(Rule::incompatible_edition, {.offset = start}, [] {
      return std::string(
          "KNOWN_INCOMPATIBLE_EDITION=YES: the file was edited after it was made a COG; `terrazzo edit --rewrite` puts "
          "it in order");
    });
  }
  if (body.size() < size) {
    findings.add(Rule::ghost_area, {.offset = start}, [&] {
      return text("the ghost area is said to have ", size, " bytes more, the file has only ", body.size());
    });
  } else if (!is_well_formed(body)) {
    findings.add(Rule::ghost_area, {.offset = start + kFirstLineBytes}, [&] {
      return text("the ", size, " bytes of the ghost area are not lines of KEY=VALUE: its length or its text is wrong");
    });
  } else if (!declares(body, "LAYOUT=IFDS_BEFORE_DATA")) {
    findings.add(Rule::ghost_area, {.offset = start + kFirstLineBytes}, [] {
      return std::string("the ghost area does not say LAYOUT=IFDS_BEFORE_DATA, so that readers cannot rely on it");
    });
  }
  return ghost;
}

}  // namespace terrazzo::ops
