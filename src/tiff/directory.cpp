// SPDX-License-Identifier: Apache-2.0
#include "tiff/directory.hpp"

#include "base/byte_view.hpp"
#include "base/checked.hpp"
#include "base/memory_budget.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"
#include "tiff/foreign_format.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace terrazzo::tiff {

namespace {

// Sizes of the parts of a directory, TIFF 6.0 section 2 and the BigTIFF design.
struct Stride {
  std::size_t count_bytes, entry_bytes, word_bytes;
};
constexpr Stride kClassic{2, 12, 4};
constexpr Stride kBig{8, 20, 8};

// The limit of a classic directory; a BigTIFF directory that declares more is broken.
constexpr std::uint64_t kMaxEntries = 65535;

// Larger values are not metadata: a sparse file could use them to force large allocations.
constexpr std::uint64_t kMaxValueBytes = std::uint64_t{1} << 28;

// Directories do not share bytes, so their total is at most the file size. Without this check a file of 1 MiB could
// chain thousands of overlapping directories of 65,535 entries each.
class DirectoryAllowance {
 public:
  explicit DirectoryAllowance(std::uint64_t file_bytes) : left_bytes_(std::min(file_bytes, kMaxBytes)) {}
  // Returns false if the allowance is used up.
  [[nodiscard]] bool take(Directory const& directory) {
    std::uint64_t const bytes = directory.entries().size() * (directory.header().big ? kBig : kClassic).entry_bytes;
    if (bytes > left_bytes_) { return false; }
    left_bytes_ -= bytes;
    return true;
  }

 private:
  static constexpr std::uint64_t kMaxBytes = std::uint64_t{64} << 20;  // 5 million entries
  std::uint64_t left_bytes_;
};

std::uint64_t word_at(ByteView const& view, std::size_t offset, bool big) {
  return big ? *view.get<std::uint64_t>(offset) : *view.get<std::uint32_t>(offset);
}

Entry parse_entry(ByteView const& raw, Header const& header, std::uint64_t at_bytes) {
  Stride const& stride = header.big ? kBig : kClassic;
  Entry entry;
  entry.tag = *raw.get<std::uint16_t>(0);
  entry.type = *raw.get<std::uint16_t>(2);
  entry.count = word_at(raw, 4, header.big);
  std::size_t const value_at = 4 + stride.word_bytes;
  entry.value_bytes = checked_product(entry.count, field_type_bytes(entry.type)).value_or(0);
  entry.value_offset_bytes =
      entry.value_bytes <= stride.word_bytes ? at_bytes + value_at : word_at(raw, value_at, header.big);
  return entry;
}

bool is_signed_type(std::uint16_t type) noexcept {
  switch (static_cast<FieldType>(type)) {
    case FieldType::sbyte:
    case FieldType::sshort:
    case FieldType::slong:
    case FieldType::slong8: return true;
    default: return false;
  }
}

std::int64_t signed_at(std::byte const* p, std::size_t bytes, std::endian order) {
  switch (bytes) {
    case 1: return static_cast<std::int8_t>(load<std::uint8_t>(p, order));
    case 2: return static_cast<std::int16_t>(load<std::uint16_t>(p, order));
    case 4: return static_cast<std::int32_t>(load<std::uint32_t>(p, order));
    default: return static_cast<std::int64_t>(load<std::uint64_t>(p, order));
  }
}

double real_at(std::byte const* p, std::uint16_t type, std::endian order) {
  std::size_t const bytes = field_type_bytes(type);
  switch (static_cast<FieldType>(type)) {
    case FieldType::float_: return std::bit_cast<float>(load<std::uint32_t>(p, order));
    case FieldType::double_: return std::bit_cast<double>(load<std::uint64_t>(p, order));
    case FieldType::rational: {
      double const denominator = load<std::uint32_t>(p + 4, order);
      return denominator == 0 ? 0 : load<std::uint32_t>(p, order) / denominator;  // 0, as in libtiff
    }
    case FieldType::srational: {
      double const denominator = static_cast<std::int32_t>(load<std::uint32_t>(p + 4, order));
      return denominator == 0 ? 0 : static_cast<std::int32_t>(load<std::uint32_t>(p, order)) / denominator;
    }
    default:
      return is_signed_type(type) ? static_cast<double>(signed_at(p, bytes, order))
                                  : static_cast<double>(unsigned_at(p, bytes, order));
  }
}

bool is_real_type(std::uint16_t type) noexcept {
  auto const t = static_cast<FieldType>(type);
  return is_unsigned_type(type) || is_signed_type(type) || t == FieldType::float_ || t == FieldType::double_ ||
         t == FieldType::rational || t == FieldType::srational;
}

}  // namespace

