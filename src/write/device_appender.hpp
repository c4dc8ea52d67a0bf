// SPDX-License-Identifier: Apache-2.0
//
// The last stage of the device engine, on a thread of its own: batches are waited for and come back in large copies,
// what no device encoder took is encoded on the pool, and blocks go to the file in their order, while the device works
// on the next batch.
//
// Thread rule: push(), wait_for() and drain() are for one thread.
#pragma once

#include "write/block_encoder.hpp"
#include "write/device_batches.hpp"
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
  // What comes back at a time, unless one block is larger: enough for the link's full speed. Three of them are held.
  static constexpr std::uint64_t kPieceBytes = std::uint64_t{32} << 20;

  // Plan and batches outlive it. `device`: the one that the batches are on.
  DeviceAppender(FilePlan const& plan, unsigned threads, DeviceBatches const& batches, int device, RowEngine::Emit emit,
                 RowEngine::Announce announce = {}, std::uint64_t piece_bytes = kPieceBytes);
  ~DeviceAppender();  // what is not emitted yet never is

  // A batch that was launched. The slot is the appender's until wait_for() returns.
  void push(BatchSlot const& slot) { push(std::vector{&slot}, false); }
  // All batches of the file: sizes are announced before the first block is emitted, unless the host must encode some.
  void push_all(std::vector<BatchSlot const*> slots) { push(std::move(slots), true); }
  // Returns when nothing of the slot is needed any more. Throws what an encoder or `emit` failed with.
  void wait_for(BatchSlot const& slot);
  // Returns when all blocks are emitted.
  void drain();

 private:
  // Consecutive blocks of a group, [first, last), that come back together.
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
  // Throws `cancelled` when the rest of the blocks is not wanted any more.
  void check_wanted();
  void emit_piece(PackedBatch const& batch, Piece const& piece, std::byte const* bytes);
  void release(BatchSlot const& slot);
  void throw_failure();

  FilePlan const& plan_;
  DeviceBatches const& batches_;
  BlockEncoder encoder_;
  int device_;
  RowEngine::Emit emit_;
  RowEngine::Announce announce_;
  std::uint64_t piece_bytes_;
  gpu::StreamHandle stream_ = gpu::make_stream();
  std::array<Ring, 3> ring_{};
  Ring masks_{};
  std::uint64_t masks_from_ = 0;  // where the bytes in masks_ begin in their group
  std::mutex mutex_{};
  std::condition_variable moved_{};
  std::deque<Group> waiting_{};  // the first is being worked on
  std::deque<BatchSlot const*> held_{};  // whose device memory is still needed
  std::exception_ptr failure_{};
  bool stopped_ = false;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace terrazzo::writing
