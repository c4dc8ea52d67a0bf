// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/write.hpp"

#include "base/settings.hpp"
#include "base/text.hpp"
#include "io/file_sink.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/sink.hpp"
#include "tile/view_strides.hpp"
#include "write/device/engine.hpp"
#include "write/host/engine.hpp"
#include "write/layout/assembly.hpp"
#include "write/overviews/cascade.hpp"
#include "write/plan/engine_choice.hpp"
#include "write/plan/file_plan.hpp"
#include "write/plan/lossy_notes.hpp"
#include "write/row_window.hpp"
#include "write/sidecars.hpp"
#include "write/update/overview_writer.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

namespace terrazzo {

using namespace writing;

struct Writer::Impl {
  // `tags` were made from `planned`.
  Impl(std::shared_ptr<ByteSink> to, FilePlan planned, FileTags tags, Sidecars files, std::uint64_t start_bytes = 0)
      : plan(std::move(planned)),
        threads(resolve_threads(plan.options.threads)),
        sink(std::move(to)),
        assembly(plan, *sink, std::move(tags), start_bytes),
        moments(plan.options.statistics ? plan.options.bands : 0),
        encoded(0),
        sidecars(std::move(files)) {}

  FilePlan const plan;
  unsigned const threads;
  std::shared_ptr<ByteSink> const sink;
  Assembly assembly;
  std::uint32_t next_row = 0;
  std::vector<Moments> moments;
  std::vector<bool> encoded;  // tiles given by write_encoded()
  std::uint64_t encoded_count = 0, tiles_done = 0, device_tiles = 0;
  Sidecars const sidecars;
  bool over = false;

  // Made when the first rows come: their memory decides the engine if the options leave it open.
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
  std::variant<std::monostate, HostWork, DeviceWork> work;

  [[nodiscard]] std::uint32_t height() const noexcept { return plan.levels.front().height; }

  [[noreturn]] void refuse(std::string message) const {
    throw Error(ErrorKind::usage, std::move(message), {.source = sink->name()});
  }
  void check_open() const {
    if (over) { refuse("this writer is closed, aborted, or has failed"); }
  }

  // Any failure while the file is made ends it: the partial file is discarded.
  template <class Action>
  auto guarded(Action const& action) {
    try {
      return action();
    } catch (Error const& error) {
      abort();
      throw error.located({.source = sink->name()});
    } catch (...) {
      abort();
      throw;
    }
  }

  void abort() noexcept {
    over = true;
    work.emplace<std::monostate>();  // the engine may have blocks in flight to the sink
    sink->discard();
  }

  void tell_progress(std::uint64_t tiles) {
    tiles_done += tiles;
    if (plan.options.progress && !plan.options.progress(tiles_done, plan.tile_count())) {
      throw Error(ErrorKind::cancelled, "the write was cancelled");
    }
  }

  void emit(std::span<FinishedBlock const> blocks) {
    sink->hold();
    for (auto const& [level, id, result] : blocks) {
      assembly.add_image(level, id, result.image);
      if (result.has_mask) { assembly.add_mask(level, id, result.mask); }
      for (std::size_t s = 0; s < result.moments.size(); ++s) { moments[id.plane + s].merge(result.moments[s]); }
      device_tiles += result.device_tiles;
    }
    sink->let_go();
    for (FinishedBlock const& block : blocks) { tell_progress(block.result.has_mask ? 2 : 1); }
  }

  void begin_work(MemoryKind rows_lie_in) {
    auto const receive = [this](std::span<FinishedBlock const> blocks) { emit(blocks); };
    auto const announce = [this](std::span<BlockSize const> sizes) { (void)assembly.fix_offsets(sizes); };
    if (choose_engine(plan, rows_lie_in) == Engine::device) {
      work.emplace<DeviceWork>(plan, make_device_engine(plan, threads, receive, announce, rows_lie_in));
    } else {
      work.emplace<HostWork>(plan, make_host_engine(plan, threads, receive));
    }
  }

  template <MemoryKind source>
  void take(ConstRows<source> const& rows, StreamView stream) {
    if (std::holds_alternative<std::monostate>(work)) { begin_work(source); }
    if (auto* const on_host = std::get_if<HostWork>(&work)) {
      take(*on_host, rows, stream);
    } else {
      take(std::get<DeviceWork>(work), rows, stream);
    }
    next_row = rows.first + rows.pixels.height;
  }

