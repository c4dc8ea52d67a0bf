// SPDX-License-Identifier: Apache-2.0
#include "read/host/read_context.hpp"

#include "base/checked.hpp"
#include "base/saturating.hpp"
#include "base/settings.hpp"

#include <algorithm>

namespace terrazzo::reading {

namespace {

// Upper bound on the blocks of a batch, for tiny blocks.
constexpr std::uint64_t kMaxBatchBlocks = 64;

// Reads with more blocks per thread are balanced well enough: each worker looks up a block when it reaches it. No list
// of cached blocks is made, and the read keeps no block alive that the cache drops.
constexpr std::uint64_t kFewBlocksOfThread = 8;

// Limit per worker: 64 requests of 1 MiB, and the lists of blocks that are not decoded yet.
constexpr std::uint64_t kMaxAheadBytes = 64 << 20;
constexpr std::uint64_t kMaxRequestsAhead = 1024;

}  // namespace

ReadContext::ReadContext(ReadPlan::Impl const& of, ReadRequest const& asked, HostView const& view, MemoryBudget& memory,
                         ResultCoverage* counts)
    : plan(of),
      request(asked),
      destination(view),
      budget(memory),
      coverage(counts),
      method(choose_method(*plan.level, plan.dataset->trusted)),
      cache_limit_bytes(resolve_tile_cache()) {
  tiff::Image const& image = plan.level->image;
  // A cached block does not record whether its data continued after the last pixel, which a strict read checks.
  uses_cache = cache_limit_bytes != 0 && !request.strict && method.kind != DecodeMethod::Kind::raw;
  threads = plan.threads;
  blocks_at_once = plan.blocks_at_once;
  if (method.kind == DecodeMethod::Kind::raw) {
    piece_lists = budget.reserve(RawPieces::list_bytes(plan), "the pieces of a target size");
    raw_pieces.emplace(plan);
  }
  tasks = cached_from = raw_pieces ? raw_pieces->count() : plan.block_count();
  std::uint64_t at_once = kMaxBatchBlocks;
  if (uses_cache && tasks <= kFewBlocksOfThread * threads && tile_cache().used_bytes() != 0) { find_cached(); }
  if (kept) { at_once = std::max<std::uint64_t>(1, ceil_div<std::uint64_t>(cached_from, threads)); }
  std::uint64_t const block_bytes = std::max<std::uint64_t>(1, image.block_bytes(image.block_height_px));
  bool const one_by_one = raw_pieces || image.is_converted_to_rgb();
  std::uint64_t const least = blocks_at_once;
  tasks_at_once =
      one_by_one ? 1
                 : std::clamp<std::uint64_t>(batch_bytes(*plan.level) / block_bytes, least, std::max(least, at_once));
  choose_ahead();
}

// Workers share half of the memory that the result and their scratch leave, so that no worker runs out of memory
// because another one reads ahead.
void ReadContext::choose_ahead() noexcept {
  std::uint64_t const in_flight = plan.level->source->hints().requests_in_flight;
  bool const fetches = !raw_pieces && !method.uses_libtiff() && plan.level->source->in_memory().empty();
  requests_ahead =
      fetches && in_flight > 1 ? std::min(ceil_div<std::uint64_t>(in_flight, threads), kMaxRequestsAhead) : 0;
  std::uint64_t const taken =
      saturating_sum(budget.used_bytes(), saturating_product(plan.scratch_bytes_per_thread, threads));
  std::uint64_t const left = budget.limit_bytes() - std::min(budget.limit_bytes(), taken);
  ahead_bytes = std::min(left / 2 / threads, kMaxAheadBytes);
}

void ReadContext::find_cached() {
  kept.emplace(plan);
  if (kept->pieces().empty()) {
    kept.reset();
    return;
  }
  cached_from = kept->missing().size();
  tasks = cached_from + kept->pieces().size();
  threads = static_cast<unsigned>(std::min<std::uint64_t>(threads, cached_from + kept->threads()));
  // With fewer blocks, some threads would be idle.
  if (cached_from < std::uint64_t{blocks_at_once} * threads) { blocks_at_once = 1; }
}

std::uint64_t ReadContext::blocks_in(std::uint64_t done) const noexcept {
  if (raw_pieces) { return raw_pieces->blocks_in(done); }
  return done <= cached_from ? done : cached_from + kept->blocks_in(done - cached_from);
}

CachedPiece const* ReadContext::cached_piece(std::uint64_t task) const noexcept {
  return task < cached_from ? nullptr : &kept->pieces()[task - cached_from];
}

std::uint64_t ReadContext::block_of(std::uint64_t task) const noexcept {
  if (!kept) { return task; }
  CachedPiece const* const piece = cached_piece(task);
  return piece != nullptr ? piece->block : kept->missing()[task];
}

}  // namespace terrazzo::reading
