// SPDX-License-Identifier: Apache-2.0
//
// Header, image file directories (IFDs) and tag values: classic and BigTIFF, both byte orders.
//
// Every entry is parsed at a fixed stride, so a bad entry cannot disturb the next. Unknown and repeated tags are kept
// (a look-up finds the first). Values are read on demand, at most up to the file size and 256 MiB.
// A Directory is immutable and thread-safe.
#pragma once

#include "terrazzo/source.hpp"
#include "tiff/format.hpp"
#include "tiff/metadata_reader.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace terrazzo {
class MemoryBudget;
}

namespace terrazzo::tiff {

struct Header {
  std::endian order = std::endian::little;
  bool big = false;                    // BigTIFF: 8-byte offsets and counts, 20-byte entries
  std::uint64_t first_ifd_bytes = 0;   // offset of the first directory; 0 if there is none
};

struct Entry {
  std::uint16_t tag = 0;
  std::uint16_t type = 0;              // FieldType, or an unknown number
  std::uint64_t count = 0;
  std::uint64_t value_offset_bytes = 0;  // absolute, also if the value is inside the entry
  std::uint64_t value_bytes = 0;         // count * size of the type; 0 if unknown or too large
};

// An unsigned number of 1, 2, 4 or 8 bytes in the file's byte order.
[[nodiscard]] std::uint64_t unsigned_at(std::byte const* p, std::size_t bytes, std::endian order) noexcept;

class Directory {
 public:
  Directory(std::shared_ptr<MetadataReader const> reader, Header header, std::uint32_t index,
            std::uint64_t offset_bytes, std::vector<Entry> entries, std::uint64_t next_bytes);

  [[nodiscard]] Header const& header() const noexcept { return header_; }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }                // in the order of discovery
  [[nodiscard]] std::uint64_t offset_bytes() const noexcept { return offset_bytes_; }
  [[nodiscard]] std::uint64_t next_bytes() const noexcept { return next_bytes_; }      // 0: the last
  [[nodiscard]] std::span<Entry const> entries() const noexcept { return entries_; }
  [[nodiscard]] MetadataReader const& reader() const noexcept { return *reader_; }
  [[nodiscard]] std::shared_ptr<MetadataReader const> const& reader_ptr() const noexcept { return reader_; }

  // The first entry of the tag, or null.
  [[nodiscard]] Entry const* find(std::uint16_t tag) const noexcept;
  [[nodiscard]] bool has(std::uint16_t tag) const noexcept { return find(tag) != nullptr; }

  // Values by tag. Absent, empty, of a wrong type, or outside the file: nullopt / an empty vector, as GDAL
  // ignores such tags; the caller decides whether it needs them. Arrays are cut at `max_count`.
  [[nodiscard]] std::optional<std::uint64_t> unsigned_value(std::uint16_t tag, std::uint64_t index = 0) const;
  [[nodiscard]] std::vector<std::uint64_t> unsigned_values(std::uint16_t tag, std::uint64_t max_count) const;
  [[nodiscard]] std::optional<double> real_value(std::uint16_t tag, std::uint64_t index = 0) const;
  [[nodiscard]] std::vector<double> real_values(std::uint16_t tag, std::uint64_t max_count) const;  // any numeric type
  [[nodiscard]] std::optional<std::string> text_value(std::uint16_t tag) const;  // cut at the first NUL
  [[nodiscard]] std::vector<std::byte> bytes_value(std::uint16_t tag) const;  // raw, in the file's byte order

 private:
  [[nodiscard]] std::vector<std::byte> raw(Entry const& entry, std::uint64_t first, std::uint64_t count) const;

  std::shared_ptr<MetadataReader const> reader_;
  Header header_;
  std::uint32_t index_;
  std::uint64_t offset_bytes_;
  std::vector<Entry> entries_;
  std::uint64_t next_bytes_;
};

// Throws `malformed` if the bytes are not a TIFF header.
[[nodiscard]] Header read_header(MetadataReader const& reader);

// One directory at a known offset. Throws `malformed` if it lies outside the file.
[[nodiscard]] Directory read_directory(std::shared_ptr<MetadataReader const> reader, Header const& header,
                                       std::uint64_t offset_bytes, std::uint32_t index);

struct Chain {
  Header header;
  std::vector<Directory> directories;  // the chain of directories, in order
  std::vector<std::string> warnings;  // set if a loop or a broken link ended the chain
};

// The whole chain. The first directory must be readable; a loop, a bad link or more than `max_directories` ends the
// chain with a warning, as GDAL does.
inline constexpr std::uint32_t kMaxDirectories = 65536;
[[nodiscard]] Chain read_chain(ByteSourcePtr source, std::uint32_t max_directories = kMaxDirectories);
// As above, and charges the memory of the entries to the budget: throws `limit` if it is exceeded.
[[nodiscard]] Chain read_chain(ByteSourcePtr source, MemoryBudget& budget);

// Memory of a directory in bytes, without values.
[[nodiscard]] std::uint64_t held_bytes(Directory const& directory) noexcept;

// The directories in the SubIFDs tag of `parent` (without their own children). Broken ones are skipped.
[[nodiscard]] std::vector<Directory> read_sub_directories(Directory const& parent);

}  // namespace terrazzo::tiff
