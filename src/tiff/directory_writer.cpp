// SPDX-License-Identifier: Apache-2.0
#include "tiff/directory_writer.hpp"

#include "base/byte_view.hpp"
#include "base/checked.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace terrazzo::tiff {
namespace {

constexpr std::uint64_t kClassicLimit = std::numeric_limits<std::uint32_t>::max();

template <class T>
T little_endian(T value) noexcept {
  return std::endian::native == std::endian::little ? value : byte_swapped(value);
}

template <class T>
void store(std::byte* to, std::type_identity_t<T> value) noexcept {
  T const stored = little_endian(value);
  std::memcpy(to, &stored, sizeof(T));
}

template <class T>
TagValue value_of(FieldType type, std::span<T const> values) {
  TagValue value{type, values.size(), std::vector<std::byte>(values.size_bytes())};
  for (std::size_t i = 0; i < values.size(); ++i) { store<T>(value.bytes.data() + i * sizeof(T), values[i]); }
  return value;
}

[[noreturn]] void fail(ErrorKind kind, std::string message, std::uint16_t tag) {
  Where where;
  where.tag = tag;
  throw Error(kind, std::move(message), std::move(where));
}

bool is_bigtiff_type(FieldType type) noexcept {
  return type == FieldType::long8 || type == FieldType::slong8 || type == FieldType::ifd8;
}

// Sizes of the parts of a directory in one of the two formats.
struct Format {
  std::uint64_t count_bytes, entry_bytes, word_bytes, alignment;

  explicit Format(bool bigtiff) noexcept
      : count_bytes(bigtiff ? 8 : 2),
        entry_bytes(bigtiff ? 20 : 12),
        word_bytes(bigtiff ? 8 : 4),
        alignment(bigtiff ? 8 : 2) {}

  [[nodiscard]] bool is_inline(TagValue const& value) const noexcept { return value.bytes.size() <= word_bytes; }
  [[nodiscard]] std::uint64_t fixed_bytes(std::uint64_t entries) const noexcept {
    return count_bytes + entries * entry_bytes + word_bytes;
  }
  void store_word(std::byte* to, std::uint64_t value) const noexcept {
    if (word_bytes == 8) {
      store<std::uint64_t>(to, value);
    } else {
      store<std::uint32_t>(to, static_cast<std::uint32_t>(value));
    }
  }
};

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

// What a classic file cannot say.
void check_classic(TagSet const& tags) {
  if (tags.values().size() > std::numeric_limits<std::uint16_t>::max()) {
    throw Error(ErrorKind::limit, "a directory of a classic TIFF file holds at most 65535 tags");
  }
  for (auto const& [tag, value] : tags.values()) {
    if (is_bigtiff_type(value.type)) { fail(ErrorKind::usage, "64-bit values need a BigTIFF file", tag); }
    if (value.count > kClassicLimit) { fail(ErrorKind::limit, "too many values for a classic TIFF file", tag); }
  }
}

}  // namespace

void TagSet::set_short(std::uint16_t tag, std::uint16_t value) { set_shorts(tag, std::span(&value, 1)); }

void TagSet::set_shorts(std::uint16_t tag, std::span<std::uint16_t const> values) {
  set(tag, value_of(FieldType::short_, values));
}

void TagSet::set_long(std::uint16_t tag, std::uint32_t value) {
  set(tag, value_of(FieldType::long_, std::span<std::uint32_t const>(&value, 1)));
}

void TagSet::set_offsets(std::uint16_t tag, std::span<std::uint64_t const> values, bool bigtiff) {
  if (bigtiff) {
    set(tag, value_of(FieldType::long8, values));
    return;
  }
  std::vector<std::uint32_t> narrow;
  narrow.reserve(values.size());
  for (std::uint64_t const value : values) {
    if (value > kClassicLimit) { fail(ErrorKind::limit, text("offset ", value, " needs a BigTIFF file"), tag); }
    narrow.push_back(static_cast<std::uint32_t>(value));
  }
  set(tag, value_of(FieldType::long_, std::span<std::uint32_t const>(narrow)));
}

void TagSet::set_doubles(std::uint16_t tag, std::span<double const> values) {
  std::vector<std::uint64_t> bits;
  bits.reserve(values.size());
  for (double const value : values) { bits.push_back(std::bit_cast<std::uint64_t>(value)); }
  set(tag, value_of(FieldType::double_, std::span<std::uint64_t const>(bits)));
}

