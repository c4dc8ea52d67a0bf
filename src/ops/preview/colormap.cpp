// SPDX-License-Identifier: Apache-2.0
#include "ops/preview/colormap.hpp"

#include "base/text.hpp"

#include "terrazzo/error.hpp"
#include "terrazzo/stats.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

namespace terrazzo::ops {
namespace {

struct Stop {
  double position;  // 0 to 1
  Rgb color;
};

constexpr Rgb rgb(std::uint32_t hex) {
  return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8), static_cast<std::uint8_t>(hex)};
}

template <std::size_t N>
constexpr std::array<Stop, N> evenly(std::array<std::uint32_t, N> const& colors) {
  std::array<Stop, N> stops{};
  for (std::size_t i = 0; i < N; ++i) { stops[i] = {static_cast<double>(i) / (N - 1), rgb(colors[i])}; }
  return stops;
}

// 32 equal steps, fitted to matplotlib's tables of 256 colours. Linear interpolation differs from them by at most
// 1/255; plasma by 3/255, cividis by 4/255.
constexpr auto kViridis = evenly<32>({0x440154, 0x470d61, 0x48196b, 0x482475, 0x472e7c, 0x453883, 0x414286, 0x3e4b8a,
                                      0x3a548b, 0x355d8d, 0x32658e, 0x2e6d8e, 0x2b758e, 0x287d8e, 0x25848e, 0x228c8d,
                                      0x1f948c, 0x1e9c8a, 0x20a386, 0x24ab82, 0x2db27d, 0x39ba76, 0x48c16e, 0x58c765,
                                      0x6acd5b, 0x7ed34f, 0x92d741, 0xa8db34, 0xbedf25, 0xd4e219, 0xe9e419, 0xfde725});
constexpr auto kMagma = evenly<32>({0x000004, 0x030311, 0x0a0823, 0x140e35, 0x1e1149, 0x2a115d, 0x39106e, 0x460f78,
                                    0x54137d, 0x611880, 0x6d1e81, 0x7a2382, 0x872781, 0x942c81, 0xa2307e, 0xaf347c,
                                    0xbd3977, 0xca3e72, 0xd6446c, 0xe24d66, 0xec5760, 0xf3655c, 0xf8745c, 0xfb835f,
                                    0xfd9366, 0xfea26f, 0xfeb279, 0xfec185, 0xfed093, 0xfddfa0, 0xfceeb0, 0xfcfdbf});
constexpr auto kInferno = evenly<32>({0x000004, 0x030312, 0x0b0725, 0x160c39, 0x220c4c, 0x310a5d, 0x3f0967, 0x4d0c6c,
                                      0x5a116e, 0x67166e, 0x741b6e, 0x811f6c, 0x8e2469, 0x9b2865, 0xa82e5f, 0xb53359,
                                      0xc13a50, 0xcc4248, 0xd74b3f, 0xe05536, 0xe9602c, 0xef6d22, 0xf57b17, 0xf9890c,
                                      0xfb9805, 0xfca70b, 0xfcb81c, 0xf9c72f, 0xf6d847, 0xf2e862, 0xf2f585, 0xfcffa4});
constexpr auto kPlasma = evenly<32>({0x0d0887, 0x230590, 0x320597, 0x41049d, 0x4e02a2, 0x5b01a5, 0x6800a8, 0x7500a8,
                                     0x8104a8, 0x8d0ba5, 0x9814a0, 0xa31d9a, 0xad2693, 0xb6308b, 0xbf3984, 0xc7427c,
                                     0xcf4c74, 0xd6556d, 0xdd5e66, 0xe3685f, 0xe97258, 0xee7c51, 0xf48749, 0xf79143,
                                     0xfb9d3c, 0xfca934, 0xfeb52e, 0xfec228, 0xfccf25, 0xf9dc24, 0xf5eb28, 0xf0f921});
