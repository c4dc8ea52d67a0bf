// SPDX-License-Identifier: Apache-2.0
//
// One of our COGs, classic and little-endian, in the form of other writers: without GDAL's ghost area.
#pragma once

#include "io/memory_source.hpp"
#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"
#include "write/update/tag_edit.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace terrazzo::testing {

// Moves the directories to byte 8 and fills the gap with zeros; tiles keep their offsets.
inline std::vector<std::byte> without_ghost(std::vector<std::byte> file) {
  std::vector<tiff::TagSet> tags;
  std::uint64_t end = 0;
  {
    tiff::Chain const chain = tiff::read_chain(std::make_shared<io::MemorySource>(file, "memory"));
    end = chain.header.first_ifd_bytes;
    for (tiff::Directory const& directory : chain.directories) { tags.push_back(writing::tags_of(directory)); }
  }
  end += tiff::chain_bytes(tags, false);
  std::vector<std::byte> const header = tiff::encode_header(false, 8), front = tiff::encode_chain(tags, false, 8);
  std::fill_n(file.begin(), end, std::byte{});
  std::ranges::copy(header, file.begin());
  std::ranges::copy(front, file.begin() + 8);
  return file;
}

}  // namespace terrazzo::testing
