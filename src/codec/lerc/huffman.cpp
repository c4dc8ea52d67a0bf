// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/huffman.hpp"

#include "codec/deflate/encoder_huffman.hpp"
#include "codec/lerc/block.hpp"
#include "codec/lerc/put.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace terrazzo::codec {
namespace {

using Code = LercHuffman::Code;
using Counts = LercHuffman::Counts;
using Of = LercHuffman::Of;

constexpr unsigned kLongestCode = 15;
constexpr std::int32_t kTableVersion = 4;

// Signed samples and their differences count from -128.
constexpr std::uint8_t flipped_bit(LercPicture const& picture) noexcept { return picture.type == 0 ? 0x80 : 0; }

using Run = std::array<std::uint8_t, 4096>;

// Calls take(run) for the values of valid pixels, with all samples of a pixel together.
template <class Take>
void each_value(LercPicture const& picture, Take const& take) noexcept {
  std::uint8_t const flip = flipped_bit(picture);
  Run run;
  if (picture.valid.empty()) {
    for (std::size_t at = 0; at < picture.samples.size(); at += run.size()) {
      std::size_t const count = std::min(run.size(), picture.samples.size() - at);
      for (std::size_t i = 0; i < count; ++i) {
        run[i] = static_cast<std::uint8_t>(std::to_integer<unsigned>(picture.samples[at + i]) ^ flip);
      }
      take(std::span<std::uint8_t const>(run).first(count));
    }
    return;
  }
  std::size_t count = 0;
  for (std::size_t i = 0; i < picture.samples.size(); ++i) {
    run[count] = static_cast<std::uint8_t>(std::to_integer<unsigned>(picture.samples[i]) ^ flip);
    count += picture.valid[i / picture.depth] != std::byte{0} ? 1 : 0;
    if (count == run.size()) {
      take(std::span<std::uint8_t const>(run));
      count = 0;
    }
  }
  take(std::span<std::uint8_t const>(run).first(count));
}

// The differences of `count` bytes from the bytes `depth` before them.
void subtract(std::byte const* values, std::size_t count, std::size_t depth, std::uint8_t flip,
              std::uint8_t* to) noexcept {
  auto const difference = [flip](std::byte value, std::byte base) {
    return static_cast<std::uint8_t>((std::to_integer<unsigned>(value) - std::to_integer<unsigned>(base)) ^ flip);
  };
  if (depth == 1) {  // a separate loop that compilers vectorize
    for (std::size_t i = 0; i < count; ++i) { to[i] = difference(values[i], *(values + i - 1)); }
  } else {
    for (std::size_t i = 0; i < count; ++i, values += depth) { to[i] = difference(*values, *(values - depth)); }
  }
}

// One sample of all pixels if all are valid. A row begins with the difference from the row above.
template <class Take>
void each_difference_of_all(LercPicture const& picture, std::byte const* samples, std::uint8_t flip,
                            Take const& take) noexcept {
  std::size_t const depth = picture.depth, stride = picture.width_px * depth;
  Run run;
  for (std::size_t row = 0; row < picture.height_px; ++row) {
    std::byte const* const values = samples + row * stride;
    unsigned const above = row == 0 ? 0 : std::to_integer<unsigned>(*(values - stride));
    run[0] = static_cast<std::uint8_t>((std::to_integer<unsigned>(*values) - above) ^ flip);
    std::size_t at = 1, filled = 1;
    do {
      std::size_t const count = std::min<std::size_t>(run.size() - filled, picture.width_px - at);
      subtract(values + at * depth, count, depth, flip, run.data() + filled);
      take(std::span<std::uint8_t const>(run).first(filled + count));
      at += count;
      filled = 0;
    } while (at < picture.width_px);
  }
}

// One sample if some pixels are invalid: the base is the pixel to the left, otherwise the one above, otherwise the last
// valid one.
template <class Take>
void each_difference_of_valid(LercPicture const& picture, std::byte const* samples, std::uint8_t flip,
                              Take const& take) noexcept {
  std::size_t const width = picture.width_px, depth = picture.depth;
  auto const valid = [&](std::size_t pixel) { return picture.valid[pixel] != std::byte{0}; };
  Run run;
  std::size_t count = 0;
  unsigned before = 0;
  for (std::size_t row = 0; row < picture.height_px; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      std::size_t const pixel = row * width + column;
      if (!valid(pixel)) { continue; }
      auto const value = std::to_integer<unsigned>(samples[pixel * depth]);
      bool const from_above = (column == 0 || !valid(pixel - 1)) && row != 0 && valid(pixel - width);
      unsigned const base = from_above ? std::to_integer<unsigned>(samples[(pixel - width) * depth]) : before;
      run[count++] = static_cast<std::uint8_t>((value - base) ^ flip);
      before = value;
      if (count == run.size()) {
        take(std::span<std::uint8_t const>(run));
        count = 0;
      }
    }
  }
  take(std::span<std::uint8_t const>(run).first(count));
}

