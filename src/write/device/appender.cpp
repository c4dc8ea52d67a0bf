// SPDX-License-Identifier: Apache-2.0
#include "write/device/appender.hpp"

#include "base/condition.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/copy_back.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

namespace terrazzo::writing {

namespace {

// Returns an empty list if the host has to encode some of the blocks: their sizes are not known yet.
std::vector<BlockSize> sizes_of(std::span<PackedBatch const> batches) {
  std::vector<BlockSize> sizes;
  for (PackedBatch const& batch : batches) {
    std::size_t const first = sizes.size();
    for (DeviceBlockJob const& job : batch.jobs) { sizes.push_back({job.level, job.id}); }
    for (std::size_t g = 0; g < batch.groups.size(); ++g) {
      PackedGroup const& group = batch.groups[g];
      for (std::size_t i = 0; i < group.places.size(); ++i) {
        gpu::PackedTile const& place = group.places[i];
        if (place.status != tile::TileStatus::ok && place.size != 0) { return {}; }
        BlockSize& block = sizes[first + group.jobs[i]];
        (g == kImages ? block.image_bytes : block.mask_bytes) = static_cast<std::uint32_t>(place.size);
      }
    }
  }
  return sizes;
}

void sort_part(gpu::PackedTile const& place, std::span<std::byte const> bytes, std::span<std::byte const>& done,
               std::span<std::byte const>& left, std::uint32_t& device_tiles) {
  if (place.status == tile::TileStatus::ok || place.size == 0) {
    done = bytes;
    device_tiles += place.size != 0 ? 1 : 0;
  } else {
    left = bytes;
  }
}

}  // namespace

DeviceAppender::DeviceAppender(FilePlan const& plan, unsigned threads, BlockBatches const& batches, int device,
                               EmitBlocks emit, AnnounceSizes announce, std::uint64_t piece_bytes)
    : plan_(plan),
      batches_(batches),
      encoder_(plan, threads),
      device_(device),
      emit_(std::move(emit)),
      announce_(std::move(announce)),
      piece_bytes_(piece_bytes),
      thread_([this] { run(); }) {}

DeviceAppender::~DeviceAppender() {
  {
    std::lock_guard const lock(mutex_);
    stopped_ = true;
  }
  moved_.notify_all();
  thread_.join();
  // After a failure, copies that were not waited for still read the slots.
  (void)gpu::sync_quietly(stream_.get());
}

void DeviceAppender::push(std::vector<BatchSlot const*> slots, bool is_whole_file) {
  {
    std::lock_guard const lock(mutex_);
    throw_failure();
    held_.insert(held_.end(), slots.begin(), slots.end());
    waiting_.push_back({std::move(slots), is_whole_file});
  }
  moved_.notify_all();
}

void DeviceAppender::wait_for(BatchSlot const& slot) {
  std::unique_lock lock(mutex_);
  wait_until(moved_, lock, [&] { return failure_ != nullptr || std::ranges::find(held_, &slot) == held_.end(); });
  throw_failure();
}

void DeviceAppender::drain() {
  std::unique_lock lock(mutex_);
  wait_until(moved_, lock, [&] { return failure_ != nullptr || waiting_.empty(); });
  throw_failure();
}

void DeviceAppender::throw_failure() {
  if (failure_ != nullptr) { std::rethrow_exception(failure_); }
}

void DeviceAppender::release(BatchSlot const& slot) {
  {
    std::lock_guard const lock(mutex_);
    std::erase(held_, &slot);
  }
  moved_.notify_all();
}

void DeviceAppender::run() noexcept {
  std::unique_lock lock(mutex_);
  while (true) {
    wait_until(moved_, lock, [&] { return stopped_ || (!waiting_.empty() && failure_ == nullptr); });
    if (stopped_) { return; }
    Group const& group = waiting_.front();  // stays in place while other groups are appended
    lock.unlock();
    std::exception_ptr failure;
    try {
      gpu::check_cuda(cudaSetDevice(device_), "choosing the device");
      append(group);
    } catch (...) { failure = std::current_exception(); }
    lock.lock();
    failure_ = failure;
    waiting_.pop_front();
    moved_.notify_all();
  }
}

std::vector<DeviceAppender::Piece> DeviceAppender::pieces_of(PackedGroup const& group, std::uint64_t most_bytes) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < group.places.size(); ++i) {
    gpu::PackedTile const& place = group.places[i];
    if (pieces.empty() || (place.size != 0 && pieces.back().bytes != 0 &&
                           place.offset + place.size - pieces.back().offset > most_bytes)) {
      pieces.push_back({i, i, place.offset, 0});
    }
    Piece& piece = pieces.back();
    piece.last = i + 1;
    if (place.size == 0) { continue; }
    if (piece.bytes == 0) { piece.offset = place.offset; }
    piece.bytes = place.offset + place.size - piece.offset;
  }
  return pieces;
}

void DeviceAppender::start_copy(PackedGroup const& group, Piece const& piece, Ring& ring) {
  if (piece.bytes != 0) {
    ring.memory.reserve(std::max(piece.bytes, piece_bytes_));
    gpu::copy_back(ring.memory.data(), group.device_bytes + piece.offset, piece.bytes, stream_.get(),
                   "bringing back a batch of blocks");
  }
  gpu::check_cuda(cudaEventRecord(ring.copied.get(), stream_.get()), "recording an event");
}

