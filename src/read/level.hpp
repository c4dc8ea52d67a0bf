// SPDX-License-Identifier: Apache-2.0
//
// One resolution of a raster: an image, where its blocks are, and its mask. Immutable and thread-safe.
#pragma once

#include "base/byte_source.hpp"
#include "terrazzo/dtype.hpp"
#include "tiff/block_index.hpp"
#include "tiff/directory.hpp"
#include "tiff/image.hpp"

#include <cstdint>
#include <memory>

namespace terrazzo::reading {

struct Level {
  Level(ByteSourcePtr from, tiff::Directory const& directory, tiff::Image parsed);
  // The same, read through another source; it is another level to the tile cache.
  Level(Level const& like, ByteSourcePtr from);
  ~Level();  // lets go of its blocks in the tile cache
  Level(Level const&) = delete;
  Level& operator=(Level const&) = delete;

  ByteSourcePtr source;
  tiff::Image image;
  tiff::BlockIndex index;
  DType dtype;                          // of a band, after conversion to RGB if there is any
  std::uint32_t bands;                  // likewise
  std::uint64_t id;                     // unique in the process: the tile cache's key
  bool external = false;                // from an .ovr or .msk file
  std::shared_ptr<Level const> mask{};  // of the same size

  // True when each band lies in blocks of its own: separate planes, unless a colour is made of them all.
  [[nodiscard]] bool has_band_planes() const noexcept { return image.separate_planes && !image.is_converted_to_rgb(); }
};

using LevelPtr = std::shared_ptr<Level const>;

}  // namespace terrazzo::reading
