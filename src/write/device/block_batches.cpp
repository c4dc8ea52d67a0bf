// SPDX-License-Identifier: Apache-2.0
#include "write/device/block_batches.hpp"

#include "base/carver.hpp"
#include "base/checked.hpp"
#include "gpu/reduce/reduce.hpp"
#include "gpu/runtime/check.hpp"
#include "gpu/runtime/copy_back.hpp"
#include "gpu/runtime/guarded_wait.hpp"
#include "write/host/block_cutter.hpp"
#include "write/overviews/cascade.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace terrazzo::writing {

namespace {

constexpr char kWhat[] = "blocks of a write";  // for errors

// Bytes of the raster in a batch; larger batches gain no speed. Our kernels split each block among many threads, so few
// blocks keep the device busy.
constexpr std::uint64_t kUsefulBatchBytes = std::uint64_t{128} << 20;

std::uint64_t mask_bytes(codec::BlockShape shape) noexcept {
  return (std::uint64_t{shape.width_px} + 7) / 8 * shape.height_px;
}

std::vector<BlockGroup> make_groups(FilePlan const& plan, std::uint64_t budget) {
  std::uint64_t image = 0, mask = 0;
  for (LevelPlan const& level : plan.levels) {
    codec::BlockShape const shape = plan.shape_of(level, 0);
    image = std::max(image, plan.block_bytes(shape));
    mask = std::max(mask, mask_bytes(shape));
  }
  std::optional<codec::BlockShape> common;
  if (plan.tiled || plan.levels.size() == 1) { common = plan.shape_of(plan.levels.front(), 0); }
  std::vector<BlockGroup> groups;
  groups.emplace_back(EncodeTask{*plan.encoder, plan.format, image, common, budget});
  if (plan.options.mask) {
    groups.emplace_back(EncodeTask{*plan.mask_encoder, plan.mask_format, mask, common, budget});
  }
  return groups;
}

std::uint32_t tallest_block(FilePlan const& plan) noexcept {
  std::uint32_t rows = 0;
  for (LevelPlan const& level : plan.levels) { rows = std::max(rows, level.block_height); }
  return rows;
}

// Sizes of the buffers that batches share. Statistics are complete before blocks are encoded, so both use one scratch.
struct SharedBytes {
  std::uint64_t cut = 0, encoded = 0, scratch = 0, statuses = 0, library = 0;
};

SharedBytes shared_bytes(FilePlan const& plan, std::span<BlockGroup const> groups, std::uint32_t blocks) {
  SharedBytes bytes;
  for (BlockGroup const& group : groups) {
    if (!group.encoder.encodes()) { continue; }
    bytes.cut += round_up(group.stride_bytes * blocks, Carver::kAlignmentBytes);
    bytes.encoded = std::max(bytes.encoded, group.encoder.output_stride() * blocks);
    bytes.scratch = std::max<std::uint64_t>(bytes.scratch, group.encoder.scratch_bytes(blocks));
    bytes.library += group.encoder.library_bytes();
    bytes.statuses =
        round_up(std::uint64_t{blocks} * (sizeof(std::uint64_t) + sizeof(tile::TileStatus)), Carver::kAlignmentBytes);
  }
  if (plan.options.statistics) {
    bytes.scratch = std::max<std::uint64_t>(
        bytes.scratch, std::uint64_t{blocks} * tallest_block(plan) * plan.samples_per_block * sizeof(Moments));
  }
  return bytes;
}

struct ListSizes {
  std::size_t rows_at = 0, lists = 0, moments_at = 0, results = 0;
};

// Computes the offsets of all lists that are uploaded with a batch, and of the results that are copied back with the
// blocks.
ListSizes lay_out(FilePlan const& plan, std::span<BlockGroup> groups, std::uint32_t blocks) {
  Carver lists, results;
  ListSizes sizes;
  sizes.rows_at = lists.place(plan.levels.size() * sizeof(gpu::ConstDeviceRows));
  for (BlockGroup& group : groups) {
    group.cut_at = lists.place(blocks * sizeof(gpu::CutTile));
    group.input_offsets_at = lists.place(blocks * sizeof(std::uint64_t));
    group.output_offsets_at = lists.place(blocks * sizeof(std::uint64_t));
    group.sizes_at = results.place(blocks * sizeof(std::uint64_t));
    group.places_at = results.place(blocks * sizeof(gpu::PackedTile));
  }
  if (plan.options.statistics) { sizes.moments_at = results.place(blocks * plan.samples_per_block * sizeof(Moments)); }
  sizes.lists = lists.used();
  sizes.results = results.used();
  return sizes;
}

template <class T>
T* at(gpu::DeviceBuffer const& buffer, std::size_t offset) noexcept {
  return reinterpret_cast<T*>(buffer.data() + offset);
}
template <class T>
T* at(gpu::PinnedBuffer const& buffer, std::size_t offset) noexcept {
  return reinterpret_cast<T*>(buffer.data() + offset);
}

}  // namespace

