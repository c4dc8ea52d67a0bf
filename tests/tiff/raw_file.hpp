// SPDX-License-Identifier: Apache-2.0
//
// Raw directories: bytes are put where the test wants them, in either byte order and either format.
#pragma once

#include "io/memory_source.hpp"
#include "support/failure.hpp"
#include "tiff/directory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::tiff::test {

inline ByteSourcePtr source_of(std::vector<std::byte> bytes) {
  return std::make_shared<io::MemorySource>(std::move(bytes), "raw.tif");
}

inline std::optional<ErrorKind> kind_of_failure(std::vector<std::byte> const& bytes) {
  return testing::kind_of_failure([&] { return read_chain(source_of(bytes)); });
}

struct Format {
  std::endian order;
  bool big;
};

class RawFile {
 public:
  explicit RawFile(Format format) : format_(format) {
    put16(format.order == std::endian::little ? 0x4949 : 0x4d4d);
    put16(format.big ? 43 : 42);
    if (format.big) {
      put16(8);
      put16(0);
    }
    word(format.big ? 16 : 8);
  }
  RawFile& count(std::uint64_t entries) {
    if (format_.big) {
      put(entries, 8);
    } else {
      put(entries, 2);
    }
    return *this;
  }
  // An entry whose value field holds `value` as an integer of `value_bytes`, at its front.
  RawFile& entry(std::uint16_t tag, std::uint16_t type, std::uint64_t n, std::uint64_t value, std::size_t value_bytes) {
    put16(tag);
    put16(type);
    word(n);
    put(value, value_bytes);
    put(0, word_bytes() - value_bytes);
    return *this;
  }
  RawFile& pointer(std::uint16_t tag, std::uint16_t type, std::uint64_t n, std::uint64_t offset) {
    return entry(tag, type, n, offset, word_bytes());
  }
  RawFile& next(std::uint64_t offset) {
    word(offset);
    return *this;
  }
  RawFile& pad_to(std::size_t size) {
    bytes_.resize(std::max(bytes_.size(), size));
    return *this;
  }
  RawFile& put(std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
      std::size_t const shift = 8 * (format_.order == std::endian::little ? i : size - 1 - i);
      bytes_.push_back(static_cast<std::byte>(value >> shift));
    }
    return *this;
  }
  RawFile& put16(std::uint16_t value) { return put(value, 2); }
  [[nodiscard]] std::size_t word_bytes() const { return format_.big ? 8 : 4; }
  [[nodiscard]] std::size_t first_ifd() const { return format_.big ? 16 : 8; }
  [[nodiscard]] std::size_t ifd_bytes(std::size_t entries) const {
    return format_.big ? 8 + 20 * entries + 8 : 2 + 12 * entries + 4;
  }
  [[nodiscard]] std::vector<std::byte> const& bytes() const { return bytes_; }
  [[nodiscard]] Chain chain() const { return read_chain(source_of(bytes_)); }
  [[nodiscard]] Directory directory() const { return chain().directories.at(0); }

 private:
  void word(std::uint64_t value) { put(value, word_bytes()); }
  Format format_;
  std::vector<std::byte> bytes_;
};

// Both byte orders, classic and BigTIFF; a test begins with the header of such a file.
class EveryFormat : public ::testing::TestWithParam<Format> {
 public:
  static auto formats() {
    return ::testing::Values(Format{std::endian::little, false}, Format{std::endian::big, false},
                             Format{std::endian::little, true}, Format{std::endian::big, true});
  }
  static std::string name_of(::testing::TestParamInfo<Format> const& test) {
    return std::string(test.param.big ? "Big" : "Classic") +
           (test.param.order == std::endian::little ? "LittleEndian" : "BigEndian");
  }

 protected:
  RawFile file_{GetParam()};
};

}  // namespace terrazzo::tiff::test
