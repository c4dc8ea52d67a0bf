// SPDX-License-Identifier: Apache-2.0
#include "write/update/file_claims.hpp"

#include "support/failure.hpp"
#include "support/tiff_builder.hpp"

#include "terrazzo/error.hpp"
#include "terrazzo/write.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace terrazzo::writing {
namespace {

using testing::kind_of_failure;
using testing::TiffBuilder;

constexpr std::uint16_t kPrivateTag = 65001;

// One uncompressed strip of 8 x 8 bytes.
struct Strip {
  TiffBuilder builder;
  std::uint64_t at = 0;

  explicit Strip(std::uint32_t claimed_bytes = 64, std::uint32_t compression = 1, bool big = false)
      : builder(std::endian::little, big) {
    at = builder.data(std::vector<std::byte>(64, std::byte{7}));
    builder.longs(256, {8}).longs(257, {8}).shorts(258, {8}).shorts(259, {static_cast<std::uint16_t>(compression)});
    builder.shorts(262, {1}).longs(273, {static_cast<std::uint32_t>(at)}).longs(278, {8});
    if (claimed_bytes != 0) { builder.longs(279, {claimed_bytes}); }
  }
};

tiff::Chain chain_of(std::vector<std::byte> bytes) {
  return tiff::read_chain(std::make_shared<io::MemorySource>(std::move(bytes), "memory"));
}

// The file's first directory is behind the strip.
TEST(FileClaims, BytesAreAddedBehindTheEnd) {
  std::vector<std::byte> const bytes = Strip().builder.bytes();
  tiff::Chain const chain = chain_of(bytes);
  std::uint64_t const start = FileClaims(chain).append_start_bytes();
  EXPECT_GE(start, bytes.size());
  EXPECT_LT(start, bytes.size() + 16);
}

std::optional<Error> failure_to_append(tiff::Chain const& chain) {
  try {
    static_cast<void>(FileClaims(chain).append_start_bytes());
  } catch (Error const& error) { return error; }
  return std::nullopt;
}

// Two uncompressed strips of 8 x 4 bytes, the second at the end of the file; then tiles of 16 x 16, one above the
// other.
std::vector<std::byte> two_blocks_at_the_end(bool tiled, std::uint32_t second_bytes, std::size_t cut_bytes) {
  auto const build = [&](std::uint32_t at) {
    TiffBuilder builder;
    std::uint32_t const bytes = tiled ? 256 : 32;
    builder.longs(256, {8}).longs(257, {tiled ? 20U : 8U}).shorts(258, {8}).shorts(262, {1});
    if (tiled) {
      builder.longs(322, {16}).longs(323, {16}).longs(324, {at, at + bytes}).longs(325, {bytes, second_bytes});
    } else {
      builder.longs(273, {at, at + bytes}).longs(278, {4}).longs(279, {bytes, second_bytes});
    }
    std::vector<std::byte> file = builder.bytes();
    file.resize(std::max<std::size_t>(file.size(), at) + 2 * bytes, std::byte{7});
    return file;
  };
  auto const head = static_cast<std::uint32_t>(build(0).size() - (tiled ? 512 : 64));
  std::vector<std::byte> file = build(head);
  file.resize(file.size() - cut_bytes);
  return file;
}

TEST(FileClaims, NothingIsAddedToAFileThatLacksBytesOfABlock) {
  for (bool const tiled : {false, true}) {
    std::uint32_t const bytes = tiled ? 256 : 32;
    tiff::Chain const whole = chain_of(two_blocks_at_the_end(tiled, bytes, 0));
    EXPECT_FALSE(failure_to_append(whole));
    for (std::size_t const cut : {std::size_t{1}, std::size_t{bytes}}) {
      tiff::Chain const chain = chain_of(two_blocks_at_the_end(tiled, bytes, cut));
      std::optional<Error> const error = failure_to_append(chain);
      ASSERT_TRUE(error);
      EXPECT_EQ(error->kind(), ErrorKind::malformed);
      EXPECT_EQ(error->where().ifd, 0U);
      EXPECT_EQ(error->where().tile, (TileId{0, 1, 0}));
      EXPECT_EQ(error->message().find("--"), std::string::npos) << "the library knows no options of the command line";
    }
  }
  // Compressed: the size counts as it is listed, however large.
  for (std::uint32_t const size : {100'000U, 0xFFFFFFF0U}) {
    tiff::Chain const strips = chain_of(Strip(size, 8).builder.bytes());
    EXPECT_EQ(failure_to_append(strips)->kind(), ErrorKind::malformed);
  }
}

TEST(FileClaims, NothingIsAddedToAFileThatLacksBytesOfAValue) {
  Strip strip;
  std::vector<std::byte> bytes = strip.builder.doubles(33550, {1, 2, 3}).bytes();
  bytes.resize(bytes.size() - 10);
  tiff::Chain const values = chain_of(bytes);
  EXPECT_EQ(failure_to_append(values)->kind(), ErrorKind::malformed);
}

TEST(FileClaims, BytesAreAddedBehindListedBytesThatNoPixelNeeds) {
  tiff::Chain const mended = chain_of(Strip(100'000, 1).builder.bytes());
  EXPECT_GE(FileClaims(mended).append_start_bytes(), 100'008U);
  for (bool const tiled : {false, true}) {
    std::vector<std::byte> const file = two_blocks_at_the_end(tiled, tiled ? 1256 : 1032, 0);
    tiff::Chain const chain = chain_of(file);
    EXPECT_GE(FileClaims(chain).append_start_bytes(), file.size() + 1000);
  }
}

TEST(FileClaims, ClaimsThatAreAbsurdAreRefused) {
  tiff::Chain const far = chain_of(Strip(0xFFFFFFF0U, 1).builder.bytes());
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(FileClaims(far).append_start_bytes()); }), ErrorKind::limit);
}

TEST(FileClaims, ABlockWithoutASizeReachesToWhateverEndThereIs) {
  tiff::Chain const endless = chain_of(Strip(0, 8).builder.bytes());
  EXPECT_EQ(kind_of_failure([&] { static_cast<void>(FileClaims(endless).append_start_bytes()); }),
            ErrorKind::unsupported);
  // Its size is known when nothing is compressed.
  tiff::Chain const raw = chain_of(Strip(0, 1).builder.bytes());
  EXPECT_NO_THROW(static_cast<void>(FileClaims(raw).append_start_bytes()));
}

TEST(FileClaims, ADirectoryAndItsValuesMayBeReused) {
  std::vector<std::byte> const bytes = Strip().builder.doubles(33550, {1, 2, 3}).bytes();
  tiff::Chain const chain = chain_of(bytes);
  auto const place = FileClaims(chain).reusable();
  ASSERT_TRUE(place);
  EXPECT_EQ(place->begin, chain.header.first_ifd_bytes);
  EXPECT_EQ(place->end, bytes.size());
}

TEST(FileClaims, BytesThatNothingKnownRefersToAreNotReused) {
  std::vector<std::byte> bytes = Strip().builder.bytes();
  std::size_t const end = bytes.size();
  for (std::byte const fill : {std::byte{0}, std::byte{'x'}}) {
    bytes.resize(end);
    bytes.resize(end + 3000, fill);
    tiff::Chain const chain = chain_of(bytes);
    auto const place = FileClaims(chain).reusable();
    ASSERT_TRUE(place);
    EXPECT_EQ(place->end, end) << "no layout is promised, so these are not slack";
  }
}

TEST(FileClaims, SlackIsReusedWhereNoPrivateTagMayReferToIt) {
  std::vector<std::uint8_t> pixels(std::size_t{64} * 64, 9);
  auto const made = [&](std::vector<ExtraTag> const& tags) {
    WriteOptions options;
    options.cog = true;
    options.tile_size = {32, 32};
    options.extra_tags = tags;
    std::vector<std::byte> file;
    static_cast<void>(write(memory_sink(file), HostView{pixels.data(), DType::u8, 1, 64, 64, 64 * 64, 64, 1}, options));
    return file;
  };
  tiff::Chain const plain = chain_of(made({}));
  auto const whole = FileClaims(plain).reusable();
  ASSERT_TRUE(whole);
  EXPECT_GT(whole->end - whole->begin, 2048U);
  std::vector<std::byte> file = made({});
  file[whole->end - 100] = std::byte{1};
  tiff::Chain const used = chain_of(file);
  EXPECT_LT(FileClaims(used).reusable()->end, whole->end - 2000) << "somebody's bytes are there";
}

TEST(FileClaims, NothingIsReusedThatAPrivateTagMayReferTo) {
  auto const reusable = [](auto const& add) {
    Strip strip;
    add(strip.builder);
    tiff::Chain const chain = chain_of(strip.builder.bytes());
    return FileClaims(chain).reusable().has_value();
  };
  std::uint32_t const inside = 8 + 64 + 4, outside = 1'000'000;
  EXPECT_FALSE(reusable([&](TiffBuilder& b) { b.longs(kPrivateTag, {inside}); }));
  EXPECT_FALSE(reusable([&](TiffBuilder& b) { b.longs(kPrivateTag, {outside, outside, inside}); }));
  EXPECT_FALSE(reusable([&](TiffBuilder& b) { b.shorts(kPrivateTag, {static_cast<std::uint16_t>(inside)}); }));
  EXPECT_FALSE(reusable([&](TiffBuilder& b) {
    b.raw(kPrivateTag, 7, 7, {std::byte{1}, std::byte{1}, std::byte{1}, std::byte{inside}, {}, {}, {}});
  }));
  EXPECT_FALSE(reusable([&](TiffBuilder& b) { b.longs(330, {outside}); })) << "SubIFDs";
  EXPECT_TRUE(reusable([&](TiffBuilder& b) { b.longs(kPrivateTag, {outside}); }));
  EXPECT_TRUE(reusable([&](TiffBuilder& b) { b.ascii(kPrivateTag, "some text"); }));
}

TEST(FileClaims, DataThatLieOnALinkAreNotPatched) {
  // A strip at byte 0: the header is its first row.
  TiffBuilder builder;
  builder.longs(256, {8}).longs(257, {8}).shorts(258, {8}).shorts(262, {1});
  builder.longs(273, {1}).longs(278, {8}).longs(279, {64}).doubles(33550, {1, 2, 3});
  tiff::Chain const chain = chain_of(builder.bytes());
  FileClaims const claims(chain);
  auto const check = [&](ByteRange const& range) {
    return kind_of_failure([&] { claims.check_patches({&range, 1}); });
  };
  EXPECT_EQ(check({4, 8}), ErrorKind::malformed);
  std::uint64_t const link = chain.header.first_ifd_bytes + 2 + 8 * 12;
  EXPECT_FALSE(check({link, link + 4}));
  EXPECT_EQ(check({link - 1, link + 4}), ErrorKind::malformed) << "the last entry";
  EXPECT_EQ(check({link + 4, link + 8}), ErrorKind::malformed) << "a value";
}

TEST(FileClaims, DataAtByteZeroAreRefused) {
  TiffBuilder builder;
  builder.longs(256, {8}).longs(257, {8}).shorts(258, {8}).shorts(262, {1});
  builder.longs(273, {0}).longs(278, {8}).longs(279, {64});
  tiff::Chain const chain = chain_of(builder.bytes());
  EXPECT_EQ(kind_of_failure([&] { return FileClaims(chain); }), ErrorKind::malformed);
}

TEST(FileClaims, TellsOfPrivateTagsThatMayReferToBytesOfNobody) {
  Strip strip;
  std::uint64_t const blob = strip.builder.data(std::vector<std::byte>(40, std::byte{'b'}));
  TiffBuilder const plain = strip.builder;
  tiff::Chain const without = chain_of(plain.bytes());
  EXPECT_FALSE(FileClaims(without).tag_of_unclaimed_bytes());
  tiff::Chain const with = chain_of(strip.builder.longs(kPrivateTag, {static_cast<std::uint32_t>(blob)}).bytes());
  EXPECT_EQ(FileClaims(with).tag_of_unclaimed_bytes(), kPrivateTag);
  TiffBuilder other = plain;
  tiff::Chain const claimed = chain_of(other.longs(kPrivateTag, {static_cast<std::uint32_t>(strip.at + 3)}).bytes());
  EXPECT_FALSE(FileClaims(claimed).tag_of_unclaimed_bytes()) << "pixels go along";
}

}  // namespace
}  // namespace terrazzo::writing
