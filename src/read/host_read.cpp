// SPDX-License-Identifier: Apache-2.0
#include "read/host_read.hpp"

#include "base/settings.hpp"

#include <algorithm>

namespace terrazzo::reading {

namespace {

// Of a batch (kBatchBytes), however small its blocks.
constexpr std::uint64_t kMaxBatchBlocks = 64;

}  // namespace

HostRead::HostRead(ReadPlan::Impl const& of, ReadRequest const& asked, HostView const& view, MemoryBudget& memory)
    : plan(of),
      request(asked),
      destination(view),
      budget(memory),
      method(choose_method(*plan.level, plan.dataset->trusted)),
      cache_limit_bytes(resolve_tile_cache()) {
  tiff::Image const& image = plan.level->image;
  if (method.kind == DecodeMethod::Kind::raw) { raw_pieces.emplace(plan); }
  tasks = raw_pieces ? raw_pieces->count() : plan.block_count();
  std::uint64_t const block_bytes = std::max<std::uint64_t>(1, image.block_bytes(image.block_height_px));
  bool const one_by_one = raw_pieces || image.is_converted_to_rgb();
  std::uint64_t const least = plan.takes_two ? 2 : 1;
  tasks_at_once = one_by_one ? 1 : std::clamp<std::uint64_t>(kBatchBytes / block_bytes, least, kMaxBatchBlocks);
}

}  // namespace terrazzo::reading
