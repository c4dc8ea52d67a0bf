// SPDX-License-Identifier: Apache-2.0
#include "read/host_read.hpp"

#include "base/checked.hpp"
#include "base/settings.hpp"

#include <algorithm>

namespace terrazzo::reading {

namespace {

// Of a batch (kBatchBytes), however small its blocks.
constexpr std::uint64_t kMaxBatchBlocks = 64;

// Threads share more blocks than this well enough, and ask for each as they come to it: no list of them is made, and
// the read holds on to none that the cache drops.
constexpr std::uint64_t kFewBlocksOfThread = 8;

}  // namespace

HostRead::HostRead(ReadPlan::Impl const& of, ReadRequest const& asked, HostView const& view, MemoryBudget& memory,
                   ResultCoverage* counts)
    : plan(of),
      request(asked),
      destination(view),
      budget(memory),
      coverage(counts),
      method(choose_method(*plan.level, plan.dataset->trusted)),
      cache_limit_bytes(resolve_tile_cache()) {
  tiff::Image const& image = plan.level->image;
  // A kept block has forgotten whether its data went on after the last pixel, which a strict read wants to know.
  uses_cache = cache_limit_bytes != 0 && !request.strict && method.kind != DecodeMethod::Kind::raw;
  threads = plan.threads;
  takes_two = plan.takes_two;
  if (method.kind == DecodeMethod::Kind::raw) {
    piece_lists = budget.reserve(RawPieces::list_bytes(plan), "the pieces of a target size");
    raw_pieces.emplace(plan);
  }
  tasks = kept_from = raw_pieces ? raw_pieces->count() : plan.block_count();
  std::uint64_t at_once = kMaxBatchBlocks;
  if (uses_cache && tasks <= kFewBlocksOfThread * threads && tile_cache().used_bytes() != 0) { find_kept(); }
  if (kept) { at_once = std::max<std::uint64_t>(1, ceil_div<std::uint64_t>(kept_from, threads)); }
  std::uint64_t const block_bytes = std::max<std::uint64_t>(1, image.block_bytes(image.block_height_px));
  bool const one_by_one = raw_pieces || image.is_converted_to_rgb();
  std::uint64_t const least = takes_two ? 2 : 1;
  tasks_at_once =
      one_by_one ? 1 : std::clamp<std::uint64_t>(kBatchBytes / block_bytes, least, std::max(least, at_once));
}

void HostRead::find_kept() {
  kept.emplace(plan);
  if (kept->pieces().empty()) {
    kept.reset();
    return;
  }
  kept_from = kept->missing().size();
  tasks = kept_from + kept->pieces().size();
  threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, kept_from + kept->threads()));
  takes_two = takes_two && kept_from >= 2 * std::uint64_t{threads};  // or some would have none
}

std::uint64_t HostRead::blocks_in(std::uint64_t done) const noexcept {
  if (raw_pieces) { return raw_pieces->blocks_in(done); }
  return done <= kept_from ? done : kept_from + kept->blocks_in(done - kept_from);
}

KeptPiece const* HostRead::kept_piece(std::uint64_t task) const noexcept {
  return task < kept_from ? nullptr : &kept->pieces()[task - kept_from];
}

std::uint64_t HostRead::block_of(std::uint64_t task) const noexcept {
  if (!kept) { return task; }
  KeptPiece const* const piece = kept_piece(task);
  return piece != nullptr ? piece->block : kept->missing()[task];
}

}  // namespace terrazzo::reading
