// SPDX-License-Identifier: Apache-2.0
//
// The input of validate(): the images of one file, by their roles, and the file.
#pragma once

#include "base/memory_budget.hpp"
#include "ops/validate/rules.hpp"
#include "read/open/dataset.hpp"
#include "terrazzo/source.hpp"
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
  std::size_t level = 0;  // level of an image or mask: 0 full resolution, 1 the first overview, ...
  tiff::Directory directory;
  tiff::Image image;
  tiff::BlockIndex index;
  // Results of the pass over the tiles.
  std::optional<std::uint64_t> first_tile_bytes{};  // offset of the first stored tile of the first plane
  std::optional<std::uint64_t> lowest_bytes{};  // lowest offset of all tiles of the image

  [[nodiscard]] std::string name() const;  // "overview 2", "mask of the full resolution", "page 3"
};

// The file and its images, without images in other files (.ovr, .msk).
struct CheckedFile {
  ByteSourcePtr source;
  tiff::Chain chain;
  std::vector<tiff::Directory> sub_directories;  // directories of the opened page
  tiff::GhostArea ghost;
  std::vector<CheckedImage> images;  // levels from the largest, each followed by its mask; then pages
  std::size_t levels_outside = 0;  // overviews in other files

  [[nodiscard]] CheckedImage const* find(Role role, std::size_t level) const noexcept;
  [[nodiscard]] std::size_t level_count() const noexcept;  // in this file
};

// Sorts the directories of the file by their roles in `dataset`; directories without a role are findings. Throws
// `limit` if their descriptions exceed the budget.
[[nodiscard]] CheckedFile collect_images(Dataset const& dataset, std::uint32_t page, MemoryBudget& budget,
                                         Findings& findings);

}  // namespace terrazzo::ops
