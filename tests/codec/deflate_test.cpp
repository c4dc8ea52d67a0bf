// SPDX-License-Identifier: Apache-2.0
#include "codec/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_ZLIB

#if TERRAZZO_HAVE_LIBDEFLATE
#include "codec/avx2_test.hpp"
#include "codec/deflate_streams.hpp"
#endif

#include <zlib.h>

namespace terrazzo::codec::testing {
namespace {

BlockFormat const kFormat{.compression = tiff::Compression::deflate};
constexpr BlockShape kShape{64, 64};
constexpr std::size_t kAdlerBytes = 4;

Bytes compress(Bytes const& samples, int level = 6) {
  uLongf size = compressBound(static_cast<uLong>(samples.size()));
  Bytes stream(size);
  EXPECT_EQ(compress2(reinterpret_cast<Bytef*>(stream.data()), &size, reinterpret_cast<Bytef const*>(samples.data()),
                      static_cast<uLong>(samples.size()), level),
            Z_OK);
  stream.resize(size);
  return stream;
}

TEST(Deflate, RoundTripsAtEveryLevelUnderBothNumbers) {
  Bytes const samples = picture(64, 64, 1);
  for (auto const compression : {tiff::Compression::deflate, tiff::Compression::pkzip_deflate}) {
    for (int level = 0; level <= 9; ++level) {
      Decoded const decoded = decode({.compression = compression}, kShape, compress(samples, level), samples.size());
      EXPECT_EQ(decoded.result.status, TileStatus::ok);
      EXPECT_FALSE(decoded.result.surplus_input);
      EXPECT_EQ(decoded.bytes, samples);
    }
  }
}

TEST(Deflate, DeliversTheFirstBytesOfALongerStream) {
  // One long match runs over every possible end, so none of them falls on a boundary of the stream.
  Bytes samples(4096, std::byte{42});
  samples[0] = std::byte{1};
  Bytes const stream = compress(samples);
  for (std::size_t const wanted : {1u, 2u, 257u, 258u, 1000u, 4095u}) {
    Decoded const decoded = decode(kFormat, kShape, stream, wanted);
    EXPECT_EQ(decoded.result.status, TileStatus::ok);
    EXPECT_TRUE(decoded.result.surplus_input);
    EXPECT_TRUE(std::equal(decoded.bytes.begin(), decoded.bytes.end(), samples.begin()));
  }
}

TEST(Deflate, IgnoresAndReportsBytesBehindTheStream) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples);
  stream.resize(stream.size() + 7, std::byte{0xEE});
  Decoded const decoded = decode(kFormat, kShape, stream, samples.size());
  EXPECT_EQ(decoded.result.status, TileStatus::ok);
  EXPECT_TRUE(decoded.result.surplus_input);
  EXPECT_EQ(decoded.bytes, samples);
}

TEST(Deflate, AcceptsAStreamWithoutItsAdler) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples);
  for (std::size_t missing = 1; missing <= kAdlerBytes; ++missing) {
    stream.pop_back();
    Decoded const decoded = decode(kFormat, kShape, stream, samples.size());
    EXPECT_EQ(decoded.result.status, TileStatus::ok);
    EXPECT_EQ(decoded.bytes, samples);
  }
}

TEST(Deflate, RefusesAWrongAdler) {
  Bytes const samples = picture(64, 64, 1);
  Bytes stream = compress(samples);
  stream.back() ^= std::byte{1};
  EXPECT_EQ(decode(kFormat, kShape, stream, samples.size()).result.status, TileStatus::corrupt);
}

TEST(Deflate, CountsTheBytesOfAStreamThatHoldsTooFew) {
  Bytes const samples = picture(64, 32, 1);
  Decoded const decoded = decode(kFormat, kShape, compress(samples), 64 * 64);
  EXPECT_EQ(decoded.result.status, TileStatus::truncated);
  EXPECT_EQ(decoded.result.bytes_written, samples.size());
}

