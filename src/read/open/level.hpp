// SPDX-License-Identifier: Apache-2.0
//
// One resolution of a raster: an image, the location of its blocks, and its mask. Immutable and thread-safe.
#pragma once

#include "terrazzo/dtype.hpp"
#include "terrazzo/source.hpp"
#include "tiff/block_index.hpp"
#include "tiff/directory.hpp"
#include "tiff/image.hpp"

#include <cstdint>
#include <memory>

namespace terrazzo::reading {

struct Level {
  Level(ByteSourcePtr from, tiff::Directory const& directory, tiff::Image parsed);
  // A copy of a level that reads through another source; for the tile cache it is a different level.
  Level(Level const& like, ByteSourcePtr from);
  ~Level();  // drops its blocks from the tile cache, if no other level has its id
  Level(Level const&) = delete;
  Level& operator=(Level const&) = delete;

  ByteSourcePtr source;
  tiff::Image image;
  tiff::BlockIndex index;
  DType dtype;                          // type of a band, after conversion to RGB if there is any
  std::uint32_t bands;                  // after conversion to RGB if there is any
  // The key in the tile cache, unique in the process. Levels of sources with the same identity (ByteSource::identity())
  // share it.
  std::uint64_t id;
  bool external = false;  // from an .ovr or .msk file
  std::shared_ptr<Level const> mask{};  // has the size of the level

  // True if each band lies in separate blocks: separate planes, unless a colour is computed from all of them.
  [[nodiscard]] bool has_band_planes() const noexcept { return image.separate_planes && !image.is_converted_to_rgb(); }
};

using LevelPtr = std::shared_ptr<Level const>;

}  // namespace terrazzo::reading
