// SPDX-License-Identifier: Apache-2.0
#include "gpu/vendor/encoded_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <vector>

namespace terrazzo::gpu {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes(std::initializer_list<int> values) {
  Bytes out;
  for (int const value : values) { out.push_back(static_cast<std::byte>(value)); }
  return out;
}

Bytes operator+(Bytes left, Bytes const& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

Bytes segment(int marker, Bytes const& body) {
  int const length = static_cast<int>(body.size()) + 2;
  return bytes({0xFF, marker, length >> 8, length & 255}) + body;
}

Bytes const kStart = bytes({0xFF, 0xD8});
Bytes const kEnd = bytes({0xFF, 0xD9});
Bytes const kJfif = segment(0xE0, bytes({'J', 'F', 'I', 'F', 0, 1, 1, 0, 0, 1, 0, 1, 0, 0}));

Bytes values(int first) {
  Bytes out;
  for (int i = 0; i < 64; ++i) { out.push_back(static_cast<std::byte>(first + i)); }
  return out;
}
Bytes quantisation(int number, int first) { return segment(0xDB, bytes({number}) + values(first)); }
Bytes huffman(int kind, int number) { return segment(0xC4, bytes({kind << 4 | number, 1}) + Bytes(15) + Bytes(1)); }
Bytes all_huffman() { return huffman(0, 0) + huffman(1, 0) + huffman(0, 1) + huffman(1, 1); }
Bytes frame(int luma = 0x22, int height = 16) {
  return segment(0xC0, bytes({8, 0, height, 0, 32, 3, 1, luma, 0, 2, 0x11, 1, 3, 0x11, 1}));
}
Bytes scan() {
  return segment(0xDA, bytes({3, 1, 0x00, 2, 0x11, 3, 0x11, 0, 63, 0})) + bytes({0x12, 0x34, 0x00, 0x56});
}

// Tag 347 as the host writes it.
Bytes tag() { return kStart + quantisation(0, 10) + quantisation(1, 90) + kEnd; }
constexpr JpegShape kShape{32, 16, 3, 2, 2};

Bytes abbreviated(Bytes const& stream, JpegShape const& shape = kShape, Bytes const& tables = tag()) {
  auto const known = quantisation_tables(tables);
  if (!known) { return {}; }
  // An exact allocation, so that a sanitizer sees a read or a write outside it.
  std::unique_ptr<std::byte[]> const exact(new std::byte[stream.size()]);
  std::copy(stream.begin(), stream.end(), exact.get());
  std::span<std::byte const> const result = abbreviate_jpeg({exact.get(), stream.size()}, shape, *known);
  return {result.begin(), result.end()};
}

TEST(EncodedJpeg, LosesWhatTheTagsSayAndKeepsTheRest) {
  Bytes const comment = segment(0xFE, bytes({'n', 'v'}));
  Bytes const full = kStart + kJfif + comment + quantisation(0, 10) + quantisation(1, 90) + frame() + all_huffman() +
                     segment(0xDD, bytes({0, 4})) + scan() + kEnd;
  Bytes const wanted = kStart + frame() + all_huffman() + segment(0xDD, bytes({0, 4})) + scan() + kEnd;
  EXPECT_TRUE(abbreviated(full) == wanted);
  EXPECT_TRUE(abbreviated(full + Bytes(7)) == wanted) << "zeros behind the end marker";
}

TEST(EncodedJpeg, TakesTwoTablesInOneSegmentAndTablesBetweenOtherSegments) {
  Bytes const both = segment(0xDB, bytes({0}) + values(10) + bytes({1}) + values(90));
  Bytes const wanted = kStart + frame() + all_huffman() + scan() + kEnd;
  EXPECT_TRUE(abbreviated(kStart + both + frame() + all_huffman() + scan() + kEnd) == wanted);
  EXPECT_TRUE(abbreviated(kStart + frame() + all_huffman() + both + scan() + kEnd) == wanted);
}

TEST(EncodedJpeg, IsRefusedWithOtherQuantisationThanTheTags) {
  auto const with = [](Bytes const& tables) {
    return abbreviated(kStart + tables + frame() + all_huffman() + scan() + kEnd);
  };
  EXPECT_FALSE(with(quantisation(0, 10) + quantisation(1, 90)).empty());
  EXPECT_TRUE(with(quantisation(0, 11) + quantisation(1, 90)).empty());
  EXPECT_TRUE(with(quantisation(0, 10) + quantisation(1, 91)).empty());
  EXPECT_TRUE(with(quantisation(0, 10)).empty()) << "a table that is not defined";
  EXPECT_TRUE(with(segment(0xDB, bytes({0x10}) + Bytes(128)) + quantisation(1, 90)).empty()) << "16 bits";
  // A table that no component uses does not matter.
  EXPECT_FALSE(with(quantisation(0, 10) + quantisation(1, 90) + quantisation(2, 5)).empty());
}

TEST(EncodedJpeg, IsRefusedWhenItIsNotTheTile) {
  Bytes const tables = quantisation(0, 10) + quantisation(1, 90);
  Bytes const good = kStart + tables + frame() + all_huffman() + scan() + kEnd;
  EXPECT_FALSE(abbreviated(good).empty());
  EXPECT_TRUE(abbreviated(good, {32, 17, 3, 2, 2}).empty());
  EXPECT_TRUE(abbreviated(good, {31, 16, 3, 2, 2}).empty());
  EXPECT_TRUE(abbreviated(good, {32, 16, 1, 1, 1}).empty());
  EXPECT_TRUE(abbreviated(good, {32, 16, 3, 2, 1}).empty());
  EXPECT_TRUE(abbreviated(kStart + tables + frame() + all_huffman() + scan()).empty()) << "no end marker";
  EXPECT_TRUE(abbreviated(kStart + tables + frame() + scan() + kEnd).empty()) << "no Huffman tables";
  EXPECT_TRUE(abbreviated(good, kShape, kStart + kEnd).empty()) << "a tag without tables";
  Bytes progressive = good;
  *std::find(progressive.begin(), progressive.end(), std::byte{0xC0}) = std::byte{0xC2};
  EXPECT_TRUE(abbreviated(progressive).empty());
}

TEST(EncodedJpeg, HasPlainFactorsWhenItHasOneComponent) {
  auto const gray = [](int factors) {
    return segment(0xC0, bytes({8, 0, 16, 0, 32, 1, 1, factors, 0})) + huffman(0, 0) + huffman(1, 0) +
           segment(0xDA, bytes({1, 1, 0x00, 0, 63, 0})) + bytes({0x12, 0x34}) + kEnd;
  };
  for (int const factors : {0x11, 0x22, 0x21}) {
    EXPECT_TRUE(abbreviated(kStart + quantisation(0, 10) + gray(factors), {32, 16, 1, 1, 1}) == kStart + gray(0x11))
        << factors;
  }
}

TEST(EncodedJpeg, IsRefusedWhereverItIsCut) {
  Bytes const good =
      kStart + kJfif + quantisation(0, 10) + quantisation(1, 90) + frame() + all_huffman() + scan() + kEnd;
  for (std::size_t size = 0; size < good.size(); ++size) {
    Bytes const cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_TRUE(abbreviated(cut).empty()) << size;
  }
}

TEST(QuantisationTables, AreReadAndReplacedInAStream) {
  Bytes stream = kStart + kJfif + quantisation(0, 1) + quantisation(1, 2) + frame() + all_huffman() + scan() + kEnd;
  auto const wanted = quantisation_tables(tag());
  ASSERT_TRUE(wanted.has_value());
  EXPECT_EQ((*wanted)[0]->front(), std::byte{10});
  EXPECT_EQ((*wanted)[1]->back(), std::byte{90 + 63});
  EXPECT_FALSE((*wanted)[2].has_value());
  EXPECT_NE(quantisation_tables(stream), wanted);
  EXPECT_TRUE(replace_quantisation_tables(stream, *wanted));
  EXPECT_EQ(quantisation_tables(stream), wanted);
  EXPECT_FALSE(abbreviated(stream).empty());
}

TEST(QuantisationTables, AreNotReplacedWhenTheStreamHasOthers) {
  auto const tables = quantisation_tables(kStart + quantisation(0, 10) + kEnd);
  ASSERT_TRUE(tables.has_value());
  Bytes two = kStart + quantisation(0, 1) + quantisation(1, 2) + frame() + all_huffman() + scan() + kEnd;
  EXPECT_FALSE(replace_quantisation_tables(two, *tables));
  Bytes none = bytes({0, 1, 2, 3});
  EXPECT_FALSE(replace_quantisation_tables(none, *tables));
}

// A codestream of one tile part, in the form that ITU-T T.800 annex A gives.
struct Codestream {
  int width = 300, height = 200, tile_width = 300, tile_height = 200, depth = 15, components = 2, wavelet = 1;

  [[nodiscard]] Bytes made() const {
    auto const four = [](int value) { return bytes({value >> 24, value >> 16 & 255, value >> 8 & 255, value & 255}); };
    Bytes size = bytes({0, 0}) + four(width) + four(height) + four(0) + four(0) + four(tile_width) + four(tile_height) +
                 four(0) + four(0) + bytes({0, components});
    for (int i = 0; i < components; ++i) { size = size + bytes({depth, 1, 1}); }
    Bytes const style = bytes({0, 0, 0, 1, 0, 5, 4, 4, 0, wavelet});
    return bytes({0xFF, 0x4F}) + segment(0x51, size) + segment(0x52, style) + segment(0x5C, bytes({0x40, 0x40})) +
           segment(0x90, bytes({0, 0, 0, 0, 0, 14, 0, 1})) + bytes({0xFF, 0x93}) + kEnd;
  }
};

bool is_right(Codestream const& codestream, CodestreamShape const& shape = {300, 200, 2, 16, false}) {
  return is_lossless_codestream(codestream.made(), shape);
}

TEST(EncodedCodestream, IsTakenWhenItIsTheTile) {
  EXPECT_TRUE(is_right({}));
  EXPECT_TRUE(is_right({.depth = 0x8F}, {300, 200, 2, 16, true}));
  EXPECT_TRUE(is_right({.depth = 7, .components = 1}, {300, 200, 1, 8, false}));
}

TEST(EncodedCodestream, IsRefusedWhenItIsNot) {
  EXPECT_FALSE(is_right({.width = 301}));
  EXPECT_FALSE(is_right({.height = 201}));
  EXPECT_FALSE(is_right({.tile_width = 128}));
  EXPECT_FALSE(is_right({.tile_height = 128}));
  EXPECT_FALSE(is_right({.depth = 7}));
  EXPECT_FALSE(is_right({.depth = 0x8F}));
  EXPECT_FALSE(is_right({.components = 3}));
  EXPECT_FALSE(is_right({.components = 1}));
  EXPECT_FALSE(is_right({.wavelet = 0})) << "lossy";
}

TEST(EncodedCodestream, IsRefusedWhereverItIsCut) {
  Bytes const good = Codestream{}.made();
  for (std::size_t size = 0; size < good.size(); ++size) {
    std::unique_ptr<std::byte[]> const exact(new std::byte[size]);
    std::copy_n(good.begin(), size, exact.get());
    EXPECT_FALSE(is_lossless_codestream({exact.get(), size}, {300, 200, 2, 16, false})) << size;
  }
}

}  // namespace
}  // namespace terrazzo::gpu
