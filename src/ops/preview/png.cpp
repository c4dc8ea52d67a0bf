// SPDX-License-Identifier: Apache-2.0
//
// PNG (ISO/IEC 15948): 8-bit RGBA, one IDAT chunk, the filter of each row chosen by the smallest sum of differences.
#include "terrazzo/stats.hpp"

#include "base/checked.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <span>

namespace terrazzo {
namespace {

constexpr std::size_t kPixelBytes = 4;
constexpr int kCompressionLevel = 6;
constexpr std::uint32_t kMaxSide = 0x7fffffff;  // limit of the format
constexpr std::array<std::uint8_t, 8> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

void put_u32(std::vector<std::uint8_t>& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) { out.push_back(static_cast<std::uint8_t>(value >> shift)); }
}

void put_chunk(std::vector<std::uint8_t>& out, std::array<char, 4> const& name, std::span<std::uint8_t const> data) {
  put_u32(out, static_cast<std::uint32_t>(data.size()));
  std::size_t const checked_from = out.size();
  out.insert(out.end(), name.begin(), name.end());
  out.insert(out.end(), data.begin(), data.end());
  put_u32(out, libdeflate_crc32(0, out.data() + checked_from, out.size() - checked_from));
}

std::uint8_t paeth(int left, int up, int corner) {
  int const estimate = left + up - corner;
  int const from_left = std::abs(estimate - left), from_up = std::abs(estimate - up),
            from_corner = std::abs(estimate - corner);
  if (from_left <= from_up && from_left <= from_corner) { return static_cast<std::uint8_t>(left); }
  return static_cast<std::uint8_t>(from_up <= from_corner ? up : corner);
}

// Filter types in the order of the specification: none, sub, up, average, Paeth.
constexpr std::uint8_t kFilters = 5;

std::uint8_t predict(std::uint8_t filter, int left, int up, int corner) {
  switch (filter) {
    case 1: return static_cast<std::uint8_t>(left);
    case 2: return static_cast<std::uint8_t>(up);
    case 3: return static_cast<std::uint8_t>((left + up) / 2);
    case 4: return paeth(left, up, corner);
    default: return 0;
  }
}

// Writes the filtered row, its filter type first, and returns the sum of absolute differences.
std::uint64_t filter_row(std::uint8_t filter, std::span<std::uint8_t const> row, std::uint8_t const* above,
                         std::span<std::uint8_t> out) {
  out[0] = filter;
  std::uint64_t cost = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    int const left = i >= kPixelBytes ? row[i - kPixelBytes] : 0;
    int const up = above != nullptr ? above[i] : 0;
    int const corner = above != nullptr && i >= kPixelBytes ? above[i - kPixelBytes] : 0;
    auto const difference = static_cast<std::uint8_t>(row[i] - predict(filter, left, up, corner));
    out[i + 1] = difference;
    cost += static_cast<std::uint64_t>(std::abs(static_cast<std::int8_t>(difference)));
  }
  return cost;
}

std::vector<std::uint8_t> filter_rows(Picture const& picture) {
  std::size_t const row_bytes = std::size_t{picture.width} * kPixelBytes;
  std::vector<std::uint8_t> filtered((row_bytes + 1) * picture.height);
  std::vector<std::uint8_t> candidate(row_bytes + 1);
  for (std::uint32_t y = 0; y < picture.height; ++y) {
    std::span<std::uint8_t const> const row(picture.rgba.data() + y * row_bytes, row_bytes);
    std::uint8_t const* above = y > 0 ? row.data() - row_bytes : nullptr;
    std::span<std::uint8_t> const best(filtered.data() + y * (row_bytes + 1), row_bytes + 1);
    std::uint64_t best_cost = filter_row(0, row, above, best);
    for (std::uint8_t filter = 1; filter < kFilters; ++filter) {
      std::uint64_t const cost = filter_row(filter, row, above, candidate);
      if (cost < best_cost) {
        best_cost = cost;
        std::copy(candidate.begin(), candidate.end(), best.begin());
      }
    }
  }
  return filtered;
}

struct FreeCompressor {
  void operator()(libdeflate_compressor* c) const noexcept { libdeflate_free_compressor(c); }
};

std::vector<std::uint8_t> deflate(std::span<std::uint8_t const> bytes) {
  std::unique_ptr<libdeflate_compressor, FreeCompressor> const compressor(
      libdeflate_alloc_compressor(kCompressionLevel));
  if (!compressor) { throw Error(ErrorKind::limit, "no memory for a deflate compressor"); }
  std::vector<std::uint8_t> out(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()));
  out.resize(libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), out.data(), out.size()));
  return out;
}

}  // namespace

std::vector<std::uint8_t> encode_png(Picture const& picture) {
  if (picture.width == 0 || picture.height == 0 || picture.width > kMaxSide || picture.height > kMaxSide) {
    throw Error(ErrorKind::usage, "a PNG has between 1 and 2147483647 pixels a side");
  }
  auto const expected = checked_product(picture.width, picture.height, kPixelBytes);
  if (!expected || picture.rgba.size() != *expected) {
    throw Error(ErrorKind::usage, "the picture's pixels do not fill its width and height");
  }
  std::vector<std::uint8_t> const compressed = deflate(filter_rows(picture));
  if (compressed.size() > kMaxSide) { throw Error(ErrorKind::limit, "the picture is too large for one PNG chunk"); }

  std::vector<std::uint8_t> out(kSignature.begin(), kSignature.end());
  std::vector<std::uint8_t> header;
  put_u32(header, picture.width);
  put_u32(header, picture.height);
  constexpr std::array<std::uint8_t, 5> kFormat{8, 6, 0, 0,
                                                0};  // 8 bits, RGBA, deflate, the five filters, no interlace
  header.insert(header.end(), kFormat.begin(), kFormat.end());
  put_chunk(out, {'I', 'H', 'D', 'R'}, header);
  put_chunk(out, {'I', 'D', 'A', 'T'}, compressed);
  put_chunk(out, {'I', 'E', 'N', 'D'}, {});
  return out;
}

}  // namespace terrazzo
