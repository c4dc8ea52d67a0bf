// SPDX-License-Identifier: Apache-2.0
//
// The way of rows to finished blocks: gathers rows until all threads have work, makes overviews, encodes blocks on the
// engine that the options or the memory of the first rows choose.
#pragma once

#include "write/overviews/cascade.hpp"
#include "write/plan/file_plan.hpp"
#include "write/row_engine.hpp"
#include "write/row_window.hpp"

#include <cstdint>
#include <memory>
#include <variant>

namespace terrazzo::writing {

class RowPipeline {
 public:
  // The plan outlives the pipeline. Neither function is empty.
  RowPipeline(FilePlan const& plan, unsigned threads, EmitBlocks emit, AnnounceSizes announce);
  ~RowPipeline();
  RowPipeline(RowPipeline const&) = delete;
  RowPipeline& operator=(RowPipeline const&) = delete;

  // Takes the next rows of the raster, with the plan's bands and type. On return, the caller may change them. Host and
  // device rows may alternate.
  void take(ConstHostRows const& rows, StreamView stream = {});
  void take(ConstDeviceRows const& rows, StreamView stream);

  // Returns when all blocks of the rows so far are emitted, and frees the engine. No rows may follow.
  void finish();
  // Frees the engine without waiting for its blocks; after this, none is emitted.
  void drop() noexcept { work_.emplace<std::monostate>(); }

 private:
  template <MemoryKind kind>
  struct Work {
    Work(FilePlan const& plan, std::unique_ptr<RowEngine<kind>> chosen)
        : engine(std::move(chosen)),
          share(engine->row_share()),
          cascade(plan, *engine, share.room),
          pending(plan, *engine, plan.levels.front().width, share.gathered) {}
    std::unique_ptr<RowEngine<kind>> engine;
    RowShare share;
    Cascade<kind> cascade;
    RowWindow<kind> pending;  // rows that do not fill their part yet
  };
  using HostWork = Work<MemoryKind::host>;
  using DeviceWork = Work<MemoryKind::device>;

  void begin(MemoryKind rows_lie_in);
  template <MemoryKind source>
  void take_any(ConstRows<source> const& rows, StreamView stream);
  template <MemoryKind kind, MemoryKind source>
  void take_on(Work<kind>& on, ConstRows<source> const& rows, StreamView stream);

  FilePlan const& plan_;
  unsigned const threads_;
  EmitBlocks emit_;
  AnnounceSizes announce_;
  std::variant<std::monostate, HostWork, DeviceWork> work_;  // made when the first rows come
};

}  // namespace terrazzo::writing
