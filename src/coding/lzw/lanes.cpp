// SPDX-License-Identifier: Apache-2.0
#include "coding/lzw/lanes.hpp"

#include "tile/host/cpu.hpp"

#include <algorithm>

namespace terrazzo::coding {
namespace {

constexpr std::uint32_t kGenerationShift = 20;
constexpr std::uint32_t kGenerations = 4095;  // the highest 12-bit value means none
constexpr std::uint64_t kNextGeneration = std::uint64_t{0x1'0000'0001} << kGenerationShift;
constexpr std::uint32_t kEmptyEntry = ~std::uint32_t{0};

// Lookups before the bytes per code are first checked: more than a table.
constexpr std::size_t kFirstJudgement = 8192;

// Limits for the cost of unfinished tables, as a fraction of the stream: the estimate before the lanes begin, with
// half-full tables, and the actual cost. With 0.003 for the second, elevations with a small cost are rejected too (4 %
// slower).
constexpr double kMostLossExpected = 0.003;
constexpr double kMostLoss = 0.004;

bool repeats(std::size_t bytes, std::uint64_t codes) noexcept {
  return static_cast<double>(bytes) > kLzwMostLaneBytesPerCode * static_cast<double>(codes);
}

// Some bytes, and the bits written for them.
struct Extent {
  std::size_t bytes;
  std::uint64_t bits;
};

// The extra bits for the last bytes of a lane, compared to full tables.
double bits_lost(Extent const& full_tables, Extent const& lane) noexcept {
  if (full_tables.bytes == 0) { return 0; }
  double const usual = static_cast<double>(full_tables.bits) / static_cast<double>(full_tables.bytes);
  return std::max(0.0, static_cast<double>(lane.bits) - usual * static_cast<double>(lane.bytes));
}

}  // namespace

// The state of a lane.
struct LzwLanes::State {
  std::uint64_t prefix;  // the string that is not written yet
  std::uint64_t next_code;

