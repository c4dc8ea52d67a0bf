// SPDX-License-Identifier: Apache-2.0
#include "codec/registry/libraries.hpp"

#if TERRAZZO_HAVE_ZLIB && TERRAZZO_HAVE_LIBDEFLATE

#include "codec/avx2_test.hpp"
#include "codec/deflate/pair_decoder.hpp"
#include "codec/deflate_builder.hpp"
#include "codec/deflate_streams.hpp"
#include "codec/noise_samples.hpp"

namespace terrazzo::codec::testing {
namespace {

// Longer than the output of any step, so that the bytes before it are decoded in steps and not symbol by symbol.
Bytes const kTail = random_bytes(400, 99);

class DeflatePairTest : public Avx2Test {
 protected:
  // Into memory of the exact size, from memory of the exact size.
  bool decode(std::span<std::byte const> first, Bytes& first_out, std::span<std::byte const> second,
              Bytes& second_out) {
    auto const exact_first = std::make_unique<std::byte[]>(first.size());
    auto const exact_second = std::make_unique<std::byte[]>(second.size());
    std::ranges::copy(first, exact_first.get());
    std::ranges::copy(second, exact_second.get());
    std::ranges::fill(first_out, std::byte{0xA5});
    std::ranges::fill(second_out, std::byte{0xA5});
    return decoder_->decode({DeflateTile{{exact_first.get(), first.size()}, first_out},
                             DeflateTile{{exact_second.get(), second.size()}, second_out}});
  }

  void expect_pair(std::span<std::byte const> first, Bytes const& first_samples, std::span<std::byte const> second,
                   Bytes const& second_samples) {
    Bytes first_out(first_samples.size()), second_out(second_samples.size());
    ASSERT_TRUE(decode(first, first_out, second, second_out));
    ASSERT_TRUE(first_out == first_samples);
    ASSERT_TRUE(second_out == second_samples);
  }

  // With itself, and with another that is longer, before it or behind it: it is decoded in other steps then.
  void expect_takes(std::span<std::byte const> stream, Bytes const& samples) {
    expect_pair(stream, samples, stream, samples);
    expect_pair(stream, samples, good_stream_, good_samples_);
    expect_pair(good_stream_, good_samples_, stream, samples);
  }
  void expect_takes(DeflateBuilder const& builder) { expect_takes(builder.stream(), builder.bytes()); }

  // True if our decoder accepts the stream; its bytes must then equal libdeflate's.
  bool takes(std::span<std::byte const> stream, std::size_t bytes) {
    Bytes ours(bytes), theirs(bytes), good(good_samples_.size());
    bool const is_taken = decode(stream, ours, good_stream_, good);
    EXPECT_EQ(decode(good_stream_, good, stream, ours), is_taken);
    Bytes again(bytes);
    EXPECT_EQ(decode(stream, again, stream, ours), is_taken);
    if (!is_taken) { return false; }
    EXPECT_TRUE(again == ours);
    std::size_t consumed = 0, written = 0;
    EXPECT_EQ(libdeflate_deflate_decompress_ex(decompressor_.get(), stream.data(), stream.size(), theirs.data(), bytes,
                                               &consumed, &written),
              LIBDEFLATE_SUCCESS);
    EXPECT_EQ(consumed, stream.size());
    EXPECT_EQ(written, bytes);
    EXPECT_TRUE(ours == theirs);
    return true;
  }
  bool takes(DeflateBuilder const& builder) { return takes(builder.stream(), builder.bytes().size()); }