  // `rows` follow the previous ones. Whole block rows are processed in place if there are enough of them and the engine
  // can reach them; others are gathered.
  template <MemoryKind kind, MemoryKind source>
  void take(Work<kind>& on, ConstRows<source> const& rows, StreamView stream) {
    auto& [engine, share, cascade, pending] = on;
    constexpr bool kSameMemory = kind == source;
    bool in_reach = false;
    if constexpr (kSameMemory) { in_reach = engine->reaches(rows); }
    engine->wait_for(stream);
    std::uint32_t const block_height = plan.levels.front().block_height;
    std::uint32_t const end = rows.first + rows.pixels.height;
    std::uint32_t at = rows.first;
    while (at < end) {
      if (pending.first() == pending.end()) {
        std::uint32_t const whole = end == height() ? end : end - end % block_height;
        if (in_reach && whole > at && (whole - at >= share.gathered || whole == height())) {
          std::uint32_t const last = whole - at > share.at_once ? at + share.at_once : whole;
          if constexpr (kSameMemory) { cascade.advance(rows_between(rows, at, last)); }
          at = last;
          continue;
        }
        pending.restart(at);
      }
      std::uint32_t const full = std::min<std::uint32_t>(height() - pending.first(), share.gathered) + pending.first();
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

  template <MemoryKind kind>
  void check_view(View<kind, void const> const& view, DType dtype, std::uint32_t bands, char const* what) const {
    if (view.width != plan.levels.front().width || view.bands != bands || view.dtype != dtype) {
      refuse(text("the ", what, " are ", view.bands, " bands of ", view.width, " columns of ", to_string(view.dtype),
                  ", not ", bands, " of ", plan.levels.front().width, " of ", to_string(dtype)));
    }
    if (view.data == nullptr && view.height != 0) { refuse(text("the ", what, " have no data")); }
  }

  template <MemoryKind kind>
  void write_rows(View<kind, void const> const& given, View<kind, void const> const* mask, StreamView stream = {}) {
    check_open();
    if (encoded_count != 0) { refuse("rows cannot be mixed with tiles that are compressed already"); }
    check_view(given, plan.options.dtype, plan.options.bands, "rows");
    View<kind, void const> const pixels = tile::with_strides(given);
    if (plan.options.mask != (mask != nullptr)) {
      refuse(plan.options.mask ? "the file has a mask, and these rows come without one"
                               : "the rows come with a mask, and WriteOptions::mask is not set");
    }
    if (mask != nullptr) {
      check_view(*mask, DType::u8, 1, "rows of the mask");
      if (mask->height != pixels.height) { refuse("the mask has another number of rows than the pixels"); }
    }
    if (pixels.height > height() - next_row) {
      refuse(
          text(pixels.height, " more rows than the raster has: it has ", height(), ", and ", next_row, " are written"));
    }
    if (pixels.height == 0) { return; }
    ConstRows<kind> rows{next_row, pixels, {}};
    if (mask != nullptr) { rows.mask = tile::with_strides(*mask); }
    guarded([&] {
      auto const here = choose_device(plan.options.device);
      take(rows, stream);
    });
  }

  void write_encoded(TileId tile, std::span<std::byte const> bytes) {
    check_open();
    if (plan.options.cog || plan.levels.size() > 1 || plan.options.mask || plan.options.statistics) {
      refuse("compressed tiles go into a plain file: no COG, overviews, mask or statistics");
    }
    if (next_row != 0) { refuse("compressed tiles cannot be mixed with rows"); }
    LevelPlan const& level = plan.levels.front();
    if (tile.column >= level.blocks_across || tile.row >= level.blocks_down || tile.plane >= plan.planes) {
      refuse(text("there is no tile (", tile.column, ", ", tile.row, ") in plane ", tile.plane));
    }
    if (bytes.size() > 0xFFFFFFFFULL) { refuse("a tile of 4 GiB or more cannot be counted"); }
    encoded.resize(level.blocks_per_plane() * plan.planes);
    std::uint64_t const index =
        level.blocks_per_plane() * tile.plane + std::uint64_t{tile.row} * level.blocks_across + tile.column;
    if (encoded[index]) { refuse(text("tile (", tile.column, ", ", tile.row, ") was written before")); }
    guarded([&] {
      assembly.add_image(0, tile, bytes);
      encoded[index] = true;
      ++encoded_count;
      tell_progress(1);
    });
  }

  WriteReport close() {
    check_open();
    if (encoded_count != 0 && encoded_count != encoded.size()) {
      abort();
      refuse(text(encoded_count, " of ", encoded.size(), " tiles were written: no file is made"));
    }
    if (encoded_count == 0 && next_row != height()) {
      abort();
      refuse(text(next_row, " of ", height(), " rows were written: no file is made"));
    }
    return guarded([&] {
      if (auto* const on_host = std::get_if<HostWork>(&work)) { on_host->engine->finish(); }
      if (auto* const on_device = std::get_if<DeviceWork>(&work)) { on_device->engine->finish(); }
      work.emplace<std::monostate>();  // frees the engine's memory
      if (encoded_count == 0 && tiles_done != plan.tile_count()) {
        throw Error(ErrorKind::device,
                    text(tiles_done, " of ", plan.tile_count(), " tiles came back from the engine: no file is made"));
      }
      WriteReport report = assembly.finish(moments);
      report.device_tiles = device_tiles;
      sidecars.publish(*sink, report.bytes_written);
      over = true;
      return report;
    });
  }
};

Writer::Writer(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&& other) noexcept {
  if (this != &other) {
    if (impl_) { abort(); }
    impl_ = std::move(other.impl_);
  }
  return *this;
}
Writer::~Writer() {
  if (impl_) { abort(); }
}

void Writer::write_rows(ConstHostView const& rows) { impl_->write_rows<MemoryKind::host>(rows, nullptr); }
void Writer::write_rows(ConstHostView const& rows, ConstHostView const& mask) { impl_->write_rows(rows, &mask); }
void Writer::write_rows(ConstDeviceView const& rows, StreamView stream) {
  impl_->write_rows<MemoryKind::device>(rows, nullptr, stream);
}
void Writer::write_rows(ConstDeviceView const& rows, ConstDeviceView const& mask, StreamView stream) {
  impl_->write_rows(rows, &mask, stream);
}
void Writer::write_encoded(TileId tile, std::span<std::byte const> bytes) { impl_->write_encoded(tile, bytes); }
std::uint32_t Writer::rows_left() const noexcept { return impl_->height() - impl_->next_row; }
WriteReport Writer::close() { return impl_->close(); }
void Writer::abort() noexcept {
  if (!impl_->over) { impl_->abort(); }
}

namespace {

// `file`: the sink if it has a path, otherwise null.
Writer create_with(std::shared_ptr<ByteSink> sink, std::shared_ptr<io::FileSink> file, std::uint32_t width,
                   std::uint32_t height, WriteOptions const& options) {
  FilePlan plan = plan_file(width, height, options);
  check_engine(plan);
  note_blurred_validity(plan);
  FileTags tags(plan);  // throws for options that tags cannot express, before the sink is touched
  sink->open();
  try {
    Sidecars sidecars;
    if (file != nullptr && file->is_seekable()) {
      sidecars = Sidecars(std::move(file), tags.pam(), options.durability);
    }
    return Writer(std::make_unique<Writer::Impl>(sink, std::move(plan), std::move(tags), std::move(sidecars)));
  } catch (...) {
    sink->discard();
    throw;
  }
}

}  // namespace

Writer writing::create_overviews(std::shared_ptr<ByteSink> sink, FilePlan plan, std::uint64_t start_bytes) {
  try {
    FileTags tags(plan);
    note_blurred_validity(plan);
    return Writer(std::make_unique<Writer::Impl>(sink, std::move(plan), std::move(tags), Sidecars(), start_bytes));
  } catch (...) {
    sink->discard();
    throw;
  }
}

Writer create(std::shared_ptr<ByteSink> sink, std::uint32_t width, std::uint32_t height, WriteOptions const& options) {
  return create_with(std::move(sink), nullptr, width, height, options);
}

Writer create(std::string const& path, std::uint32_t width, std::uint32_t height, WriteOptions const& options) {
  auto file = std::make_shared<io::FileSink>(path, options.durability, options.cancel);
  return create_with(file, file, width, height, options);
}

namespace {

// Where: a path or a sink. A view of device memory is followed by its stream.
template <class Where, class View, class... Stream>
WriteReport write_whole(Where&& where, View const& pixels, WriteOptions options, Stream... stream) {
  options.dtype = pixels.dtype;
  options.bands = pixels.bands;
  Writer writer = create(std::forward<Where>(where), pixels.width, pixels.height, options);
  writer.write_rows(pixels, stream...);
  return writer.close();
}

}  // namespace

WriteReport write(std::string const& path, ConstHostView const& pixels, WriteOptions options) {
  return write_whole(path, pixels, std::move(options));
}

WriteReport write(std::shared_ptr<ByteSink> sink, ConstHostView const& pixels, WriteOptions options) {
  return write_whole(std::move(sink), pixels, std::move(options));
}

WriteReport write(std::string const& path, ConstDeviceView const& pixels, WriteOptions options, StreamView stream) {
  return write_whole(path, pixels, std::move(options), stream);
}

WriteReport write(std::shared_ptr<ByteSink> sink, ConstDeviceView const& pixels, WriteOptions options,
                  StreamView stream) {
  return write_whole(std::move(sink), pixels, std::move(options), stream);
}

}  // namespace terrazzo