std::uint64_t unsigned_at(std::byte const* p, std::size_t bytes, std::endian order) noexcept {
  switch (bytes) {
    case 1: return load<std::uint8_t>(p, order);
    case 2: return load<std::uint16_t>(p, order);
    case 4: return load<std::uint32_t>(p, order);
    default: return load<std::uint64_t>(p, order);
  }
}

Directory::Directory(std::shared_ptr<MetadataReader const> reader, Header header, std::uint32_t index,
                     std::uint64_t offset_bytes, std::vector<Entry> entries, std::uint64_t next_bytes)
    : reader_(std::move(reader)),
      header_(header),
      index_(index),
      offset_bytes_(offset_bytes),
      entries_(std::move(entries)),
      next_bytes_(next_bytes) {}

Entry const* Directory::find(std::uint16_t tag) const noexcept {
  auto const found = std::ranges::find(entries_, tag, &Entry::tag);
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<std::byte> Directory::raw(Entry const& entry, std::uint64_t first, std::uint64_t count) const {
  std::size_t const item_bytes = field_type_bytes(entry.type);
  if (item_bytes == 0 || first >= entry.count) { return {}; }
  count = std::min(count, entry.count - first);
  std::uint64_t const offset = entry.value_offset_bytes + first * item_bytes;
  // entry.value_bytes did not overflow, so neither do these products; the sum may.
  if (entry.value_bytes == 0 || offset < entry.value_offset_bytes || count * item_bytes > kMaxValueBytes ||
      !range_fits(offset, count * item_bytes, reader_->size_bytes())) {
    return {};
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * item_bytes));
  reader_->read(offset, bytes);
  return bytes;
}

std::optional<std::uint64_t> Directory::unsigned_value(std::uint16_t tag, std::uint64_t index) const {
  Entry const* const entry = find(tag);
  if (entry == nullptr || !(is_unsigned_type(entry->type) || is_signed_type(entry->type))) { return std::nullopt; }
  std::vector<std::byte> const bytes = raw(*entry, index, 1);
  if (bytes.empty()) { return std::nullopt; }
  if (is_signed_type(entry->type)) {
    std::int64_t const value = signed_at(bytes.data(), bytes.size(), header_.order);
    return value < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(value));
  }
  return unsigned_at(bytes.data(), bytes.size(), header_.order);
}

std::vector<std::uint64_t> Directory::unsigned_values(std::uint16_t tag, std::uint64_t max_count) const {
  Entry const* const entry = find(tag);
  if (entry == nullptr || !is_unsigned_type(entry->type)) { return {}; }
  std::vector<std::byte> const bytes = raw(*entry, 0, max_count);
  std::size_t const item_bytes = field_type_bytes(entry->type);
  std::vector<std::uint64_t> values(bytes.size() / item_bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = unsigned_at(bytes.data() + i * item_bytes, item_bytes, header_.order);
  }
  return values;
}

std::optional<double> Directory::real_value(std::uint16_t tag, std::uint64_t index) const {
  Entry const* const entry = find(tag);
  if (entry == nullptr || !is_real_type(entry->type)) { return std::nullopt; }
  std::vector<std::byte> const bytes = raw(*entry, index, 1);
  if (bytes.empty()) { return std::nullopt; }
  return real_at(bytes.data(), entry->type, header_.order);
}

