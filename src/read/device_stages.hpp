// SPDX-License-Identifier: Apache-2.0
//
// What happens to one batch of a device read: its tiles are fetched (or decoded by the host), decoded and placed in the
// slot that is its own, and looked at when the device is done. In which order batches go, and on which threads, is the
// caller's: device_pipeline.cpp overlaps them, device_profile.cpp has one stage after the other.
//
// Thread rule: batches of one slot one after the other, and the stages of a batch too, but for its pieces, which any
// number of threads may bring; batches of different slots at once.
#pragma once

#include "read/batch_control.hpp"
#include "read/device_batches.hpp"
#include "read/device_slots.hpp"
#include "read/device_task.hpp"
#include "read/tile_fetcher.hpp"
#include "tile/device_tiles.hpp"
#include "tile/row_format.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::reading {

class DeviceStages {
 public:
  // Cuts the work into batches, takes slots and their memory, sends up what all batches share and fills what no tile
  // of the file covers. The current device is the read's.
  DeviceStages(DeviceTask const& task, DeviceWork& work, ReadReport& report);

  [[nodiscard]] BatchPlan const& plan() const noexcept { return plan_; }
  [[nodiscard]] std::size_t slot_count() const noexcept { return slots_->size(); }
  [[nodiscard]] std::size_t slot_index(std::size_t batch) const noexcept { return batch % slots_->size(); }
  [[nodiscard]] DeviceSlot& slot_of(std::size_t batch) noexcept { return (*slots_)[slot_index(batch)]; }

  // Every thread that brings pieces, before its first.
  void use_device() const;

  // The stages, in this order. The slot's batch before this one is settled.
  void prepare(std::size_t batch);
  void bring(Piece const& piece);  // each of the batch's pieces
  void complete(std::size_t batch);
  void launch_decode(std::size_t batch);
  void launch_place(std::size_t batch);
  void settle(std::size_t batch);  // waits for the device

  // The two halves of bring(), for batches that the device decodes: into `chunk`, which holds a piece, and from there
  // to the device. Decoders that take the host's memory have no use for chunks.
  void read(Piece const& piece, std::byte* chunk);
  void upload(Piece const& piece, std::byte const* chunk);

  // When every batch is settled: the tiles that the device could not decode, in file order. Waits for the fill.
  [[nodiscard]] std::vector<WorkTile> finish();

 private:
  [[nodiscard]] double host_share() const;
  [[nodiscard]] bool is_raw() const noexcept { return task_.method == DeviceMethod::raw; }
  void plan_within_memory();
  void reserve_slots();
  void upload_constants();
  void fill_sparse();
  void decode_here(Piece const& piece);
  [[nodiscard]] std::byte* input_of(DeviceSlot& slot) const noexcept;
  [[nodiscard]] tile::DeviceTiles device_tiles(std::size_t batch);
  void wait_for(WorkBatch const& batch, DeviceSlot const& slot) const;
  void return_inputs(std::size_t batch, std::span<std::uint32_t const> chosen);

  DeviceTask const& task_;
  DeviceWork& work_;
  ReadReport& report_;  // guarded by results_mutex_ while batches are on their way
  bool host_input_;
  bool trusted_;
  tile::RowFormat finished_;  // of tiles that the host decodes
  tile::RowFormat decoded_;  // of the others
  int device_ = 0;
  BatchPlan plan_;
  MemoryBudget::Reservation host_input_bytes_;
  std::optional<SlotLease> slots_;
  std::optional<TileFetcher> fetcher_;  // behind the slots: its reads end before their memory goes

  // What all batches share, in the first slot's memory.
  tile::BandTarget const* bands_ = nullptr;
  std::uint32_t const* source_columns_ = nullptr;
  std::uint32_t const* source_rows_ = nullptr;
  tile::Placement const* fills_ = nullptr;
  std::uint32_t fill_count_ = 0, fill_rows_ = 0;

  std::mutex results_mutex_;
  std::vector<std::size_t> failed_tiles_;  // guarded by results_mutex_, as is task_.returned
};

}  // namespace terrazzo::reading
