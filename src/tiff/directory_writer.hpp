// SPDX-License-Identifier: Apache-2.0
//
// Directories (IFDs) as bytes: classic and BigTIFF, in either byte order; new files are little-endian. The caller
// decides the offsets of a directory and of its arrays.
#pragma once

#include "tiff/format.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace terrazzo::tiff {

// One tag with its values, little-endian for any byte order of the file.
struct TagValue {
  FieldType type = FieldType::byte_;
  std::uint64_t count = 0;
  std::vector<std::byte> bytes{};
};

// Swaps the byte order of values of that type, in place. UNDEFINED bytes stay.
void swap_values(FieldType type, std::span<std::byte> values) noexcept;

// The tags of one directory, sorted by number as the format requires.
class TagSet {
 public:
  void set_short(std::uint16_t tag, std::uint16_t value);
  void set_shorts(std::uint16_t tag, std::span<std::uint16_t const> values);
  void set_long(std::uint16_t tag, std::uint32_t value);
  void set_longs(std::uint16_t tag, std::span<std::uint32_t const> values);
  // LONG in classic files, LONG8 in BigTIFF.
  void set_offsets(std::uint16_t tag, std::span<std::uint64_t const> values, bool bigtiff);
  void set_doubles(std::uint16_t tag, std::span<double const> values);
  void set_text(std::uint16_t tag, std::string_view text);  // ASCII, NUL added; UTF-8 passes
  void set_bytes(std::uint16_t tag, FieldType type, std::span<std::byte const> bytes);  // BYTE or UNDEFINED
  void set(std::uint16_t tag, TagValue value);
  void erase(std::uint16_t tag) { values_.erase(tag); }
  [[nodiscard]] bool has(std::uint16_t tag) const { return values_.contains(tag); }
  [[nodiscard]] TagValue const* find(std::uint16_t tag) const;
  [[nodiscard]] std::map<std::uint16_t, TagValue> const& values() const noexcept { return values_; }

 private:
  std::map<std::uint16_t, TagValue> values_;
};

inline constexpr std::size_t header_bytes(bool bigtiff) noexcept { return bigtiff ? 16 : 8; }
[[nodiscard]] std::vector<std::byte> encode_header(bool bigtiff, std::uint64_t first_ifd_offset_bytes,
                                                   std::endian order = std::endian::little);

// Size of the directory and of the values that do not fit its entries. The values follow the directory, each at an even
// offset. A multiple of 2 (classic) or 8 (BigTIFF).
[[nodiscard]] std::uint64_t directory_bytes(TagSet const& tags, bool bigtiff);

// The bytes of a directory at `offset_bytes` (even, also in BigTIFF, as in GDAL) whose successor is at
// `next_offset_bytes` (0: none). Throws `limit` if an offset does not fit a classic file.
[[nodiscard]] std::vector<std::byte> encode_directory(TagSet const& tags, bool bigtiff, std::uint64_t offset_bytes,
                                                      std::uint64_t next_offset_bytes,
                                                      std::endian order = std::endian::little);

// Consecutive directories, each linked to the next; the last has no successor.
[[nodiscard]] std::uint64_t chain_bytes(std::span<TagSet const> directories, bool bigtiff);
[[nodiscard]] std::vector<std::byte> encode_chain(std::span<TagSet const> directories, bool bigtiff,
                                                  std::uint64_t offset_bytes, std::endian order = std::endian::little);

}  // namespace terrazzo::tiff