std::vector<double> Directory::real_values(std::uint16_t tag, std::uint64_t max_count) const {
  Entry const* const entry = find(tag);
  if (entry == nullptr || !is_real_type(entry->type)) { return {}; }
  std::vector<std::byte> const bytes = raw(*entry, 0, max_count);
  std::size_t const item_bytes = field_type_bytes(entry->type);
  std::vector<double> values(bytes.size() / item_bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = real_at(bytes.data() + i * item_bytes, entry->type, header_.order);
  }
  return values;
}

std::optional<std::string> Directory::text_value(std::uint16_t tag) const {
  Entry const* const entry = find(tag);
  if (entry == nullptr || field_type_bytes(entry->type) != 1) { return std::nullopt; }
  std::vector<std::byte> const bytes = raw(*entry, 0, entry->count);
  if (bytes.empty()) { return std::nullopt; }
  auto const end = std::ranges::find(bytes, std::byte{});
  return std::string(reinterpret_cast<char const*>(bytes.data()), static_cast<std::size_t>(end - bytes.begin()));
}

std::vector<std::byte> Directory::bytes_value(std::uint16_t tag) const {
  Entry const* const entry = find(tag);
  return entry == nullptr ? std::vector<std::byte>{} : raw(*entry, 0, entry->count);
}

Header read_header(MetadataReader const& reader) {
  std::array<std::byte, 16> bytes{};
  std::size_t const got = reader.read_some(0, bytes);
  auto const refuse = [&](std::string message) -> void {
    throw Error(ErrorKind::malformed, std::move(message), {.source = reader.source()->name(), .offset = 0});
  };
  if (got < 8) { refuse(text("not a TIFF file: ", reader.size_bytes(), " bytes are too few for a header")); }
  Header header;
  if (bytes[0] == std::byte{'I'} && bytes[1] == std::byte{'I'}) {
    header.order = std::endian::little;
  } else if (bytes[0] == std::byte{'M'} && bytes[1] == std::byte{'M'}) {
    header.order = std::endian::big;
  } else {
    std::string_view const format = foreign_format(std::span(bytes).first(got));
    refuse(format.empty() ? std::string("not a TIFF file: it does not begin with II or MM")
                          : text("not a TIFF file: it begins like ", format));
  }
  ByteView const view({bytes.data(), got}, header.order);
  std::uint16_t const magic = *view.get<std::uint16_t>(2);
  if (magic == 42) {
    header.first_ifd_bytes = *view.get<std::uint32_t>(4);
  } else if (magic == 43) {
    header.big = true;
    if (got < 16 || *view.get<std::uint16_t>(4) != 8 || *view.get<std::uint16_t>(6) != 0) {
      refuse("not a BigTIFF file: its offsets are not declared as 8 bytes");
    }
    header.first_ifd_bytes = *view.get<std::uint64_t>(8);
  } else {
    refuse(text("not a TIFF file: its number is ", magic, ", not 42 or 43"));
  }
  return header;
}

