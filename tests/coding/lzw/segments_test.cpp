// SPDX-License-Identifier: Apache-2.0
//
// Segments put together as the device's kernels do, on one thread, against the definition.
#include "coding/lzw/segments.hpp"

#include "support/lzw_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <utility>
#include <vector>

namespace terrazzo::coding {
namespace {

using Bytes = std::vector<std::byte>;
using testing::lzw_stream;
using testing::LzwCodeWriter;
using testing::LzwStreamOptions;
using testing::noise;
using testing::walk_steps;

// ---- the twin ----

struct Shape {
  std::uint32_t threads = 64;
  std::uint32_t stage_bytes = 4096;  // a string goes over two stages at most
  std::uint32_t few_strings = 8;
};

struct Segment {
  std::uint64_t start_bit;
  std::uint32_t code_count;
};

struct Walk {
  std::vector<Segment> segments;
  tile::TileStatus status = tile::TileStatus::unsupported;
};

std::vector<std::uint32_t> words_of(LzwBits const& bits, std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> words(count);
  for (std::uint32_t i = 0; i < count; ++i) { words[i] = bits.word(first + i); }
  return words;
}

Walk walk(Bytes const& in, std::size_t offset, std::size_t out_size, Shape const& shape) {
  constexpr std::uint32_t kCodes = 8;
  std::byte const* const bytes = in.data() + offset;
  std::uint64_t const size = in.size() - offset;
  LzwBitOrder const order = lzw_order_of(bytes, size);
  LzwBits const front(bytes, size, 0, order);
  std::uint32_t const to_clear = lzw_stop_at(0, front.has(0), front.code(0, words_of(front, 0, 2).data(), 0));
  if (to_clear != lzw_stop(0, LzwStopKind::clear)) {
    return {.segments = {}, .status = lzw_status_of(lzw_stop_kind(to_clear))};
  }
  Walk result;
  std::uint64_t start_bit = kLzwMinWidth;
  std::uint64_t code_count = 0;
  for (std::uint64_t turn = 0; turn < lzw_segment_capacity(size); ++turn) {
    LzwBits const bits(bytes, size, start_bit, order);
    std::uint32_t stop = kLzwNoStop;
    for (std::uint32_t first = 0; stop == kLzwNoStop; first += shape.threads * kCodes) {
      std::uint32_t const first_word = bits.bit_of(first) >> 5;
      std::vector<std::uint32_t> const words = words_of(bits, first_word, lzw_words_for(shape.threads * kCodes));
      for (std::uint32_t thread = 0; thread < shape.threads; ++thread) {
        stop = std::min(stop, bits.first_stop(first + thread, shape.threads, kCodes, words.data(), first_word));
      }
    }
    std::uint32_t const codes = lzw_stop_index(stop);
    if (codes != 0) { result.segments.push_back({start_bit, codes}); }
    code_count += codes;
    if (lzw_stop_kind(stop) != LzwStopKind::clear || code_count >= out_size) {
      result.status = lzw_status_of(lzw_stop_kind(stop));
      return result;
    }
    start_bit += lzw_code_offset(codes + 1, order);
  }
  return {};
}

// A segment's output; `lead` is how far into a stage it begins.
Bytes expand(Bytes const& in, std::size_t offset, Segment const& segment, std::uint32_t lead, Shape const& shape) {
  std::byte const* const bytes = in.data() + offset;
  std::uint64_t const size = in.size() - offset;
  LzwBits const bits(bytes, size, segment.start_bit, lzw_order_of(bytes, size));
  std::uint32_t const count = segment.code_count;
  std::vector<std::uint32_t> entries(count);
  std::vector<std::uint32_t> links(count);
  std::vector<std::uint32_t> const words = words_of(bits, 0, (bits.bit_of(count) >> 5) + 2);
  for (std::uint32_t k = 0; k < count; ++k) {
    entries[k] = bits.code(k, words.data(), 0);
    links[k] = lzw_link::of_code(k, entries[k]);
  }
  bool pending = true;
  for (std::uint32_t round = 1; pending; ++round) {
    pending = false;
    std::vector<std::uint32_t> joined = links;
    for (std::uint32_t k = 0; k < count; ++k) {
      if (lzw_link::has_arrived(links[k])) { continue; }
      joined[k] = lzw_link::joined(links[k], links[lzw_link::index(links[k])]);
      pending = pending || !lzw_link::has_arrived(joined[k]);
      if (round == kLzwPieceRounds && lzw_link::distance(joined[k]) == kLzwPiece) {
        entries[k] = lzw_entry::with_ancestor(entries[k], lzw_link::index(joined[k]));
      }
    }
    links = joined;
  }
  std::vector<std::uint32_t> starts(count + 1, 0);
  for (std::uint32_t k = 0; k < count; ++k) {
    starts[k + 1] = starts[k] + lzw_link::distance(links[k]) + 1;
    if (k != 0) { entries[k - 1] |= (entries[lzw_link::index(links[k])] & 0xFF) << 24; }
  }
  Bytes out;
  LzwStrings const strings{.entries = entries.data(), .starts = starts.data()};
  std::uint32_t begin = 0;
  for (std::uint32_t window = 0; window < lead + starts[count]; window += shape.stage_bytes) {
    std::vector<std::uint8_t> stage_bytes(shape.stage_bytes, 0xEE);
    std::uint32_t const stage_end = std::min(lead + starts[count] - window, shape.stage_bytes);
    std::uint32_t const position_end = window + stage_end - lead;
    std::uint32_t const end = lzw_code_from(starts.data(), begin, count, position_end);
    LzwStage const stage{.bytes = stage_bytes.data(), .size = shape.stage_bytes, .shift = window - lead};
    if (end - begin <= shape.few_strings) {
      for (std::uint32_t k = begin; k < end; ++k) {
        for (std::uint32_t lane = 0; lane < 32; ++lane) { write_pieces(strings, k, lane, 32, stage); }
      }
    } else {
      for (std::uint32_t thread = 0; thread < shape.threads; ++thread) {
        write_strings(strings, begin + thread, end, shape.threads, stage);
      }
    }
    begin = starts[end] > position_end ? end - 1 : end;
    for (std::uint32_t i = window == 0 ? lead : 0; i < stage_end; ++i) { out.push_back(std::byte{stage_bytes[i]}); }
  }
  return out;
}

tile::TileStatus decode_by_segments(Bytes const& in, std::size_t offset, std::size_t out_size, Bytes& out,
                                    Shape const& shape = {}) {
  out.clear();
  if (out_size == 0) { return tile::TileStatus::ok; }
  Walk const walked = walk(in, offset, out_size, shape);
  for (Segment const& segment : walked.segments) {
    Bytes const part = expand(in, offset, segment, static_cast<std::uint32_t>(out.size() % 16), shape);
    out.insert(out.end(), part.begin(), part.end());
  }
  if (out.size() < out_size) { return walked.status; }
  out.resize(out_size);
  return tile::TileStatus::ok;
}

// The twin says what the host says, but for streams with too many Clears. `offset` shifts the input against 4-byte
// addresses; the input has exactly the right size, so that a sanitizer sees any access outside.
void expect_agreement(Bytes const& stream, std::size_t out_size, std::size_t offset = 0, Shape const& shape = {}) {
  Bytes shifted(offset + stream.size());
  std::copy(stream.begin(), stream.end(), shifted.begin() + static_cast<std::ptrdiff_t>(offset));
  shifted.shrink_to_fit();
  Bytes by_segments;
  tile::TileStatus const status = decode_by_segments(shifted, offset, out_size, by_segments, shape);
  Bytes expected(out_size);
  tile::TileResult const result = lzw_decode(stream, expected);
  if (status == tile::TileStatus::unsupported) { return; }
  ASSERT_EQ(status, result.status);
  if (status == tile::TileStatus::ok) { ASSERT_EQ(by_segments, expected); }
}

void expect_round_trip(Bytes const& data, LzwStreamOptions options = {}, Shape const& shape = {}) {
  Bytes const stream = lzw_stream(data, options);
  Bytes out;
  EXPECT_EQ(decode_by_segments(stream, 0, data.size(), out, shape), tile::TileStatus::ok);
  EXPECT_EQ(out, data);
}

// ---- the pieces ----

TEST(LzwSegments, PlaceCodesWhereTheDefinitionReadsThem) {
  for (LzwBitOrder const order : {LzwBitOrder::msb_first, LzwBitOrder::lsb_first}) {
    // Zeros, read as codes 0 by the definition up to its limit: it advances one byte of output a code.
    Bytes in(9000);
    Bytes out(kLzwMaxSegmentCodes + 1);
    std::vector<std::uint32_t> starts(kLzwTableSize + 2);
    LzwDecoder decoder{.in = in.data(),
                       .in_bytes = in.size(),
                       .out = out.data(),
                       .out_bytes = out.size(),
                       .starts = starts.data(),
                       .order = order,
                       .cleared = true};
    for (std::uint32_t k = 0; k < kLzwMaxSegmentCodes; ++k) {
      ASSERT_EQ(lzw_code_offset(k, order), decoder.bit_position) << k;
      ASSERT_EQ(lzw_code_width(k, order), decoder.width) << k;
      ASSERT_EQ(decoder.step(), LzwStep::more);
    }
    ASSERT_EQ(decoder.step(), LzwStep::table_overrun);
    EXPECT_EQ(lzw_code_offset(kLzwMaxSegmentCodes, order), decoder.bit_position);
  }
}

TEST(LzwSegments, EndWhereTheDefinitionStops) {
  for (std::uint32_t const k : {0U, 1U, 2U, 253U, 254U, 3837U, 3838U, 4861U, 4862U}) {
    for (std::uint32_t code = 0; code < kLzwTableSize; ++code) {
      std::uint32_t const stop = lzw_stop_at(k, true, code);
      std::uint32_t expected = kLzwNoStop;
      std::uint32_t const next = k == 0 ? kLzwClear - 1 : kLzwFirstFree - 1 + k;
      if (code == kLzwEndOfInformation) {
        expected = lzw_stop(k, LzwStopKind::input_ended);
      } else if (code == kLzwClear) {
        expected = lzw_stop(k, LzwStopKind::clear);
      } else if (k != 0 && next == kLzwCountLimit) {
        expected = lzw_stop(k, LzwStopKind::table_overrun);
      } else if (code > next) {
        expected = lzw_stop(k, LzwStopKind::code_not_in_table);
      }
      ASSERT_EQ(stop, expected) << k << ' ' << code;
    }
    EXPECT_EQ(lzw_stop_at(k, false, 0), lzw_stop(k, LzwStopKind::input_ended));
  }
  EXPECT_LT(lzw_stop(3, LzwStopKind::table_overrun), lzw_stop(4, LzwStopKind::clear));
}

TEST(LzwSegments, TellTheOrderAsTheHostDoes) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      std::byte const in[] = {static_cast<std::byte>(first), static_cast<std::byte>(second)};
      for (std::size_t size = 0; size <= 2; ++size) { ASSERT_EQ(lzw_order_of(in, size), lzw_bit_order(in, size)); }
    }
  }
}

