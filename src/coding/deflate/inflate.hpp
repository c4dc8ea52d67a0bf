// SPDX-License-Identifier: Apache-2.0
//
// Decodes one zlib stream with a team of threads, on host and device. It needs nothing of the encoder.
//
// The coded symbols of a block are cut into stretches of kInflateStretchBits, one for each lane of the team. A lane
// does not know where the first code of its stretch begins, so it starts at the first bit; codes resynchronise within a
// few symbols. Then every lane starts again at the true end of its left neighbour, until no start changes: now all
// starts are right, because lane 0 knows its own. A lane that meets a place of its earlier way stops there. A sum over
// the bytes of the stretches gives the position of each in the output.
//
// Output passes through a window in shared memory (coding/team/output_window.hpp). Sources of matches before the window
// are in the output already. A lane that finds a long match leaves it to a warp.
//
// Safe for any bytes: nothing is read outside the stream, nothing is written outside the output, and every loop is
// bounded by the sizes of both. Unusual streams, which only some decoders accept, are left to the host.
#pragma once

#include "base/host_device.hpp"
#include "coding/deflate/adler32.hpp"
#include "coding/deflate/format.hpp"
#include "coding/deflate/inflate_code.hpp"
#include "coding/deflate/inflate_reader.hpp"
#include "coding/team/output_window.hpp"
#include "coding/team/stream_words.hpp"
#include "coding/team/team.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::coding {

inline constexpr std::uint32_t kInflateStretchBits = 512;

// A lane's stretch: from its first code to the first code of the next stretch.
enum class StretchEnd : std::uint8_t {
  next_stretch,
  end_of_block,
  bad_code,  // an unused code, or the end of the input
};

// The part of a match that lies in a window, if it is long. Places are counted from the beginning of the window.
struct InflateLongMatch {
  static constexpr std::uint32_t kLeastBytes = 32;
  std::int16_t begin;  // of the match: negative if it begins before the window
  std::uint16_t end;  // from `begin` on
  std::uint16_t distance_minus_1;
};

// The memory that a team shares.
struct InflateShared {
  static constexpr std::uint32_t kMarks = 7, kMarkBits = kInflateStretchBits / (kMarks + 1);
  static_assert(kMarkBits > 48, "a token is shorter");
  static constexpr std::uint32_t kNoMark = 0xFFFFFFFF;
  static constexpr std::uint32_t kMostLongMatches = OutputWindow::kBytes / InflateLongMatch::kLeastBytes;
  static constexpr std::uint32_t kLengths = InflateSymbols::kSymbols + InflateDistances::kSymbols;

  InflateSymbols symbols;
  InflateDistances distances;
  InflateRuns runs;
  std::uint8_t lengths[kLengths];  // of the codes for symbols, then for distances
  std::uint8_t run_lengths[kDeflateRunSymbols];

  std::uint32_t starts[kTeamLanes], next_starts[kTeamLanes], ends[kTeamLanes];
  std::uint32_t sizes[kTeamLanes];  // bytes of output
  std::uint32_t places[kTeamLanes];  // in the output of all stretches
  LaneSums sums_of_sizes;
  StretchEnd kinds[kTeamLanes];
  std::uint32_t stretch_count;  // up to the end of the block
  std::uint32_t byte_count;
  std::uint32_t is_bad;
  std::uint32_t position;  // of the first coded symbol of the block
  std::uint32_t long_match_count;

  union {
    OutputWindow window;
    // The first code behind each eighth of a stretch: its distance from there, and above 8 bits the bytes before it.
    std::uint32_t marks[kMarks][kTeamLanes];
  };
  union {
    InflateLongMatch long_matches[kMostLongMatches];
    struct {
      std::uint64_t bytes, weighted;  // AdlerSums
    } sums[kTeamLanes];
  };
};

