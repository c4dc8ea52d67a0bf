// SPDX-License-Identifier: Apache-2.0
//
// A COG of ours, classic and little-endian, as other writers make them: without GDAL's ghost area.
#pragma once

#include "io/memory_source.hpp"
#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"
#include "write/tag_edit.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace terrazzo::testing {

// The directories move to byte 8, zeros fill the room they leave; tiles stay where they are.
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
