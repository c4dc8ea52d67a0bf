// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/write.hpp"

#include "base/byte_sink.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "write/assembly.hpp"
#include "write/block_encoder.hpp"
#include "write/cascade.hpp"
#include "write/file_plan.hpp"
#include "write/overview_writer.hpp"
#include "write/row_window.hpp"
#include "write/sidecars.hpp"

#include <algorithm>
#include <utility>

namespace terrazzo {

using namespace writing;

namespace {

// A call to the pool should have this many blocks for every thread, or threads wait for the last block of each call.
constexpr std::uint64_t kBlocksPerThread = 8;

// Rows that wait in memory until there are enough of them: whole block rows.
std::uint32_t rows_to_gather(FilePlan const& plan, unsigned threads) {
  LevelPlan const& level = plan.levels.front();
  std::uint64_t const row_bytes = std::uint64_t{level.width} * plan.options.bands * plan.sample_bytes();
  std::uint64_t const block_row_bytes = row_bytes * level.block_height;
  std::uint64_t const blocks = std::uint64_t{level.blocks_across} * plan.planes;
  std::uint64_t const wanted = (kBlocksPerThread * threads + blocks - 1) / blocks;
  std::uint64_t const allowed = plan.options.streaming_buffer_bytes / std::max<std::uint64_t>(block_row_bytes, 1);
  std::uint64_t const block_rows = std::clamp<std::uint64_t>(wanted, 1, std::max<std::uint64_t>(allowed, 1));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(level.height, block_rows * level.block_height));
}

// Rows that may be worked on at once when the caller has them all in memory: overviews of them, a third of their size
// at most, take memory.
std::uint32_t rows_at_once(FilePlan const& plan, std::uint32_t gathered) {
  LevelPlan const& level = plan.levels.front();
  if (plan.levels.size() == 1) { return level.height; }
  std::uint64_t const row_bytes = std::uint64_t{level.width} * plan.options.bands * plan.sample_bytes();
  std::uint64_t const block_rows = 2 * plan.options.streaming_buffer_bytes / (row_bytes * level.block_height);
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(block_rows * level.block_height, gathered, std::max(level.height, gathered)));
}

}  // namespace

struct Writer::Impl {
  Impl(std::shared_ptr<ByteSink> to, FilePlan planned, Sidecars files, std::uint64_t start_bytes = 0)
      : plan(std::move(planned)),
        threads(resolve_threads(plan.options.threads)),
        sink(std::move(to)),
        assembly(plan, *sink, start_bytes),
        encoder(plan, threads),
        cascade(plan, threads),
        gather_rows(rows_to_gather(plan, threads)),
        most_rows(rows_at_once(plan, gather_rows)),
        pending(plan, plan.levels.front().width, gather_rows),
        moments(plan.options.statistics ? plan.options.bands : 0),
        encoded(0),
        sidecars(std::move(files)) {}

  FilePlan const plan;
  unsigned const threads;
  std::shared_ptr<ByteSink> const sink;
  Assembly assembly;
  BlockEncoder encoder;
  Cascade cascade;
  std::uint32_t const gather_rows, most_rows;
  RowWindow pending;  // rows that do not fill their part yet
  std::uint32_t next_row = 0;
  std::vector<Moments> moments;
  std::vector<bool> encoded;  // tiles given by write_encoded()
  std::uint64_t encoded_count = 0, tiles_done = 0;
  Sidecars const sidecars;
  bool over = false;

  [[nodiscard]] std::uint32_t height() const noexcept { return plan.levels.front().height; }

  [[noreturn]] void refuse(std::string message) const {
    throw Error(ErrorKind::usage, std::move(message), {.source = sink->name()});
  }
  void check_open() const {
    if (over) { refuse("this writer is closed, aborted, or has failed"); }
  }

