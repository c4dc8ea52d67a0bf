// SPDX-License-Identifier: Apache-2.0
#include "io/memory_source.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "terrazzo/error.hpp"

#include <cstring>
#include <memory>
#include <utility>

namespace terrazzo::io {

MemorySource::MemorySource(std::vector<std::byte> bytes, std::string name)
    : owned_(std::move(bytes)), bytes_(owned_), name_(std::move(name)) {}

MemorySource::MemorySource(std::span<std::byte const> bytes, std::string name)
    : bytes_(bytes), name_(std::move(name)) {}

ReadTicket MemorySource::submit(std::span<RangeRead const> ranges) const {
  for (RangeRead const& range : ranges) {
    if (!range_fits(range.offset_bytes, range.into.size(), bytes_.size())) {
      return ReadTicket(std::make_exception_ptr(
          Error(ErrorKind::io, text("read of ", range.into.size(), " bytes reaches past the end (", bytes_.size(), ")"),
                {.source = name_, .offset = range.offset_bytes})));
    }
    if (!range.into.empty()) { std::memcpy(range.into.data(), bytes_.data() + range.offset_bytes, range.into.size()); }
  }
  return {};
}

}  // namespace terrazzo::io

namespace terrazzo {

ByteSourcePtr memory_source(std::vector<std::byte> bytes, std::string name) {
  return std::make_shared<io::MemorySource const>(std::move(bytes), std::move(name));
}

}  // namespace terrazzo