template <class Team>
class Inflate {
 public:
  TERRAZZO_HOST_DEVICE Inflate(Team const& team, InflateShared& shared, std::byte const* in, std::uint64_t in_bytes,
                               std::byte* out, std::uint64_t out_bytes) noexcept
      : team_(team), shared_(shared), input_(in, in_bytes), out_(out), out_bytes_(out_bytes) {}

  // True if the stream is valid and has exactly as many bytes as the output. All lanes call it.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool run() noexcept {
    if (!is_zlib_header(byte_at(0), byte_at(1))) { return false; }
    std::uint32_t position = kZlibHeaderBytes * 8;
    bool is_last = false;
    while (!is_last) {
      InflateReader reader(input_, position);
      reader.fill();
      is_last = reader.take(1) != 0;
      std::uint32_t const type = reader.take(2);
      if (reader.position() > input_.bits()) { return false; }
      bool good = false;
      switch (type) {
        case 0: good = copy_stored(reader, position); break;
        case 1: good = set_fixed_codes(reader) && decode_block(position); break;
        case 2: good = read_codes(reader) && decode_block(position); break;
        default: break;
      }
      if (!good) { return false; }
    }
    return done_ == out_bytes_ && has_checksum((position + 7) / 8);
  }

 private:
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t byte_at(std::uint32_t at) const noexcept {
    return at < input_.bits() / 8 ? static_cast<std::uint32_t>(input_.bytes()[at]) : 0;
  }

  // RFC 1951, 3.2.4. Moves `position` behind the block.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool copy_stored(InflateReader const& reader, std::uint32_t& position) noexcept {
    std::uint32_t const head = (reader.position() + 7) / 8;
    std::uint32_t const in_bytes = input_.bits() / 8;
    if (head + 4 > in_bytes) { return false; }
    std::uint32_t const size = byte_at(head) | byte_at(head + 1) << 8;
    std::uint32_t const check = byte_at(head + 2) | byte_at(head + 3) << 8;
    if ((size ^ check) != 0xFFFF || size > in_bytes - head - 4 || size > out_bytes_ - done_) { return false; }
    team_.each([&](std::uint32_t lane) {
      for (std::uint32_t i = lane; i < size; i += Team::kLanes) { out_[done_ + i] = input_.bytes()[head + 4 + i]; }
    });
    done_ += size;
    position = (head + 4 + size) * 8;
    return true;
  }

  // ---- The codes of a block ----

  [[nodiscard]] TERRAZZO_HOST_DEVICE bool set_fixed_codes(InflateReader const& reader) noexcept {
    std::uint32_t const begin = reader.position();
    team_.each([&](std::uint32_t lane) {
      if (lane == 0) { shared_.position = begin; }
      for (std::uint32_t i = lane; i < InflateShared::kLengths; i += Team::kLanes) {
        std::uint32_t const length = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < InflateSymbols::kSymbols ? 8 : 5;
        shared_.lengths[i] = static_cast<std::uint8_t>(length);
      }
    });
    return build_codes();
  }

  // RFC 1951, 3.2.7. One lane reads the lengths: each run depends on the one before.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool read_codes(InflateReader reader) noexcept {
    reader.fill();
    std::uint32_t const symbol_count = reader.take(5) + kDeflateFirstLength;
    std::uint32_t const distance_count = reader.take(5) + 1;
    std::uint32_t const run_count = reader.take(4) + 4;
    if (symbol_count > kDeflateLiteralSymbols || distance_count > kDeflateDistanceSymbols) { return false; }
    team_.each([&](std::uint32_t lane) {
      for (std::uint32_t i = lane; i < InflateShared::kLengths; i += Team::kLanes) { shared_.lengths[i] = 0; }
      if (lane == 0) { read_run_lengths(reader, run_count); }
    });
    shared_.runs.build(team_, shared_.run_lengths);
    if (team_.read(shared_.runs.space) != CodeSpace::complete) { return false; }
    team_.each([&](std::uint32_t lane) {
      if (lane == 0) { read_lengths(symbol_count, distance_count); }
    });
    return team_.read(shared_.is_bad) == 0 && build_codes();
  }

  TERRAZZO_HOST_DEVICE void read_run_lengths(InflateReader reader, std::uint32_t run_count) noexcept {
    for (std::uint8_t& length : shared_.run_lengths) { length = 0; }
    for (std::uint32_t i = 0; i < run_count; ++i) {
      reader.fill();
      shared_.run_lengths[run_symbol_at(i)] = static_cast<std::uint8_t>(reader.take(3));
    }
    shared_.position = reader.position();
  }

  TERRAZZO_HOST_DEVICE void read_lengths(std::uint32_t symbol_count, std::uint32_t distance_count) noexcept {
    InflateReader reader(input_, shared_.position);
    std::uint32_t const count = symbol_count + distance_count;
    std::uint32_t at = 0, last = 0;
    shared_.is_bad = 1;
    while (at < count) {
      reader.fill();
      std::uint32_t const entry = shared_.runs.find(reader.peek());
      reader.skip(inflate_entry::bits(entry));
      std::uint32_t const symbol = inflate_entry::value(entry);
      std::uint32_t const extra = reader.take(inflate_entry::extra_bits(entry));
      if (symbol == 16 && at == 0) { return; }
      std::uint32_t const times = symbol < 16 ? 1 : symbol == 18 ? 11 + extra : 3 + extra;
      if (symbol != 16) { last = symbol < 16 ? symbol : 0; }
      if (times > count - at) { return; }
      for (std::uint32_t const end = at + times; at < end; ++at) {
        std::uint32_t const place = at < symbol_count ? at : InflateSymbols::kSymbols + at - symbol_count;
        shared_.lengths[place] = static_cast<std::uint8_t>(last);
      }
    }
    shared_.position = reader.position();
    shared_.is_bad = reader.position() > input_.bits() || shared_.lengths[kDeflateEndOfBlock] == 0 ? 1 : 0;
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE bool build_codes() noexcept {
    shared_.symbols.build(team_, shared_.lengths);
    shared_.distances.build(team_, shared_.lengths + InflateSymbols::kSymbols);
    return team_.read(shared_.symbols.space) == CodeSpace::complete &&
           team_.read(shared_.distances.space) != CodeSpace::other;
  }

  // ---- The coded symbols of a block ----

  // A literal, which has length 1 and distance 0, or a match, or the end of the block, or none of them.
  struct Token {
    inflate_entry::Kind kind;
    std::uint32_t value;  // of a literal
    std::uint32_t length, distance;
  };

  [[nodiscard]] TERRAZZO_HOST_DEVICE Token next_token(InflateReader& reader) const noexcept {
    reader.fill();
    std::uint32_t const entry = shared_.symbols.find(reader.peek());
    reader.skip(inflate_entry::bits(entry));
    inflate_entry::Kind kind = inflate_entry::kind(entry);
    if (kind != inflate_entry::match) { return {kind, inflate_entry::value(entry), 1, 0}; }
    std::uint32_t const length = inflate_entry::value(entry) + reader.take(inflate_entry::extra_bits(entry));
    reader.fill();
    std::uint32_t const far = shared_.distances.find(reader.peek());
    if (inflate_entry::kind(far) != inflate_entry::match) { return {inflate_entry::none, 0, 0, 0}; }
    reader.skip(inflate_entry::bits(far));
    return {kind, 0, length, inflate_entry::value(far) + reader.take(inflate_entry::extra_bits(far))};
  }

  // Decodes a lane's stretch from starts[lane], for its end and its size. `has_marks`: of an earlier way.
  TERRAZZO_HOST_DEVICE void measure(std::uint32_t lane, std::uint32_t limit, bool has_marks) noexcept {
    std::uint32_t const start = shared_.starts[lane];
    StretchEnd kind = StretchEnd::next_stretch;
    std::uint32_t size = 0, end = start, mark = 0, mark_at = limit - kInflateStretchBits + InflateShared::kMarkBits;
    if (start >= input_.bits()) {
      kind = StretchEnd::bad_code;
    } else {
      InflateReader reader(input_, start);
      while (kind == StretchEnd::next_stretch && reader.position() < limit) {
        Token const token = next_token(reader);
        if (token.kind == inflate_entry::none || reader.position() > input_.bits()) {
          kind = StretchEnd::bad_code;
        } else if (token.kind == inflate_entry::end_of_block) {
          kind = StretchEnd::end_of_block;
        } else {
          size += token.length;
          if (reader.position() < mark_at || mark == InflateShared::kMarks) { continue; }
          std::uint32_t const behind = reader.position() - mark_at, earlier = shared_.marks[mark][lane];
          if (has_marks && earlier != InflateShared::kNoMark && (earlier & 0xFF) == behind) {
            return join_earlier_way(lane, mark, size - (earlier >> 8));
          }
          shared_.marks[mark++][lane] = size << 8 | behind;
          mark_at += InflateShared::kMarkBits;
        }
      }
      end = reader.position();
    }
    for (; mark < InflateShared::kMarks; ++mark) { shared_.marks[mark][lane] = InflateShared::kNoMark; }
    shared_.kinds[lane] = kind;
    shared_.sizes[lane] = size;
    shared_.ends[lane] = end;
  }

  // From a mark on the way is the earlier one, with `more` bytes before it (modulo 2^32).
  TERRAZZO_HOST_DEVICE void join_earlier_way(std::uint32_t lane, std::uint32_t mark, std::uint32_t more) noexcept {
    shared_.sizes[lane] += more;
    for (; mark < InflateShared::kMarks; ++mark) {
      std::uint32_t& word = shared_.marks[mark][lane];
      if (word != InflateShared::kNoMark) { word += more << 8; }
    }
  }

  // Finds the true starts of all stretches behind `begin`.
  TERRAZZO_HOST_DEVICE void synchronise(std::uint32_t begin) noexcept {
    auto const limit_of = [begin](std::uint32_t lane) { return begin + (lane + 1) * kInflateStretchBits; };
    team_.each([&](std::uint32_t lane) {
      shared_.starts[lane] = begin + lane * kInflateStretchBits;
      measure(lane, limit_of(lane), false);
    });
    // Each round makes at least one more start right: lane 0 is right at once, lane 1 after the first round, and so on.
    for (std::uint32_t round = 1; round < Team::kLanes; ++round) {
      team_.each([&](std::uint32_t lane) {
        bool const follows = lane != 0 && shared_.kinds[lane - 1] == StretchEnd::next_stretch;
        shared_.next_starts[lane] = follows ? shared_.ends[lane - 1] : shared_.starts[lane];
      });
      bool const has_changed = team_.any([&](std::uint32_t lane) {
        if (shared_.next_starts[lane] == shared_.starts[lane]) { return false; }
        shared_.starts[lane] = shared_.next_starts[lane];
        measure(lane, limit_of(lane), true);
        return true;
      });
      if (!has_changed) { return; }
    }
  }

  // Gives each stretch its place in the output, up to the first that ends the block or is bad.
  TERRAZZO_HOST_DEVICE void place_stretches() noexcept {
    team_.each([&](std::uint32_t lane) {
      if (lane != 0) { return; }
      shared_.stretch_count = Team::kLanes;
      shared_.is_bad = shared_.long_match_count = 0;
    });
    team_.each([&](std::uint32_t lane) {
      if (shared_.kinds[lane] != StretchEnd::next_stretch) { together::lower(shared_.stretch_count, lane + 1); }
    });
    team_.each([&](std::uint32_t lane) {
      if (lane >= shared_.stretch_count) { shared_.sizes[lane] = 0; }
    });
    std::uint32_t const* const sums = shared_.sums_of_sizes.of(team_, shared_.sizes);
    team_.each([&](std::uint32_t lane) {
      shared_.places[lane] = sums[lane] - shared_.sizes[lane];
      if (lane == Team::kLanes - 1) { shared_.byte_count = sums[lane]; }
    });
  }

  // Moves `position` behind the block.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool decode_block(std::uint32_t& position) noexcept {
    position = team_.read(shared_.position);
    for (;;) {
      synchronise(position);
      place_stretches();
      std::uint32_t const last = team_.read(shared_.stretch_count) - 1;
      std::uint32_t const byte_count = team_.read(shared_.byte_count);
      StretchEnd const end = team_.read(shared_.kinds[last]);
      if (end == StretchEnd::bad_code || byte_count > out_bytes_ - done_) { return false; }
      position = team_.read(shared_.ends[last]);
      for (std::uint32_t window = 0; window < byte_count; window += OutputWindow::kBytes) {
        std::uint32_t const left = byte_count - window;
        if (!write_window(last + 1, window, left < OutputWindow::kBytes ? left : OutputWindow::kBytes)) {
          return false;
        }
      }
      done_ += byte_count;
      if (end == StretchEnd::end_of_block) { return true; }
    }
  }

  // ---- Output ----

  // Writes bytes [window, window + size) of the output of the stretches.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool write_window(std::uint32_t stretch_count, std::uint32_t window,
                                                       std::uint32_t size) noexcept {
    team_.each([&](std::uint32_t lane) {
      if (lane < stretch_count) { put_stretch(lane, window, window + size); }
    });
    if (team_.read(shared_.is_bad) != 0) { return false; }
    put_long_matches(window);
    shared_.window.write(team_, size, out_ + done_ + window);
    return true;
  }

  // Decodes a lane's stretch again and puts its part of [begin, end) into the window.
  TERRAZZO_HOST_DEVICE void put_stretch(std::uint32_t lane, std::uint32_t begin, std::uint32_t end) noexcept {
    std::uint32_t at = shared_.places[lane];
    std::uint32_t const stretch_end = at + shared_.sizes[lane];
    if (stretch_end <= begin || at >= end) { return; }
    InflateReader reader(input_, shared_.starts[lane]);
    while (at < end && at < stretch_end) {
      Token const token = next_token(reader);
      if (token.kind == inflate_entry::literal) {
        if (at >= begin) { shared_.window.put_byte(at - begin, token.value); }
        ++at;
        continue;
      }
      if (token.distance > done_ + at) {  // before the beginning of the output
        together::set_bits(shared_.is_bad, 1);
        return;
      }
      put_match(at, token, begin, end);
      at += token.length;
    }
  }

  TERRAZZO_HOST_DEVICE void put_match(std::uint32_t at, Token const& token, std::uint32_t begin,
                                      std::uint32_t end) noexcept {
    std::uint32_t const first = at < begin ? begin - at : 0;
    std::uint32_t const last = token.length < end - at ? token.length : end - at;
    auto const place = static_cast<std::int32_t>(at) - static_cast<std::int32_t>(begin);
    // It may end before the window.
    if (last >= first + InflateLongMatch::kLeastBytes) {
      shared_.long_matches[together::take_number(shared_.long_match_count)] = {
          static_cast<std::int16_t>(place), static_cast<std::uint16_t>(last),
          static_cast<std::uint16_t>(token.distance - 1)};
      return;
    }
    std::uint32_t behind = first % token.distance;
    for (std::uint32_t i = first; i < last; ++i) {
      put_copy(begin, place, token.distance, i, behind);
      if (++behind == token.distance) { behind = 0; }
    }
  }

  // Byte `i` of a match at `place` in the window. A match that overlaps itself repeats its first `distance` bytes, so
  // no byte refers to the match: `behind` is `i` modulo the distance.
  TERRAZZO_HOST_DEVICE void put_copy(std::uint32_t begin, std::int32_t place, std::uint32_t distance, std::uint32_t i,
                                     std::uint32_t behind) noexcept {
    std::int32_t const source = place - static_cast<std::int32_t>(distance) + static_cast<std::int32_t>(behind);
    auto const to = static_cast<std::uint32_t>(place + static_cast<std::int32_t>(i));
    if (source >= 0) {
      shared_.window.put_link(to, static_cast<std::uint32_t>(source));
    } else {
      shared_.window.put_byte(to, static_cast<std::uint32_t>(out_[static_cast<std::int64_t>(done_ + begin) + source]));
    }
  }

  // The matches that lanes have left; 32 lanes share one.
  TERRAZZO_HOST_DEVICE void put_long_matches(std::uint32_t begin) noexcept {
    constexpr std::uint32_t kWarp = 32;
    std::uint32_t const count = team_.read(shared_.long_match_count);
    if (count == 0) { return; }
    team_.each([&](std::uint32_t lane) {
      if (lane == 0) { shared_.long_match_count = 0; }
      for (std::uint32_t m = lane / kWarp; m < count; m += Team::kLanes / kWarp) {
        InflateLongMatch const match = shared_.long_matches[m];
        std::uint32_t const distance = match.distance_minus_1 + 1U;
        std::uint32_t const first = match.begin < 0 ? static_cast<std::uint32_t>(-match.begin) : 0;
        for (std::uint32_t i = first + lane % kWarp; i < match.end; i += kWarp) {
          put_copy(begin, match.begin, distance, i, i < distance ? i : i % distance);
        }
      }
    });
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE bool has_checksum(std::uint32_t at_byte) noexcept {
    if (at_byte + kZlibTailBytes > input_.bits() / 8) { return false; }
    std::uint32_t expected = 0;
    for (std::uint32_t i = 0; i < kZlibTailBytes; ++i) { expected = expected << 8 | byte_at(at_byte + i); }
    team_.each([&](std::uint32_t lane) {
      AdlerSums const sums = adler_share(out_, out_bytes_, 0, out_bytes_, lane, Team::kLanes).reduced();
      shared_.sums[lane] = {sums.bytes, sums.weighted};
    });
    team_.each([&](std::uint32_t lane) {
      if (lane != 0) { return; }
      AdlerSums total;
      for (auto const& sums : shared_.sums) {
        total.bytes += sums.bytes;
        total.weighted += sums.weighted;
      }
      shared_.is_bad = adler32_of(total, out_bytes_) != expected ? 1 : 0;
    });
    return team_.read(shared_.is_bad) == 0;
  }

  Team const& team_;
  InflateShared& shared_;
  StreamWords const input_;
  std::byte* const out_;
  std::uint64_t const out_bytes_;
  std::uint64_t done_ = 0;  // bytes of the output
};

// Larger outputs are left to the host: a lane's share of the checksum has a limit.
inline constexpr std::uint64_t kInflateMostOutputBytes = std::uint64_t{1} << 30;

// Decodes a zlib stream into an output at a 16-byte address. `ok`: the stream is valid, has exactly out_bytes bytes,
// and its checksum is right. All other streams are `unsupported`: the host decides about them.
template <class Team>
[[nodiscard]] TERRAZZO_HOST_DEVICE tile::TileStatus inflate_zlib(Team const& team, InflateShared& shared,
                                                                 std::byte const* in, std::uint64_t in_bytes,
                                                                 std::byte* out, std::uint64_t out_bytes) noexcept {
  if (in_bytes > StreamWords::kMostBytes || out_bytes > kInflateMostOutputBytes) {
    return tile::TileStatus::unsupported;
  }
  return Inflate<Team>(team, shared, in, in_bytes, out, out_bytes).run() ? tile::TileStatus::ok
                                                                         : tile::TileStatus::unsupported;
}

}  // namespace terrazzo::coding
