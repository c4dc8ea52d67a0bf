// SPDX-License-Identifier: Apache-2.0
#include "read/block_reader.hpp"

#include "read/deflate_image.hpp"
#include "read/images.hpp"
#include "read/jpeg_image.hpp"
#include "support/sources.hpp"
#include "support/temp_folder.hpp"
#include "tile/stream_copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

namespace terrazzo::reading {
namespace {

// ---------------------------------------------------------------------------------------------------------------
// Fetching

struct Reader {
  explicit Reader(Level const& of, std::uint64_t limit = 1 << 24)
      : level(of), method(choose_method(of, false)), budget(limit), reader(of, method, budget, scratch) {}
  Level const& level;
  DecodeMethod method;
  MemoryBudget budget;
  ThreadScratch scratch;
  BlockReader reader;
};

// 16 tiles of 18 compressed bytes; a file, so that bytes are fetched and not borrowed.
class Fetching : public ::testing::Test {
 protected:
  void make(std::function<void(std::uint64_t, std::vector<std::byte>&)> edit = {}) {
    ImageSpec spec{.width = 16,
                   .height = 16,
                   .tile_width = 4,
                   .tile_height = 4,
                   .compression = kPackBits,
                   .edit = std::move(edit)};
    path_ = folder_.write("a.tif", image<std::uint8_t>(spec).bytes());
    dataset_.emplace(open(path_));
    reader_.emplace(*dataset_->shared_impl()->levels[0]);
  }
  testing::TempFolder folder_;
  std::string path_;
  std::optional<Dataset> dataset_;
  std::optional<Reader> reader_;
};

TEST_F(Fetching, ReadsNeighboursInOneGo) {
  make();
  std::vector<std::uint64_t> const blocks = {2, 3, 4, 5};
  reader_->reader.fetch(blocks);
  EXPECT_EQ(reader_->scratch.ranges.size(), 1u);
  EXPECT_EQ(reader_->reader.bytes_read(), 4u * 17);
  ASSERT_EQ(reader_->scratch.batch.items.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    tile::BatchItem const& item = reader_->scratch.batch.items[i];
    EXPECT_EQ(item.tile, blocks[i]);
    EXPECT_EQ(item.status, tile::TileStatus::ok);
    auto const bytes = reader_->scratch.batch.bytes_of(item);
    EXPECT_EQ(bytes.size(), 17u);
    std::uint32_t const row = static_cast<std::uint32_t>(blocks[i] / 4 * 4),
                        column = static_cast<std::uint32_t>(blocks[i] % 4 * 4);
    EXPECT_EQ(bytes[1], static_cast<std::byte>(value_at<std::uint8_t>(0, row, column)));
  }
}

TEST_F(Fetching, ReadsThroughASmallGapAndNotThroughALargeOne) {
  make([](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 8) { bytes.resize(20'000); }
  });
  std::vector<std::uint64_t> const near = {0, 2}, far = {7, 9}, backwards = {5, 1};
  reader_->reader.fetch(near);
  EXPECT_EQ(reader_->scratch.ranges.size(), 1u);
  EXPECT_EQ(reader_->reader.bytes_read(), 3u * 17) << "tile 1 came along";
  reader_->reader.fetch(far);
  EXPECT_EQ(reader_->scratch.ranges.size(), 2u);
  reader_->reader.fetch(backwards);
  EXPECT_EQ(reader_->scratch.ranges.size(), 2u);
  auto const& batch = reader_->scratch.batch;
  EXPECT_EQ(batch.bytes_of(batch.items[1])[1], static_cast<std::byte>(value_at<std::uint8_t>(0, 0, 4)));
}

TEST_F(Fetching, ReadsNothingForSparseBlocks) {
  make([](std::uint64_t, std::vector<std::byte>& bytes) { bytes.clear(); });
  std::vector<std::uint64_t> const blocks = {0, 1};
  reader_->reader.fetch(blocks);
  EXPECT_EQ(reader_->reader.bytes_read(), 0u);
  EXPECT_EQ(reader_->scratch.batch.items[1].status, tile::TileStatus::sparse);
}

TEST_F(Fetching, RefusesCompressedBytesBeyondTheLimit) {
  make([](std::uint64_t, std::vector<std::byte>& bytes) { bytes.resize(30'000); });
  Reader small(reader_->level, 20'000);
  std::vector<std::uint64_t> const blocks = {0};
  EXPECT_EQ(failure_of([&] { small.reader.fetch(blocks); }).kind(), ErrorKind::limit);
  EXPECT_LT(small.budget.used_bytes(), 20'000u);
}

TEST(FetchingFromMemory, CopiesNothing) {
  Opened const opened(
      image<std::uint8_t>({.width = 16, .height = 16, .tile_width = 4, .tile_height = 4, .compression = kPackBits}));
  Reader reader(level_of(opened));
  std::vector<std::uint64_t> const blocks = {15, 0};
  reader.reader.fetch(blocks);
  EXPECT_EQ(reader.scratch.batch.buffer.data(), level_of(opened).source->in_memory().data());
  EXPECT_EQ(reader.scratch.batch.bytes_of(reader.scratch.batch.items[0])[1],
            static_cast<std::byte>(value_at<std::uint8_t>(0, 12, 12)));
}

TEST(FetchingFromMemory, CutsABlockAtTheEndOfTheFile) {
  // Tiles come first in the file, so a count that reaches past the end is made by hand.
  testing::TiffBuilder builder =
      image<std::uint8_t>({.width = 16, .height = 16, .tile_width = 16, .tile_height = 16, .compression = kPackBits});
  std::vector<std::byte> bytes = builder.bytes();
  std::uint64_t const at = builder.directory().find(325)->value_offset_bytes;
  std::memset(bytes.data() + at, 0x7F, 4);
  Dataset const dataset = open_memory(bytes, "m");
  Reader reader(*dataset.shared_impl()->levels[0]);
  std::uint64_t const block = 0;
  reader.reader.fetch({&block, 1});
  tile::BatchItem const item = reader.scratch.batch.items[0];
  EXPECT_EQ(item.offset_bytes + item.size_bytes, bytes.size());
  EXPECT_EQ(reader.reader.decode(item).status, tile::TileStatus::ok) << "the pixels are all there";
}

TEST(DecodingWithLibtiff, OfASourceThatFailsIsAnIoError) {
  if (!codec::LibtiffDecoder::available()) { GTEST_SKIP() << "libtiff is not found"; }
  testing::TempFolder const folder;
  std::string const path = folder.path("a.tif");
  std::filesystem::copy_file(std::string(TERRAZZO_TEST_DATA) + "/ccitt_g4.tif", path);
  Dataset const dataset = open(path);
  Level const& level = *dataset.shared_impl()->levels[0];
  DecodeMethod const method = choose_method(level, true);
  MemoryBudget budget(1 << 20);
  ThreadScratch scratch;
  BlockReader reader(level, method, budget, scratch);
  std::uint64_t const block = 0;
  reader.fetch({&block, 1});
  tile::BatchItem const item = scratch.batch.items[0];
  std::filesystem::resize_file(path, level.index.range(0).offset_bytes + 1);
  EXPECT_EQ(failure_of([&] { static_cast<void>(reader.decode(item)); }).kind(), ErrorKind::io);
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
  BlockReader reader(level, method, budget, scratch);
  // The first block makes libtiff read the directory; the second one shows what a block costs.
  std::uint64_t bytes = 0;
  for (std::uint64_t block = 0; block < 2; ++block) {
    std::uint64_t const size = level.index.range(block).size_bytes;  // may read a page of the index
    source->bytes = 0;
    reader.fetch({&block, 1});
    EXPECT_EQ(source->bytes, 0u) << "libtiff reads by itself";
    tile::BatchItem const item = scratch.batch.items[0];
    EXPECT_EQ(reader.decode(item).status, tile::TileStatus::ok);
    bytes += size;
    EXPECT_EQ(reader.bytes_read(), bytes);
    if (block == 1) { EXPECT_EQ(source->bytes, size); }
  }
}

TEST(StreamedRows, AreTheFinishedOnes) {
  // Swapped on the way, so that the rows are not merely copied.
  Opened const opened(
      image<std::uint16_t>({.width = 50, .height = 20, .compression = kPackBits, .order = std::endian::big}));
  Reader by_row(level_of(opened)), streamed(level_of(opened));
  std::uint64_t const block = 0;
  for (Reader* r : {&by_row, &streamed}) {
    r->reader.fetch({&block, 1});
    ASSERT_EQ(r->reader.decode(r->scratch.batch.items[0]).status, tile::TileStatus::ok);
  }
  std::size_t const row_bytes = by_row.reader.row_bytes(), stride = row_bytes + 6;
  std::vector<std::byte> wanted(stride * 12, std::byte{0xEE}), out = wanted;
  for (std::uint32_t r = 0; r < 12; ++r) { by_row.reader.finish_row(r + 5, wanted.data() + r * stride); }
  streamed.reader.stream_rows(5, 12, out.data(), static_cast<std::ptrdiff_t>(stride));
  tile::fence_streamed_copies();
  EXPECT_EQ(out, wanted);
}

// ---------------------------------------------------------------------------------------------------------------
// Two at once

// The last strip is shorter than the others.
TEST(TwoBlocks, DecodedAtOnceAreThoseOfEach) {
  if (codec::find_codec(tiff::Compression::deflate)->decode_two == nullptr) { GTEST_SKIP() << "never faster here"; }
  Opened const opened(deflate_image({.width = 200, .height = 150, .bands = 2, .rows_per_strip = 100}));
  Reader both(level_of(opened)), each(level_of(opened));
  std::uint64_t const blocks[] = {0, 1};
  for (Reader* r : {&both, &each}) { r->reader.fetch(blocks); }
  ASSERT_EQ(both.reader.decode_two(both.scratch.batch.items[0], both.scratch.batch.items[1]), codec::TwoBlocks::done);
  EXPECT_GE(both.budget.used_bytes(), 200u * 150 * 2 * 2) << "both are counted";
  std::vector<std::byte> wanted(each.reader.row_bytes()), found(wanted.size());
  for (std::size_t b = 0; b < 2; ++b) {
    ASSERT_EQ(each.reader.decode(each.scratch.batch.items[b]).status, tile::TileStatus::ok);
    if (b == 1) { both.reader.turn_to_second(); }
    for (std::uint32_t r = 0; r < (b == 0 ? 100u : 50u); ++r) {
      each.reader.finish_row(r, wanted.data());
      both.reader.finish_row(r, found.data());
      ASSERT_EQ(found, wanted) << "block " << b << " row " << r;
    }
  }
}

TEST(TwoBlocks, AreLeftToDecodeWhereTheyAreNotBothGood) {
  using codec::TwoBlocks;
  struct Case {
    Opened opened;
    TwoBlocks result;
  };
  auto const first_is = [](auto const& change) {
    return Opened(deflate_image({.width = 200, .height = 200, .rows_per_strip = 100, .edit = change}));
  };
  auto const sparse = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 0) { bytes.clear(); }
  };
  auto const damaged = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 0) { bytes.back() ^= std::byte{1}; }  // of the checksum
  };
  bool const has_pairs = codec::find_codec(tiff::Compression::deflate)->decode_two != nullptr;
  ImageSpec const other{.width = 200, .height = 200, .rows_per_strip = 100, .compression = kPackBits};
  Case const cases[] = {{first_is(sparse), TwoBlocks::unsuited},
                        {first_is(damaged), has_pairs ? TwoBlocks::failed : TwoBlocks::unsuited},
                        {Opened(image<std::uint8_t>(other)), TwoBlocks::unsuited}};
  for (auto const& [opened, result] : cases) {
    Reader r(level_of(opened));
    std::uint64_t const blocks[] = {0, 1};
    r.reader.fetch(blocks);
    EXPECT_EQ(r.reader.decode_two(r.scratch.batch.items[0], r.scratch.batch.items[1]), result);
    EXPECT_EQ(r.reader.decode(r.scratch.batch.items[1]).status, tile::TileStatus::ok);
  }
}

// Memory for the second is not worth a failure.
TEST(TwoBlocks, AreLeftToDecodeWhereThereIsMemoryForOne) {
  Opened const opened(deflate_image({.width = 200, .height = 200, .rows_per_strip = 100}));
  std::uint64_t const blocks[] = {0, 1};
  Reader r(level_of(opened), 200 * 100 * 2 + 200 * 2 + 1000);
  r.reader.fetch(blocks);  // borrowed
  EXPECT_EQ(r.reader.decode_two(r.scratch.batch.items[0], r.scratch.batch.items[1]), codec::TwoBlocks::unsuited);
  EXPECT_EQ(r.reader.decode(r.scratch.batch.items[0]).status, tile::TileStatus::ok);
}

TEST(RowsOfRawBlocks, SideBySideAreThoseOfEach) {
  ImageSpec spec{.width = 64, .height = 20, .tile_width = 16, .tile_height = 16};
  spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block == 1) { bytes.clear(); }
    if (block == 2) { bytes.resize(5 * 16 + 3); }
  };
  Opened const opened(image<std::uint8_t>(spec));
  Reader together(level_of(opened)), alone(level_of(opened));
  std::vector<tile::TileResult> results(4);
  together.reader.find_rows(0, {2, 10, 12}, results);
  EXPECT_EQ(together.reader.bytes_read(), 0u);
  together.reader.read_found_rows();
  for (std::uint64_t block = 0; block < 4; ++block) {
    tile::TileResult const result = alone.reader.read_rows(block, 2, 10);
    EXPECT_EQ(results[block].status, result.status) << block;
    EXPECT_EQ(results[block].bytes_written, result.bytes_written) << block;
    EXPECT_EQ(result.status, block == 1   ? tile::TileStatus::sparse
                             : block == 2 ? tile::TileStatus::truncated
                                          : tile::TileStatus::ok);
    together.reader.turn_to_block(block);
    std::uint32_t const readable = block == 1 ? 0 : block == 2 ? 3 : 10;
    for (std::uint32_t r = 0; r < readable; ++r) {
      std::vector<std::byte> one(16), other(16);
      together.reader.finish_row(r, one.data());
      alone.reader.finish_row(r, other.data());
      EXPECT_EQ(one, other) << block << " " << r;
      EXPECT_EQ(one[5],
                static_cast<std::byte>(value_at<std::uint8_t>(0, r + 2, static_cast<std::uint32_t>(block) * 16 + 5)));
    }
  }
  EXPECT_EQ(together.reader.bytes_read(), (10u + 3 + 10) * 16);
  EXPECT_EQ(alone.reader.bytes_read(), (10u + 3 + 10) * 16);
}

TEST(RowsOfRawBlocks, AreTruncatedWhicheverPieceIsLookedAt) {
  ImageSpec spec{.width = 16, .height = 16, .tile_width = 16, .tile_height = 16};
  spec.edit = [](std::uint64_t, std::vector<std::byte>& bytes) { bytes.resize(9 * 16); };
  Opened const opened(image<std::uint8_t>(spec));
  for (std::uint32_t const first : {0u, 4u, 8u, 12u}) {
    Reader reader(level_of(opened));
    tile::TileResult result;
    reader.reader.find_rows(0, {first, 4, 16}, {&result, 1});
    EXPECT_EQ(result.status, tile::TileStatus::truncated) << first;
    EXPECT_EQ(result.bytes_written, 9u * 16) << first;
    reader.reader.read_found_rows();
    EXPECT_EQ(reader.reader.bytes_read(), first == 12 ? 0u : first == 8 ? 16u : 64u);
    reader.reader.find_rows(0, {first, 4, 9}, {&result, 1});
    EXPECT_EQ(result.status, tile::TileStatus::ok) << "nine rows are wanted in all";
    EXPECT_NO_THROW(reader.reader.read_found_rows()) << "and of the piece those are read that are there";
  }
}

TEST(RowsOfRawBlocks, TakeMemoryForWhatIsThere) {
  ImageSpec spec{.width = 64, .height = 16, .tile_width = 16, .tile_height = 16};
  spec.edit = [](std::uint64_t block, std::vector<std::byte>& bytes) {
    if (block < 2) { bytes.clear(); }
  };
  Opened const opened(image<std::uint8_t>(spec));
  std::vector<tile::TileResult> results(4);
  Reader small(level_of(opened), 16 + 2 * 256);
  small.reader.find_rows(0, {0, 16, 16}, {results.data(), 2});
  EXPECT_NO_THROW(small.reader.read_found_rows()) << "neither is in the file";
  small.reader.find_rows(0, {0, 16, 16}, results);
  EXPECT_EQ(failure_of([&] { small.reader.read_found_rows(); }).kind(), ErrorKind::limit) << "room for four";
}

TEST(BlocksInPlanes, AreThoseOfJpegWhenAskedFor) {
  constexpr std::uint32_t kTile = 64;
  if (!tile::has_fast_jpeg_rows(kTile)) { GTEST_SKIP() << "not faster than rows on this machine"; }
  if (codec::find_encoder(tiff::Compression::jpeg)->encode == nullptr) { GTEST_SKIP() << "this build lacks libjpeg"; }
  Opened const opened(jpeg_image(kTile, 1));
  Level const& level = *opened->shared_impl()->levels[0];
  Reader made(level);
  BlockReader& reader = made.reader;
  std::uint64_t const block = 0;
  reader.fetch({&block, 1});
  ASSERT_EQ(reader.decode(made.scratch.batch.items[0], BlockReader::Form::rows_or_planes).status, tile::TileStatus::ok);
  ASSERT_TRUE(reader.is_in_planes());
  std::vector<std::byte> planes(kTile * 3), row(reader.row_bytes());
  std::byte* const parts[] = {planes.data(), planes.data() + kTile, planes.data() + 2 * kTile};
  reader.make_plane_row(5, kTile, parts);
  ASSERT_EQ(reader.decode(made.scratch.batch.items[0]).status, tile::TileStatus::ok);
  EXPECT_FALSE(reader.is_in_planes()) << "rows were asked for";
  reader.finish_row(5, row.data());
  for (std::size_t i = 0; i < row.size(); ++i) { ASSERT_EQ(row[i], parts[i % 3][i / 3]) << i; }
}

TEST(BlockMemory, OfACodecIsReservedBeforeItDecodes) {
  if (codec::find_codec(tiff::Compression::jpeg2000)->decode == nullptr) { GTEST_SKIP() << "no OpenJPEG here"; }
  Opened const opened(image<std::uint8_t>({.width = 16, .height = 16, .compression = 34712}));
  std::uint64_t const needed = 16 * 16 + 16 + 4 * 16 * 16;  // a decoded block, a row, OpenJPEG's
  EXPECT_EQ(Reader(level_of(opened), needed).budget.used_bytes(), needed);
  EXPECT_EQ(failure_of([&] { Reader const reader(level_of(opened), needed - 1); }).kind(), ErrorKind::limit);
}

TEST(BlockMemory, OfReversedBitsIsReserved) {
  ImageSpec spec{.width = 64, .height = 64, .compression = kPackBits};
  spec.reversed_bits = true;
  Opened const opened(image<std::uint8_t>(spec));
  std::uint64_t const decoded = 64 * 64 + 64, packed = 64 * 64 + 32;
  std::uint64_t const block = 0;
  Reader enough(level_of(opened), decoded + packed);
  enough.reader.fetch({&block, 1});
  EXPECT_EQ(enough.reader.decode(enough.scratch.batch.items[0]).status, tile::TileStatus::ok);
  Reader small(level_of(opened), decoded + packed - 1);
  small.reader.fetch({&block, 1});
  EXPECT_EQ(failure_of([&] { static_cast<void>(small.reader.decode(small.scratch.batch.items[0])); }).kind(),
            ErrorKind::limit);
}

TEST(ThreadScratchMemory, LetsGoOfWhatIsLarge) {
  ThreadScratch scratch;
  std::byte* const small = scratch.row.get(1000).data();
  static_cast<void>(scratch.decoded.get(64u << 20));
  scratch.trim();
  EXPECT_EQ(scratch.row.get(1000).data(), small);
}

// ---------------------------------------------------------------------------------------------------------------
// Streams that end inside the padding of a tile

// 35 x 37 pixels in one tile of 64 x 64, of which the file has the first `bytes`, compressed.
testing::TiffBuilder with_short_tiles(std::uint16_t compression, std::uint64_t bytes, std::uint16_t bands,
                                      bool separate) {
  ImageSpec spec{.width = 35, .height = 37, .bands = bands, .tile_width = 64, .tile_height = 64, .separate = separate};
  spec.compression = compression;
  spec.edit = [=](std::uint64_t, std::vector<std::byte>& stored) {
    // packbits() makes runs of 128 literals: the stream is cut inside one, or behind its first byte.
    stored.resize(static_cast<std::size_t>(compression == kPackBits ? bytes + (bytes + 127) / 128 : bytes));
    if (compression == kDeflate) { stored = deflated(stored); }
  };
  return image<std::uint8_t>(spec);
}

TEST(ShortTiles, AreGoodWhenAllPixelsAreThere) {
  struct Case {
    std::uint16_t bands;
    bool separate;
  };
  for (std::uint16_t const compression : {kNone, kPackBits, kDeflate}) {
    for (auto const& [bands, separate] : {Case{1, false}, Case{3, false}, Case{2, true}}) {
      std::uint64_t const pixel = separate ? 1 : bands;
      std::uint64_t const needed = (36 * 64 + 35) * pixel;
      Window const all{0, 0, 35, 37}, part{10, 5, 20, 32}, above{0, 0, 35, 36};
      std::vector<std::uint32_t> numbers(bands);
      std::iota(numbers.begin(), numbers.end(), 1u);
      for (std::uint64_t const bytes : {needed, needed + 5, 37 * 64 * pixel, 64 * 64 * pixel}) {
        Opened const opened(with_short_tiles(compression, bytes, bands, separate));
        for (Window const& window : {all, part}) {
          for (bool const strict : {false, true}) {
            ReadReport report;
            ReadRequest const request{.window = window, .bad_tile = BadTile::error, .strict = strict};
            EXPECT_EQ(values_of<std::uint8_t>(read(*opened, request, &report)),
                      expected<std::uint8_t>(window, numbers));
            EXPECT_EQ(report.tiles, separate ? bands : 1u);
            EXPECT_TRUE(report.bad_tiles.empty());
          }
        }
      }
      Opened const opened(with_short_tiles(compression, needed - 1, bands, separate));
      EXPECT_EQ(failure_of([&] { static_cast<void>(read(*opened, {.window = all})); }).kind(), ErrorKind::malformed)
          << "a byte of the last pixel is missing";
      ReadReport report;
      auto const filled = values_of<std::uint8_t>(read(*opened, {.bad_tile = BadTile::fill}, &report));
      EXPECT_EQ(report.bad_tiles.size(), separate ? bands : 1u);
      auto const good = expected<std::uint8_t>(above, {1});
      EXPECT_TRUE(std::equal(good.begin(), good.end(), filled.begin())) << "36 rows are good";
    }
  }
}

// The floating-point predictor spreads each pixel over its row: a part of one is nothing.
TEST(ShortTiles, OfTheFloatingPointPredictorHaveWholeRows) {
  for (bool const whole : {true, false}) {
    ImageSpec spec{.width = 35, .height = 37, .tile_width = 64, .tile_height = 64, .compression = kDeflate};
    spec.edit = [&](std::uint64_t, std::vector<std::byte>& stored) {
      stored.assign(37 * 64 * 4 - (whole ? 0 : 1), std::byte{0});
      stored = deflated(stored);
    };
    testing::TiffBuilder builder = image<float>(spec);
    builder.shorts(317, {3});
    Opened const opened(builder);
    if (whole) {
      EXPECT_EQ(values_of<float>(read(*opened)), std::vector<float>(35 * 37, 0.0F));
    } else {
      EXPECT_EQ(failure_of([&] { static_cast<void>(read(*opened)); }).kind(), ErrorKind::malformed);
    }
  }
}

// Nothing of what the buffer held before shows where a stream has ended: it may be kept for other windows.
TEST(ShortTiles, HaveZerosWhereTheyEnd) {
  Opened const opened(with_short_tiles(kPackBits, 36 * 64 + 35, 1, false));
  Reader decoder(level_of(opened));
  std::uint64_t const block = 0;
  std::ranges::fill(decoder.scratch.decoded.get(64 * 64), std::byte{0x77});
  decoder.reader.fetch({&block, 1});
  ASSERT_EQ(decoder.reader.decode(decoder.scratch.batch.items[0]).status, tile::TileStatus::ok);
  std::vector<std::byte> row(64);
  decoder.reader.finish_row(36, row.data());
  EXPECT_EQ(row[34], static_cast<std::byte>(value_at<std::uint8_t>(0, 36, 34)));
  EXPECT_EQ(row[35], std::byte{0});
  decoder.reader.finish_row(63, row.data());
  EXPECT_EQ(row, std::vector<std::byte>(64));
}

}  // namespace
}  // namespace terrazzo::reading
