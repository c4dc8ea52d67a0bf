// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/piece_reader.hpp"

#include "base/saturating.hpp"
#include "ops/same_nodata.hpp"
#include "read/host/engine.hpp"
#include "read/mask.hpp"
#include "read/plan/plan.hpp"
#include "read/plan/value_transforms.hpp"
#include "read/public_call.hpp"
#include "read/read_job.hpp"
#include "read/read_report.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace terrazzo::ops {
namespace {

using reading::ReadJob;
using PlanPtr = std::shared_ptr<ReadPlan::Impl const>;

// The pixels of the input for pixels [first, first + count) of the mosaic, from the first one that is needed.
struct Gathered {
  std::uint32_t first = 0, count = 0;  // of the input
  std::vector<std::uint32_t> map{};  // empty for a shift
};

Gathered gather(AxisPlace const& place, std::uint32_t first, std::uint32_t count) {
  Gathered result{place.source_of(first), count};
  if (place.is_shift()) { return result; }
  result.map.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    result.map.push_back(place.source_of(std::int64_t{first} + i) - result.first);
  }
  result.count = result.map.back() + 1;
  return result;
}

std::vector<std::uint32_t> map_of(Gathered& axis) {
  if (axis.map.empty()) {
    for (std::uint32_t i = 0; i < axis.count; ++i) { axis.map.push_back(i); }
  }
  return std::move(axis.map);
}

PlanPtr plan_piece(Dataset const& dataset, GridPlace const& place, Window const& target, ReadRequest request) {
  Gathered columns = gather(place.columns, target.column, target.width);
  Gathered rows = gather(place.rows, target.row, target.height);
  request.window = Window{columns.first, rows.first, columns.count, rows.count};
  PlanPtr const plan = reading::make_plan(dataset.shared_impl(), request);
  if (columns.map.empty() && rows.map.empty()) { return plan; }
  return reading::make_gathered_plan(*plan, map_of(columns), map_of(rows));
}

tile::ValueTransform marker_transform(std::optional<Nodata> const& marker) {
  tile::ValueTransform transform;
  transform.mask_nodata = true;
  transform.nodata = marker ? marker->value : std::numeric_limits<double>::quiet_NaN();
  if (marker) {
    transform.nodata_i64 = marker->exact_i64;
    transform.nodata_u64 = marker->exact_u64;
  }
  return transform;
}

}  // namespace

PieceReader::PieceReader(MosaicPlan::Impl const& plan, std::optional<Nodata> nodata, std::atomic<bool> const* cancel,
                         MemoryBudget& budget)
    : plan_(plan), nodata_(std::move(nodata)), cancel_(cancel), budget_(budget) {}

bool PieceReader::is_finished_by_reading(std::uint32_t input) const noexcept {
  Validity const validity = plan_.inputs.files[input].validity;
  return validity == Validity::everywhere || (validity == Validity::by_value && nodata_);
}

// Without a nodata value in the mosaic, the input's own one marks missing samples until they are composed.
std::optional<Nodata> PieceReader::marker_of(Input const& input) const {
  if (nodata_) { return nodata_; }
  return input.nodata ? std::optional(reading::nearest_nodata(*input.nodata, input.dtype, plan_.dtype()))
                      : std::nullopt;
}

ReadRequest PieceReader::request_for(Piece const& piece, unsigned threads) const {
  Input const& input = plan_.inputs.files[piece.input];
  ReadRequest request;
  request.bands = plan_.inputs.bands;
  request.dtype = plan_.dtype();
  request.bad_tile = plan_.request.bad_tile;
  request.strict = plan_.request.strict;
  request.threads = threads;
  request.memory_limit_bytes = plan_.request.memory_limit_bytes;
  request.cancel = cancel_;
  if (input.validity == Validity::by_value) { request.missing = marker_of(input); }
  return request;
}