BlockGroup::BlockGroup(EncodeTask const& task)
    : encoder(task), longest_bytes(task.longest_bytes), stride_bytes(round_up(task.longest_bytes, 16)) {}

std::uint64_t BlockGroup::packed_bytes(std::uint32_t blocks) const noexcept {
  return encoder.encodes() ? gpu::packed_bound(blocks, std::max(encoder.bound(), longest_bytes))
                           : stride_bytes * blocks;
}

BatchCost BlockBatches::cost(FilePlan const& plan, std::uint64_t budget_bytes) {
  auto const groups = std::make_shared<std::vector<BlockGroup>>(make_groups(plan, budget_bytes));
  std::uint64_t tables = 0;
  for (ReductionSpec const& spec : reduction_specs(plan)) { tables += gpu::DeviceReduction::table_bytes(spec); }
  auto const bytes_of = [&plan, groups, tables](std::uint32_t blocks, std::size_t slots) {
    SharedBytes const shared = shared_bytes(plan, *groups, blocks);
    ListSizes const lists = lay_out(plan, *groups, blocks);
    std::uint64_t bytes = shared.cut + shared.encoded + shared.scratch + shared.statuses + shared.library + tables +
                          slots * (lists.lists + lists.results);
    for (BlockGroup const& group : *groups) { bytes += slots * group.packed_bytes(blocks); }
    return bytes;
  };
  return {bytes_of, kUsefulBatchBytes};
}

BlockBatches::BlockBatches(FilePlan const& plan, std::uint64_t budget_bytes, std::uint32_t most_blocks,
                           std::shared_ptr<DeviceAllocator> const& allocator, cudaStream_t stream)
    : plan_(plan),
      most_blocks_(most_blocks),
      allocator_(allocator),
      stream_(stream),
      groups_(make_groups(plan, budget_bytes)) {
  ListSizes const lists = lay_out(plan, groups_, most_blocks);
  rows_at_ = lists.rows_at;
  lists_bytes_ = lists.lists;
  moments_at_ = lists.moments_at;
  results_bytes_ = lists.results;
  SharedBytes const shared = shared_bytes(plan, groups_, most_blocks);
  auto const take = [&](std::uint64_t bytes) {
    return bytes == 0 ? gpu::DeviceBuffer() : gpu::DeviceBuffer(allocator, bytes, stream, kWhat);
  };
  cut_ = take(shared.cut);
  encoded_ = take(shared.encoded);
  scratch_ = take(shared.scratch);
  statuses_ = take(shared.statuses);

  BlockCutter const cutter(plan);
  cut_format_.dtype = plan.options.dtype;
  cut_format_.samples = plan.samples_per_block;
  cut_format_.predictor = plan.predictor;
  cut_format_.repeats_last_row = plan.repeats_last_row();
  cut_format_.replaces_nan = cutter.replaces_nan();
  std::ranges::copy(cutter.empty_sample(), cut_format_.empty);
  auto const& nodata = plan.options.nodata;
  if (nodata && nodata->representable) {
    marker_.emplace();
    store_nodata(*nodata, plan.options.dtype, marker_->data());
  }
}

