// SPDX-License-Identifier: Apache-2.0
//
// Decodes one ZSTD frame (RFC 8878) with a team of threads (coding/team/team.hpp), on host and device.
//
// The blocks of a frame follow one another. In a block
//   - all lanes decode the streams of literals into scratch memory (coding/zstd/literal_streams.hpp)
//   - one lane reads the sequences, because every state depends on the one before, a batch of kTeamLanes at a time
//   - sums over the lengths of a batch give the place of each sequence; then every lane finds the sequences of its
//     bytes, and puts literals and links to sources into a window on the output (coding/team/output_window.hpp).
//
// Safe for any bytes: nothing is read outside the frame, nothing is written outside the output and the scratch, and
// every loop is bounded by the sizes of both. Frames with a checksum or a dictionary, and frames that are unusual, are
// left to the host.
#pragma once

#include "base/host_device.hpp"
#include "coding/team/output_window.hpp"
#include "coding/team/stream_words.hpp"
#include "coding/team/team.hpp"
#include "coding/zstd/backward_bits.hpp"
#include "coding/zstd/fse_cells.hpp"
#include "coding/zstd/literal_code.hpp"
#include "coding/zstd/literal_streams.hpp"
#include "tile/tile_status.hpp"

#include <cstddef>
#include <cstdint>

namespace terrazzo::coding {

inline constexpr std::uint32_t kZstdMostBlockBytes = 128 * 1024;

// Literals of one block, for each team.
inline constexpr std::uint32_t kZstdScratchBytes = kZstdMostBlockBytes;

// The memory that a team shares.
struct ZstdShared {
  struct Table {
    FseCell cells[1U << 9];  // `next` has the extra bits of the code from kExtraShift on
    std::uint32_t bits;
  };
  static constexpr std::uint32_t kExtraShift = 11, kNextMask = (1U << kExtraShift) - 1;

  LiteralCode literals;
  Table tables[3];  // by ZstdField
  std::uint32_t length_bases[kZstdLiteralLengthCodes], match_bases[kZstdMatchLengthCodes];
  std::uint32_t lengths[kTeamLanes];  // of the literals of each sequence of a batch
  std::uint32_t matches[kTeamLanes];
  std::uint32_t distances[kTeamLanes];
  std::uint32_t sizes[kTeamLanes];
  std::uint32_t places[kTeamLanes];  // in the output of the batch
  std::uint32_t literal_places[kTeamLanes];  // in the literals of the block
  std::uint32_t dealt;  // a bit for each table that this block describes
  std::uint32_t bits_begin;
  std::uint32_t batch_bytes, batch_literals;
  std::uint32_t is_bad;
  LaneSums sums;
  union {
    OutputWindow window;
    ZstdStretches stretches;
    FseShares shares[3];  // while tables are described and dealt
  };
};

template <class Team>
class ZstdDecode {
 public:
  TERRAZZO_HOST_DEVICE ZstdDecode(Team const& team, ZstdShared& shared, std::byte const* in, std::uint64_t in_bytes,
                                  std::byte* out, std::uint64_t out_bytes, std::byte* scratch) noexcept
      : team_(team),
        shared_(shared),
        input_(in, in_bytes),
        in_bytes_(static_cast<std::uint32_t>(in_bytes)),
        out_(out),
        out_bytes_(out_bytes),
        scratch_(scratch) {}

  // True if the frame is valid, is the whole input, and has exactly as many bytes as the output. All lanes call it.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool run() noexcept {
    std::uint32_t at = read_frame_header();
    if (at == 0) { return false; }
    team_.each([&](std::uint32_t lane) {
      for (std::uint32_t i = lane; i < kZstdMatchLengthCodes; i += Team::kLanes) {
        shared_.match_bases[i] = zstd_number(ZstdField::match_length, i).base;
        if (i < kZstdLiteralLengthCodes) { shared_.length_bases[i] = zstd_number(ZstdField::literal_length, i).base; }
      }
    });
    for (bool is_last = false; !is_last;) {
      if (in_bytes_ - at < kZstdBlockHeaderBytes) { return false; }
      std::uint32_t const header = number(at, kZstdBlockHeaderBytes);
      at += kZstdBlockHeaderBytes;
      is_last = (header & 1) != 0;
      auto const kind = static_cast<ZstdBlockKind>(header >> 1 & 3);
      std::uint32_t const size = header >> 3;
      std::uint32_t const stored = kind == ZstdBlockKind::repeated ? 1 : size;
      if (size > most_block_bytes_ || stored > in_bytes_ - at) { return false; }
      switch (kind) {
        case ZstdBlockKind::raw:
        case ZstdBlockKind::repeated:
          if (size > out_bytes_ - done_) { return false; }
          copy_literals({kind == ZstdBlockKind::raw ? Literals::raw : Literals::repeated, at, size}, 0, size);
          break;
        case ZstdBlockKind::compressed:
          if (!decode_block(at, at + size)) { return false; }
          break;
        default: return false;
      }
      at += stored;
    }
    return at == in_bytes_ && done_ == out_bytes_;
  }