constexpr auto kCividis = evenly<32>({0x00224e, 0x00295b, 0x002e6c, 0x053371, 0x1d396f, 0x293f6d, 0x33446d, 0x3d4a6c,
                                      0x45506c, 0x4d556c, 0x555b6d, 0x5c616e, 0x646670, 0x6a6d71, 0x727274, 0x787977,
                                      0x807e78, 0x888578, 0x908b78, 0x979177, 0xa09775, 0xa89e73, 0xb0a571, 0xb9ab6d,
                                      0xc1b26a, 0xcab965, 0xd3c060, 0xdcc859, 0xe5cf52, 0xeed74a, 0xf8df39, 0xfee838});
constexpr auto kTurbo = evenly<32>({0x30123b, 0x3a2b76, 0x4042a5, 0x4558cb, 0x476ee6, 0x4783f9, 0x4197ff, 0x34acf9,
                                    0x25c0e7, 0x19d2d3, 0x17e1bc, 0x22eca9, 0x3af58f, 0x59fb73, 0x7aff58, 0x97ff43,
                                    0xaefa36, 0xc3f234, 0xd7e635, 0xe8d639, 0xf5c63b, 0xfcb437, 0xff9f2f, 0xfc8624,
                                    0xf76e1a, 0xee5510, 0xe3430a, 0xd43305, 0xc32403, 0xae1701, 0x960d01, 0x7a0403});
constexpr auto kGray = evenly<2>({0x000000, 0xffffff});
// Valley green through meadow, dry grass and rock to snow, light enough to carry a shaded relief.
constexpr std::array<Stop, 8> kTerrain{{{0.00, rgb(0x3f7f63)},
                                        {0.15, rgb(0x6fa76a)},
                                        {0.32, rgb(0xb7c97c)},
                                        {0.48, rgb(0xe6d59a)},
                                        {0.63, rgb(0xcfa36f)},
                                        {0.78, rgb(0xa98467)},
                                        {0.90, rgb(0xcdc4bd)},
                                        {1.00, rgb(0xffffff)}}};

struct Named {
  std::string_view name;
  std::span<Stop const> stops;
};
constexpr std::array<Named, 8> kColormaps{{{"viridis", kViridis},
                                           {"magma", kMagma},
                                           {"inferno", kInferno},
                                           {"plasma", kPlasma},
                                           {"cividis", kCividis},
                                           {"turbo", kTurbo},
                                           {"terrain", kTerrain},
                                           {"gray", kGray}}};
constexpr std::string_view kReversed = "_r";

std::uint8_t between(std::uint8_t low, std::uint8_t high, double t) {
  return static_cast<std::uint8_t>(std::lround(low + (high - low) * t));
}

Rgb color_at(std::span<Stop const> stops, double position) {
  std::size_t next = 1;
  while (next + 1 < stops.size() && stops[next].position < position) { ++next; }
  Stop const& a = stops[next - 1];
  Stop const& b = stops[next];
  double const t = (position - a.position) / (b.position - a.position);
  return {between(a.color.red, b.color.red, t), between(a.color.green, b.color.green, t),
          between(a.color.blue, b.color.blue, t)};
}

}  // namespace

Colormap make_colormap(std::string_view name) {
  bool const reversed = name.ends_with(kReversed);
  std::string_view const base = name.substr(0, name.size() - (reversed ? kReversed.size() : 0));
  for (Named const& known : kColormaps) {
    if (known.name != base) { continue; }
    Colormap map;
    for (std::size_t i = 0; i < map.size(); ++i) {
      map[i] = color_at(known.stops, static_cast<double>(i) / static_cast<double>(map.size() - 1));
    }
    if (reversed) { std::ranges::reverse(map); }
    return map;
  }
  std::string names;
  for (Named const& known : kColormaps) { names += text(names.empty() ? "" : ", ", known.name); }
  throw Error(ErrorKind::usage, text("there is no colormap \"", name, "\"; there are ", names,
                                     ", and each with _r at the end, reversed"));
}

}  // namespace terrazzo::ops

namespace terrazzo {

std::vector<std::string> colormap_names() {
  std::vector<std::string> names;
  for (ops::Named const& known : ops::kColormaps) { names.emplace_back(known.name); }
  return names;
}

}  // namespace terrazzo
