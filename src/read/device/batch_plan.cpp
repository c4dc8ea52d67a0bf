// SPDX-License-Identifier: Apache-2.0
#include "read/device/batch_plan.hpp"

#include "base/carver.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace terrazzo::reading {

namespace {

// The first and last pieces of a read are small: the link idles until the first is read, and the decoder idles until
// the last has arrived.
constexpr std::uint64_t kEdgeBytes = 16u << 20;
constexpr std::uint64_t kEdgePieceBytes = 512u << 10;
// Piece size for tiles that the host decodes: small, so that all threads finish at about the same time.
constexpr std::uint64_t kHostPieceBytes = 1u << 20;

// A decoder that uses a warp or a block per tile needs many tiles per batch. Below this number, use fewer slots with
// larger batches.
constexpr std::uint64_t kMinBatchTiles = 32;
// Upper bound on the tiles of a batch: keeps its control data small and grids within their limits.
constexpr std::uint64_t kMaxBatchTiles = 32768;

// Decoders read and write whole words: at most this far past the end of the input and the output.
constexpr std::size_t kOverreadBytes = 16;

// Slots for finished tiles that are uploaded: a few batches, each large enough to be worth a copy.
constexpr std::size_t kHostSlots = 4;
constexpr std::uint64_t kHostBatchBytes = 64u << 20;

// Number of batches in flight, chosen so that disk, link and decoder overlap. The vendors' decoders take as long for
// few tiles as for many and slow each other down (1 GiB of zstd, all tiles in flight: 16 ms in one batch, 25 ms in
// eight), so their batches are large and few. Our own kernels are faster with an early start.
std::size_t slots_for(DeviceMethod method, std::uint64_t tiles) {
  constexpr std::uint64_t kLargeBatchTiles = 1024;
  switch (method) {
    case DeviceMethod::deflate:
    case DeviceMethod::zstd:
    case DeviceMethod::jpeg:
    case DeviceMethod::jpeg2000:
      return static_cast<std::size_t>(std::clamp<std::uint64_t>(tiles / kLargeBatchTiles, 1, 2));
    default: return 8;
  }
}

WorkBatch largest_of(std::vector<WorkBatch> const& batches, bool on_host) {
  WorkBatch largest{.on_host = on_host};
  for (WorkBatch const& batch : batches) {
    if (batch.on_host != on_host) { continue; }
    largest.tile_count = std::max(largest.tile_count, batch.tile_count);
    largest.input_bytes = std::max(largest.input_bytes, batch.input_bytes);
    largest.output_bytes = std::max(largest.output_bytes, batch.output_bytes);
    largest.placement_count = std::max(largest.placement_count, batch.placement_count);
  }
  return largest;
}

class Planner {
 public:
  Planner(DeviceWork& work, BatchRules const& rules) : work_(work), rules_(rules) {}

  BatchPlan run() {
    if (rules_.method == DeviceMethod::host) {
      choose_host_batches();
    } else {
      choose_batches();
    }
    cut_pieces();
    return std::move(plan_);
  }

 private:
  BatchLayout layout_of(WorkBatch const& largest) const {
    BatchLayout layout;
    layout.tiles = largest.tile_count;
    layout.placements = largest.placement_count;
    layout.control_bytes = layout.statuses() + layout.tiles;
    bool const decoded = rules_.method != DeviceMethod::raw && !largest.on_host;
    if (rules_.host_input && !largest.on_host) {
      layout.host_input_bytes = static_cast<std::size_t>(largest.input_bytes);
    }
    layout.scratch_bytes = decoded ? rules_.scratch_bytes(load_of(largest, work_)) : 0;
    Carver slot;
    if (decoded && !rules_.host_input) { slot.place(static_cast<std::size_t>(largest.input_bytes) + kOverreadBytes); }
    layout.output = slot.place(static_cast<std::size_t>(largest.output_bytes) + kOverreadBytes);
    layout.scratch = slot.place(layout.scratch_bytes);
    layout.control = slot.place(layout.control_bytes);
    layout.total = slot.used();
    return layout;
  }

  void cut(std::uint64_t tiles, std::uint64_t bytes) {
    plan_.batches = cut_batches(work_, rules_.method, tiles, bytes);
    plan_.layout = layout_of(largest_of(plan_.batches, false));
    plan_.host_layout = layout_of(largest_of(plan_.batches, true));
  }

  // Plans for up to `slots` slots; a read with fewer batches gets fewer. Returns false if they exceed the budget or the
  // limit.
  bool take_slots(std::size_t slots) {
    plan_.slot_bytes.assign(std::min(slots, plan_.batches.size()), 0);
    for (std::size_t b = 0; b < plan_.batches.size(); ++b) {
      std::size_t& bytes = plan_.slot_bytes[b % plan_.slots()];
      bytes = std::max(bytes, plan_.layout_of(plan_.batches[b]).total);
    }
    auto const bytes = std::accumulate(plan_.slot_bytes.begin(), plan_.slot_bytes.end(), std::uint64_t{0});
    return bytes <= rules_.budget_bytes && plan_.host_input_bytes() <= rules_.host_input_limit_bytes;
  }

