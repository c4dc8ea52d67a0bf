// SPDX-License-Identifier: Apache-2.0
//
// The example of README.md: one window of a raster, missing pixels as NaN, and its mean.
#include <terrazzo/read.hpp>

#include <cmath>
#include <iostream>

int main(int argc, char** argv) try {
  terrazzo::Dataset const dem = terrazzo::open(argc > 1 ? argv[1] : "dem.tif");  // reads the header, no pixels
  terrazzo::HostArray const heights = terrazzo::read(
      dem, {.window = terrazzo::Window{0, 0, 100, 50}, .bands = {1}, .masked = true, .dtype = terrazzo::DType::f32});
  auto const* const pixels = reinterpret_cast<float const*>(heights.bytes().data());  // bands x rows x columns
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < heights.bytes().size() / sizeof(float); ++i) {
    if (!std::isnan(pixels[i])) { sum += pixels[i], ++count; }
  }
  std::cout << heights.width() << " x " << heights.height() << ", mean " << sum / count << '\n';
} catch (terrazzo::Error const& error) {
  std::cerr << error.what() << '\n';  // error.kind() says what can be done about it
  return 1;
}