void TagSet::set_text(std::uint16_t tag, std::string_view text) {
  // A NUL would end the text for every reader, and hide what follows.
  std::string_view const whole = text.substr(0, text.find('\0'));
  TagValue value{FieldType::ascii, whole.size() + 1, std::vector<std::byte>(whole.size() + 1)};
  std::memcpy(value.bytes.data(), whole.data(), whole.size());
  set(tag, std::move(value));
}

void TagSet::set_bytes(std::uint16_t tag, FieldType type, std::span<std::byte const> bytes) {
  set(tag, TagValue{type, bytes.size(), {bytes.begin(), bytes.end()}});
}

void TagSet::set(std::uint16_t tag, TagValue value) {
  std::size_t const unit = field_type_bytes(static_cast<std::uint16_t>(value.type));
  if (unit == 0) { fail(ErrorKind::usage, text("field type ", static_cast<int>(value.type), " is unknown"), tag); }
  if (value.count == 0) { fail(ErrorKind::usage, "a tag has at least one value", tag); }
  if (checked_product(value.count, unit) != value.bytes.size()) {
    fail(ErrorKind::usage,
         text(value.count, " values of ", unit, " bytes were announced, ", value.bytes.size(), " bytes given"), tag);
  }
  values_.insert_or_assign(tag, std::move(value));
}

TagValue const* TagSet::find(std::uint16_t tag) const {
  auto const found = values_.find(tag);
  return found == values_.end() ? nullptr : &found->second;
}

std::vector<std::byte> encode_header(bool bigtiff, std::uint64_t first_ifd_offset_bytes) {
  if (!bigtiff && first_ifd_offset_bytes > kClassicLimit) {
    throw Error(ErrorKind::limit, text("a directory at ", first_ifd_offset_bytes, " needs a BigTIFF file"));
  }
  std::vector<std::byte> bytes(header_bytes(bigtiff));
  bytes[0] = bytes[1] = std::byte{'I'};
  store<std::uint16_t>(&bytes[2], bigtiff ? 43 : 42);
  if (bigtiff) { store<std::uint16_t>(&bytes[4], 8); }  // bytes of an offset; two zero bytes follow
  Format const format(bigtiff);
  format.store_word(bytes.data() + bytes.size() - format.word_bytes, first_ifd_offset_bytes);
  return bytes;
}

std::uint64_t directory_bytes(TagSet const& tags, bool bigtiff) {
  Format const format(bigtiff);
  std::uint64_t size = format.fixed_bytes(tags.values().size());
  for (auto const& [tag, value] : tags.values()) {
    if (!format.is_inline(value)) { size = round_up(size, 2) + value.bytes.size(); }
  }
  return round_up(size, format.alignment);
}

std::vector<std::byte> encode_directory(TagSet const& tags, bool bigtiff, std::uint64_t offset_bytes,
                                        std::uint64_t next_offset_bytes) {
  Format const format(bigtiff);
  if (offset_bytes % 2 != 0 || next_offset_bytes % 2 != 0) {
    throw Error(ErrorKind::usage, text("no directory may lie at ", offset_bytes, " or ", next_offset_bytes));
  }
  if (tags.values().empty()) { throw Error(ErrorKind::usage, "a directory has at least one tag"); }
  std::uint64_t const size = directory_bytes(tags, bigtiff);
  if (!bigtiff) {
    check_classic(tags);
    if (offset_bytes > kClassicLimit || size > kClassicLimit - offset_bytes || next_offset_bytes > kClassicLimit) {
      throw Error(ErrorKind::limit, "a directory past 4 GiB needs a BigTIFF file");
    }
  }

  std::vector<std::byte> bytes(size);
  std::uint64_t const count = tags.values().size();
  if (bigtiff) {
    store<std::uint64_t>(bytes.data(), count);
  } else {
    store<std::uint16_t>(bytes.data(), static_cast<std::uint16_t>(count));
  }
  std::byte* entry = bytes.data() + format.count_bytes;
  std::uint64_t end = format.fixed_bytes(count);  // of what was written so far, from the directory's first byte
  for (auto const& [tag, value] : tags.values()) {
    store<std::uint16_t>(entry, tag);
    store<std::uint16_t>(entry + 2, static_cast<std::uint16_t>(value.type));
    format.store_word(entry + 4, value.count);
    std::byte* place = entry + 4 + format.word_bytes;
    if (!format.is_inline(value)) {
      end = round_up(end, 2);
      format.store_word(place, offset_bytes + end);
      place = bytes.data() + end;
      end += value.bytes.size();
    }
    std::memcpy(place, value.bytes.data(), value.bytes.size());
    entry += format.entry_bytes;
  }
  format.store_word(entry, next_offset_bytes);
  return bytes;
}

}  // namespace terrazzo::tiff