TEST(LzwSegments, ReadCodesAtAnyAddressAndBitWithoutLeavingTheInput) {
  for (LzwBitOrder const order : {LzwBitOrder::msb_first, LzwBitOrder::lsb_first}) {
    for (std::size_t offset = 0; offset < 4; ++offset) {
      for (std::size_t size = 0; size < 12; ++size) {
        Bytes const whole = noise(offset + size, static_cast<std::uint32_t>(size), 256);
        std::unique_ptr<std::byte[]> const exact(new std::byte[whole.size()]);
        std::copy(whole.begin(), whole.end(), exact.get());
        for (std::uint64_t start = 0; start <= size * 8; ++start) {
          LzwBits const bits(exact.get() + offset, size, start, order);
          for (std::uint32_t k = 0; k < 12; ++k) {
            LzwDecoder const decoder{.in = exact.get() + offset,
                                     .in_bytes = size,
                                     .out = nullptr,
                                     .out_bytes = 0,
                                     .starts = nullptr,
                                     .order = order,
                                     .bit_position = start + k * std::uint64_t{9}};
            std::uint32_t expected = 0;
            ASSERT_EQ(bits.has(k), decoder.peek(expected));
            if (bits.has(k)) { ASSERT_EQ(bits.code(k, words_of(bits, 0, 6).data(), 0), expected); }
          }
        }
      }
    }
  }
}