 private:
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t byte_at(std::uint32_t at) const noexcept {
    return static_cast<std::uint32_t>(input_.bytes()[at]);
  }
  // At most four bytes, the lowest first. REQUIRES: the input has them.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t number(std::uint32_t at, std::uint32_t bytes) const noexcept {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < bytes; ++i) { value |= byte_at(at + i) << (8 * i); }
    return value;
  }

  // 3.1.1.1. Returns its size, 0 if the frame is left to the host.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t read_frame_header() noexcept {
    if (in_bytes_ < 5 || number(0, 4) != ZstdFrameHeader::kMagic) { return 0; }
    std::uint32_t const descriptor = byte_at(4);
    bool const is_single = (descriptor & 0x20) != 0;
    // A reserved bit, a checksum, a dictionary.
    if ((descriptor & 0x0F) != 0) { return 0; }
    std::uint32_t const size_code = descriptor >> 6;
    std::uint32_t const size_bytes = size_code == 0 ? (is_single ? 1 : 0) : 1U << size_code;
    std::uint32_t const bytes = 5 + (is_single ? 0 : 1) + size_bytes;
    if (in_bytes_ < bytes) { return 0; }
    if (size_bytes != 0) {
      std::uint32_t const begin = bytes - size_bytes;
      std::uint64_t size = number(begin, size_bytes < 4 ? size_bytes : 4);
      if (size_bytes == 8) { size |= std::uint64_t{number(begin + 4, 4)} << 32; }
      if (size_code == 1) { size += 256; }
      if (size != out_bytes_) { return 0; }
    }
    std::uint64_t window = out_bytes_;
    if (!is_single) {
      std::uint32_t const exponent = byte_at(5) >> 3;
      if (exponent > 17) { return 0; }  // 128 MiB
      window = (std::uint64_t{1024} << exponent) + ((std::uint64_t{1024} << exponent) >> 3) * (byte_at(5) & 7);
    }
    if (window < most_block_bytes_) { most_block_bytes_ = static_cast<std::uint32_t>(window); }
    return bytes;
  }

  // ---- Literals (3.1.1.3.1) ----

  struct Literals {
    enum Kind : std::uint32_t { raw, repeated, decoded } kind;
    std::uint32_t at;  // in the input: the first byte, or the byte that is repeated
    std::uint32_t size;
  };

  [[nodiscard]] TERRAZZO_HOST_DEVICE std::byte literal(Literals const& literals, std::uint32_t i) const noexcept {
    if (literals.kind == Literals::decoded) { return scratch_[i]; }
    return input_.bytes()[literals.kind == Literals::raw ? literals.at + i : literals.at];
  }

  // REQUIRES: the output has room for them
  TERRAZZO_HOST_DEVICE void copy_literals(Literals const& literals, std::uint32_t begin, std::uint32_t end) noexcept {
    team_.each([&](std::uint32_t lane) {
      for (std::uint32_t i = begin + lane; i < end; i += Team::kLanes) {
        out_[done_ + (i - begin)] = literal(literals, i);
      }
    });
    done_ += end - begin;
  }

  // Reads the section in the bytes [at, end), and moves `at` behind it.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool read_literals(std::uint32_t& at, std::uint32_t end,
                                                        Literals& literals) noexcept {
    if (at == end) { return false; }
    std::uint32_t const kind = byte_at(at) & 3, format = byte_at(at) >> 2 & 3;
    if (kind >= 2) { return read_coded_literals(at, end, kind == 3, literals); }
    std::uint32_t const head_bytes = format == 1 ? 2 : format == 3 ? 3 : 1;
    if (end - at < head_bytes) { return false; }
    literals.size = number(at, head_bytes) >> (head_bytes == 1 ? 3 : 4);
    literals.kind = kind == 0 ? Literals::raw : Literals::repeated;
    literals.at = at + head_bytes;
    std::uint32_t const stored = kind == 0 ? literals.size : 1;
    if (literals.size > most_block_bytes_ || stored > end - literals.at) { return false; }
    at = literals.at + stored;
    return true;
  }

  [[nodiscard]] TERRAZZO_HOST_DEVICE bool read_coded_literals(std::uint32_t& at, std::uint32_t end, bool repeats_code,
                                                              Literals& literals) noexcept {
    std::uint32_t const format = byte_at(at) >> 2 & 3;
    std::uint32_t const head_bytes = format < 2 ? 3 : format + 2;
    std::uint32_t const size_bits = format < 2 ? 10 : format == 2 ? 14 : 18;
    if (end - at < head_bytes) { return false; }
    std::uint64_t head = number(at, head_bytes < 4 ? head_bytes : 4);
    if (head_bytes == 5) { head |= std::uint64_t{byte_at(at + 4)} << 32; }
    std::uint32_t const mask = (1U << size_bits) - 1;
    literals.kind = Literals::decoded;
    literals.size = static_cast<std::uint32_t>(head >> 4) & mask;
    std::uint32_t const stored = static_cast<std::uint32_t>(head >> (4 + size_bits)) & mask;
    std::uint32_t begin = at + head_bytes;
    if (literals.size == 0 || literals.size > most_block_bytes_ || stored > end - begin) { return false; }
    at = begin + stored;
    if (repeats_code) {
      if (!has_literal_code_) { return false; }
    } else {
      has_literal_code_ = false;
      std::uint32_t const described = shared_.literals.read(team_, input_, begin, at);
      if (described == 0) { return false; }
      has_literal_code_ = true;
      begin += described;
    }
    return format == 0 ? decode_streams(begin, at, literals.size, 1) : decode_four_streams(begin, at, literals.size);
  }

  // The sizes of three streams precede the streams.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool decode_four_streams(std::uint32_t begin, std::uint32_t end,
                                                              std::uint32_t size) noexcept {
    if (end - begin < kJumpTableBytes || size < 6) { return false; }
    return decode_streams(begin, end, size, 4);
  }

  static constexpr std::uint32_t kJumpTableBytes = 6;

  [[nodiscard]] TERRAZZO_HOST_DEVICE bool decode_streams(std::uint32_t begin, std::uint32_t end, std::uint32_t size,
                                                         std::uint32_t stream_count) noexcept {
    std::uint32_t const each = stream_count == 1 ? size : (size + 3) / 4;
    bool const is_bad = team_.any([&](std::uint32_t lane) {
      if (lane >= stream_count) { return false; }
      std::uint32_t stream = stream_count == 1 ? begin : begin + kJumpTableBytes;
      std::uint32_t stream_end = end;
      if (stream_count != 1) {
        // Sums of at most four numbers of 16 bits.
        for (std::uint32_t i = 0; i < lane; ++i) { stream += number(begin + 2 * i, 2); }
        if (lane != 3) { stream_end = stream + number(begin + 2 * lane, 2); }
      }
      std::uint32_t const first = lane * each;
      std::uint32_t const count = lane + 1 == stream_count ? size - first : each;
      if (stream > end || stream_end > end || stream > stream_end || first > size || count > size - first) {
        return true;
      }
      BackwardExtent const extent = BackwardExtent::of(input_, stream, stream_end);
      shared_.stretches.streams[lane] = extent;
      shared_.stretches.firsts[lane] = first;
      shared_.stretches.counts_of_streams[lane] = count;
      return !extent.is_valid;
    });
    if (is_bad) { return false; }
    return ZstdLiteralStreams<Team>(team_, shared_.stretches, shared_.sums, shared_.literals, input_, scratch_)
        .decode(Team::kLanes / stream_count);
  }

  // ---- Sequences (3.1.1.3.2) ----

  [[nodiscard]] TERRAZZO_HOST_DEVICE bool decode_block(std::uint32_t at, std::uint32_t end) noexcept {
    std::uint64_t const block_begin = done_;
    Literals literals{};
    if (!read_literals(at, end, literals) || at == end) { return false; }
    std::uint32_t count = byte_at(at++);
    if (count == 255) {
      if (end - at < 2) { return false; }
      count = number(at, 2) + 0x7F00;
      at += 2;
    } else if (count >= 128) {
      if (at == end) { return false; }
      count = (count - 128) << 8 | byte_at(at++);
    }
    std::uint32_t used = 0;
    if (count == 0) {
      if (at != end) { return false; }
    } else {
      if (!read_tables(at, end) || !run_sequences(end, count, literals, block_begin, used)) { return false; }
    }
    std::uint32_t const rest = literals.size - used;
    if (rest > out_bytes_ - done_ || done_ - block_begin + rest > most_block_bytes_) { return false; }
    copy_literals(literals, used, literals.size);
    return true;
  }

  // The tables' modes and descriptions.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool read_tables(std::uint32_t at, std::uint32_t end) noexcept {
    if (at == end) { return false; }
    std::uint32_t const modes = byte_at(at++);
    if ((modes & 3) != 0) { return false; }
    team_.each([&](std::uint32_t lane) {
      if (lane == 0) { describe_tables(modes, at, end); }
    });
    if (team_.read(shared_.is_bad) != 0) { return false; }
    has_tables_ = true;
    // Lanes of different warps deal the cells.
    std::uint32_t const dealt = team_.read(shared_.dealt);
    team_.each([&](std::uint32_t lane) {
      std::uint32_t const field = lane / 32;
      if (lane % 32 != 0 || field >= 3 || (dealt >> field & 1) == 0) { return; }
      ZstdShared::Table& table = shared_.tables[field];
      table.bits = shared_.shares[field].bits;
      shared_.shares[field].deal(table.cells);
    });
    team_.each([&](std::uint32_t lane) {
      for (std::uint32_t i = 0; i < 3; ++i) {
        if ((dealt >> i & 1) == 0) { continue; }
        ZstdShared::Table& table = shared_.tables[i];
        for (std::uint32_t cell = lane; cell < 1U << table.bits; cell += Team::kLanes) {
          add_extra_bits(table.cells[cell], static_cast<ZstdField>(i));
        }
      }
    });
    return true;
  }

  TERRAZZO_HOST_DEVICE static void add_extra_bits(FseCell& cell, ZstdField field) noexcept {
    std::uint32_t const extra_bits = zstd_number(field, cell.code).extra_bits;
    cell.next = static_cast<std::uint16_t>(cell.next | extra_bits << ZstdShared::kExtraShift);
  }

  TERRAZZO_HOST_DEVICE void describe_tables(std::uint32_t modes, std::uint32_t at, std::uint32_t end) noexcept {
    shared_.is_bad = 1;
    shared_.dealt = 0;
    for (std::uint32_t i = 0; i < 3; ++i) {
      auto const field = static_cast<ZstdField>(i);
      ZstdShared::Table& table = shared_.tables[i];
      switch (modes >> (6 - 2 * i) & 3) {
        case 0:
          shared_.shares[i].set_plain(field);
          shared_.dealt |= 1U << i;
          break;
        case 1:
          if (at == end || byte_at(at) >= zstd_code_count(field)) { return; }
          table.bits = 0;
          table.cells[0] = {static_cast<std::uint8_t>(byte_at(at++)), 0, 0};
          add_extra_bits(table.cells[0], field);
          break;
        case 2: {
          std::uint32_t const bytes =
              shared_.shares[i].read(input_, at, end, zstd_most_table_bits(field), zstd_code_count(field));
          if (bytes == 0) { return; }
          at += bytes;
          shared_.dealt |= 1U << i;
          break;
        }
        default:
          if (!has_tables_) { return; }
          break;
      }
    }
    shared_.bits_begin = at;
    shared_.is_bad = 0;
  }

  // The state of the lane that reads sequences. Earlier distances stay from block to block.
  struct SequenceReader {
    BackwardBits bits;
    std::uint32_t all_bits;
    std::uint32_t literal_length, offset, match_length;  // states
  };

  [[nodiscard]] TERRAZZO_HOST_DEVICE bool run_sequences(std::uint32_t end, std::uint32_t count,
                                                        Literals const& literals, std::uint64_t block_begin,
                                                        std::uint32_t& used) noexcept {
    BackwardExtent const extent = BackwardExtent::of(input_, team_.read(shared_.bits_begin), end);
    if (!extent.is_valid) { return false; }
    SequenceReader reader{BackwardBits(input_, extent, 0), extent.bits, 0, 0, 0};
    reader.bits.fill();  // for 27 bits at most
    reader.literal_length = reader.bits.take(shared_.tables[0].bits);
    reader.offset = reader.bits.take(shared_.tables[1].bits);
    reader.match_length = reader.bits.take(shared_.tables[2].bits);
    if (reader.bits.taken() > reader.all_bits) { return false; }
    for (std::uint32_t first = 0; first < count; first += Team::kLanes) {
      std::uint32_t const batch = count - first < Team::kLanes ? count - first : Team::kLanes;
      team_.each([&](std::uint32_t lane) {
        if (lane == 0) { shared_.is_bad = read_batch(reader, batch, first + batch == count) ? 0 : 1; }
      });
      if (team_.read(shared_.is_bad) != 0) { return false; }
      place_batch(batch, used);
      std::uint32_t const bytes = team_.read(shared_.batch_bytes);
      std::uint32_t const batch_literals = team_.read(shared_.batch_literals);
      if (batch_literals > literals.size - used || bytes > out_bytes_ - done_ ||
          done_ - block_begin + bytes > most_block_bytes_) {
        return false;
      }
      team_.each([&](std::uint32_t lane) {
        if (lane >= batch) { return; }
        if (shared_.distances[lane] > done_ + shared_.places[lane] + shared_.lengths[lane]) {
          together::set_bits(shared_.is_bad, 1);
        }
      });
      if (team_.read(shared_.is_bad) != 0) { return false; }
      for (std::uint32_t window = 0; window < bytes; window += OutputWindow::kBytes) {
        std::uint32_t const left = bytes - window;
        write_window(literals, batch, window, left < OutputWindow::kBytes ? left : OutputWindow::kBytes);
      }
      used += batch_literals;
      done_ += bytes;
    }
    return true;
  }

  // Lengths are below 2^18, so that sums over a batch fit.
  [[nodiscard]] TERRAZZO_HOST_DEVICE bool read_batch(SequenceReader& reader, std::uint32_t batch,
                                                     bool is_last) noexcept {
    constexpr std::uint32_t kExtraShift = ZstdShared::kExtraShift, kNextMask = ZstdShared::kNextMask;
    BackwardBits bits = reader.bits;
    for (std::uint32_t i = 0; i < batch; ++i) {
      FseCell const literal = shared_.tables[0].cells[reader.literal_length];
      FseCell const offset = shared_.tables[1].cells[reader.offset];
      FseCell const match = shared_.tables[2].cells[reader.match_length];
      bits.fill();  // for 31 bits
      std::uint32_t const value = (1U << offset.code) + bits.take(offset.code);
      bits.fill();  // for 16 each
      std::uint32_t const match_length = shared_.match_bases[match.code] + bits.take(match.next >> kExtraShift);
      std::uint32_t const length = shared_.length_bases[literal.code] + bits.take(literal.next >> kExtraShift);
      std::uint32_t const distance = distance_of(value, length);
      shared_.matches[i] = match_length;
      shared_.lengths[i] = length;
      shared_.distances[i] = distance;
      if (distance == 0 || bits.taken() > reader.all_bits) { return false; }
      if (is_last && i + 1 == batch) { return bits.taken() == reader.all_bits; }
      bits.fill();  // for 26 bits
      reader.literal_length = (literal.next & kNextMask) + bits.take(literal.next_bits);
      reader.match_length = (match.next & kNextMask) + bits.take(match.next_bits);
      reader.offset = (offset.next & kNextMask) + bits.take(offset.next_bits);
      if (bits.taken() > reader.all_bits) { return false; }
    }
    reader.bits = bits;
    return true;
  }

  // Values up to 3 are earlier distances (3.1.1.5). 0: no distance.
  [[nodiscard]] TERRAZZO_HOST_DEVICE std::uint32_t distance_of(std::uint32_t value,
                                                               std::uint32_t literal_length) noexcept {
    std::uint32_t distance = value - 3;
    std::uint32_t place = 2;  // among the earlier distances, which the distance leaves
    if (value <= 3) {
      place = value - 1 + (literal_length == 0 ? 1 : 0);
      distance = place == 0 ? last_ : place == 1 ? before_last_ : place == 2 ? third_last_ : last_ - 1;
    }
    third_last_ = place >= 2 ? before_last_ : third_last_;
    before_last_ = place >= 1 ? last_ : before_last_;
    last_ = distance;
    return distance;
  }

  // Gives each sequence its place in the output and in the literals.
  TERRAZZO_HOST_DEVICE void place_batch(std::uint32_t batch, std::uint32_t used) noexcept {
    team_.each([&](std::uint32_t lane) {
      if (lane >= batch) { shared_.lengths[lane] = shared_.matches[lane] = 0; }
      shared_.sizes[lane] = shared_.lengths[lane] + shared_.matches[lane];
    });
    std::uint32_t const* const ends = shared_.sums.of(team_, shared_.sizes);
    team_.each([&](std::uint32_t lane) {
      shared_.places[lane] = ends[lane] - shared_.sizes[lane];
      if (lane == Team::kLanes - 1) { shared_.batch_bytes = ends[lane]; }
    });
    std::uint32_t const* const literal_ends = shared_.sums.of(team_, shared_.lengths);
    team_.each([&](std::uint32_t lane) {
      shared_.literal_places[lane] = used + literal_ends[lane] - shared_.lengths[lane];
      if (lane == Team::kLanes - 1) { shared_.batch_literals = literal_ends[lane]; }
    });
  }

  // Writes bytes [window, window + size) of the output of a batch.
  TERRAZZO_HOST_DEVICE void write_window(Literals const& literals, std::uint32_t batch, std::uint32_t window,
                                         std::uint32_t size) noexcept {
    team_.each([&](std::uint32_t lane) {
      for (std::uint32_t i = lane; i < size; i += Team::kLanes) { put(literals, batch, window, i); }
    });
    shared_.window.write(team_, size, out_ + done_ + window);
  }

  TERRAZZO_HOST_DEVICE void put(Literals const& literals, std::uint32_t batch, std::uint32_t window,
                                std::uint32_t i) noexcept {
    std::uint32_t const at = window + i;
    // The last sequence that begins at `at` or before it.
    std::uint32_t sequence = 0;
    for (std::uint32_t step = kTeamLanes / 2; step != 0; step /= 2) {
      std::uint32_t const next = sequence + step;
      if (next < batch && shared_.places[next] <= at) { sequence = next; }
    }
    std::uint32_t const place = shared_.places[sequence], length = shared_.lengths[sequence];
    std::uint32_t const behind = at - place;
    if (behind < length) {
      std::byte const byte = literal(literals, shared_.literal_places[sequence] + behind);
      shared_.window.put_byte(i, static_cast<std::uint32_t>(byte));
      return;
    }
    // A match that overlaps itself repeats its first `distance` bytes, so no byte refers to the match.
    std::uint32_t const distance = shared_.distances[sequence];
    std::uint32_t const in_match = behind - length;
    std::uint32_t const repeated = in_match < distance ? in_match : in_match % distance;
    std::int64_t const source = std::int64_t{place} + length - distance + repeated;
    if (source >= window) {
      shared_.window.put_link(i, static_cast<std::uint32_t>(source) - window);
    } else {
      shared_.window.put_byte(i, static_cast<std::uint32_t>(out_[static_cast<std::int64_t>(done_) + source]));
    }
  }

  Team const& team_;
  ZstdShared& shared_;
  StreamWords const input_;
  std::uint32_t const in_bytes_;
  std::byte* const out_;
  std::uint64_t const out_bytes_;
  std::byte* const scratch_;
  std::uint64_t done_ = 0;  // bytes of the output
  std::uint32_t most_block_bytes_ = kZstdMostBlockBytes;
  bool has_literal_code_ = false, has_tables_ = false;
  std::uint32_t last_ = 1, before_last_ = 4, third_last_ = 8;  // distances; of the lane that reads sequences
};

// Decodes a frame with kZstdScratchBytes of scratch. `ok`: the frame is valid, is the whole input, and has exactly
// out_bytes bytes. All other inputs are `unsupported`: the host decides about them.
template <class Team>
[[nodiscard]] TERRAZZO_HOST_DEVICE tile::TileStatus zstd_decode(Team const& team, ZstdShared& shared,
                                                                std::byte const* in, std::uint64_t in_bytes,
                                                                std::byte* out, std::uint64_t out_bytes,
                                                                std::byte* scratch) noexcept {
  if (in_bytes > StreamWords::kMostBytes) { return tile::TileStatus::unsupported; }
  return ZstdDecode<Team>(team, shared, in, in_bytes, out, out_bytes, scratch).run() ? tile::TileStatus::ok
                                                                                     : tile::TileStatus::unsupported;
}

}  // namespace terrazzo::coding
