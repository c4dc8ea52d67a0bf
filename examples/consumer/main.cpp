// SPDX-License-Identifier: Apache-2.0
//
// Prints what a raster is. Also the proof that an installed Terrazzo can be found, compiled against and linked.
#include <terrazzo/read.hpp>
#include <terrazzo/version.hpp>

#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: consumer FILE\n";
    return 2;
  }
  try {
    terrazzo::Dataset const raster = terrazzo::open(argv[1]);
    terrazzo::Info const& info = raster.info();
    std::cout << "terrazzo " << terrazzo::version() << ": " << argv[1] << " is " << info.width << " x " << info.height
              << " pixels, " << info.bands.size() << " band(s)\n";
  } catch (terrazzo::Error const& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}