// Fills the lists of one group and returns the blocks to cut.
gpu::CutBatch BlockBatches::make_lists(BatchSlot& slot, std::size_t which) {
  BlockGroup const& group = groups_[which];
  std::vector<std::uint32_t>& blocks = slot.blocks[which];
  blocks.clear();
  for (std::uint32_t i = 0; i < slot.jobs.size(); ++i) {
    if (which == kImages || slot.jobs[i].id.plane == 0) { blocks.push_back(i); }
  }
  auto* const tiles = at<gpu::CutTile>(slot.lists, group.cut_at);
  auto* const input_offsets = at<std::uint64_t>(slot.lists, group.input_offsets_at);
  auto* const output_offsets = at<std::uint64_t>(slot.lists, group.output_offsets_at);
  auto* const sizes = at<std::uint64_t>(slot.results, group.sizes_at);
  gpu::CutBatch batch;
  batch.rows = at<gpu::ConstDeviceRows const>(slot.device_lists, rows_at_);
  batch.tiles = at<gpu::CutTile const>(slot.device_lists, group.cut_at);
  batch.count = static_cast<std::uint32_t>(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    DeviceBlockJob const& job = slot.jobs[blocks[i]];
    LevelPlan const& level = plan_.levels[job.level];
    codec::BlockShape const shape = plan_.shape_of(level, job.id.row);
    gpu::CutTile& tile = tiles[i];
    tile.rows = static_cast<std::uint32_t>(job.level);
    tile.first_row = level.first_row(job.id.row);
    tile.first_column = job.id.column * level.block_width;
    tile.real_rows = level.rows_of(job.id.row);
    tile.real_columns = std::min(level.block_width, level.width - tile.first_column);
    tile.height = shape.height_px;
    tile.width = shape.width_px;
    tile.first_band = job.id.plane;
    tile.output_offset = i * group.stride_bytes;
    input_offsets[i] = tile.output_offset;
    output_offsets[i] = i * group.encoder.output_stride();
    sizes[i] = which == kImages ? plan_.block_bytes(shape) : mask_bytes(shape);
    batch.max_height = std::max(batch.max_height, tile.height);
    batch.max_width = std::max(batch.max_width, tile.width);
  }
  bool const encodes = group.encoder.encodes();
  std::uint64_t const behind_images =
      which == kMasks && groups_[kImages].encoder.encodes()
          ? round_up(groups_[kImages].stride_bytes * most_blocks_, Carver::kAlignmentBytes)
          : 0;
  batch.output = encodes ? cut_.data() + behind_images : slot.packed[which].data();
  return batch;
}

void BlockBatches::launch(std::span<DeviceBlockJob const> jobs, BatchSlot& slot, cudaEvent_t rows_read) {
  slot.jobs.assign(jobs.begin(), jobs.end());
  slot.lists.reserve(lists_bytes_);
  slot.results.reserve(results_bytes_);
  if (slot.device_lists.data() == nullptr) {
    slot.device_lists = gpu::DeviceBuffer(allocator_, lists_bytes_, stream_, kWhat);
    slot.device_results = gpu::DeviceBuffer(allocator_, results_bytes_, stream_, kWhat);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      slot.packed[g] = gpu::DeviceBuffer(allocator_, groups_[g].packed_bytes(most_blocks_), stream_, kWhat);
    }
  }
  auto* const rows = at<gpu::ConstDeviceRows>(slot.lists, rows_at_);
  for (DeviceBlockJob const& job : jobs) { rows[job.level] = *job.rows; }
  std::array<gpu::CutBatch, 2> cut{};
  for (std::size_t g = 0; g < groups_.size(); ++g) { cut[g] = make_lists(slot, g); }
  gpu::check_cuda(
      cudaMemcpyAsync(slot.device_lists.data(), slot.lists.data(), lists_bytes_, cudaMemcpyHostToDevice, stream_),
      "uploading the list of blocks");
  for (BlockGroup const& group : groups_) {
    gpu::check_cuda(cudaMemcpyAsync(slot.device_results.data() + group.sizes_at, slot.results.data() + group.sizes_at,
                                    most_blocks_ * sizeof(std::uint64_t), cudaMemcpyHostToDevice, stream_),
                    "uploading the sizes of blocks");
  }
  gpu::cut_tiles(cut[kImages], cut_format_, stream_);
  bool const holds_raster = std::ranges::any_of(jobs, [](DeviceBlockJob const& job) { return job.level == 0; });
  if (plan_.options.statistics && holds_raster) {
    gpu::tile_moments(cut[kImages], cut_format_, marker_ ? marker_->data() : nullptr, at<Moments>(scratch_, 0),
                      at<Moments>(slot.device_results, moments_at_), stream_);
  }
  if (plan_.options.sparse) {
    gpu::clear_empty_tiles(cut[kImages], cut_format_, at<std::uint64_t>(slot.device_results, groups_[kImages].sizes_at),
                           stream_);
  }
  if (plan_.options.mask) {
    gpu::cut_masks(cut[kMasks], stream_);
    if (plan_.options.sparse) {
      gpu::clear_empty_masks(cut[kMasks], at<std::uint64_t>(slot.device_results, groups_[kMasks].sizes_at), stream_);
    }
  }
  gpu::check_cuda(cudaEventRecord(rows_read, stream_), "recording an event");
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].encoder.encodes() && cut[g].count != 0) { encode_group(slot, g, cut[g]); }
  }
  gpu::copy_back(slot.results.data(), slot.device_results.data(), results_bytes_, stream_,
                 "bringing back the sizes of blocks");
  gpu::check_cuda(cudaEventRecord(slot.sized.get(), stream_), "recording an event");
}

