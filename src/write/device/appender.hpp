// SPDX-License-Identifier: Apache-2.0
//
// The last stage of the device engine, on its own thread: it waits for batches and copies them back in large pieces,
// encodes blocks without a device encoder on the pool, and writes blocks to the file in order, while the device works
// on the next batch.
//
// Thread rule: push(), wait_for() and drain() are for one thread.
#pragma once

#include "write/device/block_batches.hpp"
#include "write/host/block_encoder.hpp"
#include "write/row_engine.hpp"

#include <array>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace terrazzo::writing {

class DeviceAppender {
 public:
  // Bytes copied back at a time, unless one block is larger: enough for the link's full speed. Three pieces are held.
  static constexpr std::uint64_t kPieceBytes = std::uint64_t{32} << 20;

  // Plan and batches outlive the appender. `device`: the device of the batches.
  DeviceAppender(FilePlan const& plan, unsigned threads, BlockBatches const& batches, int device, EmitBlocks emit,
                 AnnounceSizes announce = {}, std::uint64_t piece_bytes = kPieceBytes);
  ~DeviceAppender();  // drops blocks that are not emitted yet

  // Takes a launched batch. The appender owns the slot until wait_for() returns.
  void push(BatchSlot const& slot) { push(std::vector{&slot}, false); }
  // Takes all batches of the file: announces sizes before the first block is emitted, unless the host must encode some.
  void push_all(std::vector<BatchSlot const*> slots) { push(std::move(slots), true); }
  // Returns when the slot is free. Throws the error of an encoder or of `emit`.
  void wait_for(BatchSlot const& slot);
  // Returns when all blocks are emitted.
  void drain();

 private:
  // Consecutive blocks of a group, [first, last), that are copied back together.
  struct Piece {
    std::size_t first = 0, last = 0;
    std::uint64_t offset = 0, bytes = 0;
  };
  struct Ring {
    gpu::PinnedBuffer memory{};
    gpu::EventHandle copied = gpu::make_event();
  };
  [[nodiscard]] static std::vector<Piece> pieces_of(PackedGroup const& group, std::uint64_t most_bytes);
  void start_copy(PackedGroup const& group, Piece const& piece, Ring& ring);
  // Batches that are waited for together, then emitted one after another.
  struct Group {
    std::vector<BatchSlot const*> slots{};
    bool is_whole_file = false;
  };
  void push(std::vector<BatchSlot const*> slots, bool is_whole_file);
  void run() noexcept;
  void append(Group const& group);
  void append(BatchSlot const& slot, PackedBatch const& batch);
  // Throws `cancelled` if the write was stopped or cancelled.
  void check_wanted();
  void emit_piece(PackedBatch const& batch, Piece const& piece, std::byte const* bytes);
  void release(BatchSlot const& slot);
  void throw_failure();

  FilePlan const& plan_;
  BlockBatches const& batches_;
  BlockEncoder encoder_;
  int device_;
  EmitBlocks emit_;
  AnnounceSizes announce_;
  std::uint64_t piece_bytes_;
  gpu::StreamHandle stream_ = gpu::make_stream();
  std::array<Ring, 3> ring_{};
  Ring masks_{};
  std::uint64_t masks_from_ = 0;  // offset in their group of the first byte in masks_
  std::mutex mutex_{};
  std::condition_variable moved_{};
  std::deque<Group> waiting_{};  // the first one is in progress
  std::deque<BatchSlot const*> held_{};  // slots whose device memory is still in use
  std::exception_ptr failure_{};
  bool stopped_ = false;
  std::thread thread_;  // last member: it uses all members above
};

}  // namespace terrazzo::writing
