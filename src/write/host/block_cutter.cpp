// SPDX-License-Identifier: Apache-2.0
#include "write/host/block_cutter.hpp"

#include "tile/apply_predictor.hpp"
#include "tile/copy_samples.hpp"
#include "tile/float_convert.hpp"
#include "tile/view_strides.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace terrazzo::writing {

namespace {

template <class T>
void store(T value, std::byte* out) noexcept {
  std::memcpy(out, &value, sizeof value);
}

// Interleaves bands: planes become samples of a pixel. With all bands at once and their number known at compile time,
// this compiles to vector shuffles; band by band, every store would write one sample.
template <class T, std::size_t Samples>
void interleave(std::byte const* from, std::int64_t band_stride_bytes, std::byte* __restrict to,
                std::size_t count) noexcept {
  std::byte const* bands[Samples];
  for (std::size_t s = 0; s < Samples; ++s) { bands[s] = from + static_cast<std::int64_t>(s) * band_stride_bytes; }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t s = 0; s < Samples; ++s) {
      std::memcpy(to + (i * Samples + s) * sizeof(T), bands[s] + i * sizeof(T), sizeof(T));
    }
  }
}

// Returns false if copy_samples() must do the work.
bool interleave_samples(std::byte const* from, std::int64_t band_stride_bytes, std::byte* to, std::size_t count,
                        std::size_t sample_bytes, std::uint32_t samples) noexcept {
  if (sample_bytes == 1 && samples == 3) {
    return interleave<std::uint8_t, 3>(from, band_stride_bytes, to, count), true;
  }
  if (sample_bytes == 1 && samples == 4) {
    return interleave<std::uint8_t, 4>(from, band_stride_bytes, to, count), true;
  }
  if (sample_bytes == 2 && samples == 3) {
    return interleave<std::uint16_t, 3>(from, band_stride_bytes, to, count), true;
  }
  if (sample_bytes == 2 && samples == 4) {
    return interleave<std::uint16_t, 4>(from, band_stride_bytes, to, count), true;
  }
  return false;
}

template <class T>
void replace_nan_of(std::byte* row, std::size_t samples, std::byte const* sentinel) noexcept {
  T value;
  std::memcpy(&value, sentinel, sizeof value);
  for (std::size_t i = 0; i < samples; ++i) {
    T sample;
    std::memcpy(&sample, row + i * sizeof(T), sizeof sample);
    sample = sample != sample ? value : sample;
    std::memcpy(row + i * sizeof(T), &sample, sizeof sample);
  }
}

// A half is NaN if all bits of the exponent are set and the fraction is not 0.
void replace_half_nan(std::byte* row, std::size_t samples, std::byte const* sentinel) noexcept {
  std::uint16_t value;
  std::memcpy(&value, sentinel, sizeof value);
  for (std::size_t i = 0; i < samples; ++i) {
    std::uint16_t sample;
    std::memcpy(&sample, row + i * 2, 2);
    if ((sample & 0x7FFFU) > 0x7C00U) { std::memcpy(row + i * 2, &value, 2); }
  }
}

// True if a coding error could turn a valid sample into nodata, or turn nodata that is not the smallest value into a
// valid sample.
template <class T>
bool mixes_with_nodata(std::span<std::byte const> samples, std::byte const* marker, double max_error) noexcept {
  T value;
  std::memcpy(&value, marker, sizeof value);
  bool found = false, smaller = false, near = false;
  for (std::size_t at = 0; at < samples.size(); at += sizeof(T)) {
    T sample;
    std::memcpy(&sample, samples.data() + at, sizeof sample);
    found |= sample == value;
    smaller |= sample < value;
    near |= sample != value && std::fabs(static_cast<double>(sample) - static_cast<double>(value)) <= max_error;
  }
  return (found && smaller) || near;
}

}  // namespace