Directory read_directory(std::shared_ptr<MetadataReader const> reader, Header const& header, std::uint64_t offset_bytes,
                         std::uint32_t index) {
  Stride const& stride = header.big ? kBig : kClassic;
  auto const refuse = [&](std::string message) -> void {
    throw Error(ErrorKind::malformed, std::move(message),
                {.source = reader->source()->name(), .ifd = index, .offset = offset_bytes});
  };
  std::array<std::byte, 8> raw_count{};
  if (!range_fits(offset_bytes, stride.count_bytes, reader->size_bytes())) {
    refuse("the directory lies outside the file");
  }
  reader->read(offset_bytes, std::span(raw_count).first(stride.count_bytes));
  ByteView const count_view(raw_count, header.order);
  std::uint64_t const count = header.big ? *count_view.get<std::uint64_t>(0) : *count_view.get<std::uint16_t>(0);
  if (count == 0 || count > kMaxEntries) { refuse(text("a directory of ", count, " entries")); }
  std::uint64_t const entries_at = offset_bytes + stride.count_bytes;
  std::uint64_t const entries_bytes = count * stride.entry_bytes;
  if (!range_fits(entries_at, entries_bytes, reader->size_bytes())) {
    refuse(text("a directory of ", count, " entries reaches past the end of the file"));
  }
  std::vector<std::byte> bytes(static_cast<std::size_t>(entries_bytes));
  reader->read(entries_at, bytes);
  ByteView const view(bytes, header.order);
  std::vector<Entry> entries;
  entries.reserve(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t const at = i * stride.entry_bytes;
    entries.push_back(parse_entry(view.sub(at, stride.entry_bytes), header, entries_at + at));
  }
  // The link may be missing at the end of the file: then this is the last directory.
  std::array<std::byte, 8> raw_next{};
  std::uint64_t next = 0;
  if (reader->read_some(entries_at + entries_bytes, std::span(raw_next).first(stride.word_bytes)) ==
      stride.word_bytes) {
    next = word_at(ByteView(raw_next, header.order), 0, header.big);
  }
  return Directory(std::move(reader), header, index, offset_bytes, std::move(entries), next);
}

namespace {

Chain read_chain(ByteSourcePtr source, std::uint32_t max_directories, MemoryBudget* budget) {
  auto const reader = std::make_shared<MetadataReader const>(std::move(source));
  Chain chain;
  chain.header = read_header(*reader);
  std::unordered_set<std::uint64_t> visited;
  DirectoryAllowance allowance(reader->size_bytes());
  std::uint64_t next = chain.header.first_ifd_bytes;
  if (next == 0) {
    throw Error(ErrorKind::malformed, "the file has no directory", {.source = reader->source()->name()});
  }
  while (next != 0) {
    auto const index = static_cast<std::uint32_t>(chain.directories.size());
    if (index >= max_directories) {
      chain.warnings.push_back(text("more than ", max_directories, " directories: the rest is left out"));
      break;
    }
    if (!visited.insert(next).second) {
      chain.warnings.push_back(text("the chain of directories loops back to byte ", next, " after IFD ", index - 1));
      break;
    }
    try {
      Directory directory = read_directory(reader, chain.header, next, index);
      if (!allowance.take(directory)) {
        chain.warnings.push_back(
            text("the directories overlap, or are too many: IFD ", index, " and the rest are left out"));
        break;
      }
      if (budget != nullptr) { budget->charge(held_bytes(directory), "the directories"); }
      chain.directories.push_back(std::move(directory));
    } catch (Error const& error) {
      if (index == 0 || error.kind() != ErrorKind::malformed) { throw; }
      chain.warnings.push_back(text("the chain of directories ends at a broken one: ", error.what()));
      break;
    }
    next = chain.directories.back().next_bytes();
  }
  return chain;
}

}  // namespace

Chain read_chain(ByteSourcePtr source, std::uint32_t max_directories) {
  return read_chain(std::move(source), max_directories, nullptr);
}

Chain read_chain(ByteSourcePtr source, MemoryBudget& budget) {
  return read_chain(std::move(source), kMaxDirectories, &budget);
}

std::uint64_t held_bytes(Directory const& directory) noexcept {
  return sizeof(Directory) + directory.entries().size() * sizeof(Entry);
}

std::vector<Directory> read_sub_directories(Directory const& parent) {
  constexpr std::uint64_t kMaxSubDirectories = 1024;
  std::vector<Directory> found;
  DirectoryAllowance allowance(parent.reader().size_bytes());
  for (std::uint64_t const offset : parent.unsigned_values(tag::SubIFDs, kMaxSubDirectories)) {
    if (offset == 0 || offset == parent.offset_bytes()) { continue; }
    try {
      Directory directory = read_directory(parent.reader_ptr(), parent.header(), offset, parent.index());
      if (!allowance.take(directory)) { break; }
      found.push_back(std::move(directory));
    } catch (Error const& error) {
      if (error.kind() != ErrorKind::malformed) { throw; }
    }
  }
  return found;
}

}  // namespace terrazzo::tiff
