// SPDX-License-Identifier: Apache-2.0
//
// Files written by the device engine, from host rows and from device rows, beside the host engine's.
#pragma once

#include "gpu/runtime/check.hpp"
#include "io/memory_source.hpp"
#include "support/device_bytes.hpp"
#include "support/on_device.hpp"
#include "terrazzo/device.hpp"
#include "test_image.hpp"
#include "tiff/directory.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>

namespace terrazzo::writing {

using terrazzo::testing::DeviceBytes;
using terrazzo::testing::OnDevice;

// By the device engine; 0 is the process's own budget.
[[nodiscard]] inline WriteOptions on_the_device(WriteOptions options, std::uint64_t budget = 0) {
  options.engine = Engine::device;
  options.device_budget_bytes = budget;
  return options;
}

// The same view, over the copy of its memory.
[[nodiscard]] inline DeviceView on_device(HostView const& view, std::vector<std::byte> const& memory,
                                          DeviceBytes const& device) {
  return {device.data() + (static_cast<std::byte*>(view.data) - memory.data()),
          view.dtype,
          view.bands,
          view.height,
          view.width,
          view.band_stride_bytes,
          view.row_stride_bytes,
          view.pixel_stride_bytes};
}

[[nodiscard]] inline DeviceView some_rows(DeviceView view, std::uint32_t first, std::uint32_t count) {
  view.data = static_cast<std::byte*>(view.data) + std::int64_t{first} * view.row_stride_bytes;
  view.height = count;
  return view;
}

// By the device engine, out of device memory.
[[nodiscard]] inline std::vector<std::byte> written_from_device(Image image, Order order, WriteOptions options,
                                                                Schedule const& schedule,
                                                                WriteReport* report = nullptr) {
  options.dtype = image.dtype;
  options.bands = image.bands;
  Arranged const arranged = arrange(image, order);
  DeviceBytes const pixels(arranged.memory);
  DeviceBytes const mask_bytes(image.mask);
  DeviceView const view = on_device(arranged.view, arranged.memory, pixels);
  DeviceView const mask = image.mask.empty() ? DeviceView{} : on_device(image.mask_view(), image.mask, mask_bytes);
  std::vector<std::byte> bytes;
  Writer writer = create(memory_sink(bytes), image.width, image.height, options);
  std::uint32_t at = 0;
  for (std::uint32_t const rows : schedule) {
    if (image.mask.empty()) {
      writer.write_rows(some_rows(view, at, rows));
    } else {
      writer.write_rows(some_rows(view, at, rows), some_rows(mask, at, rows));
    }
    at += rows;
  }
  WriteReport const result = writer.close();
  if (report != nullptr) { *report = result; }
  return bytes;
}

// Both files have the same directories with the same tags, and tiles in the same order; only compressed bytes, their
// sizes and so their places may differ.
inline void expect_same_layout(std::vector<std::byte> const& a, std::vector<std::byte> const& b) {
  auto const chain_of = [](std::vector<std::byte> const& file) {
    return tiff::read_chain(std::make_shared<io::MemorySource>(std::span<std::byte const>(file), "file"));
  };
  tiff::Chain const first = chain_of(a), second = chain_of(b);
  EXPECT_EQ(first.header.big, second.header.big);
  ASSERT_EQ(first.directories.size(), second.directories.size());
  constexpr std::uint16_t kStripOffsets = 273, kStripCounts = 279, kTileOffsets = 324, kTileCounts = 325;
  auto const order_of = [](std::vector<std::uint64_t> const& offsets) {
    std::vector<std::size_t> order(offsets.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return offsets[i]; });
    return order;
  };
  for (std::size_t i = 0; i < first.directories.size(); ++i) {
    tiff::Directory const &one = first.directories[i], &two = second.directories[i];
    ASSERT_EQ(one.entries().size(), two.entries().size()) << "directory " << i;
    for (std::size_t e = 0; e < one.entries().size(); ++e) {
      std::uint16_t const tag = one.entries()[e].tag;
      EXPECT_EQ(tag, two.entries()[e].tag);
      EXPECT_EQ(one.entries()[e].count, two.entries()[e].count) << "tag " << tag;
      if (tag == kStripOffsets || tag == kTileOffsets) {
        std::uint64_t const count = one.entries()[e].count;
        EXPECT_TRUE(order_of(one.unsigned_values(tag, count)) == order_of(two.unsigned_values(tag, count)))
            << "directory " << i;
      } else if (tag != kStripCounts && tag != kTileCounts) {
        EXPECT_TRUE(one.bytes_value(tag) == two.bytes_value(tag)) << "tag " << tag << " of directory " << i;
      }
    }
  }
}

}  // namespace terrazzo::writing