void store_nodata(Nodata const& nodata, DType dtype, std::byte* out) noexcept {
  switch (dtype) {
    case DType::u64: return store<std::uint64_t>(nodata.exact_u64.value_or(0), out);
    case DType::i64: return store<std::int64_t>(nodata.exact_i64.value_or(0), out);
    case DType::f64: return store<double>(nodata.value, out);
    case DType::f32: return store<float>(static_cast<float>(nodata.value), out);
    case DType::f16: return store<std::uint16_t>(tile::double_to_half(nodata.value), out);
    case DType::u8: return store<std::uint8_t>(static_cast<std::uint8_t>(nodata.value), out);
    case DType::i8: return store<std::int8_t>(static_cast<std::int8_t>(nodata.value), out);
    case DType::u16: return store<std::uint16_t>(static_cast<std::uint16_t>(nodata.value), out);
    case DType::i16: return store<std::int16_t>(static_cast<std::int16_t>(nodata.value), out);
    case DType::u32: return store<std::uint32_t>(static_cast<std::uint32_t>(nodata.value), out);
    case DType::i32: return store<std::int32_t>(static_cast<std::int32_t>(nodata.value), out);
    case DType::cf64: return store<double>(nodata.value, out);
    case DType::cf32: return store<float>(static_cast<float>(nodata.value), out);
    case DType::cf16: return store<std::uint16_t>(tile::double_to_half(nodata.value), out);
    case DType::ci16: return store<std::int16_t>(static_cast<std::int16_t>(nodata.value), out);
    case DType::ci32: return store<std::int32_t>(static_cast<std::int32_t>(nodata.value), out);
  }
}

BlockCutter::BlockCutter(FilePlan const& plan) : plan_(plan), sample_bytes_(plan.sample_bytes()) {
  auto const& nodata = plan.options.nodata;
  if (nodata && nodata->representable) { store_nodata(*nodata, plan.options.dtype, empty_); }
  replaces_nan_ = plan.options.nan_to_nodata && nodata && is_floating(plan.options.dtype) && !std::isnan(nodata->value);
}

void BlockCutter::fill_row(ConstHostView const& view, std::uint32_t row, std::uint32_t column, std::uint32_t columns,
                           std::uint32_t block_width, std::uint32_t first_band, std::byte* out) const {
  std::uint32_t const samples = plan_.samples_per_block;
  std::size_t const pixel_bytes = samples * sample_bytes_;
  auto const* const base = static_cast<std::byte const*>(view.data) + std::int64_t{row} * view.row_stride_bytes +
                           std::int64_t{column} * view.pixel_stride_bytes +
                           std::int64_t{first_band} * view.band_stride_bytes;
  if (tile::has_pixels_together(view, samples, sample_bytes_)) {
    std::memcpy(out, base, columns * pixel_bytes);
  } else if (view.pixel_stride_bytes != static_cast<std::int64_t>(sample_bytes_) ||
             !interleave_samples(base, view.band_stride_bytes, out, columns, sample_bytes_, samples)) {
    for (std::uint32_t s = 0; s < samples; ++s) {
      tile::copy_samples(base + std::int64_t{s} * view.band_stride_bytes, view.pixel_stride_bytes,
                         out + s * sample_bytes_, static_cast<std::ptrdiff_t>(pixel_bytes), columns, sample_bytes_);
    }
  }
  if (replaces_nan_) { replace_nan(out, std::size_t{columns} * samples); }
  std::byte const* const last = out + (columns - 1) * pixel_bytes;
  for (std::uint32_t x = columns; x < block_width; ++x) { std::memcpy(out + x * pixel_bytes, last, pixel_bytes); }
}

void BlockCutter::replace_nan(std::byte* row, std::size_t samples) const noexcept {
  switch (sample_bytes_) {
    case 2: return replace_half_nan(row, samples, empty_);
    case 4: return replace_nan_of<float>(row, samples, empty_);
    default: return replace_nan_of<double>(row, samples, empty_);
  }
}

void BlockCutter::predict_row(std::byte const* in, std::byte* out, std::uint32_t block_width) const noexcept {
  if (plan_.predictor == tiff::Predictor::floating_point) {
    tile::apply_float_row(in, out, block_width, plan_.samples_per_block, static_cast<std::uint32_t>(sample_bytes_));
  } else {
    tile::apply_horizontal_row(in, out, block_width, plan_.samples_per_block,
                               static_cast<std::uint32_t>(sample_bytes_ * 8));
  }
}

