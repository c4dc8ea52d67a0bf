// SPDX-License-Identifier: Apache-2.0
#include "tiff/directory_writer.hpp"

#include "base/byte_view.hpp"
#include "base/checked.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace terrazzo::tiff {
namespace {

constexpr std::uint64_t kClassicLimit = std::numeric_limits<std::uint32_t>::max();

template <class T>
void store(std::byte* to, std::type_identity_t<T> value, std::endian order = std::endian::little) noexcept {
  T const stored = std::endian::native == order ? value : byte_swapped<T>(value);
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

// Sizes of the parts of a directory in one of the two formats, and its byte order.
struct Format {
  std::endian order;
  std::uint64_t count_bytes, entry_bytes, word_bytes, alignment;

  explicit Format(bool bigtiff, std::endian byte_order = std::endian::little) noexcept
      : order(byte_order),
        count_bytes(bigtiff ? 8 : 2),
        entry_bytes(bigtiff ? 20 : 12),
        word_bytes(bigtiff ? 8 : 4),
        alignment(bigtiff ? 8 : 2) {}

  [[nodiscard]] bool is_inline(TagValue const& value) const noexcept { return value.bytes.size() <= word_bytes; }
  [[nodiscard]] std::uint64_t fixed_bytes(std::uint64_t entries) const noexcept {
    return count_bytes + entries * entry_bytes + word_bytes;
  }
  void store_word(std::byte* to, std::uint64_t value) const noexcept {
    if (word_bytes == 8) {
      store<std::uint64_t>(to, value, order);
    } else {
      store<std::uint32_t>(to, static_cast<std::uint32_t>(value), order);
    }
  }
};

// Throws for tags that a classic file cannot hold.
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

void TagSet::set_long(std::uint16_t tag, std::uint32_t value) { set_longs(tag, std::span(&value, 1)); }

void TagSet::set_longs(std::uint16_t tag, std::span<std::uint32_t const> values) {
  set(tag, value_of(FieldType::long_, values));
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
  set_longs(tag, narrow);
}

void TagSet::set_doubles(std::uint16_t tag, std::span<double const> values) {
  std::vector<std::uint64_t> bits;
  bits.reserve(values.size());
  for (double const value : values) { bits.push_back(std::bit_cast<std::uint64_t>(value)); }
  set(tag, value_of(FieldType::double_, std::span<std::uint64_t const>(bits)));
}

void TagSet::set_text(std::uint16_t tag, std::string_view text) {
  // A NUL would end the text for every reader, and hide the rest.
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

void swap_values(FieldType type, std::span<std::byte> values) noexcept {
  bool const ratio = type == FieldType::rational || type == FieldType::srational;  // two numbers
  std::size_t const unit = ratio ? 4 : field_type_bytes(static_cast<std::uint16_t>(type));
  for (std::size_t at = 0; unit > 1 && at + unit <= values.size(); at += unit) {
    std::ranges::reverse(values.subspan(at, unit));
  }
}

std::vector<std::byte> encode_header(bool bigtiff, std::uint64_t first_ifd_offset_bytes, std::endian order) {
  if (!bigtiff && first_ifd_offset_bytes > kClassicLimit) {
    throw Error(ErrorKind::limit, text("a directory at ", first_ifd_offset_bytes, " needs a BigTIFF file"));
  }
  std::vector<std::byte> bytes(header_bytes(bigtiff));
  bytes[0] = bytes[1] = order == std::endian::little ? std::byte{'I'} : std::byte{'M'};
  store<std::uint16_t>(&bytes[2], bigtiff ? 43 : 42, order);
  if (bigtiff) { store<std::uint16_t>(&bytes[4], 8, order); }  // bytes of an offset; two zero bytes follow
  Format const format(bigtiff, order);
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
                                        std::uint64_t next_offset_bytes, std::endian order) {
  Format const format(bigtiff, order);
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
    store<std::uint64_t>(bytes.data(), count, order);
  } else {
    store<std::uint16_t>(bytes.data(), static_cast<std::uint16_t>(count), order);
  }
  std::byte* entry = bytes.data() + format.count_bytes;
  std::uint64_t end = format.fixed_bytes(count);  // end of the bytes written so far, from the directory's first byte
  for (auto const& [tag, value] : tags.values()) {
    store<std::uint16_t>(entry, tag, order);
    store<std::uint16_t>(entry + 2, static_cast<std::uint16_t>(value.type), order);
    format.store_word(entry + 4, value.count);
    std::byte* place = entry + 4 + format.word_bytes;
    if (!format.is_inline(value)) {
      end = round_up(end, 2);
      format.store_word(place, offset_bytes + end);
      place = bytes.data() + end;
      end += value.bytes.size();
    }
    std::memcpy(place, value.bytes.data(), value.bytes.size());
    if (order != std::endian::little) { swap_values(value.type, {place, value.bytes.size()}); }
    entry += format.entry_bytes;
  }
  format.store_word(entry, next_offset_bytes);
  return bytes;
}

std::uint64_t chain_bytes(std::span<TagSet const> directories, bool bigtiff) {
  std::uint64_t bytes = 0;
  for (TagSet const& tags : directories) { bytes += directory_bytes(tags, bigtiff); }
  return bytes;
}

std::vector<std::byte> encode_chain(std::span<TagSet const> directories, bool bigtiff, std::uint64_t offset_bytes,
                                    std::endian order) {
  std::vector<std::byte> chain;
  for (TagSet const& tags : directories) {
    std::uint64_t const at = offset_bytes + chain.size();
    std::uint64_t const next = &tags == &directories.back() ? 0 : at + directory_bytes(tags, bigtiff);
    std::vector<std::byte> const directory = encode_directory(tags, bigtiff, at, next, order);
    chain.insert(chain.end(), directory.begin(), directory.end());
  }
  return chain;
}

}  // namespace terrazzo::tiff