void DeviceAppender::append(Group const& group) {
  if (!group.is_whole_file) {
    for (BatchSlot const* const slot : group.slots) { append(*slot, batches_.packed(*slot)); }
    return;
  }
  std::vector<PackedBatch> batches;
  for (BatchSlot const* const slot : group.slots) { batches.push_back(batches_.packed(*slot)); }
  std::vector<BlockSize> const sizes = sizes_of(batches);
  if (!sizes.empty()) { announce_(sizes); }
  for (std::size_t i = 0; i < batches.size(); ++i) { append(*group.slots[i], batches[i]); }
}

void DeviceAppender::append(BatchSlot const& slot, PackedBatch const& batch) {
  PackedGroup const& images = batch.groups[kImages];
  if (batch.groups.size() > kMasks) {
    // Masks are small: copy all of them at once, before the images that they belong to.
    PackedGroup const& masks = batch.groups[kMasks];
    for (Piece const& piece : pieces_of(masks, ~std::uint64_t{0})) {
      masks_from_ = piece.offset;
      start_copy(masks, piece, masks_);
    }
  }
  std::vector<Piece> const pieces = pieces_of(images, piece_bytes_);
  std::size_t started = 0;
  bool released = false;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    for (; started < pieces.size() && started < i + ring_.size(); ++started) {
      start_copy(images, pieces[started], ring_[started % ring_.size()]);
    }
    Ring const& ring = ring_[i % ring_.size()];
    gpu::sync_event(ring.copied.get(), "bringing back a batch of blocks");
    if (started == pieces.size() && !released) {
      // The last copy is after all others on the stream. Release once: from here on the slot may hold the next batch.
      released = true;
      gpu::sync_event(ring_[(started - 1) % ring_.size()].copied.get(), "bringing back a batch of blocks");
      release(slot);
    }
    check_wanted();
    emit_piece(batch, pieces[i], ring.memory.data());
  }
}

void DeviceAppender::check_wanted() {
  bool stopped = false;
  {
    std::lock_guard const lock(mutex_);
    stopped = stopped_;
  }
  std::atomic<bool> const* const cancel = plan_.options.cancel;
  if (stopped || (cancel != nullptr && cancel->load(std::memory_order_relaxed))) {
    throw Error(ErrorKind::cancelled, "the write was cancelled");
  }
}

void DeviceAppender::emit_piece(PackedBatch const& batch, Piece const& piece, std::byte const* bytes) {
  PackedGroup const& images = batch.groups[kImages];
  std::size_t const count = piece.last - piece.first;
  std::vector<FinishedBlock> blocks(count);  // blocks that the device compressed, or that are stored uncompressed
  std::vector<CutParts> parts(count);  // blocks for the host's encoders
  for (std::size_t i = 0; i < count; ++i) {
    DeviceBlockJob const& job = batch.jobs[piece.first + i];
    gpu::PackedTile const& place = images.places[piece.first + i];
    BlockResult& result = blocks[i].result;
    blocks[i].level = job.level;
    blocks[i].id = job.id;
    sort_part(place, {bytes + (place.size == 0 ? 0 : place.offset - piece.offset), place.size}, result.image,
              parts[i].image, result.device_tiles);
    if (!batch.moments.empty() && job.level == 0) {
      result.moments =
          std::span(batch.moments).subspan((piece.first + i) * plan_.samples_per_block, plan_.samples_per_block);
    }
  }
  if (batch.groups.size() > kMasks) {
    PackedGroup const& masks = batch.groups[kMasks];
    auto const first = std::ranges::lower_bound(masks.jobs, piece.first);
    for (auto it = first; it != masks.jobs.end() && *it < piece.last; ++it) {
      gpu::PackedTile const& place = masks.places[static_cast<std::size_t>(it - masks.jobs.begin())];
      std::size_t const i = *it - piece.first;
      BlockResult& result = blocks[i].result;
      result.has_mask = true;
      sort_part(place, {masks_.memory.data() + (place.size == 0 ? 0 : place.offset - masks_from_), place.size},
                result.mask, parts[i].mask, result.device_tiles);
    }
  }

  std::vector<HostBlockJob> left;  // work of the host's encoders
  std::vector<std::size_t> left_from;  // their indices in `blocks`
  for (std::size_t i = 0; i < count; ++i) {
    if (parts[i].image.empty() && parts[i].mask.empty()) { continue; }
    DeviceBlockJob const& job = batch.jobs[piece.first + i];
    left.push_back({.level = job.level, .id = job.id, .parts = &parts[i]});
    left_from.push_back(i);
  }
  std::size_t next = 0;
  auto const emit_before = [&](std::size_t end) {
    if (next < end) { emit_(std::span(blocks).subspan(next, end - next)); }
    next = end;
  };
  // The encoder emits in the order of its jobs; finished blocks are emitted between them.
  std::size_t done = 0;
  encoder_.run(left, plan_.options.cancel, [&](HostBlockJob const& job, BlockResult const& encoded) {
    std::size_t const i = left_from[done++];
    BlockResult& result = blocks[i].result;
    if (!job.parts->image.empty()) { result.image = encoded.image; }
    if (!job.parts->mask.empty()) { result.mask = encoded.mask; }
    emit_before(i + 1);
  });
  emit_before(count);
}

}  // namespace terrazzo::writing
