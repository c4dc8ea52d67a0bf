// SPDX-License-Identifier: Apache-2.0
#include "tiff/metadata_reader.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace terrazzo::tiff {

namespace {
// A value of this size (a long XMP packet, an ICC profile) bypasses the cache: it would only evict pages.
constexpr std::size_t kUncachedBytes = 64 * 1024;
}  // namespace

MetadataReader::MetadataReader(ByteSourcePtr source)
    : source_(std::move(source)),
      size_bytes_(source_->size_bytes()),
      read_ahead_bytes_(static_cast<std::size_t>(
          round_up(std::min<std::uint64_t>(source_->hints().read_ahead_bytes, kMaxReadAheadBytes), kPageBytes))) {}

void MetadataReader::read(std::uint64_t offset_bytes, std::span<std::byte> into) const {
  if (!range_fits(offset_bytes, into.size(), size_bytes_)) {
    throw Error(ErrorKind::malformed, text(into.size(), " bytes are expected here and the file ends at ", size_bytes_),
                {.source = source_->name(), .offset = offset_bytes});
  }
  if (into.size() >= kUncachedBytes) {
    source_->read(offset_bytes, into);
    return;
  }
  std::lock_guard const lock(mutex_);
  while (!into.empty()) {
    std::uint64_t const index = offset_bytes / kPageBytes;
    std::size_t const skip = static_cast<std::size_t>(offset_bytes % kPageBytes);
    Page const& bytes = page(index);
    std::size_t const count = std::min(into.size(), bytes.size() - skip);
    std::memcpy(into.data(), bytes.data() + skip, count);
    into = into.subspan(count);
    offset_bytes += count;
  }
}

std::size_t MetadataReader::read_some(std::uint64_t offset_bytes, std::span<std::byte> into) const {
  if (offset_bytes >= size_bytes_) { return 0; }
  std::size_t const count = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_bytes_ - offset_bytes));
  read(offset_bytes, into.first(count));
  return count;
}

MetadataReader::Page const& MetadataReader::page(std::uint64_t index) const {
  if (auto const found = pages_.find(index); found != pages_.end()) {
    ages_.splice(ages_.begin(), ages_, found->second.age);
    return found->second.bytes;
  }
  std::size_t const wanted = std::max(index == 0 ? kFirstReadBytes : kPageBytes, read_ahead_bytes_);
  std::uint64_t const offset = index * kPageBytes;
  Page bytes(static_cast<std::size_t>(std::min<std::uint64_t>(wanted, size_bytes_ - offset)));
  source_->read(offset, bytes);
  for (std::size_t at = kPageBytes; at < bytes.size(); at += kPageBytes) {
    std::size_t const end = std::min(at + kPageBytes, bytes.size());
    insert(index + at / kPageBytes,
           Page(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.begin() + static_cast<std::ptrdiff_t>(end)));
  }
  bytes.resize(std::min(bytes.size(), kPageBytes));
  insert(index, std::move(bytes));
  return pages_.at(index).bytes;
}

void MetadataReader::insert(std::uint64_t index, Page bytes) const {
  if (pages_.contains(index)) { return; }
  while (pages_.size() >= kMaxCachedPages) {
    pages_.erase(ages_.back());
    ages_.pop_back();
  }
  ages_.push_front(index);
  pages_.emplace(index, Slot{std::move(bytes), ages_.begin()});
}

}  // namespace terrazzo::tiff
