// SPDX-License-Identifier: Apache-2.0
//
// One micro-block of a LERC blob: a byte for its form, then nothing (all samples are zero), the raw samples, one sample
// that all equal, or the smallest one and the steps of each above it, packed bit by bit, either directly or through a
// table of the few values that occur.
#pragma once

#include "codec/lerc/kernels.hpp"
#include "codec/lerc/put.hpp"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace terrazzo::codec {

// The type that holds samples of type T while a block is made.
template <class T>
using LercWork = std::conditional_t<std::floating_point<T> || std::same_as<T, std::uint32_t>, T, std::int32_t>;

// The rounding of samples; the same for all blocks of a blob.
struct LercRule {
  double max_error = 0;
  double steps_per_unit = 0;  // infinite if samples must not change
  bool units = false;  // lossless integers

  template <class T>
  [[nodiscard]] static LercRule of(double max_error) noexcept {
    return {max_error, 1 / (2 * max_error), std::integral<T> && max_error == 0.5};
  }
};

namespace lerc {

enum Storage : unsigned { kRaw = 0, kSteps = 1, kAllZero = 2, kAllEqual = 3 };

template <class Narrow, class Work>
[[nodiscard]] bool holds(Work value) noexcept {
  using Limits = std::numeric_limits<Narrow>;
  // Work types other than floats have 32 bits; a double represents them and narrower floats exactly.
  auto const wide = static_cast<double>(value);
  return wide >= static_cast<double>(Limits::lowest()) && wide <= static_cast<double>(Limits::max()) &&
         static_cast<double>(static_cast<Narrow>(wide)) == wide;
}

// The smallest sample in the smallest type that holds it. The type's code depends on the samples' type.
struct Offset {
  unsigned code = 0;
  unsigned bytes = 0;
  std::array<std::byte, 8> value{};

  template <class Narrow, class Work>
  [[nodiscard]] static Offset as(unsigned type_code, Work sample) noexcept {
    Offset offset{type_code, sizeof(Narrow)};
    static_cast<void>(put_little(offset.value.data(), static_cast<Narrow>(sample)));
    return offset;
  }
};

template <class T, class Work>
[[nodiscard]] Offset offset_of(Work low) noexcept {
  if constexpr (std::same_as<T, std::int16_t>) {
    if (holds<std::int8_t>(low)) { return Offset::as<std::int8_t>(2, low); }
    if (holds<std::uint8_t>(low)) { return Offset::as<std::uint8_t>(1, low); }
  } else if constexpr (std::same_as<T, std::uint16_t>) {
    if (holds<std::uint8_t>(low)) { return Offset::as<std::uint8_t>(1, low); }
  } else if constexpr (std::same_as<T, std::int32_t>) {
    if (holds<std::uint8_t>(low)) { return Offset::as<std::uint8_t>(3, low); }
    if (holds<std::int16_t>(low)) { return Offset::as<std::int16_t>(2, low); }
    if (holds<std::uint16_t>(low)) { return Offset::as<std::uint16_t>(1, low); }
  } else if constexpr (std::same_as<T, std::uint32_t>) {
    if (holds<std::uint8_t>(low)) { return Offset::as<std::uint8_t>(2, low); }
    if (holds<std::uint16_t>(low)) { return Offset::as<std::uint16_t>(1, low); }
  } else if constexpr (std::same_as<T, float>) {
    if (holds<std::uint8_t>(low)) { return Offset::as<std::uint8_t>(2, low); }
    if (holds<std::int16_t>(low)) { return Offset::as<std::int16_t>(1, low); }
  } else if constexpr (std::same_as<T, double>) {
    if (holds<std::int16_t>(low)) { return Offset::as<std::int16_t>(3, low); }
    if (holds<std::int32_t>(low)) { return Offset::as<std::int32_t>(2, low); }
    if (holds<float>(low)) { return Offset::as<float>(1, low); }
  }
  return Offset::as<T>(0, low);
}

// The packed steps begin with their width in bits, a flag for the table, and their number.
inline constexpr unsigned kTableFlag = 1U << 5;
[[nodiscard]] inline std::size_t stuffed_head_bytes(std::size_t count) noexcept { return count < 256 ? 2 : 3; }
[[nodiscard]] inline std::byte* put_stuffed_head(std::byte* to, std::size_t count, unsigned bits_and_flag) noexcept {
  bool const one_byte = count < 256;
  to = put_little(to, static_cast<std::uint8_t>(bits_and_flag | (one_byte ? 2U : 1U) << 6));
  return one_byte ? put_little(to, static_cast<std::uint8_t>(count))
                  : put_little(to, static_cast<std::uint16_t>(count));
}

// The values above zero that occur, in order, and for each sample the index of its value; zero has index 0.
struct Table {
  LercSteps values{};
  LercSteps places{};
  std::size_t count = 0;

  // Returns false as soon as the table and the indices are known to take at least `plain_bytes`.
  [[nodiscard]] bool fill(LercSteps const& steps, std::size_t step_count, unsigned bits,
                          std::size_t plain_bytes) noexcept;
  [[nodiscard]] unsigned place_bits() const noexcept { return static_cast<unsigned>(std::bit_width(count)); }
  // The size without the head that plain steps have too.
  [[nodiscard]] std::size_t bytes(std::size_t step_count, unsigned bits) const noexcept {
    return 1 + (count * bits + 7) / 8 + (step_count * place_bits() + 7) / 8;
  }
};

}  // namespace lerc