  [[nodiscard]] std::uint64_t code_count() const noexcept { return next_code - kLzwFirstFree; }  // codes of this table
};

LzwLanes::LzwLanes() noexcept {
  for (Lane& lane : lanes_) { lane.forget(); }
}

void LzwLanes::Lane::forget() noexcept {
  entries.fill(kEmptyEntry);
  generation = 0;
  for (std::uint64_t byte = 0; byte < keys.size(); ++byte) { keys[byte] = 0x1'0000'0001 * byte << kLzwMaxWidth; }
}

void LzwLanes::Lane::start_table() noexcept {
  if (++generation == kGenerations) {
    forget();
  } else {
    for (std::uint64_t& key : keys) { key += kNextGeneration; }
  }
}

// Processes one byte: either the string is in the table and grows, or its code is written and the byte begins the next.
inline void LzwLanes::step(Lane& lane, State& state, std::byte next) noexcept {
  auto const byte = static_cast<std::uint64_t>(next);
  std::uint64_t const key = lane.keys[byte];
  std::uint64_t slot = state.prefix ^ kLzwSpread[byte];
  lane.codes[state.code_count()] = static_cast<std::uint16_t>(state.prefix);
  auto const entry = static_cast<std::uint32_t>(key + state.next_code);
  // The XOR leaves the code for an entry of this key, less than a generation for another entry of this table, and more
  // for any other.
#if TERRAZZO_HAVE_X86
  std::uint64_t const rest = tile::load_unaligned<std::uint64_t>(lane.bucket(slot)) ^ key;
  auto code = static_cast<std::uint32_t>(rest);
  auto const second = static_cast<std::uint32_t>(rest >> 32);
  // The same as the code below, which compilers translate to branches.
  asm("cmpl %[live], %k[code]\n\t"
      "adcq %[slot], %[slot]\n\t"
      "cmpl %k[code], %k[second]\n\t"
      "cmovb %k[second], %k[code]\n\t"
      "cmpl %[found], %k[code]\n\t"
      "cmovb %[nowhere], %[slot]\n\t"
      "cmovae %k[byte], %k[code]\n\t"
      "sbbq $-1, %[next_code]"
      : [code] "+&r"(code), [slot] "+&r"(slot), [next_code] "+&r"(state.next_code)
      : [second] "r"(second), [byte] "r"(byte), [nowhere] "r"(std::uint64_t{2 * kLzwBuckets}),
        [live] "i"(1 << kGenerationShift), [found] "i"(kLzwTableSize)
      : "cc");
  state.prefix = code;
#else
  auto code = lane.entries[2 * slot] ^ static_cast<std::uint32_t>(key);
  auto const second = lane.entries[2 * slot + 1] ^ static_cast<std::uint32_t>(key);
  slot = 2 * slot + (code < 1U << kGenerationShift ? 1 : 0);
  code = std::min(code, second);
  std::uint64_t const found = 0 - static_cast<std::uint64_t>(code < kLzwTableSize);
  slot += (2 * kLzwBuckets - slot) & found;
  state.prefix = byte + ((code - byte) & found);
  state.next_code += 1 + found;
#endif
  lane.entries[slot] = entry;
}

// Processes `count` bytes of each lane; each may make a code. The states are separate variables, since compilers keep
// an array in memory.
void LzwLanes::take(std::byte const* in, std::size_t lane_bytes, std::size_t count,
                    std::array<State, kLzwLanes>& states) noexcept {
  static_assert(kLzwLanes == 3);
  auto [first, second, third] = states;
  for (std::byte const* const end = in + count; in != end; ++in) {
    step(lanes_[0], first, in[0]);
    step(lanes_[1], second, in[lane_bytes]);
    step(lanes_[2], third, in[2 * lane_bytes]);
  }
  states = {first, second, third};
}

std::size_t LzwLanes::bytes_of(std::size_t left) noexcept {
  constexpr std::size_t kMost = kLzwLanes * kLzwMostLaneBytes;
  if (left <= kLzwLanes * kLzwLeastLaneBytes) { return 0; }
  std::size_t const times = (left - 1 + kMost - 1) / kMost;
  return (left - 1) / times / kLzwLanes * kLzwLanes;
}

// A table that ends with its piece costs about the most when it is half full. Its codes are shorter than those of a
// full one, but its strings are too. The cost is in bytes of data that full tables would have encoded in the same bits.
bool LzwLanes::suits(std::size_t table_bytes, std::size_t half_table_bytes, std::size_t left) noexcept {
  constexpr auto kHalf = static_cast<double>(lzw_bits_of(kLzwCodesPerTable / 2) + kLzwMaxWidth);
  constexpr auto kWhole = static_cast<double>(lzw_bits_of(kLzwCodesPerTable) + kLzwMaxWidth);
  double const missing = static_cast<double>(table_bytes) * (kHalf / kWhole) - static_cast<double>(half_table_bytes);
  return !repeats(table_bytes, kLzwCodesPerTable) &&
         missing <= kMostLossExpected * static_cast<double>(bytes_of(left)) / kLzwLanes;
}

void LzwLanes::start_table(std::size_t lane, State& state) noexcept {
  lanes_[lane].start_table();
  state.next_code = kLzwFirstFree;
}

bool LzwLanes::encode(std::span<std::byte const> in, LzwCodeWriter& out) noexcept {
  std::size_t const lane_bytes = in.size() / kLzwLanes;
  std::array<LzwCodeWriter, kLzwLanes> writers = {out, LzwCodeWriter(streams_[0].data()),
                                                  LzwCodeWriter(streams_[1].data())};
  std::array<State, kLzwLanes> states;
  for (std::size_t i = 0; i < kLzwLanes; ++i) {
    states[i].prefix = static_cast<std::uint64_t>(in[i * lane_bytes]);
    start_table(i, states[i]);
  }
  std::array<std::uint64_t, kLzwLanes> const first_bits = {out.bit_count()};
  std::array<Extent, kLzwLanes> full_tables{};
  std::uint64_t codes_put = 0;
  for (std::size_t done = 1; done < lane_bytes;) {
    std::uint64_t codes = codes_put, most = 0;
    for (State const& state : states) {
      codes += state.code_count();
      most = std::max(most, state.code_count());
    }
    if (done >= kFirstJudgement && repeats(kLzwLanes * done, codes)) { return false; }
    std::size_t const count = std::min<std::size_t>(lane_bytes - done, kLzwCodesPerTable - most);
    take(in.data() + done, lane_bytes, count, states);
    done += count;
    for (std::size_t i = 0; i < kLzwLanes; ++i) {
      if (states[i].code_count() < kLzwCodesPerTable) { continue; }
      writers[i].put_table(lanes_[i].codes);
      writers[i].put(kLzwClear, kLzwMaxWidth);
      full_tables[i] = {done, writers[i].bit_count() - first_bits[i]};
      start_table(i, states[i]);
      codes_put += kLzwCodesPerTable;
    }
  }
  double loss = 0, bits = 0;
  for (std::size_t i = 0; i < kLzwLanes; ++i) {
    std::size_t count = states[i].code_count();
    lanes_[i].codes[count++] = static_cast<std::uint16_t>(states[i].prefix);
    writers[i].put_table(std::span(lanes_[i].codes).first(count));
    writers[i].put(kLzwClear, lzw_width_at(count));
    Extent const lane = {lane_bytes, writers[i].bit_count() - first_bits[i]};
    loss += bits_lost(full_tables[i], lane);
    bits += static_cast<double>(lane.bits);
  }
  if (loss > kMostLoss * bits) { return false; }
  for (std::size_t i = 1; i < kLzwLanes; ++i) { writers[0].append(writers[i]); }
  out = writers[0];
  return true;
}

}  // namespace terrazzo::coding
