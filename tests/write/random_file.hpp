// SPDX-License-Identifier: Apache-2.0
//
// Files of random shape and options, the same for the same seed.
#pragma once

#include "test_image.hpp"

#include <cstdint>
#include <random>
#include <string>

namespace terrazzo::writing {

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  // From 0 to below `sides`.
  std::uint32_t roll(std::uint32_t sides) { return static_cast<std::uint32_t>(random_() % sides); }
  bool flip() { return roll(2) == 0; }
  template <class T, std::size_t N>
  T pick(T const (&values)[N]) {
    return values[roll(N)];
  }
  // Small sizes as often as large ones.
  std::uint32_t size() { return 1 + roll(pick({3U, 20U, 200U})); }

 private:
  std::mt19937 random_;
};

constexpr DType kTypes[] = {DType::u8,  DType::i8,   DType::u16,  DType::i16,  DType::u32,
                            DType::i32, DType::u64,  DType::i64,  DType::f16,  DType::f32,
                            DType::f64, DType::ci16, DType::ci32, DType::cf32, DType::cf64};
// Those that lose nothing.
constexpr Compression kCodecs[] = {Compression::none,      Compression::packbits, Compression::lzw,
                                   Compression::deflate,   Compression::zstd,     Compression::lerc,
                                   Compression::lerc_zstd, Compression::lzma,     Compression::lz4,
                                   Compression::jpeg2000,  Compression::webp};
constexpr Resampling kMethods[] = {Resampling::nearest, Resampling::average,      Resampling::bilinear,
                                   Resampling::cubic,   Resampling::cubic_spline, Resampling::lanczos,
                                   Resampling::mode,    Resampling::minimum,      Resampling::maximum,
                                   Resampling::median,  Resampling::rms};

[[nodiscard]] inline WriteOptions random_options(Dice& dice, Image const& image) {
  WriteOptions options;
  options.dtype = image.dtype;
  options.bands = image.bands;
  options.mask = !image.mask.empty();
  options.compression = dice.pick(kCodecs);
  options.predictor = dice.flip() ? PredictorChoice::automatic : PredictorChoice::none;
  options.tile_size = {16 * (1 + dice.roll(6)), 16 * (1 + dice.roll(6))};
  options.cog = dice.flip();
  if (!options.cog && dice.flip()) { options.strip_rows = 1 + dice.roll(60); }
  options.planar = dice.flip() ? PlanarLayout::separate : PlanarLayout::contiguous;
  options.bigtiff = dice.pick({BigTiff::automatic, BigTiff::always, BigTiff::never});
  options.sparse = dice.flip();
  options.statistics = dice.flip();
  options.overview_resampling = dice.pick(kMethods);
  if (dice.flip()) {
    std::uint32_t factor = 1;
    options.overview_factors.emplace();
    for (std::uint32_t i = dice.roll(4); i > 0; --i) {
      options.overview_factors->push_back(factor += 1 + dice.roll(4));
    }
  }
  if (dice.flip() && is_integer(image.dtype)) { options.nodata = make_nodata("3", image.dtype); }
  options.streaming_buffer_bytes = dice.pick({std::uint64_t{1}, std::uint64_t{50'000}, std::uint64_t{1} << 28});
  options.threads = 1 + dice.roll(4);
  return options;
}

[[nodiscard]] inline std::string describe(WriteOptions const& options, Image const& image) {
  return std::string(to_string(image.dtype)) + " x " + std::to_string(image.bands) + ", " +
         std::to_string(image.width) + " x " + std::to_string(image.height) + ", " +
         std::string(to_string(options.compression)) + ", tiles " + std::to_string(options.tile_size.width) + " x " +
         std::to_string(options.tile_size.height) + ", strips " + std::to_string(options.strip_rows.value_or(0)) +
         ", cog " + std::to_string(options.cog) + ", mask " + std::to_string(options.mask) + ", " +
         std::string(to_string(*options.overview_resampling));
}

}  // namespace terrazzo::writing
