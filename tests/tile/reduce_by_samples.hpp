// SPDX-License-Identifier: Apache-2.0
//
// The makers of single samples that device kernels run, run on the host. tests/write compares them with the host
// writer, tests/gpu with the kernels.
#pragma once

#include "tile/convert_sample.hpp"
#include "tile/reduce_convolution.hpp"
#include "tile/reduce_halves.hpp"
#include "tile/reduce_rank.hpp"
#include "tile/reduce_samples.hpp"
#include "tile/reduce_scene.hpp"

#include <cstdint>
#include <type_traits>

namespace terrazzo::tile::test {

template <class Maker>
void make_each(Maker const& maker, std::uint32_t bands) {
  ReduceTask const& task = maker.task;
  for (std::uint32_t band = 0; band < bands; ++band) {
    for (std::uint32_t row = 0; row < task.row_count; row += Maker::kRows) {
      for (std::uint32_t column = 0; column < task.width; ++column) { maker(band, column, task.first_row + row); }
    }
  }
}

[[nodiscard]] inline KernelAxisView view_of(KernelAxis const& axis) noexcept {
  return {axis.first.data(), axis.count.data(), axis.plain.data(), axis.normalised.data(), axis.size};
}

template <class T>
void make_real_samples(ReductionSpec const& spec, ReduceTask const& task, KernelAxisView const& columns,
                       KernelAxisView const& rows) {
  Marker<T> const marker = make_marker<T>(spec);
  bool const has_negative_weights = tile::has_negative_weights(spec.method);
  switch (spec.method) {
    case Resampling::average: return make_each(MakeAverage<T>{task, marker}, spec.bands);
    case Resampling::rms: return make_each(MakeRms<T>{task, marker}, spec.bands);
    case Resampling::minimum: return make_each(MakeRanked<T, PickSmallest>{task, marker}, spec.bands);
    case Resampling::maximum: return make_each(MakeRanked<T, PickLargest>{task, marker}, spec.bands);
    case Resampling::median: return make_each(MakeRanked<T, PickMiddle>{task, marker}, spec.bands);
    case Resampling::mode: return make_each(MakeRanked<T, PickMostFrequent>{task, marker}, spec.bands);
    default: break;
  }
  if (marker.present || spec.mask || spec.alpha_band) {
    make_each(MakeFiltered<T, true>{task, marker, columns, rows, has_negative_weights}, spec.bands);
  } else {
    make_each(MakeFiltered<T, false>{task, marker, columns, rows, has_negative_weights}, spec.bands);
  }
}

inline void make_mask_samples(ReductionSpec const& spec, ReduceTask const& task, KernelAxisView const& columns,
                              KernelAxisView const& rows) {
  if (spec.method == Resampling::nearest) { return make_each(MakeNearestMask{task}, 1); }
  if (spec.method == Resampling::mode) { return make_each(MakeMajorityMask{task}, 1); }
  if (is_kernel(spec.method)) {
    return make_each(MakeFilteredMask{task, columns, rows, has_negative_weights(spec.method)}, 1);
  }
  make_each(MakeAnyMask{task, is_complex(spec.dtype)}, 1);
}

// By the way of reduce_halves.hpp, into the scene's result; false where it does not take the scene.
[[nodiscard]] inline bool reduce_by_halves(ReduceScene& scene) {
  if (scene.spec.method != Resampling::average || is_complex(scene.spec.dtype)) { return false; }
  bool is_taken = false;
  with_part_type(scene.spec.dtype, [&]<class T>(std::type_identity<T>) {
    auto const rows = halved_rows<T>(scene.task(), make_marker<T>(scene.spec));
    if (!rows) { return; }
    is_taken = true;
    with_halve_chunk(*rows, [&](auto const& make_chunk) {
      for (std::uint64_t line = 0; line < rows->lines; ++line) {
        for (std::uint64_t chunk = 0; chunk < make_chunk.chunk_count(); ++chunk) { make_chunk(chunk, line); }
      }
    });
  });
  return is_taken;
}

// Sample by sample, into the scene's result.
inline void reduce_by_samples(ReduceScene& scene) {
  ReductionSpec const& spec = scene.spec;
  ReduceTask const task = scene.task();
  Resampling const tables_of = is_kernel(spec.method) ? spec.method : Resampling::bilinear;
  KernelAxis const columns(tables_of, spec.source_width, spec.width, kColumnUnit);
  KernelAxis const rows(tables_of, spec.source_height, spec.height, kRowUnit);
  if (spec.mask) { make_mask_samples(spec, task, view_of(columns), view_of(rows)); }
  with_part_type(spec.dtype, [&]<class T>(std::type_identity<T>) {
    if (spec.method == Resampling::nearest) {
      make_each(MakeNearest<OrderKey<T>>{task, is_complex(spec.dtype) ? 2U : 1U}, spec.bands);
    } else if (is_complex(spec.dtype)) {
      make_each(MakeComplex<T>{task, spec.method == Resampling::rms}, spec.bands);
    } else {
      make_real_samples<T>(spec, task, view_of(columns), view_of(rows));
    }
  });
}

}  // namespace terrazzo::tile::test