void PieceReader::read_samples(Dataset const& dataset, Piece const& piece, HostView const& destination,
                               unsigned threads, ReadReport& report) const {
  reading::naming_the_source(dataset, [&] {
    ReadRequest const request = request_for(piece, threads);
    ReadJob const job{plan_piece(dataset, plan_.places[piece.input], piece.target, request)};
    reading::HostEngine(request, destination, budget_).execute({&job, 1}, report);
  });
}

void PieceReader::find_valid(Dataset const& dataset, Piece const& piece, Patch& patch, unsigned threads,
                             ReadReport& report) const {
  Input const& input = plan_.inputs.files[piece.input];
  std::optional<std::size_t> const alpha = plan_.alpha();
  switch (input.validity) {
    case Validity::everywhere: std::ranges::fill(patch.valid_bytes(), std::byte{255}); return;
    case Validity::by_value: return find_valid_values(input, patch);
    case Validity::by_alpha:
      if (alpha) { return find_valid_alpha(*alpha, patch); }
      break;
    case Validity::by_mask: break;
  }
  read_mask(dataset, piece, patch, threads, report);
}

void PieceReader::find_valid_values(Input const& input, Patch& patch) const {
  tile::ValueTransform const marker = marker_transform(marker_of(input));
  for (std::uint32_t band = 0; band < patch.format().bands; ++band) {
    for (std::uint32_t row = 0; row < patch.height(); ++row) {
      ops::find_valid(patch.format().dtype, patch.samples(band, row, 0), marker,
                      patch.valid(patch.plane_of(band), row, 0, patch.width()));
    }
  }
}

void PieceReader::find_valid_alpha(std::size_t alpha, Patch& patch) const {
  tile::ValueTransform transparent;
  transparent.mask_nodata = true;
  for (std::uint32_t plane = 0; plane < patch.format().valid_planes; ++plane) {
    for (std::uint32_t row = 0; row < patch.height(); ++row) {
      ops::find_valid(patch.format().dtype, patch.samples(static_cast<std::uint32_t>(alpha), row, 0), transparent,
                      patch.valid(plane, row, 0, patch.width()));
    }
  }
}

void PieceReader::read_mask(Dataset const& dataset, Piece const& piece, Patch& patch, unsigned threads,
                            ReadReport& report) const {
  reading::naming_the_source(dataset, [&] {
    ReadRequest request = request_for(piece, threads);
    request.dtype.reset();
    request.missing.reset();
    PlanPtr plan = plan_piece(dataset, plan_.places[piece.input], piece.target, request);
    bool const is_shared = plan->mask_level() == nullptr || plan->mask_level()->bands == 1;
    if (is_shared) {
      // One band that the mask applies to; the alpha band has no mask.
      request.bands = {request.bands.front()};
      plan = plan_piece(dataset, plan_.places[piece.input], piece.target, request);
    }
    auto const bands = static_cast<std::uint32_t>(plan->bands.size());
    auto const reservation = budget_.reserve(saturating_product(bands, patch.height(), patch.width()), "a mask");
    HostArray masks(DType::u8, bands, patch.height(), patch.width());
    ReadReport found;
    reading::read_masks(*plan, request, masks.view(), budget_, found);
    reading::add_report(report, std::move(found));
    for (std::uint32_t row = 0; row < patch.height(); ++row) {
      auto const joint = patch.valid(0, row, 0, patch.width());
      std::ranges::copy(masks.view<std::uint8_t>().row(0, row), joint.begin());
      for (std::uint32_t band = 1; band < bands; ++band) {
        auto const one = masks.view<std::uint8_t>().row(band, row);
        for (std::size_t i = 0; i < joint.size(); ++i) { joint[i] |= one[i]; }
      }
      for (std::uint32_t plane = 1; plane < patch.format().valid_planes; ++plane) {
        std::ranges::copy(joint, patch.valid(plane, row, 0, patch.width()).begin());
      }
    }
  });
}

}  // namespace terrazzo::ops