  // Maximises the tiles in flight within the budget, divided into one batch per slot. Reduces the number of slots
  // before batches become too small to feed the device.
  void choose_batches() {
    if (work_.tiles.empty()) { return; }
    std::uint64_t const tiles = std::max<std::size_t>(work_.device_tiles, 1);
    // The host's share has its own slot, so that it never waits for the device.
    std::size_t own_slot = work_.device_tiles < work_.tiles.size() ? 1 : 0;
    std::size_t slots = rules_.one_at_a_time ? 1 : slots_for(rules_.method, tiles);
    std::uint64_t per_batch =
        std::clamp<std::uint64_t>((tiles + slots - 1) / slots, std::min(tiles, kMinBatchTiles), kMaxBatchTiles);
    while (true) {
      cut(per_batch, rules_.budget_bytes);
      slots = std::min(slots, plan_.batches.size());
      if (take_slots(slots + own_slot)) { return; }
      if (slots > 2 && per_batch <= kMinBatchTiles) {
        slots = std::max<std::size_t>(2, slots / 2);
      } else if (per_batch > 1) {
        per_batch = std::max<std::uint64_t>(1, per_batch * 3 / 4);
      } else if (slots > 1) {
        --slots;
      } else if (own_slot > 0) {
        own_slot = 0;  // without a slot of its own, the host's share waits its turn
      } else {
        refuse();
      }
    }
  }

  void choose_host_batches() {
    if (work_.tiles.empty()) { return; }
    cut(kMaxBatchTiles, std::min(kHostBatchBytes, rules_.budget_bytes / (2 * kHostSlots)));
    std::size_t slots = rules_.one_at_a_time ? 1 : kHostSlots;
    while (!take_slots(slots)) {
      if (--slots == 0) { refuse(); }
    }
  }

  [[noreturn]] void refuse() const {
    if (plan_.host_input_bytes() > rules_.host_input_limit_bytes) {
      throw Error(ErrorKind::limit,
                  text("one tile needs ", plan_.host_input_bytes(),
                       " bytes of pinned memory to be decoded, the memory limit leaves ", rules_.host_input_limit_bytes,
                       " (memory_limit_bytes, TERRAZZO_MEMORY_LIMIT)"));
    }
    throw Error(ErrorKind::limit, text("one tile needs ", plan_.slot_bytes.front(),
                                       " bytes of device memory to be decoded, the budget, or what is free of it, is ",
                                       rules_.budget_bytes, " (device_budget_bytes, TERRAZZO_DEVICE_BUDGET)"));
  }

  void cut_pieces() {
    plan_.pieces_of_batch.assign(plan_.batches.size(), 0);
    std::uint64_t planned = 0;
    for (std::size_t b = 0; b < plan_.batches.size(); ++b) {
      WorkBatch const& batch = plan_.batches[b];
      std::size_t const end = batch.first_tile + batch.tile_count;
      for (std::size_t t = batch.first_tile; t < end;) {
        if (batch.on_host) {
          t = add_host_piece(b, t, end);
        } else if (work_.tiles[t].size_bytes > rules_.chunk_bytes) {
          add_parts(b, t);
          planned += work_.tiles[t++].size_bytes;
        } else {
          bool const edge = planned < kEdgeBytes || work_.input_bytes - planned < kEdgeBytes;
          std::size_t const from = t;
          t = add_run(b, t, end, edge ? std::min(kEdgePieceBytes, rules_.chunk_bytes) : rules_.chunk_bytes);
          for (std::size_t i = from; i < t; ++i) { planned += work_.tiles[i].size_bytes; }
        }
      }
    }
  }

  void add(std::size_t batch, Piece piece) {
    piece.batch = batch;
    piece.first_of_batch = plan_.pieces_of_batch[batch]++ == 0;
    plan_.pieces.push_back(piece);
  }

  // Adds tiles from `first` on, as many as fit in `most` bytes and at least one. Returns the next tile.
  std::size_t add_run(std::size_t batch, std::size_t first, std::size_t end, std::uint64_t most) {
    auto const begin_of = [&](std::size_t t) { return place_in_input(work_.tiles[t], rules_.method); };
    auto const end_of = [&](std::size_t t) { return begin_of(t) + work_.tiles[t].size_bytes; };
    std::size_t t = first + 1;
    while (t < end && end_of(t) - begin_of(first) <= most) { ++t; }
    add(batch, {.first_tile = first,
                .tile_count = t - first,
                .begin = begin_of(first),
                .bytes = end_of(t - 1) - begin_of(first)});
    return t;
  }

  void add_parts(std::size_t batch, std::size_t t) {
    WorkTile const& tile = work_.tiles[t];
    for (std::uint64_t at = 0; at < tile.size_bytes; at += rules_.chunk_bytes) {
      add(batch, {.first_tile = t,
                  .tile_count = 1,
                  .begin = place_in_input(tile, rules_.method) + at,
                  .bytes = std::min(rules_.chunk_bytes, tile.size_bytes - at),
                  .skip_bytes = at});
    }
  }

  std::size_t add_host_piece(std::size_t batch, std::size_t t, std::size_t end) {
    Piece piece{.first_tile = t};
    do { piece.bytes += work_.tiles[t++].decoded_bytes; } while (t < end && piece.bytes < kHostPieceBytes);
    piece.tile_count = t - piece.first_tile;
    add(batch, piece);
    return t;
  }

  DeviceWork& work_;
  BatchRules const& rules_;
  BatchPlan plan_;
};

}  // namespace

DecodeLoad load_of(WorkBatch const& batch, DeviceWork const& work) noexcept {
  return {static_cast<std::uint32_t>(batch.tile_count), batch.input_bytes, work.max_input_bytes, batch.output_bytes,
          work.max_decoded_bytes};
}

BatchPlan plan_batches(DeviceWork& work, BatchRules const& rules) { return Planner(work, rules).run(); }

}  // namespace terrazzo::reading
