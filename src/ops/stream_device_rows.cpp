// SPDX-License-Identifier: Apache-2.0
#include "ops/stream_device_rows.hpp"

#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "ops/stream_rows.hpp"
#include "read/plan.hpp"
#include "terrazzo/device.hpp"

#include <algorithm>
#include <utility>

namespace terrazzo::ops {
namespace {

// Enough tiles to keep a GPU busy; more would only wait longer for the first row.
constexpr std::uint64_t kMostPieceBytes = std::uint64_t{512} << 20;

// Rows that are in device memory together. At least one tile row, or its tiles would be decoded again and again.
std::uint64_t piece_bytes(Dataset const& source, ReadRequest const& read) {
  ReadPlan const planned = plan(source, read);
  std::uint64_t const row_bytes = planned.result_bytes() / std::max(planned.height(), 1U);
  std::uint64_t const tile_row_bytes = saturating_product(row_bytes, planned.impl().level->image.block_height_px);
  std::uint64_t const most = read.device_budget_bytes == 0 ? kMostPieceBytes : read.device_budget_bytes / 2;
  return std::max(tile_row_bytes, std::min(most, kMostPieceBytes));
}

}  // namespace

bool goes_by_device(Dataset const& source, ReadRequest const& read, WriteOptions const& write) {
  if (resolve_engine(write.engine) != Engine::device || write.mask || read.target_size) { return false; }
  EnginePlan const planned = plan_device_read(source, read);
  return planned.possible && planned.engine == Engine::device;
}

void share_device_budget(Dataset const& source, ReadRequest& read, WriteOptions& write) {
  if (read.device_budget_bytes != 0 || !goes_by_device(source, read, write)) { return; }
  std::uint64_t const budget =
      write.device_budget_bytes != 0 ? write.device_budget_bytes : device_state().default_budget_bytes;
  read.device_budget_bytes = std::max<std::uint64_t>(budget / 2, 1);
  write.device_budget_bytes = std::max<std::uint64_t>(budget - budget / 2, 1);
}

ReadReport stream_device_rows(Dataset const& source, ReadRequest read, WriteOptions const& write, Writer& writer) {
  std::uint64_t const bytes = piece_bytes(source, read);
  if (read.device_budget_bytes != 0) {
    read.device_budget_bytes -= std::min(bytes, read.device_budget_bytes / 2);  // the rows are part of it
  }
  read.threads = write.threads;
  read.cancel = write.cancel;
  read.progress = {};
  if (read.device_allocator == nullptr) { read.device_allocator = write.device_allocator; }
  ReadReport report;
  read_pieces(
      source, read, bytes, [&](DeviceView const& rows, std::uint32_t) { writer.write_rows(rows); }, nullptr, &report);
  return report;
}

ReadReport stream_either_way(Dataset const& source, ReadRequest const& read, WriteOptions const& write,
                             Writer& writer) {
  return goes_by_device(source, read, write) ? stream_device_rows(source, read, write, writer)
                                             : stream_rows(blocks_for(source, read, write), write, writer);
}

}  // namespace terrazzo::ops
