// SPDX-License-Identifier: Apache-2.0
#include "write/row_pipeline.hpp"

#include "write/device/engine.hpp"
#include "write/host/engine.hpp"
#include "write/plan/engine_choice.hpp"

#include <algorithm>
#include <utility>

namespace terrazzo::writing {

RowPipeline::RowPipeline(FilePlan const& plan, unsigned threads, EmitBlocks emit, AnnounceSizes announce)
    : plan_(plan), threads_(threads), emit_(std::move(emit)), announce_(std::move(announce)) {}

RowPipeline::~RowPipeline() = default;

void RowPipeline::begin(MemoryKind rows_lie_in) {
  if (choose_engine(plan_, rows_lie_in) == Engine::device) {
    work_.emplace<DeviceWork>(plan_, make_device_engine(plan_, threads_, emit_, announce_, rows_lie_in));
  } else {
    work_.emplace<HostWork>(plan_, make_host_engine(plan_, threads_, emit_));
  }
}

void RowPipeline::take(ConstHostRows const& rows, StreamView stream) { take_any(rows, stream); }
void RowPipeline::take(ConstDeviceRows const& rows, StreamView stream) { take_any(rows, stream); }

template <MemoryKind source>
void RowPipeline::take_any(ConstRows<source> const& rows, StreamView stream) {
  if (std::holds_alternative<std::monostate>(work_)) { begin(source); }
  if (auto* const on_host = std::get_if<HostWork>(&work_)) {
    take_on(*on_host, rows, stream);
  } else {
    take_on(std::get<DeviceWork>(work_), rows, stream);
  }
}

// `rows` follow the previous ones. Whole block rows are processed in place if there are enough of them and the engine
// can reach them; others are gathered.
template <MemoryKind kind, MemoryKind source>
void RowPipeline::take_on(Work<kind>& on, ConstRows<source> const& rows, StreamView stream) {
  auto& [engine, share, cascade, pending] = on;
  constexpr bool kSameMemory = kind == source;
  bool in_reach = false;
  if constexpr (kSameMemory) { in_reach = engine->reaches(rows); }
  engine->wait_for(stream);
  std::uint32_t const height = plan_.levels.front().height;
  std::uint32_t const block_height = plan_.levels.front().block_height;
  std::uint32_t const end = rows.first + rows.pixels.height;
  std::uint32_t at = rows.first;
  while (at < end) {
    if (pending.first() == pending.end()) {
      std::uint32_t const whole = end == height ? end : end - end % block_height;
      if (in_reach && whole > at && (whole - at >= share.gathered || whole == height)) {
        std::uint32_t const last = whole - at > share.at_once ? at + share.at_once : whole;
        if constexpr (kSameMemory) { cascade.advance(rows_between(rows, at, last)); }
        at = last;
        continue;
      }
      pending.restart(at);
    }
    std::uint32_t const full = std::min<std::uint32_t>(height - pending.first(), share.gathered) + pending.first();
    std::uint32_t const last = std::min(end, full);
    pending.append(rows, at, last);
    at = last;
    if (at == full) {
      cascade.advance(pending.rows());
      pending.restart(at);
    }
  }
  if constexpr (kSameMemory) { engine->rows_are_free(); }
}

void RowPipeline::finish() {
  if (auto* const on_host = std::get_if<HostWork>(&work_)) { on_host->engine->finish(); }
  if (auto* const on_device = std::get_if<DeviceWork>(&work_)) { on_device->engine->finish(); }
  drop();
}

}  // namespace terrazzo::writing
