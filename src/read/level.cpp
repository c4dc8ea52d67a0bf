// SPDX-License-Identifier: Apache-2.0
#include "read/level.hpp"

#include "read/tile_cache.hpp"

#include <atomic>
#include <utility>

namespace terrazzo::reading {

namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t band_count(tiff::Image const& image) {
  if (!image.is_converted_to_rgb()) { return image.samples; }
  return image.photometric == tiff::Photometric::ycbcr ? 3 : 4;  // the others come with an alpha, as GDAL's do
}

}  // namespace

Level::Level(ByteSourcePtr from, tiff::Directory const& directory, tiff::Image parsed)
    : source(std::move(from)),
      image(std::move(parsed)),
      index(directory, image),
      dtype(image.dtype()),
      bands(band_count(image)),
      id(next_id()) {}

Level::Level(Level const& like, ByteSourcePtr from)
    : source(std::move(from)),
      image(like.image),
      index(like.index),
      dtype(like.dtype),
      bands(like.bands),
      id(next_id()),
      external(like.external),
      mask(like.mask) {}

Level::~Level() { tile_cache().forget_level(id); }

}  // namespace terrazzo::reading