  // Whatever fails while the file is being made ends it: what is there is thrown away.
  template <class Work>
  auto guarded(Work const& work) {
    try {
      return work();
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
    sink->discard();
  }

  void tell_progress(std::uint64_t tiles) {
    tiles_done += tiles;
    if (plan.options.progress && !plan.options.progress(tiles_done, plan.tile_count())) {
      throw Error(ErrorKind::cancelled, "the write was cancelled");
    }
  }

  void emit(BlockJob const& job, BlockResult const& result) {
    assembly.add_image(job.level, job.id, result.image);
    if (result.has_mask) { assembly.add_mask(job.level, job.id, result.mask); }
    for (std::size_t s = 0; s < result.moments.size(); ++s) { moments[job.id.plane + s].merge(result.moments[s]); }
    tell_progress(result.has_mask ? 2 : 1);
  }

  void advance(LevelRows const& rows) {
    cascade.advance(rows, [&](std::span<BlockJob const> jobs) {
      encoder.run(jobs, plan.options.cancel,
                  [&](BlockJob const& job, BlockResult const& result) { emit(job, result); });
    });
  }

  // `rows` follow those before them. Whole block rows are worked on where they lie, when there are enough of them;
  // others are gathered.
  void take(LevelRows const& rows) {
    std::uint32_t const block_height = plan.levels.front().block_height;
    std::uint32_t const end = rows.first + rows.pixels.height;
    std::uint32_t at = rows.first;
    while (at < end) {
      if (pending.first() == pending.end()) {
        std::uint32_t const whole = end == height() ? end : end - end % block_height;
        if (whole > at && (whole - at >= gather_rows || whole == height())) {
          std::uint32_t const last = whole - at > most_rows ? at + most_rows : whole;
          advance(rows_between(rows, at, last));
          at = last;
          continue;
        }
        pending.restart(at);
      }
      std::uint32_t const full = std::min<std::uint32_t>(height() - pending.first(), gather_rows) + pending.first();
      std::uint32_t const last = std::min(end, full);
      pending.append(rows, at, last, threads);
      at = last;
      if (at == full) {
        advance(pending.rows());
        pending.restart(at);
      }
    }
    next_row = end;
  }

  void check_view(HostView const& view, DType dtype, std::uint32_t bands, char const* what) const {
    if (view.width != plan.levels.front().width || view.bands != bands || view.dtype != dtype) {
      refuse(text("the ", what, " are ", view.bands, " bands of ", view.width, " columns of ", to_string(view.dtype),
                  ", not ", bands, " of ", plan.levels.front().width, " of ", to_string(dtype)));
    }
    if (view.data == nullptr && view.height != 0) { refuse(text("the ", what, " have no data")); }
  }

  void write_rows(HostView const& pixels, HostView const* mask) {
    check_open();
    if (encoded_count != 0) { refuse("rows cannot be mixed with tiles that are compressed already"); }
    check_view(pixels, plan.options.dtype, plan.options.bands, "rows");
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
    LevelRows rows;
    rows.first = next_row;
    rows.pixels = pixels;
    if (mask != nullptr) { rows.mask = *mask; }
    guarded([&] { take(rows); });
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
      WriteReport const report = assembly.finish(moments);
      sink->publish(report.bytes_written);
      over = true;
      sidecars.settle();
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

void Writer::write_rows(HostView const& rows) { impl_->write_rows(rows, nullptr); }
void Writer::write_rows(HostView const& rows, HostView const& mask) { impl_->write_rows(rows, &mask); }
void Writer::write_encoded(TileId tile, std::span<std::byte const> bytes) { impl_->write_encoded(tile, bytes); }
std::uint32_t Writer::rows_left() const noexcept { return impl_->height() - impl_->next_row; }
WriteReport Writer::close() { return impl_->close(); }
void Writer::abort() noexcept {
  if (!impl_->over) { impl_->abort(); }
}

namespace {

Writer create_with(std::shared_ptr<ByteSink> sink, std::string const& path, std::uint32_t width, std::uint32_t height,
                   WriteOptions const& options) {
  FilePlan plan = plan_file(width, height, options);
  FileTags const tags(plan);  // what cannot be said in tags is refused before the sink is touched
  sink->open();
  try {
    Sidecars sidecars(sink->is_seekable() ? path : std::string(), tags.pam(), options.durability);
    return Writer(std::make_unique<Writer::Impl>(sink, std::move(plan), std::move(sidecars)));
  } catch (...) {
    sink->discard();
    throw;
  }
}

}  // namespace

Writer writing::create_overviews(std::shared_ptr<ByteSink> sink, FilePlan plan, std::uint64_t start_bytes) {
  try {
    return Writer(
        std::make_unique<Writer::Impl>(sink, std::move(plan), Sidecars({}, {}, Durability::none), start_bytes));
  } catch (...) {
    sink->discard();
    throw;
  }
}

Writer create(std::shared_ptr<ByteSink> sink, std::uint32_t width, std::uint32_t height, WriteOptions const& options) {
  return create_with(std::move(sink), {}, width, height, options);
}

Writer create(std::string const& path, std::uint32_t width, std::uint32_t height, WriteOptions const& options) {
  return create_with(file_sink(path, options.durability), path, width, height, options);
}

WriteReport write(std::string const& path, HostView const& pixels, WriteOptions options) {
  options.dtype = pixels.dtype;
  options.bands = pixels.bands;
  Writer writer = create(path, pixels.width, pixels.height, options);
  writer.write_rows(pixels);
  return writer.close();
}

WriteReport write(std::shared_ptr<ByteSink> sink, HostView const& pixels, WriteOptions options) {
  options.dtype = pixels.dtype;
  options.bands = pixels.bands;
  Writer writer = create(std::move(sink), pixels.width, pixels.height, options);
  writer.write_rows(pixels);
  return writer.close();
}

}  // namespace terrazzo
