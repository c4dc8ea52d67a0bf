// SPDX-License-Identifier: Apache-2.0
#include "read/blocks/libtiff_blocks.hpp"

#include "read/blocks/decoder.hpp"
#include "read/blocks/fetcher.hpp"
#include "read/images.hpp"
#include "support/data_folder.hpp"
#include "support/sources.hpp"
#include "support/temp_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace terrazzo::reading {
namespace {

TEST(DecodingWithLibtiff, OfASourceThatFailsIsAnIoError) {
  if (!codec::LibtiffDecoder::available()) { GTEST_SKIP() << "libtiff is not found"; }
  testing::TempFolder const folder;
  std::string const path = folder.path("a.tif");
  std::filesystem::copy_file(testing::data_folder() / "ccitt_g4.tif", path);
  Dataset const dataset = open(path);
  Level const& level = *dataset.shared_impl()->levels[0];
  DecodeMethod const method = choose_method(level, true);
  MemoryBudget budget(1 << 20);
  ThreadScratch scratch;
  BlockDecoder decoder(level, method, budget, scratch);
  BlockFetcher fetcher(level, method, budget, scratch);
  std::uint64_t const block = 0;
  tile::TileBatch const& batch = fetcher.fetch({&block, 1});
  std::filesystem::resize_file(path, level.index.range(0).offset_bytes + 1);
  EXPECT_EQ(failure_of([&] { static_cast<void>(decoder.decode(batch, 0)); }).kind(), ErrorKind::io);
}

TEST(DecodingWithLibtiff, ReadsEachBlockOnce) {
  if (!codec::LibtiffDecoder::available()) { GTEST_SKIP() << "libtiff is not found"; }
  // ThunderScan: two strips of one row, two raw pixels of 4 bits each (the codes 11 rrrr).
  testing::TiffBuilder builder;
  auto const at =
      static_cast<std::uint32_t>(builder.data({std::byte{0xC3}, std::byte{0xCA}, std::byte{0xC1}, std::byte{0xC2}}));
  builder.longs(256, {2}).longs(257, {2}).shorts(258, {4}).shorts(259, {32809}).shorts(262, {1});
  builder.longs(273, {at, at + 2}).shorts(277, {1}).longs(278, {1}).longs(279, {2, 2});
  auto const source = std::make_shared<testing::CountingSource>(builder.source());
  auto const chain = tiff::read_chain(source);
  std::vector<std::string> warnings;
  Level const level(source, chain.directories[0], tiff::parse_image(chain.directories[0], warnings));
  DecodeMethod const method = choose_method(level, true);
  MemoryBudget budget(1 << 20);
  ThreadScratch scratch;
  BlockDecoder decoder(level, method, budget, scratch);
  BlockFetcher fetcher(level, method, budget, scratch);
  // The first block makes libtiff read the directory; the second one shows what a block costs.
  std::uint64_t bytes = 0;
  for (std::uint64_t block = 0; block < 2; ++block) {
    std::uint64_t const size = level.index.range(block).size_bytes;  // may read a page of the index
    source->bytes = 0;
    tile::TileBatch const& batch = fetcher.fetch({&block, 1});
    EXPECT_EQ(source->bytes, 0u) << "libtiff reads by itself";
    EXPECT_EQ(decoder.decode(batch, 0).front().result.status, tile::TileStatus::ok);
    bytes += size;
    EXPECT_EQ(fetcher.bytes_read() + decoder.bytes_read(), bytes);
    if (block == 1) { EXPECT_EQ(source->bytes, size); }
  }
}

}  // namespace
}  // namespace terrazzo::reading
