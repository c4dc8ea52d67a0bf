// SPDX-License-Identifier: Apache-2.0
//
// The single source pixel with the nearest index; validity is ignored.
#include "tile/reduce/method.hpp"

#include <cstring>

namespace terrazzo::tile {
namespace {

template <std::size_t Bytes>
struct Sample {
  std::byte bytes[Bytes];
};

class Nearest final : public Method {
 public:
  explicit Nearest(ReductionSpec const& spec)
      : source_height_(spec.source_height),
        row_ratio_(static_cast<double>(spec.source_height) / spec.height),
        sample_bytes_(size_bytes(spec.dtype)),
        columns_(spec.width),
        is_every_second_(spec.source_width == 2 * static_cast<std::uint64_t>(spec.width)) {
    double const ratio = static_cast<double>(spec.source_width) / spec.width;
    for (std::uint32_t i = 0; i < spec.width; ++i) { columns_[i] = nearest_pixel(i, ratio, spec.source_width); }
  }

  [[nodiscard]] RowRange source_rows(std::uint32_t row) const override {
    std::uint32_t const first = nearest_pixel(row, row_ratio_, source_height_);
    return {first, first + 1};
  }

  void reduce_band(std::uint32_t, BandRows const& band, MethodState*) const override {
    switch (sample_bytes_) {
      case 1: return pick<std::uint8_t>(band.rows[0], band.out);
      case 2: return pick<std::uint16_t>(band.rows[0], band.out);
      case 4: return pick<std::uint32_t>(band.rows[0], band.out);
      case 8: return pick<std::uint64_t>(band.rows[0], band.out);
      default: return pick<Sample<16>>(band.rows[0], band.out);
    }
  }

  void reduce_mask(std::uint32_t, std::uint8_t const* const* valid, std::uint32_t, std::uint8_t* out) const override {
    for (std::size_t i = 0; i < columns_.size(); ++i) { out[i] = valid[0][columns_[i]] == 0 ? 0 : 255; }
  }

 private:
  template <class T>
  void pick(std::byte const* in, std::byte* out) const noexcept {
    std::size_t const width = columns_.size();
    if (is_every_second_) {
      for (std::size_t i = 0; i < width; ++i) { std::memcpy(out + i * sizeof(T), in + 2 * i * sizeof(T), sizeof(T)); }
    } else {
      for (std::size_t i = 0; i < width; ++i) {
        std::memcpy(out + i * sizeof(T), in + columns_[i] * sizeof(T), sizeof(T));
      }
    }
  }

  std::uint32_t source_height_;
  double row_ratio_;
  std::size_t sample_bytes_;
  std::vector<std::uint32_t> columns_;
  bool is_every_second_;
};

}  // namespace

std::unique_ptr<Method> make_nearest(ReductionSpec const& spec) { return std::make_unique<Nearest>(spec); }

}  // namespace terrazzo::tile
