// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/grey_mask.hpp"

#include "ops/convert/stream_rows.hpp"
#include "read/plan/plan.hpp"

#include <algorithm>
#include <cstddef>

namespace terrazzo::ops {
namespace {

bool is_shade(std::byte value) noexcept { return value != std::byte{0} && value != std::byte{255}; }

}  // namespace

std::uint32_t needed_mask_bits(Dataset const& source, ReadRequest const& read, WriteOptions const& options) {
  ReadPlan const planned = plan(source, read);
  ReadPlan::Impl const& impl = planned.impl();
  reading::LevelPtr const& level = impl.mask_level();
  // A filter makes masks of 0 and 255.
  if (level == nullptr || level->image.bits < 8 || impl.filter) { return 1; }
  ReadRequest masks = read;
  if (level->bands == 1) { masks.bands = {planned.bands().front()}; }  // one mask for all bands
  RowBlocks const blocks = blocks_for(source, masks, options);
  for (std::uint64_t i = 0; i < blocks.count(); ++i) {
    if (std::ranges::any_of(blocks.read_mask(i).bytes(), is_shade)) { return 8; }
  }
  return 1;
}

}  // namespace terrazzo::ops