// Writes blocks of samples of type T. Holds memory that the blocks use in turn; for one thread.
template <class T, class Kernels>
class LercBlockWriter {
 public:
  using Work = LercWork<T>;

  explicit LercBlockWriter(LercRule const& rule) noexcept : rule_(rule) {}

  // Writes the block at column `column_px`, with its measured extent. `first_may_repeat`: a first sample of 0 counts as
  // a repeat, as in blobs without a mask.
  [[nodiscard]] std::byte* write(LercBlock<Work> const& block, LercExtent<Work> extent, std::size_t column_px,
                                 bool first_may_repeat, std::byte* to) noexcept {
    auto const check = static_cast<unsigned>(column_px >> 3 & 15) << 2;
    if (block.count == 0 || (extent.low == 0 && extent.high == 0)) {
      return put_little(to, static_cast<std::uint8_t>(check | lerc::kAllZero));
    }
    // Equal infinities have no difference. An overflow or NaN (infinity times 0) cannot be counted in steps.
    double const most =
        extent.low == extent.high
            ? 0
            : (static_cast<double>(extent.high) - static_cast<double>(extent.low)) * rule_.steps_per_unit;
    if (!(most <= kMostSteps)) { return write_raw(block, check, to); }
    lerc::Offset const offset = lerc::offset_of<T>(extent.low);
    if (auto const top = static_cast<std::uint32_t>(most + 0.5); top != 0) {
      auto const bits = static_cast<unsigned>(std::bit_width(top));
      bool const try_table = has_few_values(block, extent, first_may_repeat);
      std::byte* const end = write_steps(block, extent.low, bits, try_table, check, offset, to);
      return end != nullptr ? end : write_raw(block, check, to);
    }
    // A single raw sample is no longer.
    if (offset.bytes >= block.count * sizeof(T)) { return write_raw(block, check, to); }
    return put_offset(to, check | lerc::kAllEqual, offset);
  }

 private:
  static constexpr double kMostSteps = sizeof(T) < 4 ? (1 << 15) - 1 : (1 << 30) - 1;

  // Returns null if the raw samples take no more bytes.
  [[nodiscard]] std::byte* write_steps(LercBlock<Work> const& block, Work low, unsigned bits, bool try_table,
                                       unsigned check, lerc::Offset const& offset, std::byte* to) noexcept {
    std::size_t const head_bytes = offset.bytes + lerc::stuffed_head_bytes(block.count);
    std::size_t const plain_bytes = (block.count * bits + 7) / 8;
    std::size_t const raw_bytes = block.count * sizeof(T);
    if (!try_table && head_bytes + plain_bytes >= raw_bytes) { return nullptr; }
    if (rule_.units) {
      Kernels::count_units(block, low, steps_);
    } else {
      Kernels::quantise(block, low, rule_.steps_per_unit, steps_);
    }
    bool const tabled = try_table && table_.fill(steps_, block.count, bits, plain_bytes);
    if (head_bytes + (tabled ? table_.bytes(block.count, bits) : plain_bytes) >= raw_bytes) { return nullptr; }
    to = put_offset(to, check | lerc::kSteps, offset);
    if (!tabled) {
      to = lerc::put_stuffed_head(to, block.count, bits);
      return Kernels::stuff(steps_.data(), block.count, bits, to);
    }
    to = lerc::put_stuffed_head(to, block.count, bits | lerc::kTableFlag);
    to = put_little(to, static_cast<std::uint8_t>(table_.count + 1));
    to = Kernels::stuff(table_.values.data(), table_.count, bits, to);
    return Kernels::stuff(table_.places.data(), block.count, table_.place_bits(), to);
  }

  // True if the search for a table pays: at least half of the samples repeat the previous one.
  [[nodiscard]] bool has_few_values(LercBlock<Work> const& block, LercExtent<Work> const& extent,
                                    bool first_may_repeat) const noexcept {
    std::size_t const repeats = extent.repeats - (!first_may_repeat && block.samples()[0] == 0 ? 1 : 0);
    return block.count > 4 && 2 * repeats > block.count &&
           static_cast<double>(extent.high) > static_cast<double>(extent.low) + 3 * rule_.max_error;
  }

  [[nodiscard]] static std::byte* write_raw(LercBlock<Work> const& block, unsigned check, std::byte* to) noexcept {
    to = put_little(to, static_cast<std::uint8_t>(check | lerc::kRaw));
    for (std::size_t i = 0; i < block.count; ++i) { to = put_little(to, static_cast<T>(block.samples()[i])); }
    return to;
  }

  // Stores all bytes of the offset's memory; later data overwrite the surplus.
  [[nodiscard]] static std::byte* put_offset(std::byte* to, unsigned flags, lerc::Offset const& offset) noexcept {
    to = put_little(to, static_cast<std::uint8_t>(flags | offset.code << 6));
    static_cast<void>(put_little(to, offset.value));
    return to + offset.bytes;
  }

  LercRule rule_;
  LercSteps steps_{};
  lerc::Table table_{};
};

}  // namespace terrazzo::codec
