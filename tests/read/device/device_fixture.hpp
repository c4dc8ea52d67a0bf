// SPDX-License-Identifier: Apache-2.0
//
// Reads by both engines, compared.
#pragma once

#include "read/images.hpp"
#include "support/on_device.hpp"
#include "terrazzo/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace terrazzo::reading::test {

using terrazzo::testing::OnDevice;

// What a read came to: pixels or an error, and the report.
struct Outcome {
  std::optional<HostArray> pixels;
  std::optional<Error> error;
  ReadReport report;
};

template <class Read>
Outcome outcome_of(Read const& work) {
  Outcome outcome;
  try {
    outcome.pixels.emplace(work(outcome.report));
  } catch (Error const& error) { outcome.error.emplace(error); }
  return outcome;
}

inline Outcome read_on_host(Dataset const& dataset, ReadRequest request) {
  return outcome_of([&](ReadReport& report) { return read(dataset, request, &report); });
}

inline Outcome read_on_device(Dataset const& dataset, ReadRequest request) {
  request.engine = Engine::device;
  return outcome_of([&](ReadReport& report) { return read_device(dataset, request, nullptr, &report).to_host(); });
}

inline void expect_same(Outcome const& host, Outcome const& device) {
  ASSERT_EQ(host.error.has_value(), device.error.has_value())
      << (host.error ? host.error->what() : "no error") << " / " << (device.error ? device.error->what() : "no error");
  if (host.error) {
    EXPECT_EQ(host.error->kind(), device.error->kind());
    EXPECT_STREQ(host.error->what(), device.error->what());
    return;
  }
  EXPECT_EQ(host.pixels->dtype(), device.pixels->dtype());
  EXPECT_TRUE(std::ranges::equal(host.pixels->bytes(), device.pixels->bytes()));
  EXPECT_EQ(host.report.tiles, device.report.tiles);
  EXPECT_EQ(host.report.sparse_tiles, device.report.sparse_tiles);
  ASSERT_EQ(host.report.bad_tiles.size(), device.report.bad_tiles.size());
  auto const ordered = [](std::vector<BadTileReport> bad) {
    std::ranges::sort(
        bad, {}, [](BadTileReport const& b) { return std::tuple(b.message, b.tile.plane, b.tile.row, b.tile.column); });
    return bad;
  };
  auto const of_host = ordered(host.report.bad_tiles), of_device = ordered(device.report.bad_tiles);
  for (std::size_t i = 0; i < of_host.size(); ++i) {
    EXPECT_EQ(of_host[i].tile, of_device[i].tile) << i;
    EXPECT_EQ(of_host[i].kind, of_device[i].kind) << i;
    EXPECT_EQ(of_host[i].message, of_device[i].message) << i;
  }
}

inline void expect_same_read(Dataset const& dataset, ReadRequest const& request) {
  expect_same(read_on_host(dataset, request), read_on_device(dataset, request));
}

}  // namespace terrazzo::reading::test
