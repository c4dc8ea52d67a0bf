// SPDX-License-Identifier: Apache-2.0
//
// A compressed ZSTD block (RFC 8878, 3.1.1.3) from the tokens of a piece, made by the threads of a block on the device
// and, in the same steps, by a loop on the host. `threads.each(step)` calls step(thread) for every thread of
// kDeflateThreads, followed by a barrier.
//
// One thread computes the states of each of the three tables, one step per sequence; all threads share the other work,
// because once the bits of each step are known, their positions are sums.
#pragma once

#include "coding/zstd/literals.hpp"
#include "coding/zstd/sequences.hpp"

namespace terrazzo::coding {

namespace zstd_block {

// The mode of a table (3.1.1.3.2.1): a single symbol, or a description of its shares.
inline constexpr std::uint32_t kModeRepeated = 1, kModeShares = 2;

[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t most_bits_of(std::uint32_t table) noexcept {
  return table == kZstdOffsets   ? kFseMostBits - 1
         : table == kZstdWeights ? zstd_literals::kMostWeightBits
                                 : kFseMostBits;
}
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t codes_of(std::uint32_t table) noexcept {
  return table == kZstdLiteralLengths ? kZstdLiteralLengthCodes
         : table == kZstdOffsets      ? kZstdOffsetCodes
         : table == kZstdMatchLengths ? kZstdMatchLengthCodes
                                      : kZstdMostCodeBits + 1;
}

template <class Threads>
TERRAZZO_HOST_DEVICE inline void make_tables(Threads& threads, ZstdWork& work) {
  constexpr std::uint32_t kWarp = 32;  // each table is made by a thread of a different warp
  threads.each([&](std::uint32_t thread) {
    std::uint32_t const index = thread / kWarp;
    if (thread % kWarp != 0 || index >= kZstdTables) { return; }
    std::uint32_t const total = index == kZstdWeights ? work.last_literal : work.sequence_count;
    FseTable& table = work.tables[index];
    table.look_at(work.counts[index], codes_of(index), total, most_bits_of(index));
    if (table.used < 2) { return; }
    table.share_out(work.counts[index], total);
    table.describe();
  });
  threads.each([&](std::uint32_t thread) {
    for (FseTable& table : work.tables) {
      if (table.bits == 0) { continue; }
      for (std::uint32_t cell = thread; cell < table.size(); cell += kDeflateThreads) { table.fill_cell(cell); }
    }
  });
}

// Header size of raw literals, and of a repeated one (3.1.1.3.1.1).
[[nodiscard]] TERRAZZO_HOST_DEVICE inline std::uint32_t plain_header_bytes(std::uint32_t literals) noexcept {
  return literals < 32 ? 1 : literals < 4096 ? 2 : 3;
}

TERRAZZO_HOST_DEVICE inline void plan_literals(ZstdWork& work, ZstdPlaces const& places) noexcept {
  ZstdPlan& plan = work.plan;
  std::uint32_t const count = work.literal_count;
  plan.literals = ZstdPlan::Literals::raw;
  plan.streams = plan.tree_bytes = 0;
  plan.literals_header_bytes = plain_header_bytes(count);
  plan.sequences_begin = plan.literals_header_bytes + count;
  if (count == 0) { return; }
  // The last symbol with a code may not occur: a code has at least two symbols.
  if (work.literals.counts[places.literals[0]] == count) {
    plan.literals = ZstdPlan::Literals::repeated;
    plan.sequences_begin = plan.literals_header_bytes + 1;
    return;
  }
  if (work.tree_bytes == 0) { return; }
  std::uint32_t const streams = zstd_literals::Share::streams_of(count);
  std::uint32_t const sizes_bytes = streams == 1 ? 0 : 2 * (kZstdStreams - 1);
  std::uint32_t bytes = work.tree_bytes + sizes_bytes;
  for (std::uint32_t i = 0; i < streams; ++i) { bytes += work.stream_bits[i] / 8 + 1; }
  std::uint32_t const header_bytes = streams == 1 ? 3 : count < 1U << 14 && bytes < 1U << 14 ? 4 : 5;
  if (header_bytes + bytes >= plan.sequences_begin) { return; }
  plan.literals = ZstdPlan::Literals::compressed;
  plan.literals_header_bytes = header_bytes;
  plan.streams = streams;
  plan.tree_bytes = work.tree_bytes;
  std::uint32_t at = header_bytes + work.tree_bytes + sizes_bytes;
  for (std::uint32_t i = 0; i < streams; ++i) {
    plan.stream_begin[i] = at;
    at += work.stream_bits[i] / 8 + 1;
  }
  plan.stream_begin[streams] = at;
  plan.sequences_begin = at;
}

TERRAZZO_HOST_DEVICE inline void plan_sequences(ZstdWork& work) noexcept {
  ZstdPlan& plan = work.plan;
  if (work.sequence_count == 0) {
    plan.sequence_bits_begin = plan.bytes = plan.sequences_begin + 1;
    return;
  }
  std::uint32_t bits = work.sequence_bits;
  plan.sequence_bits_begin = plan.sequences_begin + (work.sequence_count < 128 ? 1 : 2) + 1;
  for (std::uint32_t i = 0; i < kZstdSequenceTables; ++i) {
    FseTable const& table = work.tables[i];
    plan.sequence_bits_begin += table.used == 1 ? 1 : table.description_bytes;
    bits += table.bits;
  }
  plan.bytes = plan.sequence_bits_begin + bits / 8 + 1;
}

// Writes the literals section's header, and the sizes of all streams except the last.
TERRAZZO_HOST_DEVICE inline void put_literals_header(ZstdWork const& work, DeflateBits& out) noexcept {
  ZstdPlan const& plan = work.plan;
  auto const kind = static_cast<std::uint32_t>(plan.literals);
  std::uint32_t const count = work.literal_count;
  if (plan.literals != ZstdPlan::Literals::compressed) {
    std::uint32_t const bytes = plan.literals_header_bytes;
    if (bytes == 1) { return out.put(kind | count << 3, 8); }
    return out.put(kind | (bytes == 2 ? 1U : 3U) << 2 | count << 4, 8 * bytes);
  }
  std::uint32_t const bytes = plan.sequences_begin - plan.literals_header_bytes;
  std::uint32_t const format = plan.streams == 1 ? 0 : plan.literals_header_bytes - 2;
  std::uint32_t const size_bits = format == 0 ? 10 : format == 2 ? 14 : 18;
  out.put(kind | format << 2, 4);
  out.put(count, size_bits);
  out.put(bytes, size_bits);
}

TERRAZZO_HOST_DEVICE inline void put_stream_sizes(ZstdPlan const& plan, std::uint32_t* words,
                                                  std::uint32_t at) noexcept {
  DeflateBits out(words, at * 8);
  for (std::uint32_t i = 0; i + 1 < plan.streams; ++i) { out.put(plan.stream_begin[i + 1] - plan.stream_begin[i], 16); }
  out.finish();
}

// Writes the sequences section up to its bits.
TERRAZZO_HOST_DEVICE inline void put_sequences_header(ZstdWork const& work, DeflateBits& out) noexcept {
  std::uint32_t const count = work.sequence_count;
  if (count < 128) {
    out.put(count, 8);
  } else {
    out.put((count >> 8) + 128, 8);
    out.put(count & 0xFFU, 8);
  }
  if (count == 0) { return; }
  std::uint32_t modes = 0;
  for (std::uint32_t i = 0; i < kZstdSequenceTables; ++i) {
    modes |= (work.tables[i].used == 1 ? kModeRepeated : kModeShares) << (6 - 2 * i);
  }
  out.put(modes, 8);
  for (std::uint32_t i = 0; i < kZstdSequenceTables; ++i) {
    FseTable const& table = work.tables[i];
    if (table.used == 1) { out.put(table.only, 8); }
    for (std::uint32_t k = 0; k < table.description_bytes; ++k) {
      out.put(table.description[k / 4] >> (k % 4 * 8) & 0xFFU, 8);
    }
  }
}

// Writes raw literals; each thread writes a part of them.
TERRAZZO_HOST_DEVICE inline void put_raw_literals(ZstdWork const& work, ZstdPlaces const& places, std::uint32_t thread,
                                                  std::uint32_t begin, std::uint32_t* words) noexcept {
  std::uint32_t const share = (work.literal_count + kDeflateThreads - 1) / kDeflateThreads;
  std::uint32_t const first = thread * share < work.literal_count ? thread * share : work.literal_count;
  std::uint32_t const last = first + share < work.literal_count ? first + share : work.literal_count;
  DeflateBits out(words, (begin + first) * 8);
  for (std::uint32_t i = first; i < last; ++i) { out.put(places.literals[i], 8); }
  out.finish();
}

}  // namespace zstd_block

// Computes everything needed before a block is written; work.plan.bytes is the size of its content.
template <class Threads>
TERRAZZO_HOST_DEVICE inline void make_zstd_block(Threads& threads, ZstdWork& work, ZstdPlaces const& places,
                                                 std::uint32_t bytes) {
  gather_zstd_sequences(threads, work, places, bytes);
  code_zstd_sequences(threads, work, places);
  make_literal_codes(threads, work);
  zstd_block::make_tables(threads, work);
  threads.each([&](std::uint32_t thread) {
    if (thread < kZstdSequenceTables) {
      work.final_states[thread] =
          walk_zstd_states(work.tables[thread], places.codes(thread), work.sequence_count, places.written(thread));
    }
    if (thread == kDeflateThreads - 1) { describe_literal_codes(work); }
  });
  threads.each([&](std::uint32_t thread) {
    measure_zstd_literals(work, places, thread);
    measure_zstd_sequences(work, places, thread);
  });
  threads.each([&](std::uint32_t thread) {
    if (thread < kZstdStreams) {
      std::uint32_t bits = 0;
      constexpr std::uint32_t kThreads = zstd_literals::Share::kThreads;
      for (std::uint32_t i = 0; i < kThreads; ++i) { bits += work.literal_sums[thread * kThreads + i]; }
      work.stream_bits[thread] = bits;
    } else if (thread == kZstdStreams) {
      std::uint32_t bits = 0;
      for (std::uint32_t const own : work.sequence_sums) { bits += own; }
      work.sequence_bits = bits;
    }
  });
  threads.each([&](std::uint32_t thread) {
    if (thread != 0) { return; }
    zstd_block::plan_literals(work, places);
    zstd_block::plan_sequences(work);
  });
}

// The words of the block with its header.
[[nodiscard]] TERRAZZO_HOST_DEVICE constexpr std::uint32_t zstd_block_words(std::uint32_t content_bytes) noexcept {
  return (kZstdBlockHeaderBytes + content_bytes + 3) / 4;
}

// Writes the block and its header; `words` has zstd_block_words() words, and one more.
template <class Threads>
TERRAZZO_HOST_DEVICE inline void put_zstd_block(Threads& threads, ZstdWork const& work, ZstdPlaces const& places,
                                                bool last, std::uint32_t* words) {
  using namespace zstd_block;
  ZstdPlan const& plan = work.plan;
  threads.each([&](std::uint32_t thread) {
    for (std::uint32_t i = thread; i <= zstd_block_words(plan.bytes); i += kDeflateThreads) { words[i] = 0; }
  });
  // Positions in the plan are relative to the content, those in `words` to the header.
  constexpr std::uint32_t kHead = kZstdBlockHeaderBytes;
  threads.each([&](std::uint32_t thread) {
    std::uint32_t const literals_begin = kHead + plan.literals_header_bytes;
    if (thread == 0) {
      DeflateBits out(words, 0);
      out.put(zstd_block_header(ZstdBlockKind::compressed, plan.bytes, last), 8 * kHead);
      put_literals_header(work, out);
      if (plan.literals == ZstdPlan::Literals::repeated) { out.put(places.literals[0], 8); }
      out.finish();
      DeflateBits sequences(words, (kHead + plan.sequences_begin) * 8);
      put_sequences_header(work, sequences);
      sequences.finish();
    }
    if (plan.literals == ZstdPlan::Literals::raw) { put_raw_literals(work, places, thread, literals_begin, words); }
    if (plan.literals == ZstdPlan::Literals::compressed) {
      if (thread == kDeflateThreads - 1) { put_stream_sizes(plan, words, literals_begin + plan.tree_bytes); }
      if (thread < plan.tree_bytes) {
        DeflateBits out(words, (literals_begin + thread) * 8);
        out.put(work.tree_words[thread / 4] >> (thread % 4 * 8) & 0xFFU, 8);
        out.finish();
      }
      put_zstd_literals(work, places, thread, words);
    }
    if (work.sequence_count != 0) { put_zstd_sequences(work, places, thread, kHead + plan.sequence_bits_begin, words); }
  });
}

}  // namespace terrazzo::coding
