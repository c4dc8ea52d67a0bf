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
#include "write/host/encoded_rows.hpp"
#include "write/layout/assembly.hpp"
#include "write/plan/engine_choice.hpp"
#include "write/plan/file_plan.hpp"
#include "write/plan/lossy_notes.hpp"
#include "write/row_pipeline.hpp"
#include "write/sidecars.hpp"
#include "write/update/overview_writer.hpp"

#include <memory>
#include <utility>

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
        sidecars(std::move(files)),
        rows(
            plan, threads, [this](std::span<FinishedBlock const> blocks) { emit(blocks); },
            [this](std::span<BlockSize const> sizes) { (void)assembly.fix_offsets(sizes); }) {}

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

  RowPipeline rows;
  std::unique_ptr<EncodedRows> encoded_rows;  // made for the first tile of write_encoded() whose pixels matter

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
    rows.drop();  // the engine may have blocks in flight to the sink
    encoded_rows.reset();
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
    ConstRows<kind> next{next_row, pixels, {}};
    if (mask != nullptr) { next.mask = tile::with_strides(*mask); }
    guarded([&] {
      auto const here = choose_device(plan.options.device);
      rows.take(next, stream);
      next_row += pixels.height;
    });
  }

  void write_encoded(TileId tile, std::span<std::byte const> bytes) {
    check_open();
    if (plan.options.mask) { refuse("compressed tiles go into a file without a mask: mark missing pixels by nodata"); }
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
      encoded[index] = true;
      ++encoded_count;
      if (plan.options.cog || plan.levels.size() > 1 || plan.options.statistics) {
        if (!encoded_rows) {
          encoded_rows = std::make_unique<EncodedRows>(plan, threads,
                                                       [this](std::span<FinishedBlock const> blocks) { emit(blocks); });
        }
        return encoded_rows->add(tile, bytes);
      }
      assembly.add_image(0, tile, bytes);
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
      rows.finish();
      encoded_rows.reset();  // frees its memory
      if (tiles_done != plan.tile_count()) {
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
