// SPDX-License-Identifier: Apache-2.0
//
// Header, chain of directories, SubIFDs, every accessor of tags, images and the block index under arbitrary bytes.
// Nothing here may throw anything but terrazzo::Error, and an answer may not change when it is asked for again.
#include "io/memory_source.hpp"
#include "terrazzo/error.hpp"
#include "tiff/block_index.hpp"
#include "tiff/directory.hpp"
#include "tiff/image.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace terrazzo;

void require(bool condition) {
  if (!condition) { std::abort(); }
}

// Values are read with a count that a small file cannot honestly have, so that a wrong bound shows.
constexpr std::uint64_t kManyValues = 1 << 20;
constexpr std::size_t kMaxTags = 200;

void ask_tags(tiff::Directory const& dir, std::size_t file_bytes) {
  // A look-up is linear, so asking for all of 65,535 tags would be quadratic.
  for (tiff::Entry const& entry : dir.entries().first(std::min<std::size_t>(dir.entries().size(), kMaxTags))) {
    require(dir.find(entry.tag) != nullptr && dir.has(entry.tag));
    std::vector<std::byte> const raw = dir.bytes_value(entry.tag);
    require(raw.size() <= file_bytes);
    require(dir.unsigned_values(entry.tag, kManyValues).size() <= file_bytes);
    require(dir.real_values(entry.tag, 3).size() <= 3);
    auto const text = dir.text_value(entry.tag);
    require(!text || text->size() <= raw.size());
    for (std::uint64_t const index :
         {std::uint64_t{0}, std::uint64_t{1}, entry.count - 1, entry.count, ~std::uint64_t{0}}) {
      require(dir.unsigned_value(entry.tag, index) == dir.unsigned_value(entry.tag, index));
      static_cast<void>(dir.real_value(entry.tag, index));
    }
  }
}

void ask_image(tiff::Directory const& dir) {
  try {
    std::vector<std::string> warnings;
    tiff::Image const image = tiff::parse_image(dir, warnings);
    require(image.width_px > 0 && image.height_px > 0 && image.block_count() > 0);
    require(image.block_rows(image.blocks_down - 1) > 0);
    require(image.block_bytes(image.block_height_px) >= image.block_bytes(image.block_rows(image.blocks_down - 1)));
    tiff::BlockIndex const index(dir, image);
    std::uint64_t const count = image.block_count();
    for (std::uint64_t const block : {std::uint64_t{0}, count / 2, count - 1}) {
      static_cast<void>(index.range(block));
    }
    static_cast<void>(image.dtype());
  } catch (Error const& error) {
    require(error.kind() == ErrorKind::malformed || error.kind() == ErrorKind::unsupported);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const source = std::make_shared<io::MemorySource const>(std::as_bytes(std::span(data, size)), "fuzz");
  try {
    tiff::Chain const chain = tiff::read_chain(source, 64);
    require(!chain.directories.empty());
    for (tiff::Directory const& dir : chain.directories) {
      ask_tags(dir, size);
      ask_image(dir);
      for (tiff::Directory const& sub : tiff::read_sub_directories(dir)) { ask_image(sub); }
    }
  } catch (Error const& error) { require(error.kind() == ErrorKind::malformed); }
  return 0;
}