// Calls take(run) for differences modulo 256, one sample of all pixels after the other.
template <class Take>
void each_difference(LercPicture const& picture, Take const& take) noexcept {
  for (std::size_t s = 0; s < picture.depth; ++s) {
    std::byte const* const samples = picture.samples.data() + s;
    if (picture.valid.empty()) {
      each_difference_of_all(picture, samples, flipped_bit(picture), take);
    } else {
      each_difference_of_valid(picture, samples, flipped_bit(picture), take);
    }
  }
}

template <class Take>
void each_symbol(LercPicture const& picture, Of of, Take const& take) noexcept {
  of == Of::values ? each_value(picture, take) : each_difference(picture, take);
}

// In four parts, because reloading a counter that was just stored is slow.
class Tally {
 public:
  void add(std::span<std::uint8_t const> run) noexcept {
    std::size_t i = 0;
    for (; i + parts_.size() <= run.size(); i += parts_.size()) {
      for (std::size_t k = 0; k < parts_.size(); ++k) { ++parts_[k][run[i + k]]; }
    }
    for (; i < run.size(); ++i) { ++parts_[0][run[i]]; }
  }
  [[nodiscard]] Counts counts() const noexcept {
    Counts sum{};
    for (Counts const& part : parts_) {
      for (std::size_t s = 0; s < sum.size(); ++s) { sum[s] += part[s]; }
    }
    return sum;
  }

 private:
  std::array<Counts, 4> parts_{};
};

// Chooses the symbols to list: from the first used to the last, or around the end if the longest gap is inside.
void find_listed(Code& code) noexcept {
  auto const used = [&](std::size_t symbol) { return code.lengths[symbol] != 0; };
  std::size_t first = 0, end = LercHuffman::kSymbols;
  while (!used(first)) { ++first; }
  while (!used(end - 1)) { --end; }
  code.first = first;
  code.end = end;
  std::size_t last_used = first;
  for (std::size_t symbol = first + 1; symbol < end; ++symbol) {
    if (!used(symbol)) { continue; }
    if (LercHuffman::kSymbols - (symbol - last_used - 1) < code.end - code.first) {
      code.first = symbol;
      code.end = last_used + 1 + LercHuffman::kSymbols;
    }
    last_used = symbol;
  }
}

std::optional<Code> code_of(Counts const& counts) noexcept {
  if (std::ranges::count_if(counts, [](std::uint32_t count) { return count != 0; }) < 2) { return std::nullopt; }
  Code code;
  huffman_lengths(counts, kLongestCode, code.lengths);
  // The longest codes come first and begin with zeros; equal lengths are in the order of the symbols.
  unsigned next = 0;
  for (unsigned length = kLongestCode; length != 0; --length, next >>= 1) {
    for (std::size_t symbol = 0; symbol < code.lengths.size(); ++symbol) {
      if (code.lengths[symbol] == length) { code.words[symbol] = static_cast<std::uint16_t>(next++); }
    }
  }
  find_listed(code);
  return code;
}

constexpr std::size_t words_for(std::uint64_t bits) noexcept { return static_cast<std::size_t>((bits + 31) / 32); }