  std::unique_ptr<DeflatePair> decoder_ = std::make_unique<DeflatePair>();
  Bytes good_samples_ = make_deflate_samples(DeflateSamples::imagery, 3000);
  Bytes good_stream_ = make_stream(good_samples_);
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> decompressor_{
      libdeflate_alloc_decompressor(), &libdeflate_free_decompressor};
};

constexpr std::size_t kSizes[] = {0, 1, 7, 258, 300, 1000, 32'768, 32'769, 100'000};

TEST_F(DeflatePairTest, TakesStreamsOfZlibOfEveryKind) {
  for (DeflateSamples const kind : kDeflateSamples) {
    for (std::size_t const size : kSizes) {
      Bytes const samples = make_deflate_samples(kind, size);
      for (int const level : {1, 6, 9}) {
        for (int const strategy : {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED}) {
          if (strategy != Z_DEFAULT_STRATEGY && level != 6) { continue; }
          for (int const memory : {size <= 1000 ? 1 : 5, 9}) {  // blocks as small as it takes
            SCOPED_TRACE(::testing::Message() << static_cast<int>(kind) << " size " << size << " level " << level
                                              << " strategy " << strategy << " memory " << memory);
            expect_takes(make_stream(samples, {.level = level, .strategy = strategy, .memory = memory}), samples);
            if (HasFatalFailure()) { return; }
          }
        }
      }
    }
  }
}

// Of the first block.
bool has_incomplete_code(std::span<std::byte const> stream) {
  ForwardBits bits(stream, 1);
  DeflateLengths lengths;
  if (bits.take(2) != 2 || !lengths.read(bits)) { return false; }
  return !std::make_unique<DeflateTables>()->make(lengths);
}

TEST_F(DeflatePairTest, TakesStreamsOfLibdeflateOfEveryKind) {
  for (DeflateSamples const kind : kDeflateSamples) {
    for (std::size_t const size : kSizes) {
      Bytes const samples = make_deflate_samples(kind, size);
      for (int const level : {0, 1, 6, 9, 12}) {
        SCOPED_TRACE(::testing::Message() << static_cast<int>(kind) << " size " << size << " level " << level);
        Bytes const stream = make_libdeflate_stream(samples, level);
        // With one distance, as some versions tell it, or none: libdeflate is to decode those itself.
        if (has_incomplete_code(stream)) {
          EXPECT_FALSE(takes(stream, size));
        } else {
          expect_takes(stream, samples);
        }
        if (HasFatalFailure()) { return; }
      }
    }
  }
}

TEST_F(DeflatePairTest, TakesLargeStreamsAndThoseOfOurOwn) {
  for (DeflateSamples const kind : kDeflateSamples) {
    Bytes const samples = make_deflate_samples(kind, 600'000);
    SCOPED_TRACE(static_cast<int>(kind));
    expect_takes(make_stream(samples), samples);
    expect_takes(make_libdeflate_stream(samples, 6), samples);
  }
  for (Bytes const& samples : {differences(100'000, 1), planes(60, 2)}) {
    for (int const level : {1, 9}) {
      Bytes const stream = make_own_stream(samples, level);
      ASSERT_FALSE(stream.empty());
      expect_takes(stream, samples);
    }
  }
}

// So that one waits for the other at every place, and one goes on alone.
TEST_F(DeflatePairTest, TakesStreamsOfDifferentKindsAndLengths) {
  struct Piece {
    Bytes samples, stream;
  };
  std::vector<Piece> pieces;
  for (DeflateSamples const kind : kDeflateSamples) {
    for (std::size_t const size : {0u, 1u, 300u, 9000u, 70'000u}) {
      Bytes samples = make_deflate_samples(kind, size, static_cast<std::uint32_t>(size));
      Bytes stream = make_stream(samples, {.memory = 4, .block_bytes = size / 3});
      pieces.push_back({std::move(samples), std::move(stream)});
    }
  }
  for (Piece const& first : pieces) {
    for (Piece const& second : pieces) {
      expect_pair(first.stream, first.samples, second.stream, second.samples);
      if (HasFatalFailure()) { return; }
    }
  }
}

TEST_F(DeflatePairTest, StartsAnewWithEveryPair) {
  Bytes const samples = make_deflate_samples(DeflateSamples::text, 50'000);
  Bytes const stream = make_stream(samples);
  Bytes out(samples.size()), good(good_samples_.size());
  for (int i = 0; i < 3; ++i) {
    expect_takes(stream, samples);
    EXPECT_FALSE(decode(std::span(stream).first(stream.size() / 2), out, good_stream_, good));
    EXPECT_FALSE(decode(good_stream_, good, std::span(stream).first(stream.size() / 2), out));
  }
}

// Every length at distances that are shorter than, equal to and longer than one copy step.
TEST_F(DeflatePairTest, CopiesMatchesOfEveryLengthAndDistance) {
  std::vector<std::uint32_t> distances;
  for (std::uint32_t distance = 1; distance <= 35; ++distance) { distances.push_back(distance); }
  for (std::uint32_t power = 64; power <= 32'768; power *= 2) {
    for (std::uint32_t const distance : {power - 1, power, power + 1, power + power / 2, power + power / 2 + 1}) {
      if (distance <= 32'768) { distances.push_back(distance); }
    }
  }
  std::mt19937 random(6);
  for (int const round : {0, 1, 2}) {
    DeflateBuilder builder;
    builder.stored(random_bytes(40'000, 1), false);
    if (round == 0) {
      builder.begin_fixed(false);
    } else {
      builder.begin(any_lengths(random), false);
    }
    for (std::uint32_t length = 3; length <= 258; ++length) {
      for (std::size_t i = 0; i < distances.size(); i += length < 40 ? 1 : 1 + random() % 20) {
        // Other bytes in between, or soon they would all be alike.
        if (i % 3 == 0) { builder.literal(static_cast<std::byte>(random())); }
        builder.match(length, distances[i]);
      }
    }
    builder.end().stored(kTail, true);
    expect_takes(builder);
  }
}

// The last bytes of a stream come one by one: nothing may be written behind them.
TEST_F(DeflatePairTest, CopiesMatchesUpToTheLastByte) {
  for (std::uint32_t distance = 1; distance <= 40; ++distance) {
    for (std::uint32_t const length : {3u, 7u, 8u, 9u, 15u, 16u, 17u, 100u, 257u, 258u}) {
      for (std::size_t const tail : {0u, 1u, 15u, 16u, 17u, 20u}) {
        DeflateBuilder builder;
        builder.stored(random_bytes(distance, distance), false).begin_fixed(false).match(length, distance).end();
        builder.stored(random_bytes(tail, 3), true);
        expect_takes(builder);
        if (HasFatalFailure()) { return; }
      }
    }
  }
}

// Literals, short and long matches in any order, near and far, with codes as they come: of one table and of two.
TEST_F(DeflatePairTest, TakesBlocksOfAnyCodes) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    DeflateBuilder builder;
    if (round % 2 == 0) { builder.stored(random_bytes(33'000, 8), false); }
    for (int block = 0; block < 3; ++block) {
      builder.begin(any_lengths(random), false);
      for (int i = 0; i < 600; ++i) {
        std::size_t const most = std::min<std::size_t>(builder.bytes().size(), 32'768);
        if (random() % 2 == 0 || most == 0) { builder.literal(static_cast<std::byte>(random())); }
        if (most == 0) { continue; }
        std::uint32_t const length = 3 + (random() % 3 != 0 ? random() % 8 : random() % 256) % 256;
        std::size_t const span = std::max<std::size_t>(1, most >> random() % 16);
        builder.match(length, static_cast<std::uint32_t>(1 + random() % span));
      }
      builder.end();
    }
    expect_takes(builder.stored(round % 3 == 0 ? kTail : Bytes{}, true));
    if (HasFatalFailure()) { return; }
  }
}

TEST_F(DeflatePairTest, TakesStoredBlocksOfEverySize) {
  for (std::size_t const size : {0u, 1u, 7u, 258u, 65'535u}) {
    Bytes const samples = random_bytes(size, 5);
    expect_takes(DeflateBuilder().stored(samples, true));
    expect_takes(DeflateBuilder().stored(samples, false).stored({}, false).stored(samples, true));
    expect_takes(DeflateBuilder().begin_fixed(false).literal(std::byte{1}).end().stored(samples, true));
  }
}

TEST_F(DeflatePairTest, RefusesStoredBlocksThatAreNone) {
  auto const stored = [](std::size_t size, std::size_t inverse, std::size_t bytes) {
    return DeflateBuilder()
        .put(1, 8)
        .put(size, 16)
        .put(inverse, 16)
        .put(0x1234'5678, 8 * static_cast<std::uint32_t>(bytes));
  };
  EXPECT_TRUE(takes(stored(3, 0xFFFC, 3).stream(), 3));
  EXPECT_FALSE(takes(stored(3, 0xFFFD, 3).stream(), 3));
  EXPECT_FALSE(takes(stored(3, 0x7FFC, 3).stream(), 3));
  EXPECT_FALSE(takes(stored(3, 3, 3).stream(), 3));
  EXPECT_FALSE(takes(stored(3, 0xFFFC, 2).stream(), 3));  // a byte is missing
  EXPECT_FALSE(takes(stored(3, 0xFFFC, 4).stream(), 3));  // one is left
  EXPECT_FALSE(takes(stored(3, 0xFFFC, 3).stream(), 2));
  EXPECT_FALSE(takes(stored(3, 0xFFFC, 3).stream(), 4));
  // Cut before the inverse of the length, or in it: missing bytes read as zeros, the inverse of the largest length.
  Bytes const most = bytes_of({1, 0xFF, 0xFF, 0, 0});
  for (std::size_t size = 1; size <= most.size(); ++size) {
    EXPECT_FALSE(takes(std::span(most).first(size), 0xFFFF)) << size;
  }
}

// A block of one kind leaves nothing behind for one of another.
TEST_F(DeflatePairTest, TakesBlocksOfAllKindsInAnyOrder) {
  std::mt19937 random(9);
  for (int round = 0; round < 6; ++round) {
    DeflateBuilder builder;
    for (int i = 0; i < 60; ++i) {
      switch (random() % 4) {
        case 0: builder.stored(random_bytes(random() % 50, 2), false); continue;
        case 1: builder.begin(any_lengths(random), false); break;
        default: builder.begin_fixed(false); break;
      }
      for (std::uint32_t j = 0; j < random() % 30; ++j) {
        builder.literal(static_cast<std::byte>(random()));
        std::size_t const most = std::min<std::size_t>(builder.bytes().size(), 32'768);
        builder.match(static_cast<std::uint32_t>(3 + random() % 10), static_cast<std::uint32_t>(1 + random() % most));
      }
      builder.end();
    }
    expect_takes(builder.stored({}, true));
  }
}

// Their tables would take longer than they do: 64 of them are free, and one for every 4 KiB.
TEST_F(DeflatePairTest, RefusesManySmallBlocks) {
  auto const takes_blocks = [&](int count, std::size_t before) {
    DeflateBuilder builder;
    if (before != 0) { builder.stored(random_bytes(before, 2), false); }
    for (int i = 0; i < count - (before != 0 ? 2 : 1); ++i) { builder.begin_fixed(false).end(); }
    return takes(builder.begin_fixed(true).end());
  };
  EXPECT_TRUE(takes_blocks(64, 0));
  EXPECT_FALSE(takes_blocks(65, 0));
  EXPECT_TRUE(takes_blocks(69, 5 * 4096));
  EXPECT_FALSE(takes_blocks(70, 5 * 4096));
}

TEST_F(DeflatePairTest, RefusesBlocksOfNoKind) {
  // One that tells its codes, but for its kind.
  DeflateLengths const lengths = lengths_of({{'a', 1}, {256, 2}, {257, 2}}, {{0, 1}, {1, 1}});
  Bytes stream = DeflateBuilder().begin(lengths, true).literal(std::byte{'a'}).end().stream();
  EXPECT_TRUE(takes(stream, 1));
  EXPECT_TRUE(DeflatePair::is_for(stream));
  stream[0] |= std::byte{0b110};
  EXPECT_FALSE(takes(stream, 1));
  EXPECT_FALSE(DeflatePair::is_for(stream));
}

// Decodes the same symbols in steps and, at the end of input and output, one by one.
class DeflatePairSymbolTest : public DeflatePairTest {
 protected:
  // Whether it is taken, which must be so either way.
  bool takes_in_every_way(DeflateLengths const& lengths, std::size_t before, auto const& put) {
    Bytes const some = random_bytes(before, 4);
    auto const takes_with = [&](bool has_tail) {
      DeflateBuilder builder;
      builder.stored(some, false).begin(lengths, false);
      put(builder);
      return takes(builder.end().stored(has_tail ? kTail : Bytes{}, true));
    };
    bool const is_taken = takes_with(true);
    EXPECT_EQ(takes_with(false), is_taken);
    return is_taken;
  }
};

TEST_F(DeflatePairSymbolTest, RefusesDistancesBeforeTheFirstByte) {
  std::mt19937 random(8);
  for (int round = 0; round < 10; ++round) {
    DeflateLengths const lengths = any_lengths(random);
    for (std::uint32_t const before : {1u, 2u, 9u, 20u, 700u, 32'000u}) {
      for (std::uint32_t const length : {3u, 8u, 20u, 258u}) {
        auto const takes_distance = [&](std::uint32_t distance, bool has_literal) {
          return takes_in_every_way(lengths, before, [&](DeflateBuilder& builder) {
            if (has_literal) { builder.literal(std::byte{0}); }
            builder.match(length, distance);
          });
        };
        ASSERT_TRUE(takes_distance(before, false)) << before << " " << length;
        ASSERT_TRUE(takes_distance(before + 1, true)) << before << " " << length;
        ASSERT_FALSE(takes_distance(before + 1, false)) << before << " " << length;
        ASSERT_FALSE(takes_distance(before + 2, true)) << before << " " << length;
        ASSERT_FALSE(takes_distance(32'768, false)) << before << " " << length;
      }
    }
  }
}

// libdeflate takes some of them: they are left to it.
TEST_F(DeflatePairSymbolTest, RefusesSymbolsThatMeanNothing) {
  for (unsigned const bits : {2u, 15u}) {
    // Four codes of two bits, or a chain up to those of 15.
    for (std::size_t const symbol : {257u, 285u, 286u, 287u}) {
      for (std::size_t const distance : {0u, 29u, 30u, 31u}) {
        DeflateLengths lengths = lengths_of({{'a', 2}, {'b', 2}, {256, 2}, {symbol, 2}}, {{1, 1}, {distance, 1}});
        if (bits == 15) {
          lengths =
              lengths_of({{'a', 1}, {'b', 2}, {256, 3}, {'c', 15}, {symbol, 15}}, {{1, 1}, {2, 15}, {distance, 15}});
          for (std::uint8_t i = 4; i < 15; ++i) { lengths.symbols[i] = i; }
          for (std::uint8_t i = 4; i < 17; ++i) { lengths.distances[i] = static_cast<std::uint8_t>(i - 2); }
        }
        bool const is_taken = takes_in_every_way(lengths, 32'768, [&](DeflateBuilder& builder) {
          builder.literal(std::byte{'a'});
          if (symbol < 286 && distance < 30) {
            builder.match(symbol == 257 ? 3 : 258, distance == 0 ? 1 : 24'577);
          } else {
            builder.symbol(symbol).distance_symbol(distance).put(0, 13);
          }
        });
        EXPECT_EQ(is_taken, symbol < 286 && distance < 30) << bits << " " << symbol << " " << distance;
      }
    }
  }
  for (std::size_t const symbol : {286u, 287u}) {
    EXPECT_FALSE(
        takes(DeflateBuilder().begin_fixed(true).literal(std::byte{1}).symbol(symbol).put(0, 30).stream(), 259));
  }
  for (std::size_t const symbol : {30u, 31u}) {
    DeflateBuilder builder;
    builder.stored(Bytes(32'768), false).begin_fixed(true).symbol(257).distance_symbol(symbol).put(0, 13).end();
    EXPECT_FALSE(takes(builder.stream(), 32'768 + 3));
  }
}

// Of which libdeflate takes some, too.
TEST_F(DeflatePairTest, RefusesCodesThatAreNotComplete) {
  auto const takes_codes = [&](Codes symbols, Codes distances) {
    DeflateBuilder builder;
    builder.begin(lengths_of(symbols, distances), false).literal(std::byte{'a'}).end().stored(kTail, true);
    return takes(builder);
  };
  Codes const symbols = {{'a', 1}, {256, 2}, {257, 2}}, distances = {{0, 1}, {1, 1}};
  EXPECT_TRUE(takes_codes(symbols, distances));
  EXPECT_FALSE(takes_codes({{'a', 1}, {256, 2}}, distances));
  EXPECT_FALSE(takes_codes({{'a', 1}, {256, 1}, {257, 1}}, distances));
  EXPECT_FALSE(takes_codes({{'a', 1}, {256, 1}, {257, 15}}, distances));
  EXPECT_FALSE(takes_codes(symbols, {}));
  EXPECT_FALSE(takes_codes(symbols, {{0, 1}}));
  EXPECT_FALSE(takes_codes(symbols, {{0, 1}, {1, 1}, {2, 1}}));
}

// Steps of 48 bits that make 258 bytes: no others take or make more. With any piece of them for input and any room for
// output, nothing beyond either is touched.
DeflateBuilder longest_steps(std::size_t count) {
  DeflateLengths lengths = lengths_of({{284, 15}, {256, 15}}, {{28, 15}, {29, 15}});
  for (std::uint8_t i = 1; i < 15; ++i) { lengths.symbols[i] = lengths.distances[i] = i; }
  DeflateBuilder builder;
  builder.stored(random_bytes(32'768, 6), false).begin(lengths, true);
  for (std::size_t i = 0; i < count; ++i) { builder.match(284, 31, 32'768); }
  return builder.end();
}

TEST_F(DeflatePairTest, NeverReadsBehindItsInput) {
  DeflateBuilder const builder = longest_steps(12);
  expect_takes(builder);
  for (std::size_t cut = 1; cut < 120; ++cut) {
    EXPECT_FALSE(takes(std::span(builder.stream()).first(builder.stream().size() - cut), builder.bytes().size()))
        << cut;
  }
}

TEST_F(DeflatePairTest, NeverWritesBehindItsOutput) {
  DeflateBuilder const builder = longest_steps(100);
  constexpr std::size_t kGuard = 4096;
  std::size_t const all = builder.bytes().size();
  for (std::size_t room = 32'768; room < 32'768 + 2000; ++room) {
    Bytes first(room + kGuard, std::byte{0xA5}), second(all + kGuard, std::byte{0xA5});
    DeflateTile const short_tile{builder.stream(), std::span(first).first(room)};
    DeflateTile const tile{builder.stream(), std::span(second).first(all)};
    ASSERT_FALSE(decoder_->decode({short_tile, tile}));
    ASSERT_FALSE(decoder_->decode({tile, short_tile}));
    auto const is_guard = [](std::byte value) { return value == std::byte{0xA5}; };
    ASSERT_TRUE(std::ranges::all_of(std::span(first).subspan(room), is_guard)) << room;
    ASSERT_TRUE(std::ranges::all_of(std::span(second).subspan(all), is_guard)) << room;
  }
}

TEST_F(DeflatePairTest, RefusesOutputsOfOtherSizesAndBytesBehind) {
  for (DeflateSamples const kind : kDeflateSamples) {
    for (std::size_t const size : {1u, 300u, 5000u}) {
      Bytes const samples = make_deflate_samples(kind, size);
      Bytes stream = make_stream(samples);
      EXPECT_TRUE(takes(stream, size));
      EXPECT_FALSE(takes(stream, size - 1));
      EXPECT_FALSE(takes(stream, size + 1));
      EXPECT_FALSE(takes(stream, 0));
      EXPECT_FALSE(takes(stream, 2 * size));
      for (int i = 0; i < 20; ++i) {
        stream.push_back(std::byte{0});
        EXPECT_FALSE(takes(stream, size));
      }
    }
  }
  EXPECT_FALSE(takes({}, 0));
  EXPECT_FALSE(takes({}, 10));
}

TEST_F(DeflatePairTest, TakesNoPrefixOfAStream) {
  for (DeflateSamples const kind : kDeflateSamples) {
    for (std::size_t const size : {7u, 1500u}) {
      for (int const strategy : {Z_DEFAULT_STRATEGY, Z_FIXED}) {
        Bytes const samples = make_deflate_samples(kind, size);
        Bytes const stream = make_stream(samples, {.strategy = strategy, .block_bytes = 600});
        for (std::size_t bytes = 0; bytes < stream.size(); ++bytes) {
          EXPECT_FALSE(takes(std::span(stream).first(bytes), size)) << bytes;
        }
      }
    }
  }
  // Cut between the two bits of a block's kind: the bit that is left says "fixed", and zeros would be the end of a
// block.
  DeflateBuilder builder;
  builder.begin_fixed(false);
  for (int i = 0; i < 4; ++i) { builder.literal(std::byte{200}); }
  builder.end().begin_fixed(true).end();
  ASSERT_EQ(builder.at_bit(), 56u);
  EXPECT_TRUE(takes(builder));
  EXPECT_FALSE(takes(std::span(builder.stream()).first(6), 4));
}

TEST_F(DeflatePairTest, TakesDamagedStreamsOnlyAsLibdeflateDoes) {
  std::mt19937 random(11);
  int taken = 0;
  for (DeflateSamples const kind : kDeflateSamples) {
    for (int const strategy : {Z_DEFAULT_STRATEGY, Z_HUFFMAN_ONLY, Z_FIXED}) {
      Bytes const samples = make_deflate_samples(kind, 2000);
      Bytes const stream = make_stream(samples, {.level = 9, .strategy = strategy, .block_bytes = 900});
      for (int i = 0; i < 1000; ++i) {
        Bytes damaged = stream;
        std::size_t const at = random() % (i % 2 == 0 ? damaged.size() : std::min<std::size_t>(damaged.size(), 80));
        damaged[at] = static_cast<std::byte>(random());
        taken += takes(damaged, samples.size()) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(taken, 1000);  // literals that differ make a stream as good as any
}

TEST_F(DeflatePairTest, IsForShortMatchesBetweenLiterals) {
  auto const is_for = [](DeflateSamples kind, StreamOptions options = {}) {
    return DeflatePair::is_for(make_stream(make_deflate_samples(kind, 100'000), options));
  };
  for (int const level : {1, 6, 9}) {
    EXPECT_TRUE(is_for(DeflateSamples::imagery, {.level = level}));
    EXPECT_FALSE(is_for(DeflateSamples::noise, {.level = level}));  // stored
    EXPECT_FALSE(is_for(DeflateSamples::skewed, {.level = level}));
    EXPECT_FALSE(is_for(DeflateSamples::text, {.level = level}));
    EXPECT_FALSE(is_for(DeflateSamples::runs, {.level = level}));
    EXPECT_FALSE(is_for(DeflateSamples::zeros, {.level = level}));
  }
  EXPECT_FALSE(is_for(DeflateSamples::imagery, {.level = 0}));
  EXPECT_FALSE(is_for(DeflateSamples::imagery, {.strategy = Z_FIXED}));
  EXPECT_FALSE(is_for(DeflateSamples::imagery, {.strategy = Z_HUFFMAN_ONLY}));
  for (int const level : {6, 9, 12}) {
    EXPECT_TRUE(DeflatePair::is_for(make_libdeflate_stream(differences(50'000, 1), level))) << level;
  }
}

// A quarter short matches, and no more than a thirty-second others.
TEST_F(DeflatePairTest, IsForCodesByTheSharesOfTheirMatches) {
  auto const is_for = [](Codes symbols, bool is_last = true) {
    return DeflatePair::is_for(DeflateBuilder().begin(lengths_of(symbols, {{0, 1}, {1, 1}}), is_last).stream());
  };
  EXPECT_TRUE(is_for({{'a', 1}, {257, 2}, {256, 2}}));
  EXPECT_TRUE(is_for({{'a', 1}, {257, 2}, {256, 2}}, false));
  EXPECT_TRUE(is_for({{'a', 1}, {262, 2}, {256, 2}}));
  EXPECT_FALSE(is_for({{'a', 1}, {263, 2}, {256, 2}}));
  EXPECT_FALSE(is_for({{'a', 1}, {257, 3}, {256, 2}, {'b', 3}}));
  EXPECT_TRUE(is_for({{'a', 1}, {257, 3}, {258, 3}, {256, 2}}));
  EXPECT_TRUE(is_for({{'a', 1}, {257, 2}, {256, 3}, {'b', 4}, {285, 5}, {'c', 5}}));
  EXPECT_FALSE(is_for({{'a', 1}, {257, 2}, {256, 3}, {'b', 4}, {285, 5}, {263, 5}}));
}

TEST_F(DeflatePairTest, IsForNoPrefixOfAHeader) {
  Bytes const stream = make_stream(make_deflate_samples(DeflateSamples::imagery, 9000));
  EXPECT_FALSE(DeflatePair::is_for({}));
  bool is_enough = false;
  for (std::size_t bytes = 0; bytes < 400; ++bytes) {
    auto const exact = std::make_unique<std::byte[]>(bytes);
    std::copy_n(stream.begin(), bytes, exact.get());
    bool const is_for = DeflatePair::is_for({exact.get(), bytes});
    EXPECT_TRUE(is_for || !is_enough) << bytes;  // once the header is there, it stays so
    EXPECT_FALSE(is_for && bytes < 20) << bytes;
    is_enough = is_for;
  }
  EXPECT_TRUE(is_enough);
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
