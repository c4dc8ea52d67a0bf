// SPDX-License-Identifier: Apache-2.0
//
// The mean of the middle of a raster: one window of its first band as float32, missing pixels as NaN.
#include <terrazzo/array.hpp>

#include <cmath>
#include <cstddef>
#include <iostream>

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: read_window FILE\n";
    return 2;
  }
  terrazzo::Dataset const raster = terrazzo::open(argv[1]);  // reads the header, no pixels
  terrazzo::Info const& info = raster.info();
  terrazzo::Window const middle{info.width / 4, info.height / 4, (info.width + 1) / 2, (info.height + 1) / 2};
  auto const values =
      terrazzo::read<float>(raster, {.window = middle, .bands = {1}, .masked = true, .dtype = terrazzo::DType::f32});

  std::size_t valid = 0;
  double sum = 0;
  for (float const value : values) {
    if (std::isnan(value)) { continue; }
    sum += value;
    ++valid;
  }
  std::cout << values.width() << " x " << values.height() << " pixels, " << valid << " valid";
  if (valid > 0) { std::cout << ", mean " << sum / static_cast<double>(valid); }
  std::cout << '\n';
} catch (terrazzo::Error const& error) {
  std::cerr << error.what() << '\n';  // error.kind() says what can be done about it
  return 1;
}