unsigned length_bits(Code const& code) noexcept {
  return static_cast<unsigned>(std::bit_width(unsigned{*std::ranges::max_element(code.lengths)}));
}

std::size_t bytes_with(Code const& code, Counts const& counts) noexcept {
  std::size_t const listed = code.end - code.first;
  std::uint64_t const table_bits = std::accumulate(code.lengths.begin(), code.lengths.end(), std::uint64_t{0});
  std::uint64_t data_bits = 0;
  for (std::size_t s = 0; s < counts.size(); ++s) { data_bits += std::uint64_t{counts[s]} * code.lengths[s]; }
  return 4 * sizeof(std::int32_t) + lerc::stuffed_head_bytes(listed) + (listed * length_bits(code) + 7) / 8 +
         4 * (words_for(table_bits) + words_for(data_bits) + 1);
}

// Writes bits into little-endian words of 32, from the highest down.
class WordBits {
 public:
  explicit WordBits(std::byte* to) noexcept : to_(to) {}

  // At most 32 bits.
  void put(std::uint64_t bits, unsigned count) noexcept {
    pending_ = pending_ << count | bits;
    pending_bits_ += count;
    if (pending_bits_ >= 32) {
      pending_bits_ -= 32;
      to_ = put_little(to_, static_cast<std::uint32_t>(pending_ >> pending_bits_));
    }
  }
  // Pads the last word with zeros; returns the end.
  [[nodiscard]] std::byte* finish() noexcept {
    return pending_bits_ == 0 ? to_ : put_little(to_, static_cast<std::uint32_t>(pending_ << (32 - pending_bits_)));
  }

 private:
  std::byte* to_;
  std::uint64_t pending_ = 0;  // the lowest pending_bits_ are not stored yet
  unsigned pending_bits_ = 0;
};

}  // namespace

LercHuffman::LercHuffman(LercPicture const& picture) noexcept : picture_(picture) {
  for (Of const of : {Of::values, Of::differences}) {
    Tally tally;
    each_symbol(picture, of, [&](std::span<std::uint8_t const> run) { tally.add(run); });
    Counts const counts = tally.counts();
    auto const code = code_of(counts);
    if (!code) { continue; }
    std::size_t const bytes = bytes_with(*code, counts);
    if (code_ && bytes_ <= bytes) { continue; }
    code_ = code;
    of_ = of;
    bytes_ = bytes;
  }
}

std::byte* LercHuffman::write(std::byte* to) const noexcept {
  Code const& code = *code_;
  for (std::size_t const value : {std::size_t{kTableVersion}, kSymbols, code.first, code.end}) {
    to = put_little(to, static_cast<std::int32_t>(value));
  }
  std::size_t const listed = code.end - code.first;
  LercSteps lengths;
  for (std::size_t i = 0; i < listed; ++i) { lengths[i] = code.lengths[(code.first + i) % kSymbols]; }
  LercPortableKernels::pad(listed, lengths);
  to = lerc::put_stuffed_head(to, listed, length_bits(code));
  to = LercPortableKernels::stuff(lengths.data(), listed, length_bits(code), to);
  WordBits table(to);
  for (std::size_t i = 0; i < listed; ++i) {
    std::size_t const symbol = (code.first + i) % kSymbols;
    table.put(code.words[symbol], code.lengths[symbol]);
  }
  WordBits data(table.finish());
  static_assert(2 * kLongestCode <= 32);
  each_symbol(picture_, of_, [&](std::span<std::uint8_t const> run) {
    WordBits bits = data;  // a local copy for this run stays in registers
    std::size_t i = 0;
    for (; i + 2 <= run.size(); i += 2) {
      std::uint8_t const one = run[i], two = run[i + 1];
      bits.put(std::uint64_t{code.words[one]} << code.lengths[two] | code.words[two],
               unsigned{code.lengths[one]} + code.lengths[two]);
    }
    if (i < run.size()) { bits.put(code.words[run[i]], code.lengths[run[i]]); }
    data = bits;
  });
  return put_little(data.finish(), std::uint32_t{0});
}

}  // namespace terrazzo::codec