void BlockBatches::encode_group(BatchSlot& slot, std::size_t which, gpu::CutBatch const& cut) {
  BlockGroup& group = groups_[which];
  tile::EncodeBatch batch;
  batch.input = cut.output;
  batch.input_offsets = at<std::uint64_t const>(slot.device_lists, group.input_offsets_at);
  batch.input_sizes = at<std::uint64_t const>(slot.device_results, group.sizes_at);
  batch.output = encoded_.data();
  batch.output_offsets = at<std::uint64_t const>(slot.device_lists, group.output_offsets_at);
  batch.output_sizes = at<std::uint64_t>(statuses_, 0);
  batch.statuses = at<tile::TileStatus>(statuses_, most_blocks_ * sizeof(std::uint64_t));
  batch.count = cut.count;
  batch.longest_input_bytes = group.longest_bytes;
  group.encoder.encode(batch, scratch_.data(), scratch_.size_bytes(), stream_);
  gpu::pack_encoded(batch, slot.packed[which].data(), at<gpu::PackedTile>(slot.device_results, group.places_at),
                    stream_);
}

bool BlockBatches::encodes_all() const noexcept {
  return std::ranges::none_of(
      groups_, [](BlockGroup const& group) { return group.encoder.kind() == DeviceEncoder::Kind::host; });
}

PackedBatch BlockBatches::packed(BatchSlot const& slot) const {
  gpu::sync_event(slot.sized.get(), "compressing a batch of blocks");
  PackedBatch batch;
  batch.jobs = slot.jobs;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    BlockGroup const& group = groups_[g];
    PackedGroup& packed = batch.groups.emplace_back();
    packed.device_bytes = slot.packed[g].data();
    packed.jobs = slot.blocks[g];
    std::size_t const count = packed.jobs.size();
    if (group.encoder.encodes()) {
      auto const* const places = at<gpu::PackedTile const>(slot.results, group.places_at);
      packed.places.assign(places, places + count);
      continue;
    }
    bool const is_stored = group.encoder.kind() == DeviceEncoder::Kind::raw;
    auto const* const sizes = at<std::uint64_t const>(slot.results, group.sizes_at);
    for (std::size_t i = 0; i < count; ++i) {
      packed.places.push_back(
          {i * group.stride_bytes, sizes[i], is_stored ? tile::TileStatus::ok : tile::TileStatus::unsupported});
    }
  }
  if (plan_.options.statistics) {
    auto const* const moments = at<Moments const>(slot.results, moments_at_);
    batch.moments.assign(moments, moments + slot.jobs.size() * plan_.samples_per_block);
  }
  return batch;
}

}  // namespace terrazzo::writing
