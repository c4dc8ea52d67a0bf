// SPDX-License-Identifier: Apache-2.0
#include "read/open/level.hpp"

#include "base/text.hpp"
#include "read/host/tile_cache.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace terrazzo::reading {

namespace {

std::uint64_t new_id() {
  static std::atomic<std::uint64_t> counter{0};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

// Ids of levels whose sources have an identity, with the number of levels that share each id.
class SharedIds {
 public:
  [[nodiscard]] std::uint64_t acquire(std::string const& name) {
    std::lock_guard const lock(mutex_);
    auto const [found, is_new] = ids_.try_emplace(name, 0);
    if (is_new) { found->second = new_id(); }
    ++owners_.try_emplace(found->second, Owners{name}).first->second.count;
    return found->second;
  }

  // True if the caller was the last owner, or the id was never shared.
  [[nodiscard]] bool release(std::uint64_t id) {
    std::lock_guard const lock(mutex_);
    auto const found = owners_.find(id);
    if (found == owners_.end()) { return true; }
    if (--found->second.count != 0) { return false; }
    ids_.erase(found->second.name);
    owners_.erase(found);
    return true;
  }

 private:
  struct Owners {
    std::string name;
    std::uint64_t count = 0;
  };
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> ids_;
  std::map<std::uint64_t, Owners> owners_;
};

SharedIds& shared_ids() {
  static SharedIds* const ids = new SharedIds;  // never destroyed, like the cache: a static may own a dataset
  return *ids;
}

// The name includes everything that determines the size of a finished block: if a source reports a wrong identity,
// pixels may be wrong, but no block is read past its end.
std::uint64_t id_of(ByteSource const& source, tiff::Image const& image, DType dtype, std::uint32_t bands) {
  std::string const identity = source.identity();
  if (identity.empty()) { return new_id(); }
  return shared_ids().acquire(
      text(image.ifd_offset_bytes, ' ', image.width_px, ' ', image.height_px, ' ', image.block_width_px, ' ',
           image.block_height_px, ' ', image.samples, ' ', image.bits, ' ', image.separate_planes, ' ',
           static_cast<unsigned>(image.photometric), ' ', static_cast<unsigned>(image.compression), ' ',
           static_cast<unsigned>(dtype), ' ', bands, ' ', identity));
}

std::uint32_t band_count(tiff::Image const& image) {
  if (!image.is_converted_to_rgb()) { return image.samples; }
  return image.photometric == tiff::Photometric::ycbcr ? 3 : 4;  // the others have an alpha band, as in GDAL
}

}  // namespace

Level::Level(ByteSourcePtr from, tiff::Directory const& directory, tiff::Image parsed)
    : source(std::move(from)),
      image(std::move(parsed)),
      index(directory, image),
      dtype(image.dtype()),
      bands(band_count(image)),
      id(id_of(*source, image, dtype, bands)) {}

Level::Level(Level const& like, ByteSourcePtr from)
    : source(std::move(from)),
      image(like.image),
      index(like.index),
      dtype(like.dtype),
      bands(like.bands),
      id(new_id()),
      external(like.external),
      mask(like.mask) {}

Level::~Level() {
  if (shared_ids().release(id)) { tile_cache().forget_level(id); }
}

}  // namespace terrazzo::reading