TEST(Deflate, CountsTheGoodBytesOfEveryPrefix) {
  Bytes const samples = picture(64, 64, 1);
  Bytes const stream = compress(samples);
  expect_prefixes_are_honest(kFormat, kShape, stream, samples, stream.size());
  Decoded const half = decode(kFormat, kShape, std::span(stream).first(stream.size() / 2), samples.size());
  EXPECT_EQ(half.result.status, TileStatus::truncated);
  EXPECT_GT(half.result.bytes_written, samples.size() / 8);
}

TEST(Deflate, RefusesAPresetDictionary) {
  Bytes const stream{std::byte{0x78}, std::byte{0xBB}, std::byte{0}, std::byte{0},
                     std::byte{0},    std::byte{1},    std::byte{3}, std::byte{0}};
  EXPECT_EQ(decode(kFormat, kShape, stream, 16).result.status, TileStatus::corrupt);
}

TEST(Deflate, TellsAnEmptyInputFromAnEmptyBlock) {
  EXPECT_EQ(decode(kFormat, kShape, {}, 16).result.status, TileStatus::truncated);
  EXPECT_EQ(decode(kFormat, {0, 0}, compress({}), 0).result.status, TileStatus::ok);
}

TEST(Deflate, SurvivesDamage) { expect_survives_damage(kFormat, kShape, compress(picture(64, 64, 1)), 64 * 64); }

#if TERRAZZO_HAVE_LIBDEFLATE

class DeflateTwo : public Avx2Test {
 protected:
  // From and into memory of the exact sizes.
  TwoBlocks decode_two(Bytes const& first, Bytes& first_out, Bytes const& second, Bytes& second_out,
                       tiff::Compression compression = tiff::Compression::deflate) {
    auto const exact_first = std::make_unique<std::byte[]>(first.size());
    auto const exact_second = std::make_unique<std::byte[]>(second.size());
    std::ranges::copy(first, exact_first.get());
    std::ranges::copy(second, exact_second.get());
    return find_codec(compression)
        ->decode_two({std::span<std::byte const>(exact_first.get(), first.size()),
                      std::span<std::byte const>(exact_second.get(), second.size())},
                     {std::span(first_out), std::span(second_out)}, workspace_);
  }

  // Before a good one, and behind it.
  TwoBlocks result_of(Bytes const& stream, std::size_t bytes) {
    Bytes out(bytes), good(samples_.size());
    TwoBlocks const result = decode_two(stream, out, stream_, good);
    EXPECT_EQ(decode_two(stream_, good, stream, out), result);
    if (result == TwoBlocks::done) {
      Decoded const decoded = decode(kFormat, kShape, stream, bytes, workspace_);
      EXPECT_EQ(decoded.result.status, TileStatus::ok);
      EXPECT_FALSE(decoded.result.surplus_input);
      EXPECT_EQ(decoded.bytes, out);
    }
    return result;
  }
  bool takes(Bytes const& stream) { return result_of(stream, samples_.size()) == TwoBlocks::done; }

  Workspace workspace_;
  Bytes samples_ = make_deflate_samples(DeflateSamples::imagery, 9000);
  Bytes stream_ = compress(samples_);
};

