// SPDX-License-Identifier: Apache-2.0
#include "ops/validate/rules.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace terrazzo {

namespace {

constexpr auto kError = Severity::error;
constexpr auto kWarning = Severity::warning;
constexpr auto kNote = Severity::note;

// One line for each ops::Rule, in its order.
constexpr std::array<ValidationRule, ops::kRuleCount> kRules{{
    {"not-a-tiff", kError, true, "the file cannot be opened as a TIFF: header, first directory or its tags are broken"},
    {"chain-broken", kError, false, "a link in the chain of directories points outside the file or back"},
    {"ghost-area", kError, false, "GDAL's text after the header is malformed: its length, its lines, its bytes"},
    {"incompatible-edition", kError, true, "the file is marked as edited after it was made a COG"},
    {"main-ifd-position", kError, true, "the first directory does not follow the header (and the ghost area)"},
    {"external-overviews", kError, true, "overviews are in an .ovr file instead of the file"},
    {"external-mask", kWarning, false, "the mask is in an .msk file instead of the file"},
    {"not-tiled", kError, true, "an image wider than 1024 pixels has blocks as wide as itself"},
    {"strips", kWarning, false, "an image larger than 512 pixels is stored in strips"},
    {"overviews-missing", kWarning, true, "the image is larger than 512 pixels and has no overviews"},
    {"overviews-few", kNote, false, "the smallest overview is still large"},
    {"overview-larger", kError, true, "an overview is larger than the one before it, or than the image"},
    {"overview-size", kWarning, false,
     "an overview is as large as the level before it, or has other proportions than the image"},
    {"overview-type", kWarning, false, "an overview's sample type differs from the image's"},
    {"overview-unused", kWarning, false, "a directory is marked as an overview but matches no image of the file"},
    {"overview-ifd-order", kError, true, "directories of overviews are not sorted by size"},
    {"mask-missing", kWarning, false, "the image has a mask, but an overview has none"},
    {"mask-unused", kWarning, false, "a mask matches no image's size"},
    {"mask-ifd-order", kWarning, false, "a mask's directory comes before its image's, or masks are out of order"},
    {"mask-block-size", kError, true, "mask and image are declared interleaved but have different tile sizes"},
    {"jpeg-tables", kError, false, "the JPEGTables tag holds no JPEG tables"},
    {"extra-images", kNote, false, "the file has more images that are neither overview nor mask"},
    {"data-before-ifd", kError, true, "tiles of the smallest level begin before its directory"},
    {"ifd-after-data", kError, false, "a directory is stored after tile data"},
    {"tags-after-data", kWarning, false, "tag values are stored after tile data: opening needs one more request"},
    {"overview-data-order", kError, true, "tiles of a level do not follow those of the next smaller one"},
    {"index-short", kError, false, "the list of tile offsets or sizes has fewer entries than there are tiles"},
    {"tile-past-end", kError, false, "a tile reaches past the end of the file"},
    {"tile-overlap", kError, false, "two tiles overlap"},
    {"tile-over-metadata", kError, false, "a tile overlaps the header, a directory or tag values"},
    {"tile-shared", kWarning, false, "two tiles are the same bytes of the file"},
    {"tile-empty", kWarning, false, "a tile has an offset but no bytes; a missing tile has neither"},
    {"tile-order", kError, true, "tile offsets do not increase, although the ghost area declares it"},
    {"tile-order-unpromised", kWarning, false, "tile offsets do not increase"},
    {"tile-leader", kError, true, "the four bytes before a tile differ from its size"},
    {"tile-trailer", kError, true, "the four bytes after a tile differ from its last four bytes"},
    {"mask-interleave", kError, true, "a mask tile does not follow its image tile"},
    {"tiles-not-checked", kWarning, false, "some listed tiles were not checked"},
    {"slack", kNote, false, "unused bytes between the directories and the first tile"},
    {"dead-space", kNote, false, "bytes that nothing in the file refers to"},
    {"tile-undecodable", kError, false, "a tile cannot be decoded (with decoding)"},
    {"tile-surplus", kNote, false, "a tile has data after the last pixel (with decoding)"},
    {"codec-unavailable", kWarning, false, "this build cannot decode a level (with decoding)"},
}};

static_assert(kRules[static_cast<std::size_t>(ops::Rule::tile_leader)].name == "tile-leader");
static_assert(kRules[static_cast<std::size_t>(ops::Rule::codec_unavailable)].name == "codec-unavailable");

}  // namespace

std::string_view to_string(Severity severity) noexcept {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "";
}

std::span<ValidationRule const> validation_rules() noexcept { return kRules; }

namespace ops {

ValidationRule const& rule_of(Rule rule) noexcept { return kRules[static_cast<std::size_t>(rule)]; }

void Findings::move_to(Validation& validation) {
  std::ranges::stable_sort(kept_, {}, [](auto const& entry) { return entry.first; });
  validation.findings_left_out = std::reduce(counts_.begin(), counts_.end(), std::uint64_t{0}) - kept_.size();
  validation.findings.reserve(kept_.size());
  for (auto& entry : kept_) { validation.findings.push_back(std::move(entry.second)); }
  kept_.clear();
}

}  // namespace ops

}  // namespace terrazzo
