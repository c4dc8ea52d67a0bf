// SPDX-License-Identifier: Apache-2.0
//
// The tags of each directory of a file that is planned: structure, georeference, metadata, and where its blocks lie.
#pragma once

#include "base/moments.hpp"
#include "tiff/directory_writer.hpp"
#include "write/file_plan.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace terrazzo::writing {

// Where the blocks of one image lie, in the order of the index: plane by plane, row by row. Size 0: sparse.
struct BlockPlaces {
  std::vector<std::uint64_t> offsets_bytes{};
  std::vector<std::uint32_t> sizes_bytes{};

  explicit BlockPlaces(std::uint64_t blocks) : offsets_bytes(blocks), sizes_bytes(blocks) {}

  // As the tags that say so, of tiles or of strips.
  void encode(bool tiled, bool bigtiff, tiff::TagSet& tags) const;
};

// The plan outlives it.
class FileTags {
 public:
  // Throws `usage` for tags that the writer sets itself, and what geo/encode.hpp throws.
  explicit FileTags(FilePlan const& plan);
  // Those of a plan that lies elsewhere now. Making them anew would ask PROJ about the CRS again.
  FileTags(FileTags&& made, FilePlan const& plan);

  // The size of a directory does not depend on places and statistics, so it is known before the first tile. `moments`:
  // of every band, or empty while they are not known.
  [[nodiscard]] tiff::TagSet image(std::size_t level, BlockPlaces const& places,
                                   std::span<Moments const> moments) const;
  [[nodiscard]] tiff::TagSet mask(std::size_t level, BlockPlaces const& places) const;

  // What only a PAM file (.aux.xml) can say of the raster; empty when nothing.
  [[nodiscard]] std::string const& pam() const noexcept { return pam_; }

 private:
  void set_places(LevelPlan const& level, BlockPlaces const& places, tiff::TagSet& tags) const;
  void set_statistics(std::span<Moments const> moments, tiff::TagSet& tags) const;

  FilePlan const* plan_;
  tiff::TagSet of_levels_;  // of every image: samples, nodata, colours, codec
  tiff::TagSet of_raster_;  // of the first directory: those, georeference, metadata, extra tags
  std::string pam_;
  std::size_t metadata_bytes_ = 0;  // what tag 42112 takes with statistics
};

}  // namespace terrazzo::writing
