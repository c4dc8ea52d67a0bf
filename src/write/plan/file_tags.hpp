// SPDX-License-Identifier: Apache-2.0
//
// The tags of each directory of a planned file: structure, georeference, metadata, and places of its blocks.
#pragma once

#include "base/moments.hpp"
#include "tiff/directory_writer.hpp"
#include "write/plan/file_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::writing {

// Offsets and sizes of the blocks of one image, in the order of the index: plane by plane, row by row. Size 0: sparse.
struct BlockPlaces {
  std::vector<std::uint64_t> offsets_bytes{};
  std::vector<std::uint32_t> sizes_bytes{};

  explicit BlockPlaces(std::uint64_t blocks) : offsets_bytes(blocks), sizes_bytes(blocks) {}

  // Sets the tags for tiles or for strips.
  void encode(bool tiled, bool bigtiff, tiff::TagSet& tags) const;
};

// The plan outlives this object.
class FileTags {
 public:
  // Throws `usage` for tags that the writer sets itself, and the errors of geo/encode.hpp.
  explicit FileTags(FilePlan const& plan);
  // Takes over tags whose plan has moved. Making them again would query PROJ about the CRS again.
  FileTags(FileTags&& made, FilePlan const& plan);

  // The size of a directory is independent of places and statistics, so it is known before the first tile. `moments`:
  // one per band, or empty if they are not known yet.
  [[nodiscard]] tiff::TagSet image(std::size_t level, BlockPlaces const& places,
                                   std::span<Moments const> moments) const;
  [[nodiscard]] tiff::TagSet mask(std::size_t level, BlockPlaces const& places) const;

  // Information that only a PAM file (.aux.xml) can hold; empty if there is none.
  [[nodiscard]] std::string const& pam() const noexcept { return pam_; }

 private:
  void set_places(LevelPlan const& level, BlockPlaces const& places, tiff::TagSet& tags) const;
  void set_statistics(std::span<Moments const> moments, tiff::TagSet& tags) const;

  FilePlan const* plan_;
  tiff::TagSet of_levels_;  // tags of every image: samples, nodata, colours, codec
  tiff::TagSet of_raster_;  // tags of the first directory: of_levels_, georeference, metadata, extra tags
  std::string pam_;
  std::size_t metadata_bytes_ = 0;  // size of tag 42112 with statistics
};

}  // namespace terrazzo::writing
