// SPDX-License-Identifier: Apache-2.0
//
// The stages of one batch of a device read: tiles are fetched (or decoded by the host), decoded and placed in the
// batch's slot, and their statuses are checked when the device is done. The caller chooses the order of batches and the
// threads: pipeline.cpp overlaps batches, profile.cpp runs one stage after the other.
//
// Thread rule: batches of one slot run one after the other, and so do the stages of a batch; only bring() may be called
// from several threads for one batch. Batches of different slots may run at once.
#pragma once

#include "read/device/batch_control.hpp"
#include "read/device/batch_plan.hpp"
#include "read/device/parameters.hpp"
#include "read/device/slots.hpp"
#include "read/device/tile_fetcher.hpp"
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
  // Divides the work into batches, takes slots and their memory, uploads data shared by all batches, and fills pixels
  // that no tile of the file covers. REQUIRES: the device of parameters.context is current.
  DeviceStages(DeviceParameters const& parameters, DeviceWork& work, ReadReport& report);

  [[nodiscard]] BatchPlan const& plan() const noexcept { return plan_; }
  [[nodiscard]] std::size_t slot_count() const noexcept { return slots_->size(); }
  [[nodiscard]] std::size_t slot_index(std::size_t batch) const noexcept { return batch % slots_->size(); }
  [[nodiscard]] DeviceSlot& slot_of(std::size_t batch) noexcept { return (*slots_)[slot_index(batch)]; }

  // Every thread calls it before its first bring().
  void use_device() const;

  // The stages, in this order. REQUIRES: the previous batch of the slot is settled.
  void prepare(std::size_t batch);
  void bring(Piece const& piece);  // for each piece of the batch
  void complete(std::size_t batch);
  void launch_decode(std::size_t batch);
  void launch_place(std::size_t batch);
  void settle(std::size_t batch);  // waits for the device

  // The two halves of bring(), for batches that the device decodes: file to `chunk`, which has room for a piece, and
  // `chunk` to device. Decoders that read host memory need no chunks.
  void read(Piece const& piece, std::byte* chunk);
  void upload(Piece const& piece, std::byte const* chunk);

  // Call it when every batch is settled. Returns the tiles that the device could not decode, in file order. Waits for
  // the fill.
  [[nodiscard]] std::vector<WorkTile> finish();

 private:
  [[nodiscard]] double host_share() const;
  [[nodiscard]] bool is_raw() const noexcept { return parameters_.method == DeviceMethod::raw; }
  void plan_within_memory();
  void reserve_slots();
  void upload_constants();
  void fill_sparse();
  void decode_here(Piece const& piece);
  [[nodiscard]] std::byte* input_of(DeviceSlot& slot) const noexcept;
  [[nodiscard]] tile::DeviceTiles device_tiles(std::size_t batch);
  void wait_for(WorkBatch const& batch, DeviceSlot const& slot) const;
  void return_inputs(std::size_t batch, std::span<std::uint32_t const> chosen);

  DeviceParameters const& parameters_;
  DeviceWork& work_;
  ReadReport& report_;  // guarded by results_mutex_ while batches are in flight
  bool host_input_;
  bool trusted_;
  tile::RowFormat finished_;  // format of tiles that the host decodes
  tile::RowFormat decoded_;  // format of all other tiles
  BatchPlan plan_;
  MemoryBudget::Reservation host_input_bytes_;
  std::optional<SlotLease> slots_;
  std::optional<TileFetcher> fetcher_;  // after the slots: its destructor ends reads into their memory

  // Data shared by all batches, in the first slot's memory.
  tile::BandTarget const* bands_ = nullptr;
  std::uint32_t const* source_columns_ = nullptr;
  std::uint32_t const* source_rows_ = nullptr;
  tile::Placement const* fills_ = nullptr;
  std::uint32_t fill_count_ = 0, fill_rows_ = 0;

  std::mutex results_mutex_;
  std::vector<std::size_t> failed_tiles_;  // guarded by results_mutex_, like parameters_.returned
};

}  // namespace terrazzo::reading
