// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/ghost.hpp"

#include "base/text.hpp"
#include "tiff/directory_writer.hpp"

#include <cstdint>
#include <string>

namespace terrazzo::ops {

tiff::GhostArea judge_ghost_area(tiff::MetadataReader const& reader, tiff::Header const& header, Findings& findings) {
  auto const found = tiff::read_ghost_area(reader, header);
  if (!found) {
    tiff::GhostArea none;
    none.start_bytes = none.end_bytes = tiff::header_bytes(header.big);
    return none;
  }
  tiff::GhostArea const& ghost = *found;
  std::uint64_t const start = ghost.start_bytes;
  auto const flaw = [&](auto const& say) { findings.add(Rule::ghost_area, {.offset = start}, say); };
  if (!ghost.has_size) {
    findings.add(
        Rule::ghost_area, {.offset = start},
        [] { return std::string("the ghost area after the header does not tell its length in six digits"); }, true);
    return ghost;
  }
  if (!ghost.has_unit) {
    flaw([] { return std::string("the first line of the ghost area does not end with \" bytes\""); });
  }
  if (ghost.edited) {
    findings.add(Rule::incompatible_edition, {.offset = start}, [] {
      return std::string(
          "KNOWN_INCOMPATIBLE_EDITION=YES: the file was edited after it was made a COG; an edit with "
          "EditOptions::rewrite restores the layout");
    });
  }
  std::uint64_t const size = ghost.declared_bytes;
  if (ghost.lines.size() < size) {
    flaw([&] {
      return text("the ghost area is said to have ", size, " bytes more, the file has only ", ghost.lines.size());
    });
  } else if (!ghost.is_well_formed()) {
    flaw([&] {
      return text("the ", size, " bytes of the ghost area are not lines of KEY=VALUE: its length or its text is wrong");
    });
  } else if (!ghost.ifds_before_data) {
    flaw([] {
      return std::string("the ghost area does not say LAYOUT=IFDS_BEFORE_DATA, so that readers cannot rely on it");
    });
  }
  return ghost;
}

}  // namespace terrazzo::ops