// ---- the whole ----

TEST(LzwSegments, DecodeWhatAnEncoderWrites) {
  for (LzwBitOrder const order : {LzwBitOrder::msb_first, LzwBitOrder::lsb_first}) {
    for (std::uint32_t const clear_at : {300U, 511U, 512U, 513U}) {  // few bytes: the capacity is for longer segments
      expect_round_trip(noise((clear_at - kLzwFirstFree) * 6, clear_at, 4), {.order = order, .clear_at = clear_at});
    }
    for (std::uint32_t const clear_at : {1023U, 1024U, 2048U, 4093U, 4094U, 4095U, 4096U, 5000U}) {
      for (std::uint32_t const alphabet : {1U, 2U, 5U, 256U}) {
        expect_round_trip(noise(40000, clear_at, alphabet), {.order = order, .clear_at = clear_at});
      }
      expect_round_trip(walk_steps(40000, clear_at), {.order = order, .clear_at = clear_at});
    }
  }
}

TEST(LzwSegments, DecodeSmallSizes) {
  for (std::size_t size = 1; size < 70; ++size) {
    for (bool const end : {true, false}) {
      expect_round_trip(noise(size, 1, 3), {.end_of_information = end});
      expect_round_trip(Bytes(size), {.order = LzwBitOrder::lsb_first, .end_of_information = end});
    }
  }
}

