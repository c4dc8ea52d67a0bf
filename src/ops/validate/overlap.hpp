// SPDX-License-Identifier: Apache-2.0
//
// Rules about the whole file: tiles that overlap each other or metadata, slack, dead space. The only
// part of validate() whose memory grows with the number of tiles: 16 bytes for each, checked against the budget first.
#pragma once

#include "ops/validate/images.hpp"

#include <cstdint>
#include <vector>

namespace terrazzo::ops {

struct Extent {
  std::uint64_t begin = 0, end = 0;  // bytes, half open
  friend auto operator<=>(Extent const&, Extent const&) = default;
};

// Extents of tiles. REQUIRES: ranges lie inside the file, so that ends cannot overflow.
class ExtentList {
 public:
  // At most `blocks` will be added; the caller has reserved bytes_for(blocks).
  explicit ExtentList(std::uint64_t blocks) { extents_.reserve(static_cast<std::size_t>(blocks)); }
  [[nodiscard]] static constexpr std::uint64_t bytes_for(std::uint64_t blocks) noexcept {
    return blocks * sizeof(Extent);
  }

  void add(std::uint64_t offset_bytes, std::uint64_t size_bytes) {
    extents_.push_back({offset_bytes, offset_bytes + size_bytes});
  }
  [[nodiscard]] std::vector<Extent> take() && { return std::move(extents_); }

 private:
  std::vector<Extent> extents_;
};

// Header, ghost area, directories and tag values: sorted, and merged if adjacent.
[[nodiscard]] std::vector<Extent> metadata_extents(CheckedFile const& file);

// Consumes the list. Also sets header_bytes and slack_bytes of the validation.
void check_extents(CheckedFile const& file, ExtentList tiles, Findings& findings, Validation& validation);

}  // namespace terrazzo::ops
