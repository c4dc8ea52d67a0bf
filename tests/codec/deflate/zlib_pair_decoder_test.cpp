// SPDX-License-Identifier: Apache-2.0
#include "codec/deflate/zlib_pair_decoder.hpp"

#include "codec/registry/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_ZLIB && TERRAZZO_HAVE_LIBDEFLATE

#include "codec/avx2_test.hpp"
#include "codec/deflate_streams.hpp"

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

class TwoZlibStreams : public Avx2Test {
 protected:
  // From and into memory of the exact sizes.
  ZlibPair inflate(Bytes const& first, Bytes& first_out, Bytes const& second, Bytes& second_out) {
    auto const exact_first = std::make_unique<std::byte[]>(first.size());
    auto const exact_second = std::make_unique<std::byte[]>(second.size());
    std::ranges::copy(first, exact_first.get());
    std::ranges::copy(second, exact_second.get());
    return inflate_two({std::span<std::byte const>(exact_first.get(), first.size()),
                        std::span<std::byte const>(exact_second.get(), second.size())},
                       {std::span(first_out), std::span(second_out)}, workspace_);
  }

  // Before a good one, and behind it.
  ZlibPair result_of(Bytes const& stream, std::size_t bytes) {
    Bytes out(bytes), good(samples_.size());
    ZlibPair const result = inflate(stream, out, stream_, good);
    EXPECT_EQ(inflate(stream_, good, stream, out), result);
    if (result == ZlibPair::done) {
      Decoded const decoded = decode(kFormat, kShape, stream, bytes, workspace_);
      EXPECT_EQ(decoded.result.status, TileStatus::ok);
      EXPECT_FALSE(decoded.result.surplus_input);
      EXPECT_EQ(decoded.bytes, out);
    }
    return result;
  }
  bool takes(Bytes const& stream) { return result_of(stream, samples_.size()) == ZlibPair::done; }

  Workspace workspace_;
  Bytes samples_ = make_deflate_samples(DeflateSamples::imagery, 9000);
  Bytes stream_ = compress(samples_);
};

TEST_F(TwoZlibStreams, GiveTheBytesOfBoth) {
  for (std::size_t const size : {4000u, 9000u, 200'000u}) {
    Bytes const samples = make_deflate_samples(DeflateSamples::imagery, size, 5);
    for (int const level : {1, 6, 9}) {
      Bytes first(samples_.size()), second(size);
      ASSERT_EQ(inflate(stream_, first, compress(samples, level), second), ZlibPair::done) << size << " " << level;
      EXPECT_EQ(first, samples_);
      EXPECT_EQ(second, samples);
    }
  }
}

TEST_F(TwoZlibStreams, OfOtherKindsAreLeftAlone) {
  EXPECT_TRUE(takes(stream_));
  for (DeflateSamples const kind : kDeflateSamples) {
    Bytes const samples = make_deflate_samples(kind, 9000);
    EXPECT_EQ(result_of(compress(samples), 9000),
              kind == DeflateSamples::imagery ? ZlibPair::done : ZlibPair::unsuited);
    EXPECT_EQ(result_of(compress(samples, 0), 9000), ZlibPair::unsuited);
    EXPECT_EQ(result_of(make_stream(samples, {.strategy = Z_FIXED, .has_frame = true}), 9000), ZlibPair::unsuited);
  }
}

TEST_F(TwoZlibStreams, WithAWrongAdlerAreRefused) {
  for (std::size_t i = 1; i <= kAdlerBytes; ++i) {
    for (unsigned const bit : {0u, 7u}) {
      Bytes stream = stream_;
      stream[stream.size() - i] ^= static_cast<std::byte>(1U << bit);
      EXPECT_EQ(result_of(stream, samples_.size()), ZlibPair::failed);
    }
  }
}

TEST_F(TwoZlibStreams, WithOddHeadersAreRefused) {
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

TEST_F(TwoZlibStreams, WithAPresetDictionaryAreRefused) {
  // The identifier of one between the header and the stream; and only a flag that says so.
  Bytes stream = stream_;
  stream[1] = std::byte{0xBB};
  EXPECT_FALSE(takes(stream));
  stream.insert(stream.begin() + 2, 4, std::byte{1});
  EXPECT_FALSE(takes(stream));
}

TEST_F(TwoZlibStreams, ThatAreTooShortOrTooLongAreRefused) {
  for (std::size_t const bytes : {std::size_t{0}, samples_.size() - 1, samples_.size() + 1}) {
    EXPECT_EQ(result_of(stream_, bytes), ZlibPair::failed) << bytes;
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

TEST_F(TwoZlibStreams, ThatAreDamagedAreRefused) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    Bytes damaged = stream_;
    std::size_t const at = random() % (i % 2 == 0 ? damaged.size() : 100);
    damaged[at] ^= static_cast<std::byte>(1 + random() % 255);
    EXPECT_FALSE(takes(damaged) && at > 2) << at;  // the header may be another that is as good
    static_cast<void>(takes(random_bytes(random() % 300, static_cast<std::uint32_t>(random()))));
  }
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
