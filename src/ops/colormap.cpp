// SPDX-License-Identifier: Apache-2.0
#include "ops/colormap.hpp"

#include "base/text.hpp"

#include "terrazzo/error.hpp"

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

// Sixteen equal steps of the perceptually uniform ramps; linear between them is within 2/255 of the originals.
template <std::size_t N>
constexpr std::array<Stop, N> evenly(std::array<std::uint32_t, N> const& colors) {
  std::array<Stop, N> stops{};
  for (std::size_t i = 0; i < N; ++i) { stops[i] = {static_cast<double>(i) / (N - 1), rgb(colors[i])}; }
  return stops;
}

constexpr auto kViridis = evenly<16>({0x440154, 0x481a6c, 0x472f7d, 0x414487, 0x39568c, 0x31688e, 0x2a788e, 0x23888e,
                                      0x1f988b, 0x22a884, 0x35b779, 0x54c568, 0x7ad151, 0xa5db36, 0xd2e21b, 0xfde725});
constexpr auto kMagma = evenly<16>({0x000004, 0x0b0924, 0x20114b, 0x3b0f70, 0x57157e, 0x721f81, 0x8c2981, 0xa8327d,
                                    0xc43c75, 0xde4968, 0xf1605d, 0xfa7f5e, 0xfe9f6d, 0xfebf84, 0xfddea0, 0xfcfdbf});
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
constexpr std::array<Named, 4> kColormaps{
    {{"viridis", kViridis}, {"magma", kMagma}, {"terrain", kTerrain}, {"gray", kGray}}};

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
  for (Named const& known : kColormaps) {
    if (known.name != name) { continue; }
    Colormap map;
    for (std::size_t i = 0; i < map.size(); ++i) {
      map[i] = color_at(known.stops, static_cast<double>(i) / static_cast<double>(map.size() - 1));
    }
    return map;
  }
  std::string names;
  for (Named const& known : kColormaps) { names += text(names.empty() ? "" : ", ", known.name); }
  throw Error(ErrorKind::usage, text("there is no colormap \"", name, "\"; there are ", names));
}

}  // namespace terrazzo::ops
