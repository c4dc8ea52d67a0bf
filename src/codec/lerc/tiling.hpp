// SPDX-License-Identifier: Apache-2.0
//
// Divides a picture into the micro-blocks of a LERC blob.
#pragma once

#include "codec/lerc/block.hpp"
#include "codec/lerc/kernels.hpp"
#include "codec/lerc/mask.hpp"
#include "codec/lerc/picture.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace terrazzo::codec {

// The number of blocks of `side` pixels; each sample of a pixel has its own.
[[nodiscard]] constexpr std::size_t lerc_block_count(LercPicture const& picture, std::size_t side) noexcept {
  return (picture.width_px + side - 1) / side * ((picture.height_px + side - 1) / side) * picture.depth;
}

// Reads samples in place, at any alignment.
template <class T>
class LercSource {
 public:
  explicit LercSource(LercPicture const& picture) noexcept
      : data_(picture.samples.data()), width_(picture.width_px), depth_(picture.depth), valid_(picture.valid) {}

  [[nodiscard]] T at(std::size_t pixel, std::size_t s) const noexcept {
    T value;
    std::memcpy(&value, data_ + (pixel * depth_ + s) * sizeof(T), sizeof(T));
    return value;
  }
  [[nodiscard]] bool is_valid(std::size_t pixel) const noexcept {
    return valid_.empty() || valid_[pixel] != std::byte{0};
  }
  [[nodiscard]] bool masked() const noexcept { return !valid_.empty(); }

  // Gathers sample `s` of the valid pixels of a block, row by row.
  void gather(std::size_t column, std::size_t row, std::size_t width, std::size_t height, std::size_t s,
              LercBlock<LercWork<T>>& block) const noexcept {
    LercWork<T>* to = block.samples();
    bool const by_eight = width == kLercLanes && depth_ == 1;
    for (std::size_t y = row; y < row + height; ++y) {
      std::size_t const first = y * width_ + column;
      if (by_eight && (valid_.empty() || all_eight_valid(first))) {
        copy_eight(first, to);
        to += kLercLanes;
      } else if (valid_.empty()) {
        for (std::size_t x = 0; x < width; ++x) { *to++ = static_cast<LercWork<T>>(at(first + x, s)); }
      } else {
        for (std::size_t x = 0; x < width; ++x) {
          *to = static_cast<LercWork<T>>(at(first + x, s));
          to += valid_[first + x] != std::byte{0} ? 1 : 0;
        }
      }
    }
    block.count = static_cast<std::size_t>(to - block.samples());
  }

 private:
  [[nodiscard]] bool all_eight_valid(std::size_t pixel) const noexcept {
    std::uint64_t eight;
    std::memcpy(&eight, valid_.data() + pixel, sizeof eight);
    return eight == kEightValid;
  }

  void copy_eight(std::size_t pixel, LercWork<T>* to) const noexcept {
    T row[kLercLanes];
    std::memcpy(row, data_ + pixel * sizeof(T), sizeof row);
    for (std::size_t i = 0; i < kLercLanes; ++i) { to[i] = static_cast<LercWork<T>>(row[i]); }
  }

  std::byte const* data_;
  std::size_t width_, depth_;
  std::span<std::byte const> valid_;
};

// Initially empty: any sample is lower and higher, even an infinity.
template <class T>
struct LercRange {
  using Limits = std::numeric_limits<T>;
  T low = Limits::has_infinity ? Limits::infinity() : Limits::max();
  T high = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
};

// Writes the blocks of a picture and collects the range of each of a pixel's samples.
template <class T, class Kernels>
class LercTiling {
 public:
  using Work = LercWork<T>;

  LercTiling(LercPicture const& picture, LercRule const& rule)
      : picture_(picture), source_(picture), writer_(rule), ranges_(picture.depth) {}

  // Writes blocks of `side` pixels from left to right and top to bottom; returns the end.
  [[nodiscard]] std::byte* write(std::size_t side, std::byte* to) noexcept {
    for (std::size_t row = 0; row < picture_.height_px; row += side) {
      std::size_t const height = std::min<std::size_t>(side, picture_.height_px - row);
      for (std::size_t column = 0; column < picture_.width_px; column += side) {
        std::size_t const width = std::min<std::size_t>(side, picture_.width_px - column);
        for (std::size_t s = 0; s < picture_.depth; ++s) {
          source_.gather(column, row, width, height, s, block_);
          LercExtent<Work> extent;
          if (block_.count != 0) {
            extent = Kernels::measure(block_);
            LercRange<Work>& range = ranges_[s];
            range.low = std::min(range.low, extent.low);
            range.high = std::max(range.high, extent.high);
          }
          to = writer_.write(block_, extent, column, !source_.masked(), to);
        }
      }
    }
    return to;
  }

  // The ranges of all samples. REQUIRES: write() was called.
  [[nodiscard]] std::vector<LercRange<T>> ranges() const {
    std::vector<LercRange<T>> ranges(picture_.depth);
    for (std::size_t s = 0; s < ranges.size(); ++s) {
      ranges[s].low = with_sign_of_first(static_cast<T>(ranges_[s].low), s);
      ranges[s].high = with_sign_of_first(static_cast<T>(ranges_[s].high), s);
    }
    return ranges;
  }

 private:
  // There are two zeros. The first one counts; the kernels do not report which it was.
  [[nodiscard]] T with_sign_of_first(T limit, std::size_t s) const noexcept {
    if constexpr (std::floating_point<T>) {
      if (limit == 0) {
        for (std::size_t pixel = 0; pixel < picture_.pixels(); ++pixel) {
          if (source_.is_valid(pixel) && source_.at(pixel, s) == 0) { return source_.at(pixel, s); }
        }
      }
    }
    return limit;
  }

  LercPicture const& picture_;
  LercSource<T> source_;
  LercBlockWriter<T, Kernels> writer_;
  LercBlock<Work> block_{};
  std::vector<LercRange<Work>> ranges_;
};

}  // namespace terrazzo::codec
