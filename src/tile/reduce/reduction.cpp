// SPDX-License-Identifier: Apache-2.0
#include "tile/reduce/reduction.hpp"

#include "base/saturating.hpp"
#include "tile/convert_sample.hpp"
#include "tile/reduce/method.hpp"
#include "tile/reduce/table_bytes.hpp"
#include "tile/reduce_convolution.hpp"
#include "tile/reduce_task.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace terrazzo::tile {
namespace {

std::unique_ptr<Method const> make_method(ReductionSpec const& spec) {
  check_reduction(spec);
  switch (spec.method) {
    case Resampling::nearest: return make_nearest(spec);
    case Resampling::average: return make_average(spec);
    case Resampling::rms: return make_rms(spec);
    default: return is_kernel(spec.method) ? make_kernel(spec) : make_rank(spec);
  }
}

std::uint64_t axis_bytes(Resampling method, std::uint32_t source_size, std::uint32_t size) noexcept {
  constexpr std::uint64_t kColumnWeights = 3 * sizeof(double);  // of average
  if (!is_kernel(method)) { return saturating_product(size, sizeof(AxisWindow) + kColumnWeights); }
  constexpr std::uint64_t kTables = 3;  // plain, normalised and grouped weights
  double const ratio = std::max(static_cast<double>(source_size) / std::max(size, 1U), 1.0);
  auto const taps = static_cast<std::uint64_t>(2 * kernel_radius(method) * ratio) + 2;
  return saturating_product(kTables * sizeof(double), size, taps);
}

template <class Sample>
void gather(std::byte const* in, std::int64_t stride_bytes, std::size_t count, std::byte* out) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(out + i * sizeof(Sample), in + static_cast<std::int64_t>(i) * stride_bytes, sizeof(Sample));
  }
}

template <class Sample>
void scatter(std::byte const* in, std::size_t count, std::byte* out, std::int64_t stride_bytes) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(out + static_cast<std::int64_t>(i) * stride_bytes, in + i * sizeof(Sample), sizeof(Sample));
  }
}

struct Two64 {
  std::uint64_t low, high;
};

template <class F>
void with_size(std::size_t bytes, F const& f) {
  switch (bytes) {
    case 1: return f(std::uint8_t{});
    case 2: return f(std::uint16_t{});
    case 4: return f(std::uint32_t{});
    case 8: return f(std::uint64_t{});
    default: return f(Two64{});
  }
}

[[nodiscard]] std::int64_t row_offset(ConstHostView const& view, std::uint32_t band, std::uint32_t row) noexcept {
  return band * view.band_stride_bytes + row * view.row_stride_bytes;
}

[[nodiscard]] std::byte const* row_of(ConstHostView const& view, std::uint32_t band, std::uint32_t row) noexcept {
  return static_cast<std::byte const*>(view.data) + row_offset(view, band, row);
}

[[nodiscard]] std::byte* row_of(HostView const& view, std::uint32_t band, std::uint32_t row) noexcept {
  return static_cast<std::byte*>(view.data) + row_offset(view, band, row);
}

[[nodiscard]] bool is_contiguous(ConstHostView const& view, std::size_t sample_bytes,
                                 std::size_t alignment_bytes) noexcept {
  auto const alignment = static_cast<std::int64_t>(alignment_bytes);
  return view.pixel_stride_bytes == static_cast<std::int64_t>(sample_bytes) &&
         reinterpret_cast<std::uintptr_t>(view.data) % alignment_bytes == 0 && view.row_stride_bytes % alignment == 0 &&
         view.band_stride_bytes % alignment == 0;
}

// Rows of one band of a view for a Method: the rows themselves if they are contiguous, otherwise a copy.
class ContiguousRows {
 public:
  // `alignment_bytes` is a power of two.
  void take(ConstHostView const& view, std::uint32_t band, std::uint32_t first, std::uint32_t count,
            std::size_t sample_bytes, std::size_t alignment_bytes) {
    rows_.resize(count);
    bool const in_place = is_contiguous(view, sample_bytes, alignment_bytes);
    std::size_t const row_bytes = (view.width * sample_bytes + 15) & ~std::size_t{15};
    if (!in_place && copy_.size() < row_bytes * count) { copy_.resize(row_bytes * count); }
    for (std::uint32_t i = 0; i < count; ++i) {
      std::byte const* const from = row_of(view, band, first + i);
      if (in_place) {
        rows_[i] = from;
        continue;
      }
      std::byte* const to = copy_.data() + i * row_bytes;
      with_size(sample_bytes, [&]<class S>(S) { gather<S>(from, view.pixel_stride_bytes, view.width, to); });
      rows_[i] = to;
    }
  }
  [[nodiscard]] std::byte const* const* data() const noexcept { return rows_.data(); }

 private:
  std::vector<std::byte const*> rows_;
  std::vector<std::byte> copy_;
};

// Rows of bytes that are 0 for pixels that do not count.
class ValidRows {
 public:
  void take_mask(ConstHostView const& mask, std::uint32_t first, std::uint32_t count) {
    source_.take(mask, 0, first, count, 1, 1);
    rows_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) { rows_[i] = reinterpret_cast<std::uint8_t const*>(source_.data()[i]); }
  }

  // Takes alpha of any real type.
  void take_alpha(ConstHostView const& pixels, DType dtype, std::uint32_t band, std::uint32_t first,
                  std::uint32_t count) {
    source_.take(pixels, band, first, count, size_bytes(dtype), 1);
    rows_.resize(count);
    bytes_.resize(std::size_t{count} * pixels.width);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint8_t* const to = bytes_.data() + std::size_t{i} * pixels.width;
      std::byte const* const from = source_.data()[i];
      with_part_type(dtype, [&]<class T>(std::type_identity<T>) {
        for (std::size_t c = 0; c < pixels.width; ++c) {
          to[c] = is_visible(load_unaligned<T>(from + c * sizeof(T))) ? 255 : 0;
        }
      });
      rows_[i] = to;
    }
  }

  [[nodiscard]] std::uint8_t const* const* data() const noexcept { return rows_.data(); }

 private:
  ContiguousRows source_;
  std::vector<std::uint8_t const*> rows_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace

