// SPDX-License-Identifier: Apache-2.0
#include "io/memory_sink.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "terrazzo/sink.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

namespace terrazzo::io {

namespace {

// Turns an exception of std::vector for lack of memory into an Error.
template <class Change>
void change_size(std::uint64_t size_bytes, std::string const& name, Change const& change) {
  try {
    change();
    return;
  } catch (std::bad_alloc const&) {
  } catch (std::length_error const&) {}
  throw Error(ErrorKind::limit, text("no memory for a file of ", size_bytes, " bytes; write to a path instead"),
              {.source = name});
}

}  // namespace

void MemorySink::open() {
  if (std::exchange(opened_, true)) {
    throw Error(ErrorKind::usage, "this sink has been used: one sink, one file", {.source = name_});
  }
}

void MemorySink::grow(std::uint64_t size_bytes) {
  if (size_bytes <= bytes_.size()) { return; }
  change_size(size_bytes, name_, [&] {
    // resize() alone grows to the exact size, so many small writes would copy all bytes each time.
    if (size_bytes > bytes_.capacity()) { bytes_.reserve(std::max<std::size_t>(size_bytes, bytes_.capacity() * 2)); }
    bytes_.resize(size_bytes);
  });
}

void MemorySink::write_at(std::uint64_t offset_bytes, std::span<std::byte const> bytes) {
  if (bytes.empty()) { return; }
  std::optional<std::uint64_t> const end = checked_add<std::uint64_t>(offset_bytes, bytes.size());
  if (!end) {
    throw Error(ErrorKind::usage, "write past the largest offset", {.source = name_, .offset = offset_bytes});
  }
  if (offset_bytes == bytes_.size()) {
    change_size(*end, name_, [&] { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); });
    return;
  }
  grow(*end);
  std::memcpy(bytes_.data() + offset_bytes, bytes.data(), bytes.size());
}

void MemorySink::read_at(std::uint64_t offset_bytes, std::span<std::byte> into) {
  if (!range_fits(offset_bytes, into.size(), bytes_.size())) {
    throw Error(ErrorKind::usage, "read past what was written", {.source = name_, .offset = offset_bytes});
  }
  if (!into.empty()) { std::memcpy(into.data(), bytes_.data() + offset_bytes, into.size()); }
}

bool MemorySink::insert_front(std::uint64_t bytes) {
  if (bytes_.empty()) { return true; }
  change_size(bytes_.size() + bytes, name_, [&] { bytes_.insert(bytes_.begin(), bytes, std::byte{}); });
  return true;
}

void MemorySink::publish(std::uint64_t size_bytes) {
  grow(size_bytes);
  bytes_.resize(size_bytes);
  *target_ = std::exchange(bytes_, {});
}

void MemorySink::discard() noexcept { bytes_ = {}; }

}  // namespace terrazzo::io

namespace terrazzo {

std::shared_ptr<ByteSink> memory_sink(std::vector<std::byte>& bytes) { return std::make_shared<io::MemorySink>(bytes); }

}  // namespace terrazzo
