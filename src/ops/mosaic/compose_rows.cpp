// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/compose_rows.hpp"

#include "base/parallel.hpp"
#include "base/saturating.hpp"
#include "base/settings.hpp"
#include "read/read_report.hpp"
#include "terrazzo/error.hpp"
#include "tile/convert.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

namespace terrazzo::ops {
namespace {

constexpr std::uint32_t kGrainRows = 8;  // rows of one thread's turn

bool copies(MosaicRule rule) noexcept { return rule == MosaicRule::first || rule == MosaicRule::last; }

bool has_missing_values(MosaicPlan::Impl const& plan) {
  return std::ranges::any_of(plan.inputs.files, &Input::has_missing_values);
}

// The value of pixels that no input has. Pixels under a mask are 0.
std::array<std::byte, 16> fill_sample(WriteOptions const& options) {
  tile::MissingValue missing;  // NaN, or 0 in an integer
  if (options.nodata) {
    missing = {options.nodata->value, options.nodata->exact_i64, options.nodata->exact_u64};
  } else if (options.mask) {
    missing.value = 0;
  }
  std::array<std::byte, 16> sample{};
  tile::store_missing(options.dtype, sample.data(), missing);
  return sample;
}

}  // namespace

PixelFormat pixel_format(MosaicPlan::Impl const& plan, WriteOptions const& options) {
  auto const bands = static_cast<std::uint32_t>(plan.inputs.bands.size());
  return {.dtype = plan.dtype(),
          .bands = bands,
          .interleaved = bands > 1 && options.planar == PlanarLayout::contiguous,
          .valid_planes = has_missing_values(plan) ? bands : 1,
          .alpha = plan.alpha()};
}

// A piece, and its patch unless it is read into the rows.
struct RowComposer::Job {
  Piece piece{};
  std::unique_ptr<Patch> patch{};
};

RowComposer::RowComposer(MosaicPlan::Impl const& plan, WriteOptions const& options, std::uint64_t patch_bytes,
                         MemoryBudget& budget)
    : plan_(plan),
      options_(options),
      patch_bytes_(patch_bytes),
      budget_(budget),
      format_(pixel_format(plan, options)),
      threads_(resolve_threads(options.threads)),
      files_at_once_(files_at_once()),
      fill_(fill_sample(options)),
      sweep_(plan.targets),
      files_(plan.inputs.files, plan.request, plan.inputs.bands),
      reader_(plan, options.nodata, options.cancel, budget),
      collisions_(plan, options.nodata) {}

// With a mask, the validity of a piece with missing samples must be known even if it is alone.
bool RowComposer::reads_into_rows(Piece const& piece) const {
  if (!piece.alone || !reader_.is_finished_by_reading(piece.input)) { return false; }
  if (plan_.inputs.files[piece.input].validity == Validity::everywhere) { return true; }
  // Once NaN is read as the nodata value, it cannot be told from valid samples of that value.
  return !options_.mask && !collisions_.are_possible(piece.input);
}

// The next pieces that are read together. Leaves out pieces that the ones before them hide.
std::vector<RowComposer::Job> RowComposer::next_jobs(std::span<Piece const>& left, std::uint32_t first,
                                                     Canvas& canvas) const {
  std::vector<Job> jobs;
  std::uint64_t bytes = 0;
  for (; !left.empty(); left = left.subspan(1)) {
    Piece const& piece = left.front();
    auto const& [column, row, width, height] = piece.target;
    if (reads_into_rows(piece)) {
      jobs.push_back({piece});
      continue;
    }
    if (copies(plan_.request.rule) && canvas.is_complete(column, row - first, width, height)) { continue; }
    bytes = saturating_sum(bytes, saturating_product(format_.pixel_bytes(), width, height));
    bool const fits = bytes <= patch_bytes_;
    if (!fits && !jobs.empty()) { break; }
    jobs.push_back({piece, std::make_unique<Patch>(format_, height, width, budget_)});
  }
  return jobs;
}

void RowComposer::read(std::span<Job> jobs, std::uint32_t first, Canvas& canvas, ReadReport& report) {
  auto const at_once = static_cast<unsigned>(std::min<std::uint64_t>({threads_, files_at_once_, jobs.size()}));
  unsigned const threads_each = std::max(1U, threads_ / std::max(at_once, 1U));
  std::mutex mutex;
  parallel_for(jobs.size(), at_once, [&](std::uint64_t index) {
    auto& [piece, patch] = jobs[index];
    auto const& [column, row, width, height] = piece.target;
    Dataset const dataset = files_.get(piece.input);
    ReadReport found;
    if (patch != nullptr) {
      reader_.read_patch(dataset, piece, *patch, threads_each, found);
      if (collisions_.are_possible(piece.input)) {
        collisions_.look(piece.input, *patch, {0, 0, width, height}, false);
      }
    } else {
      Patch& rows = canvas.patch();
      reader_.read_finished(dataset, piece, rows.view(column, row - first, width, height), threads_each, found);
      if (collisions_.are_possible(piece.input)) {
        collisions_.look(piece.input, rows, {column, row - first, width, height}, true);
      }
      for (std::uint32_t y = 0; options_.mask && y < height; ++y) {
        for (std::uint32_t plane = 0; plane < format_.valid_planes; ++plane) {
          std::ranges::fill(rows.valid(plane, row - first + y, column, width), std::uint8_t{255});
        }
      }
    }
    std::lock_guard const lock(mutex);
    reading::add_report(report, std::move(found));
  });
}

void RowComposer::compose(std::span<Job> jobs, std::uint32_t first, std::uint32_t rows, Canvas& canvas) const {
  parallel_ranges(rows, kGrainRows, threads_, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    for (auto& [piece, patch] : jobs) {
      if (patch == nullptr) { continue; }
      std::uint64_t const top = piece.target.row - first, bottom = top + piece.target.height;
      for (std::uint64_t row = std::max(begin, top); row < std::min(end, bottom); ++row) {
        canvas.compose(*patch, static_cast<std::uint32_t>(row - top), static_cast<std::uint32_t>(row),
                       piece.target.column);
      }
    }
  });
}

void RowComposer::compose(std::uint32_t first, std::uint32_t rows, Canvas& canvas, ReadReport& report) {
  canvas.clear(std::span(fill_).first(size_bytes(format_.dtype)));
  std::vector<Piece> pieces = sweep_.next(first, rows);
  if (plan_.request.rule == MosaicRule::last) { std::ranges::reverse(pieces); }
  for (std::span<Piece const> left = pieces; !left.empty();) {
    if (options_.cancel != nullptr && *options_.cancel) {
      throw Error(ErrorKind::cancelled, "the mosaic was cancelled");
    }
    std::vector<Job> jobs = next_jobs(left, first, canvas);
    read(jobs, first, canvas, report);
    compose(jobs, first, rows, canvas);
  }
  parallel_ranges(rows, kGrainRows, threads_, [&](std::uint64_t begin, std::uint64_t end, unsigned) {
    for (std::uint64_t row = begin; row < end; ++row) { canvas.finish_row(static_cast<std::uint32_t>(row)); }
  });
  for (Piece const& piece : pieces) {
    Window const& whole = plan_.targets[piece.input];
    if (std::uint64_t{whole.row} + whole.height <= std::uint64_t{first} + rows) { files_.close(piece.input); }
  }
}

}  // namespace terrazzo::ops
