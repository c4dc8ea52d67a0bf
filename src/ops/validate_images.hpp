// SPDX-License-Identifier: Apache-2.0
//
// What validate() looks at: the images of one file, by their roles, and the file they are in.
#pragma once

#include "base/byte_source.hpp"
#include "base/memory_budget.hpp"
#include "ops/validate_rules.hpp"
#include "read/dataset.hpp"
#include "terrazzo/validate.hpp"
#include "tiff/block_index.hpp"
#include "tiff/directory.hpp"
#include "tiff/ghost_area.hpp"
#include "tiff/image.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::ops {

enum class Role : std::uint8_t { level, mask, page };

struct CheckedImage {
  Role role = Role::level;
  std::size_t level = 0;  // of levels and masks: 0 full resolution, 1 the first overview, ...
  tiff::Directory directory;
  tiff::Image image;
  tiff::BlockIndex index;
  // What the pass over the tiles found.
  std::optional<std::uint64_t> first_tile_bytes{};  // offset of the first tile of the first plane that is in the file
  std::optional<std::uint64_t> lowest_bytes{};  // of all tiles of the image

  [[nodiscard]] std::string name() const;  // "overview 2", "mask of the full resolution", "page 3"
  [[nodiscard]] TileId tile_id(std::uint64_t block) const noexcept;
};

// The file and all that is in it. Images in other files (.ovr, .msk) are not here.
struct CheckedFile {
  ByteSourcePtr source;
  tiff::Chain chain;
  std::vector<tiff::Directory> sub_directories;  // of the opened page
  tiff::GhostArea ghost;
  std::vector<CheckedImage> images;  // levels from the largest, each followed by its mask; then pages
  std::size_t levels_outside = 0;  // overviews that are in other files

  [[nodiscard]] CheckedImage const* find(Role role, std::size_t level) const noexcept;
  [[nodiscard]] std::size_t level_count() const noexcept;  // in this file
};

// Sorts the directories of the file by their roles in `dataset`; those without one are findings. Throws `limit` when
// the budget has no room for what is known of them.
[[nodiscard]] CheckedFile collect_images(Dataset const& dataset, std::uint32_t page, MemoryBudget& budget,
                                         Findings& findings);

}  // namespace terrazzo::ops