std::vector<AxisWindow> covered_windows(AxisMap const& map, std::uint32_t source_size, std::uint32_t size) {
  std::vector<AxisWindow> windows(size);
  for (std::uint32_t i = 0; i < size; ++i) { windows[i] = covered_pixels(i, map, source_size); }
  return windows;
}

bool are_pairs(std::vector<AxisWindow> const& windows) noexcept {
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].first != 2 * i || windows[i].size() != 2) { return false; }
  }
  return true;
}

void any_valid(std::vector<AxisWindow> const& columns, bool columns_are_pairs, std::uint32_t row_count,
               std::uint8_t const* const* valid, std::uint8_t* out) noexcept {
  std::size_t const width = columns.size();
  if (row_count == 2 && columns_are_pairs) {
    std::uint8_t const *const above = valid[0], *const below = valid[1];
    std::uint8_t* __restrict__ const to = out;
    for (std::size_t i = 0; i < width; ++i) {
      to[i] = (above[2 * i] | above[2 * i + 1] | below[2 * i] | below[2 * i + 1]) != 0 ? 255 : 0;
    }
    return;
  }
  for (std::size_t i = 0; i < width; ++i) {
    std::uint8_t any = 0;
    for (std::uint32_t r = 0; r < row_count; ++r) {
      for (std::uint32_t c = columns[i].first; c < columns[i].last; ++c) { any |= valid[r][c]; }
    }
    out[i] = any != 0 ? 255 : 0;
  }
}

std::uint64_t table_bytes(ReductionSpec const& spec) noexcept {
  return saturating_sum(axis_bytes(spec.method, spec.source_width, spec.width),
                        axis_bytes(spec.method, spec.source_height, spec.height));
}

struct Reduction::Impl {
  ReductionSpec spec;
  std::unique_ptr<Method const> method;
};

Reduction::Reduction(ReductionSpec const& spec) : impl_(std::make_unique<Impl const>(Impl{spec, make_method(spec)})) {}
Reduction::~Reduction() = default;
Reduction::Reduction(Reduction&&) noexcept = default;
Reduction& Reduction::operator=(Reduction&&) noexcept = default;

RowRange Reduction::source_rows(std::uint32_t row) const { return impl_->method->source_rows(row); }

std::uint64_t Reduction::scratch_bytes() const { return impl_->method->scratch_bytes(); }

void Reduction::reduce(ConstHostRows const& source, HostRows const& result, Poll const& poll) const {
  ReductionSpec const& spec = impl_->spec;
  Method const& method = *impl_->method;
  std::size_t const sample_bytes = size_bytes(spec.dtype);
  std::size_t const alignment_bytes = is_complex(spec.dtype) ? sample_bytes / 2 : sample_bytes;
  bool const out_in_place = is_contiguous(result.pixels, sample_bytes, alignment_bytes);
  // The mask has priority over the marker, and the marker over alpha; alpha itself is reduced where it is visible.
  bool const alpha_is_mask = spec.alpha_is_mask();
  Poller poller(poll);
  ContiguousRows band_rows;
  ValidRows mask_rows, alpha_rows;
  std::vector<std::unique_ptr<MethodState>> states(spec.bands);
  for (auto& state : states) { state = method.make_state(); }
  std::vector<std::byte> out_row(out_in_place ? 0 : spec.width * sample_bytes);
  bool const makes_mask = spec.mask && result.mask.data != nullptr;
  std::vector<std::uint8_t> mask_row(makes_mask ? spec.width : 0);

  for (std::uint32_t i = 0; i < result.pixels.height; ++i) {
    std::uint32_t const row = result.first + i;
    RowRange const needed = method.source_rows(row);
    std::uint32_t const first = needed.first - source.first, count = needed.last - needed.first;
    if (spec.mask) { mask_rows.take_mask(source.mask, first, count); }
    if (makes_mask) {
      method.reduce_mask(row, mask_rows.data(), needed.first, mask_row.data());
      scatter<std::uint8_t>(reinterpret_cast<std::byte const*>(mask_row.data()), spec.width, row_of(result.mask, 0, i),
                            result.mask.pixel_stride_bytes);
    }
    if (spec.alpha_band) { alpha_rows.take_alpha(source.pixels, spec.dtype, *spec.alpha_band, first, count); }
    for (std::uint32_t band = 0; band < spec.bands; ++band) {
      poller.spend(std::uint64_t{count} * spec.source_width);
      band_rows.take(source.pixels, band, first, count, sample_bytes, alignment_bytes);
      bool const by_alpha = alpha_is_mask || band == spec.alpha_band;
      std::uint8_t const* const* const valid = by_alpha ? alpha_rows.data() : spec.mask ? mask_rows.data() : nullptr;
      std::byte* const to = row_of(result.pixels, band, i);
      std::byte* const out = out_in_place ? to : out_row.data();
      method.reduce_band(row, {band_rows.data(), valid, needed.first, out, band == spec.alpha_band, poller},
                         states[band].get());
      if (!out_in_place) {
        with_size(sample_bytes, [&]<class S>(S) { scatter<S>(out, spec.width, to, result.pixels.pixel_stride_bytes); });
      }
    }
  }
}

}  // namespace terrazzo::tile