TEST(LzwSegments, DecodeLongStringsInEitherWay) {
  Bytes const constant(1 << 20, std::byte{7});
  Bytes periodic(300000);
  for (std::size_t i = 0; i < periodic.size(); ++i) { periodic[i] = static_cast<std::byte>(i % 7 == 3 ? 9 : i % 5); }
  for (std::uint32_t const few : {0U, 64U, 5000U}) {
    Shape const shape{.threads = 384, .stage_bytes = 16384, .few_strings = few};
    expect_round_trip(constant, {}, shape);
    expect_round_trip(periodic, {}, shape);
    expect_round_trip(walk_steps(100000, 3), {}, shape);
  }
}

TEST(LzwSegments, AgreeOnLessOutputAndOnSurplus) {
  Bytes const stream = lzw_stream(walk_steps(9000, 5), {.clear_at = 1500});
  for (std::size_t size = 0; size <= 9002; size += size < 200 || size > 8900 ? 1 : 61) {
    expect_agreement(stream, size);
  }
}

TEST(LzwSegments, AgreeOnEveryTruncation) {
  for (LzwBitOrder const order : {LzwBitOrder::msb_first, LzwBitOrder::lsb_first}) {
    Bytes const data = noise(3000, 8, 6);
    Bytes const stream = lzw_stream(data, {.order = order, .clear_at = 700, .end_of_information = false});
    for (std::size_t size = 0; size <= stream.size(); ++size) {
      Bytes const cut(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
      expect_agreement(cut, data.size(), size % 4);
      expect_agreement(cut, size, size % 4);
    }
  }
}

TEST(LzwSegments, AgreeOnDamagedStreams) {
  std::mt19937 engine(11);
  for (int i = 0; i < 1500; ++i) {
    auto const seed = static_cast<std::uint32_t>(engine());
    LzwBitOrder const order = i % 3 == 0 ? LzwBitOrder::lsb_first : LzwBitOrder::msb_first;
    Bytes const data = i % 2 == 0 ? walk_steps(500 + seed % 6000, seed) : noise(500 + seed % 6000, seed, 1 + seed % 9);
    Bytes stream = lzw_stream(data, {.order = order, .clear_at = 400 + seed % 5000});
    std::uint32_t const damages = 1 + seed % 3;
    for (std::uint32_t d = 0; d < damages; ++d) {
      stream[2 + engine() % (stream.size() - 2)] ^= static_cast<std::byte>(1U << (engine() % 8));
    }
    expect_agreement(stream, data.size() * (1 + seed % 2), seed % 4,
                     {.threads = 32U << (seed % 4), .stage_bytes = 4096, .few_strings = seed % 40});
  }
}

TEST(LzwSegments, AgreeOnNoise) {
  for (std::uint32_t seed = 0; seed < 20000; ++seed) {
    Bytes stream = noise(seed % 97, seed, 256);
    // Most get a Clear, else they would all end at once.
    if (stream.size() >= 2 && seed % 8 != 0) {
      stream[0] = seed % 2 == 0 ? std::byte{0x80} : std::byte{0};
      stream[1] = seed % 2 == 0 ? stream[1] & std::byte{0x7F} : stream[1] | std::byte{1};
    }
    expect_agreement(stream, seed % 53, seed % 4);
  }
}

TEST(LzwSegments, LeaveAStreamOfClearsToTheHost) {
  LzwCodeWriter writer(LzwBitOrder::msb_first);
  for (int i = 0; i < 5000; ++i) {
    writer.put(kLzwClear, 9);
    writer.put(65, 9);
  }
  Bytes const stream = writer.take();
  Bytes out;
  EXPECT_EQ(decode_by_segments(stream, 0, 5000, out), tile::TileStatus::unsupported);
  // Enough codes before the capacity is reached: the rest is surplus.
  EXPECT_EQ(decode_by_segments(stream, 0, 5, out), tile::TileStatus::ok);
  EXPECT_EQ(out, Bytes(5, std::byte{65}));
}

TEST(LzwSegments, StopAtTheLimitOfAFullTable) {
  for (std::uint32_t const count : {kLzwMaxSegmentCodes, kLzwMaxSegmentCodes + 1}) {
    LzwCodeWriter writer(LzwBitOrder::msb_first);
    writer.put(kLzwClear, 9);
    for (std::uint32_t k = 0; k < count; ++k) { writer.put(k % 200, lzw_code_width(k, LzwBitOrder::msb_first)); }
    writer.put(kLzwClear, 12);
    writer.put(77, 9);
    Bytes const stream = writer.take();
    Bytes out;
    bool const legal = count == kLzwMaxSegmentCodes;
    EXPECT_EQ(decode_by_segments(stream, 0, count + 1, out), legal ? tile::TileStatus::ok : tile::TileStatus::corrupt);
    expect_agreement(stream, count + 1);
    expect_agreement(stream, count);
  }
}

}  // namespace
}  // namespace terrazzo::coding
