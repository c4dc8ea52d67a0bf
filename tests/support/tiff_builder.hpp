// SPDX-License-Identifier: Apache-2.0
//
// TIFF files for tests, written byte by byte: any tags, both byte orders, classic and BigTIFF. It checks nothing, so
// that it can make broken files too.
#pragma once

#include "base/byte_view.hpp"
#include "io/memory_source.hpp"
#include "terrazzo/source.hpp"
#include "tiff/directory.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace terrazzo::testing {

class TiffBuilder {
 public:
  explicit TiffBuilder(std::endian order = std::endian::little, bool big = false) : order_(order), big_(big) {}

  // A tag with raw bytes already in the file's byte order.
  TiffBuilder& raw(std::uint16_t tag, std::uint16_t type, std::uint64_t count, std::vector<std::byte> value) {
    ifds_.back().push_back({tag, type, count, std::move(value)});
    return *this;
  }
  TiffBuilder& shorts(std::uint16_t tag, std::vector<std::uint16_t> const& v) { return numbers(tag, 3, v); }
  TiffBuilder& longs(std::uint16_t tag, std::vector<std::uint32_t> const& v) { return numbers(tag, 4, v); }
  TiffBuilder& long8s(std::uint16_t tag, std::vector<std::uint64_t> const& v) { return numbers(tag, 16, v); }
  TiffBuilder& doubles(std::uint16_t tag, std::vector<double> const& v) {
    std::vector<std::uint64_t> bits;
    for (double d : v) { bits.push_back(std::bit_cast<std::uint64_t>(d)); }
    return numbers(tag, 12, bits);
  }
  TiffBuilder& ascii(std::uint16_t tag, std::string_view s) {
    std::vector<std::byte> bytes(s.size() + 1);
    std::memcpy(bytes.data(), s.data(), s.size());
    std::size_t const count = bytes.size();  // evaluated first: after the move it would be 0
    return raw(tag, 2, count, std::move(bytes));
  }
  // Starts the next directory of the chain.
  TiffBuilder& next_ifd() {
    ifds_.emplace_back();
    return *this;
  }
  // Pixel data, at the offset returned (they follow the header, before the directories).
  std::uint64_t data(std::vector<std::byte> const& bytes) {
    std::uint64_t const at = header_bytes() + data_.size();
    data_.insert(data_.end(), bytes.begin(), bytes.end());
    return at;
  }

  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::vector<std::byte> out;
    put<std::uint16_t>(out, order_ == std::endian::little ? 0x4949 : 0x4d4d);
    put<std::uint16_t>(out, big_ ? 43 : 42);
    if (big_) {
      put<std::uint16_t>(out, 8);
      put<std::uint16_t>(out, 0);
    }
    std::uint64_t at = header_bytes() + data_.size();
    word(out, at);
    out.insert(out.end(), data_.begin(), data_.end());
    std::size_t const word_bytes = big_ ? 8 : 4;
    for (std::size_t i = 0; i < ifds_.size(); ++i) {
      auto const& ifd = ifds_[i];
      std::uint64_t const heap = at + (big_ ? 8 : 2) + ifd.size() * (big_ ? 20 : 12) + word_bytes;
      std::vector<std::byte> values;
      if (big_) {
        put<std::uint64_t>(out, ifd.size());
      } else {
        put<std::uint16_t>(out, static_cast<std::uint16_t>(ifd.size()));
      }
      for (auto const& field : ifd) {
        put<std::uint16_t>(out, field.tag);
        put<std::uint16_t>(out, field.type);
        word(out, field.count);
        if (field.value.size() <= word_bytes) {
          std::vector<std::byte> inlined = field.value;
          inlined.resize(word_bytes);
          out.insert(out.end(), inlined.begin(), inlined.end());
        } else {
          word(out, heap + values.size());
          values.insert(values.end(), field.value.begin(), field.value.end());
          if (values.size() % 2 != 0) { values.push_back(std::byte{}); }
        }
      }
      at = heap + values.size();
      word(out, i + 1 < ifds_.size() ? at : 0);
      out.insert(out.end(), values.begin(), values.end());
    }
    return out;
  }

  [[nodiscard]] ByteSourcePtr source(std::string name = "test.tif") const {
    return std::make_shared<io::MemorySource>(bytes(), std::move(name));
  }
  // The first directory, parsed.
  [[nodiscard]] tiff::Directory directory() const { return tiff::read_chain(source()).directories.at(0); }

 private:
  struct Field {
    std::uint16_t tag, type;
    std::uint64_t count;
    std::vector<std::byte> value;
  };
  [[nodiscard]] std::uint64_t header_bytes() const { return big_ ? 16 : 8; }

  template <class T>
  void put(std::vector<std::byte>& out, std::type_identity_t<T> value) const {
    if (order_ != std::endian::native) { value = byte_swapped(value); }
    std::byte raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    out.insert(out.end(), raw, raw + sizeof(T));
  }
  void word(std::vector<std::byte>& out, std::uint64_t value) const {
    if (big_) {
      put<std::uint64_t>(out, value);
    } else {
      put<std::uint32_t>(out, static_cast<std::uint32_t>(value));
    }
  }
  template <class T>
  TiffBuilder& numbers(std::uint16_t tag, std::uint16_t type, std::vector<T> const& values) {
    std::vector<std::byte> bytes;
    for (T v : values) { put<T>(bytes, v); }
    return raw(tag, type, values.size(), std::move(bytes));
  }

  std::endian order_;
  bool big_;
  std::vector<std::vector<Field>> ifds_{1};
  std::vector<std::byte> data_;
};

}  // namespace terrazzo::testing