CutBlock BlockCutter::cut(LevelPlan const& level, ConstHostRows const& rows, TileId block, bool keep_samples,
                          CutScratch& scratch) const {
  codec::BlockShape const shape = plan_.shape_of(level, block.row);
  std::uint32_t const column = block.column * level.block_width;
  std::uint32_t const columns = std::min(level.block_width, level.width - column);
  std::uint32_t const first = level.first_row(block.row) - rows.first;
  std::uint32_t const real_rows = level.rows_of(block.row);
  std::size_t const row_bytes = std::size_t{shape.width_px} * plan_.samples_per_block * sample_bytes_;
  std::size_t const bytes = row_bytes * shape.height_px;
  bool const predicts = plan_.predictor != tiff::Predictor::none;
  bool const whole = !predicts || keep_samples;
  // If the samples themselves are not needed, a row stays in the cache between the two steps.
  std::span<std::byte> const samples = scratch.block.get(whole ? bytes : row_bytes);
  std::span<std::byte> const predicted = predicts ? scratch.predicted.get(bytes) : samples;
  for (std::uint32_t y = 0; y < real_rows; ++y) {
    std::byte* const row = samples.data() + (whole ? y * row_bytes : 0);
    fill_row(rows.pixels, first + y, column, columns, shape.width_px, block.plane, row);
    if (predicts) { predict_row(row, predicted.data() + y * row_bytes, shape.width_px); }
  }
  // Zeros compress best, but images would show an edge: transform codecs (JPEG, JPEG 2000) repeat the last row.
  std::byte* const below = predicted.data() + real_rows * row_bytes;
  if (plan_.repeats_last_row()) {
    for (std::uint32_t y = real_rows; y < shape.height_px; ++y) {
      std::memcpy(predicted.data() + y * row_bytes, below - row_bytes, row_bytes);
    }
  } else {
    std::memset(below, 0, bytes - real_rows * row_bytes);
  }
  return {whole ? samples.first(real_rows * row_bytes) : std::span<std::byte>{}, predicted};
}

std::span<std::byte const> BlockCutter::cut_mask(LevelPlan const& level, ConstHostRows const& rows, TileId block,
                                                 CutScratch& scratch) const {
  codec::BlockShape const shape = plan_.shape_of(level, block.row);
  std::uint32_t const column = block.column * level.block_width;
  std::uint32_t const columns = std::min(level.block_width, level.width - column);
  std::uint32_t const first = level.first_row(block.row) - rows.first;
  bool const has_shades = plan_.mask_format.block.bits_per_sample == 8;
  std::size_t const row_bytes = has_shades ? shape.width_px : (std::size_t{shape.width_px} + 7) / 8;
  std::span<std::byte> const cut = scratch.predicted.get(row_bytes * shape.height_px);
  std::ranges::fill(cut, std::byte{0});
  for (std::uint32_t y = 0; y < level.rows_of(block.row); ++y) {
    auto const* const from = static_cast<std::byte const*>(rows.mask.data) +
                             std::int64_t{first + y} * rows.mask.row_stride_bytes +
                             std::int64_t{column} * rows.mask.pixel_stride_bytes;
    std::byte* const out = cut.data() + y * row_bytes;
    for (std::uint32_t x = 0; x < columns; ++x) {
      std::byte const value = from[std::int64_t{x} * rows.mask.pixel_stride_bytes];
      if (has_shades) {
        out[x] = value;
      } else if (value != std::byte{0}) {
        out[x / 8] |= std::byte{0x80} >> (x % 8);
      }
    }
  }
  return cut;
}

bool BlockCutter::is_empty(std::span<std::byte const> samples) const noexcept {
  // The first sample is empty, and every sample equals the previous one.
  if (std::memcmp(samples.data(), empty_, sample_bytes_) != 0) { return false; }
  return std::memcmp(samples.data(), samples.data() + sample_bytes_, samples.size() - sample_bytes_) == 0;
}

bool BlockCutter::would_blur_nodata(std::span<std::byte const> samples) const noexcept {
  if (!plan_.options.nodata) { return false; }
  double const error = plan_.options.lerc_max_error;
  switch (plan_.options.dtype) {
    case DType::u8: return mixes_with_nodata<std::uint8_t>(samples, empty_, error);
    case DType::i8: return mixes_with_nodata<std::int8_t>(samples, empty_, error);
    case DType::u16: return mixes_with_nodata<std::uint16_t>(samples, empty_, error);
    case DType::i16: return mixes_with_nodata<std::int16_t>(samples, empty_, error);
    case DType::u32: return mixes_with_nodata<std::uint32_t>(samples, empty_, error);
    case DType::i32: return mixes_with_nodata<std::int32_t>(samples, empty_, error);
    case DType::f32: return mixes_with_nodata<float>(samples, empty_, error);
    case DType::f64: return mixes_with_nodata<double>(samples, empty_, error);
    default: return false;  // not a sample type of LERC
  }
}

}  // namespace terrazzo::writing
