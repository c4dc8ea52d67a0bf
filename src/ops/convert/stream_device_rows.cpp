// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/stream_device_rows.hpp"

#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "ops/convert/stream_rows.hpp"
#include "read/device/engine.hpp"
#include "read/device_pieces.hpp"
#include "read/plan/engine_choice.hpp"
#include "read/plan/plan.hpp"
#include "terrazzo/device.hpp"

#include <algorithm>
#include <memory>

namespace terrazzo::ops {
namespace {

// Enough tiles to keep a GPU busy; a larger piece would only delay the first row.
constexpr std::uint64_t kMostPieceBytes = std::uint64_t{512} << 20;

// Size of the rows that are in device memory together. At least one tile row, so that each tile is decoded once.
std::uint64_t piece_bytes(ReadPlan const& planned, ReadRequest const& read) {
  std::uint64_t const row_bytes = planned.result_bytes() / std::max(planned.height(), 1U);
  std::uint64_t const tile_row_bytes = saturating_product(row_bytes, planned.impl().level->image.block_height_px);
  std::uint64_t const most = read.device_budget_bytes == 0 ? kMostPieceBytes : read.device_budget_bytes / 2;
  return std::max(tile_row_bytes, std::min(most, kMostPieceBytes));
}

}  // namespace

bool goes_by_device(ReadPlan const& planned, ReadRequest const& read, WriteOptions const& write) {
  if (resolve_engine(write.engine) != Engine::device || write.mask || read.has_target()) { return false; }
  auto const here = reading::choose_device(write.device);
  if (!reading::device_facts().usable) { return false; }
  // The plan outlives the job: the pointer owns nothing.
  reading::ReadJob const job{std::shared_ptr<ReadPlan::Impl const>(std::shared_ptr<void>(), &planned.impl())};
  return reading::choose_engine({&job, 1}, read).engine == Engine::device;
}

void share_device_budget(ReadPlan const& planned, ReadRequest& read, WriteOptions& write) {
  if (read.device_budget_bytes != 0 || !goes_by_device(planned, read, write)) { return; }
  std::uint64_t const budget =
      write.device_budget_bytes != 0 ? write.device_budget_bytes : device_state(write.device).default_budget_bytes;
  read.device_budget_bytes = std::max<std::uint64_t>(budget / 2, 1);
  write.device_budget_bytes = std::max<std::uint64_t>(budget - budget / 2, 1);
}

ReadReport stream_device_rows(ReadPlan const& planned, ReadRequest read, WriteOptions const& write, Writer& writer) {
  std::uint64_t const bytes = piece_bytes(planned, read);
  if (read.device_budget_bytes != 0) {
    read.device_budget_bytes -= std::min(bytes, read.device_budget_bytes / 2);  // the rows are part of the budget
  }
  read.device = write.device;
  read.threads = write.threads;
  read.cancel = write.cancel;
  read.progress = {};
  if (read.device_allocator == nullptr) { read.device_allocator = write.device_allocator; }
  ReadReport report;
  try {
    reading::read_plan_in_pieces(
        planned.impl(), read, bytes, [&](DeviceView const& rows, std::uint32_t) { writer.write_rows(rows); }, nullptr,
        &report);
  } catch (Error const& error) { throw error.located({.source = planned.impl().dataset->info.source}); }
  return report;
}

ReadReport stream_either_way(Dataset const& source, ReadPlan const& planned, ReadRequest const& read,
                             WriteOptions const& write, Writer& writer) {
  return goes_by_device(planned, read, write) ? stream_device_rows(planned, read, write, writer)
                                              : stream_rows(blocks_for(source, read, write), write, writer);
}

}  // namespace terrazzo::ops