TEST_F(DeflateTwo, GivesTheBytesOfBothUnderBothNumbers) {
  for (auto const compression : {tiff::Compression::deflate, tiff::Compression::pkzip_deflate}) {
    for (std::size_t const size : {4000u, 9000u, 200'000u}) {
      Bytes const samples = make_deflate_samples(DeflateSamples::imagery, size, 5);
      for (int const level : {1, 6, 9}) {
        Bytes first(samples_.size()), second(size);
        ASSERT_EQ(decode_two(stream_, first, compress(samples, level), second, compression), TwoBlocks::done)
            << size << " " << level;
        EXPECT_EQ(first, samples_);
        EXPECT_EQ(second, samples);
      }
    }
  }
}

TEST_F(DeflateTwo, LeavesTilesOfOtherKindsAlone) {
  EXPECT_TRUE(takes(stream_));
  for (DeflateSamples const kind : kDeflateSamples) {
    Bytes const samples = make_deflate_samples(kind, 9000);
    EXPECT_EQ(result_of(compress(samples), 9000),
              kind == DeflateSamples::imagery ? TwoBlocks::done : TwoBlocks::unsuited);
    EXPECT_EQ(result_of(compress(samples, 0), 9000), TwoBlocks::unsuited);
    EXPECT_EQ(result_of(make_stream(samples, {.strategy = Z_FIXED, .has_frame = true}), 9000), TwoBlocks::unsuited);
  }
}

TEST_F(DeflateTwo, RefusesAWrongAdler) {
  for (std::size_t i = 1; i <= kAdlerBytes; ++i) {
    for (unsigned const bit : {0u, 7u}) {
      Bytes stream = stream_;
      stream[stream.size() - i] ^= static_cast<std::byte>(1U << bit);
      EXPECT_EQ(result_of(stream, samples_.size()), TwoBlocks::failed);
    }
  }
}

TEST_F(DeflateTwo, RefusesHeadersThatAreNotPlain) {
  auto const takes_with = [&](unsigned method, unsigned flags) {
    Bytes stream = stream_;
    stream[0] = static_cast<std::byte>(method);
    stream[1] = static_cast<std::byte>(flags);
    return takes(stream);
  };
  auto const checked = [](unsigned method, unsigned flags) { return flags + 31 - (256 * method + flags) % 31; };
  EXPECT_TRUE(takes_with(0x78, checked(0x78, 0)));
  EXPECT_TRUE(takes_with(0x78, checked(0x78, 0xC0)));
  EXPECT_TRUE(takes_with(0x08, checked(0x08, 0)));  // of a small window, which nobody holds it to
  EXPECT_FALSE(takes_with(0x78, checked(0x78, 0) + 1));
  EXPECT_FALSE(takes_with(0x78, checked(0x78, 0x20) | 0x20));
  EXPECT_FALSE(takes_with(0x79, checked(0x79, 0)));
  EXPECT_FALSE(takes_with(0x70, checked(0x70, 0)));
  EXPECT_FALSE(takes_with(0x88, checked(0x88, 0)));  // of a window of 64 KiB
}

TEST_F(DeflateTwo, RefusesAPresetDictionary) {
  // The identifier of one between the header and the stream; and only a flag that says so.
  Bytes stream = stream_;
  stream[1] = std::byte{0xBB};
  EXPECT_FALSE(takes(stream));
  stream.insert(stream.begin() + 2, 4, std::byte{1});
  EXPECT_FALSE(takes(stream));
}

TEST_F(DeflateTwo, RefusesWhatDecodeWouldTakeInPart) {
  for (std::size_t const bytes : {std::size_t{0}, samples_.size() - 1, samples_.size() + 1}) {
    EXPECT_EQ(result_of(stream_, bytes), TwoBlocks::failed) << bytes;
  }
  Bytes longer = stream_;
  for (int i = 0; i < 9; ++i) {
    longer.push_back(std::byte{0});
    EXPECT_FALSE(takes(longer));
  }
  for (std::size_t bytes = 0; bytes < stream_.size(); bytes += 1 + bytes / 50) {
    Bytes const prefix(stream_.begin(), stream_.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_FALSE(takes(prefix)) << bytes;
  }
  for (std::size_t missing = 1; missing < 12; ++missing) {
    EXPECT_FALSE(takes(Bytes(stream_.begin(), stream_.end() - static_cast<std::ptrdiff_t>(missing)))) << missing;
  }
}

TEST_F(DeflateTwo, TakesNoDamage) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    Bytes damaged = stream_;
    std::size_t const at = random() % (i % 2 == 0 ? damaged.size() : 100);
    damaged[at] ^= static_cast<std::byte>(1 + random() % 255);
    EXPECT_FALSE(takes(damaged) && at > 2) << at;  // the header may be another that is as good
    static_cast<void>(takes(random_bytes(random() % 300, static_cast<std::uint32_t>(random()))));
  }
}

#endif

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
