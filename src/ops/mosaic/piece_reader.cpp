// SPDX-License-Identifier: Apache-2.0
#include "ops/mosaic/piece_reader.hpp"

#include "base/saturating.hpp"
#include "read/host/engine.hpp"
#include "read/mask.hpp"
#include "read/plan/plan.hpp"
#include "read/public_call.hpp"
#include "read/read_job.hpp"
#include "read/read_report.hpp"
#include "tile/convert.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
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

// The values of a band that are missing: its nodata value, and NaN.
tile::ValueTransform missing_values(BandInfo const& band) {
  tile::ValueTransform transform;
  transform.mask_nodata = true;
  transform.nodata = std::numeric_limits<double>::quiet_NaN();
  if (band.nodata && band.nodata->representable) {
    transform.nodata = band.nodata->value;
    transform.nodata_i64 = band.nodata->exact_i64;
    transform.nodata_u64 = band.nodata->exact_u64;
  }
  return transform;
}

// A row of one band.
SampleRow row_of(HostView const& view, std::uint32_t band, std::uint32_t row) {
  return {static_cast<std::byte*>(view.data) + band * view.band_stride_bytes + row * view.row_stride_bytes,
          view.pixel_stride_bytes};
}

// Samples stay valid where the other validity has them too.
void restrict_valid(std::span<std::uint8_t> valid, std::span<std::uint8_t const> other) {
  for (std::size_t i = 0; i < valid.size(); ++i) { valid[i] = valid[i] != 0 && other[i] != 0 ? 255 : 0; }
}

}  // namespace

PieceReader::PieceReader(MosaicPlan::Impl const& plan, std::optional<Nodata> nodata, std::atomic<bool> const* cancel,
                         MemoryBudget& budget)
    : plan_(plan), nodata_(std::move(nodata)), cancel_(cancel), budget_(budget) {}

bool PieceReader::is_finished_by_reading(std::uint32_t input) const noexcept {
  Validity const validity = plan_.inputs.files[input].validity;
  return validity == Validity::everywhere || (validity == Validity::by_value && nodata_);
}

ReadRequest PieceReader::request_for(unsigned threads) const {
  ReadRequest request;
  request.bands = plan_.inputs.bands;
  request.dtype = plan_.dtype();
  request.bad_tile = plan_.request.bad_tile;
  request.strict = plan_.request.strict;
  request.threads = threads;
  request.memory_limit_bytes = plan_.request.memory_limit_bytes;
  request.cancel = cancel_;
  return request;
}

void PieceReader::read_samples(Dataset const& dataset, Piece const& piece, ReadRequest const& request,
                               HostView const& destination, ReadReport& report) const {
  reading::naming_the_source(dataset, [&] {
    ReadJob const job{plan_piece(dataset, plan_.places[piece.input], piece.target, request)};
    reading::HostEngine(request, destination, budget_).execute({&job, 1}, report);
  });
}

void PieceReader::read_finished(Dataset const& dataset, Piece const& piece, HostView const& destination,
                                unsigned threads, ReadReport& report) const {
  ReadRequest request = request_for(threads);
  if (plan_.inputs.files[piece.input].has_missing_values) { request.missing = nodata_; }
  read_samples(dataset, piece, request, destination, report);
}

void PieceReader::read_patch(Dataset const& dataset, Piece const& piece, Patch& patch, unsigned threads,
                             ReadReport& report) const {
  read_values(dataset, piece, patch, threads, report);
  Validity const validity = plan_.inputs.files[piece.input].validity;
  std::optional<std::size_t> const alpha = plan_.alpha();
  if (validity == Validity::by_alpha && alpha) {
    hide_transparent(*alpha, patch);
  } else if (validity == Validity::by_alpha || validity == Validity::by_mask) {
    hide_masked(dataset, piece, patch, threads, report);
  }
}

// Reads the samples, and finds those whose value is not missing. The stored values decide: after a conversion, valid
// samples may equal the nodata value.
void PieceReader::read_values(Dataset const& dataset, Piece const& piece, Patch& patch, unsigned threads,
                              ReadReport& report) const {
  Input const& input = plan_.inputs.files[piece.input];
  HostView const samples = patch.view(0, 0, patch.width(), patch.height());
  ReadRequest request = request_for(threads);
  if (!input.has_missing_values || input.dtype == plan_.dtype()) {
    read_samples(dataset, piece, request, samples, report);
    if (input.has_missing_values) { return find_valid_values(dataset, samples, patch); }
    std::ranges::fill(patch.valid_bytes(), std::byte{255});
    return;
  }
  request.dtype = input.dtype;
  auto const reservation = budget_.reserve(
      saturating_product(std::uint64_t{samples.bands} * size_bytes(input.dtype), samples.height, samples.width),
      "samples to convert");
  HostArray array(input.dtype, samples.bands, samples.height, samples.width);
  HostView const stored = array.view();
  read_samples(dataset, piece, request, stored, report);
  find_valid_values(dataset, stored, patch);
  for (std::uint32_t band = 0; band < samples.bands; ++band) {
    for (std::uint32_t row = 0; row < samples.height; ++row) {
      SampleRow const from = row_of(stored, band, row), to = row_of(samples, band, row);
      tile::convert_row(stored.dtype, from.first, from.stride_bytes, samples.dtype, to.first, to.stride_bytes,
                        samples.width, {});
    }
  }
}

void PieceReader::find_valid_values(Dataset const& dataset, HostView const& stored, Patch& patch) const {
  for (std::uint32_t band = 0; band < stored.bands; ++band) {
    tile::ValueTransform const missing = missing_values(dataset.info().bands[plan_.inputs.bands[band] - 1]);
    for (std::uint32_t row = 0; row < stored.height; ++row) {
      find_valid(stored.dtype, row_of(stored, band, row), missing,
                 patch.valid(patch.plane_of(band), row, 0, patch.width()));
    }
  }
}

void PieceReader::hide_transparent(std::size_t alpha, Patch& patch) const {
  tile::ValueTransform transparent;
  transparent.mask_nodata = true;
  std::vector<std::uint8_t> visible(patch.width());
  for (std::uint32_t row = 0; row < patch.height(); ++row) {
    find_valid(patch.format().dtype, patch.samples(static_cast<std::uint32_t>(alpha), row, 0), transparent, visible);
    for (std::uint32_t plane = 0; plane < patch.format().valid_planes; ++plane) {
      restrict_valid(patch.valid(plane, row, 0, patch.width()), visible);
    }
  }
}

void PieceReader::hide_masked(Dataset const& dataset, Piece const& piece, Patch& patch, unsigned threads,
                              ReadReport& report) const {
  reading::naming_the_source(dataset, [&] {
    ReadRequest request = request_for(threads);
    request.dtype.reset();
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
      auto const joint = masks.view<std::uint8_t>().row(0, row);
      for (std::uint32_t band = 1; band < bands; ++band) {
        auto const one = masks.view<std::uint8_t>().row(band, row);
        for (std::size_t i = 0; i < joint.size(); ++i) { joint[i] |= one[i]; }
      }
      for (std::uint32_t plane = 0; plane < patch.format().valid_planes; ++plane) {
        restrict_valid(patch.valid(plane, row, 0, patch.width()), joint);
      }
    }
  });
}

}  // namespace terrazzo::ops
