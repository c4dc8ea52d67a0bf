// SPDX-License-Identifier: Apache-2.0
#include "codec/lerc/blob.hpp"

#include "codec/lerc/block.hpp"
#include "codec/lerc/checksum.hpp"
#include "codec/lerc/coarsest_step.hpp"
#include "codec/lerc/huffman.hpp"
#include "codec/lerc/kernels_avx2.hpp"
#include "codec/lerc/mask.hpp"
#include "codec/lerc/put.hpp"
#include "codec/lerc/tiling.hpp"
#include "tile/host/cpu.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

namespace terrazzo::codec {
namespace {

constexpr char kKey[6] = {'L', 'e', 'r', 'c', '2', ' '};
constexpr std::int32_t kVersion = 4;
constexpr std::size_t kChecksumAt = sizeof(kKey) + 4;
constexpr std::size_t kSummedFrom = kChecksumAt + 4;
constexpr std::size_t kHeaderBytes = kSummedFrom + 7 * 4 + 3 * 8;
constexpr std::size_t kSmallBlock = 8;
constexpr std::size_t kLargeBlock = 16;
constexpr std::uint8_t kBlocksNotHuffman = 0;

constexpr unsigned sample_bytes_of(unsigned type) noexcept {
  constexpr unsigned kBytes[8] = {1, 1, 2, 2, 4, 4, 4, 8};
  return kBytes[type];
}

// The part of the header that describes the whole picture.
struct Head {
  std::size_t valid_px = 0;
  std::size_t block_side = kSmallBlock;
  double max_error = 0;
  double low = 0, high = 0;
};

// Call it last: the header contains the checksum.
void put_head(LercPicture const& picture, Head const& head, std::span<std::byte> blob) noexcept {
  std::byte* to = blob.data();
  std::memcpy(to, kKey, sizeof(kKey));
  to = put_little(to + sizeof(kKey), kVersion) + sizeof(std::uint32_t);
  for (std::size_t const value :
       {std::size_t{picture.height_px}, std::size_t{picture.width_px}, std::size_t{picture.depth}, head.valid_px,
        head.block_side, blob.size(), std::size_t{picture.type}}) {
    to = put_little(to, static_cast<std::int32_t>(value));
  }
  for (double const value : {head.max_error, head.low, head.high}) { to = put_little(to, value); }
  static_cast<void>(put_little(blob.data() + kChecksumAt, lerc_checksum(blob.subspan(kSummedFrom))));
}

template <class T>
void put_ranges(std::vector<LercRange<T>> const& ranges, std::byte* to) noexcept {
  for (LercRange<T> const& range : ranges) { to = put_little(to, range.low); }
  for (LercRange<T> const& range : ranges) { to = put_little(to, range.high); }
}

template <class T>
[[nodiscard]] bool all_flat(std::vector<LercRange<T>> const& ranges) noexcept {
  return std::ranges::all_of(
      ranges, [](LercRange<T> const& range) { return std::memcmp(&range.low, &range.high, sizeof(T)) == 0; });
}

// Writes all valid pixels unchanged.
[[nodiscard]] std::byte* put_samples(LercPicture const& picture, std::byte* to) noexcept {
  if (picture.valid.empty()) {
    std::memcpy(to, picture.samples.data(), picture.samples.size());
    return to + picture.samples.size();
  }
  std::size_t const pixel_bytes = picture.samples.size() / picture.pixels();
  for (std::size_t pixel = 0; pixel < picture.valid.size(); ++pixel) {
    if (picture.valid[pixel] == std::byte{0}) { continue; }
    std::memcpy(to, picture.samples.data() + pixel * pixel_bytes, pixel_bytes);
    to += pixel_bytes;
  }
  return to;
}

// Below 1.5 bits per sample the flags of the blocks matter, and blocks of 16 are worth a try.
[[nodiscard]] bool try_large_blocks(LercPicture const& picture, std::size_t small_bytes, std::size_t valid_bytes,
                                    std::size_t huffman_bytes) noexcept {
  return 2 * 8 * small_bytes < 3 * picture.pixels() * picture.depth && small_bytes < 4 * valid_bytes &&
         (huffman_bytes == 0 || small_bytes < 2 * huffman_bytes) &&
         (picture.width_px > kSmallBlock || picture.height_px > kSmallBlock);
}

// Writes the part after the ranges: a byte for whether samples are stored unchanged, for lossless bytes another for
// whether Huffman codes are used, and the shortest form. The small blocks are already at `data_at`. Returns the end.
template <class T, class Kernels>
[[nodiscard]] std::byte* put_shortest(LercPicture const& picture, Head& head, LercTiling<T, Kernels>& tiling,
                                      std::byte* flag_at, std::byte* data_at, std::byte* small_end) noexcept {
  bool const huffman_allowed = data_at == flag_at + 2;
  std::optional<LercHuffman> huffman;
  if (huffman_allowed) { huffman.emplace(picture); }
  auto const small_bytes = static_cast<std::size_t>(small_end - data_at);
  std::size_t const huffman_bytes = huffman ? huffman->bytes() : 0;
  bool use_huffman = huffman_bytes != 0 && huffman_bytes < small_bytes;
  std::size_t data_bytes = use_huffman ? huffman_bytes : small_bytes;
  std::size_t const valid_bytes = head.valid_px * picture.depth * sizeof(T);
  if (try_large_blocks(picture, small_bytes, valid_bytes, huffman_bytes)) {
    std::byte* const large_end = tiling.write(kLargeBlock, small_end);
    auto const large_bytes = static_cast<std::size_t>(large_end - small_end);
    if (large_bytes <= data_bytes) {
      std::memmove(data_at, small_end, large_bytes);
      data_bytes = large_bytes;
      head.block_side = kLargeBlock;
      use_huffman = false;
    }
  }
  bool const as_they_are = valid_bytes <= data_bytes + (huffman_allowed ? 1 : 0);
  static_cast<void>(put_little(flag_at, static_cast<std::uint8_t>(as_they_are ? 1 : 0)));
  if (as_they_are) { return put_samples(picture, flag_at + 1); }
  if (huffman_allowed) {
    auto const how = use_huffman ? static_cast<std::uint8_t>(huffman->of()) : kBlocksNotHuffman;
    static_cast<void>(put_little(flag_at + 1, how));
  }
  return use_huffman ? huffman->write(data_at) : data_at + data_bytes;
}

// Writes the part after the mask. Returns the end.
template <class T, class Kernels>
[[nodiscard]] std::byte* put_body(LercPicture const& picture, Head& head, std::byte* to) {
  if (head.valid_px == 0) { return to; }
  LercRule const rule = LercRule::of<T>(head.max_error);
  LercTiling<T, Kernels> tiling(picture, rule);
  // Write the blocks to their final place: the size of the ranges before them is known, although the ranges are not.
  std::byte* const flag_at = to + 2 * picture.depth * sizeof(T);
  std::byte* const data_at = flag_at + (sizeof(T) == 1 && rule.units ? 2 : 1);
  std::byte* const small_end = tiling.write(kSmallBlock, data_at);
  std::vector<LercRange<T>> const ranges = tiling.ranges();
  head.low = static_cast<double>(std::ranges::min_element(ranges, {}, &LercRange<T>::low)->low);
  head.high = static_cast<double>(std::ranges::max_element(ranges, {}, &LercRange<T>::high)->high);
  if (head.low == head.high) { return to; }
  put_ranges(ranges, to);
  if (all_flat(ranges)) { return flag_at; }
  return put_shortest<T, Kernels>(picture, head, tiling, flag_at, data_at, small_end);
}

template <class T>
[[nodiscard]] double header_error(LercPicture const& picture, double max_error) noexcept {
  if constexpr (std::floating_point<T>) {
    return max_error == 0 ? 0 : raise_lerc_error<T>({picture.samples, picture.valid, picture.depth}, max_error);
  } else {
    return std::max(0.5, std::floor(max_error));
  }
}

// Writes the length of the mask and the mask, if it must be stored. Returns the end.
[[nodiscard]] std::byte* put_mask(LercPicture const& picture, bool mask_is_known, std::byte* to) {
  std::byte* const mask_at = to + sizeof(std::int32_t);
  bool const told = !picture.valid.empty() && !mask_is_known;
  std::byte* const end = told ? write_lerc_mask(pack_lerc_mask(picture.valid), mask_at) : mask_at;
  static_cast<void>(put_little(to, static_cast<std::int32_t>(end - mask_at)));
  return end;
}

template <class T>
std::size_t encode(LercPicture picture, double max_error, bool mask_is_known, std::byte* blob, LercCode code) {
  Head head{.valid_px = picture.pixels(), .max_error = max_error};
  head.valid_px -= static_cast<std::size_t>(std::ranges::count(picture.valid, std::byte{0}));
  bool const partly = head.valid_px != 0 && head.valid_px < picture.pixels();
  if (!partly) { picture.valid = {}; }  // the count of valid pixels is sufficient
  if (head.valid_px != 0 || std::integral<T>) { head.max_error = header_error<T>(picture, max_error); }
  std::byte* const body = put_mask(picture, mask_is_known, blob + kHeaderBytes);
  auto put = &put_body<T, LercPortableKernels>;
#if TERRAZZO_HAVE_X86
  if (code == LercCode::fastest && tile::has_avx2()) { put = &put_body<T, LercAvx2Kernels>; }
#else
  static_cast<void>(code);
#endif
  auto const size = static_cast<std::size_t>(put(picture, head, body) - blob);
  put_head(picture, head, {blob, size});
  return size;
}

// Ranges wider than the samples at both ends: decoders fill a picture of zero-width ranges with their values, and no
// range contains NaN.
template <class Float>
[[nodiscard]] std::vector<LercRange<Float>> ranges_around(LercPicture const& picture) {
  std::vector<LercRange<Float>> ranges(picture.depth, {Float{0}, Float{0}});
  for (std::size_t i = 0; i < picture.pixels() * picture.depth; ++i) {
    Float value;
    std::memcpy(&value, picture.samples.data() + i * sizeof(Float), sizeof(Float));
    LercRange<Float>& range = ranges[i % picture.depth];
    if (value < range.low) { range.low = value; }
    if (value > range.high) { range.high = value; }
  }
  for (LercRange<Float>& range : ranges) {
    range.low = std::nextafter(range.low, -std::numeric_limits<Float>::infinity());
    range.high = std::nextafter(range.high, std::numeric_limits<Float>::infinity());
  }
  return ranges;
}

template <class Float>
std::size_t encode_as_is(LercPicture const& picture, std::byte* blob) {
  std::vector<LercRange<Float>> const ranges = ranges_around<Float>(picture);
  Head head{.valid_px = picture.pixels()};
  head.low = static_cast<double>(std::ranges::min_element(ranges, {}, &LercRange<Float>::low)->low);
  head.high = static_cast<double>(std::ranges::max_element(ranges, {}, &LercRange<Float>::high)->high);
  std::byte* const body = put_mask(picture, false, blob + kHeaderBytes);
  put_ranges(ranges, body);
  std::byte* const flag_at = put_little(body + 2 * picture.depth * sizeof(Float), std::uint8_t{1});
  auto const size = static_cast<std::size_t>(put_samples(picture, flag_at) - blob);
  put_head(picture, head, {blob, size});
  return size;
}

}  // namespace

std::uint64_t lerc_blob_bound(std::uint64_t pixels, std::uint64_t depth, unsigned sample_bytes) noexcept {
  return kHeaderBytes + sizeof(std::int32_t) + lerc_mask_bound((pixels + 7) / 8) + 2 * depth * sample_bytes + 2 +
         pixels * depth * sample_bytes;
}

std::size_t lerc_blob_room(LercPicture const& picture) noexcept {
  std::uint64_t const bound = lerc_blob_bound(picture.pixels(), picture.depth, sample_bytes_of(picture.type));
  if (bound > std::numeric_limits<std::int32_t>::max()) { return 0; }  // the header has 32-bit numbers
  // Before the blocks are discarded, they may be larger than the samples by a byte each, and there are two attempts.
  return 2 * (bound + lerc_block_count(picture, kSmallBlock) + kLercStuffSlack);
}

std::size_t encode_lerc_blob(LercPicture const& picture, double max_error, bool mask_is_known, std::span<std::byte> to,
                             LercCode code) {
  switch (picture.type) {
    case 0: return encode<std::int8_t>(picture, max_error, mask_is_known, to.data(), code);
    case 1: return encode<std::uint8_t>(picture, max_error, mask_is_known, to.data(), code);
    case 2: return encode<std::int16_t>(picture, max_error, mask_is_known, to.data(), code);
    case 3: return encode<std::uint16_t>(picture, max_error, mask_is_known, to.data(), code);
    case 4: return encode<std::int32_t>(picture, max_error, mask_is_known, to.data(), code);
    case 5: return encode<std::uint32_t>(picture, max_error, mask_is_known, to.data(), code);
    case 6: return encode<float>(picture, max_error, mask_is_known, to.data(), code);
    default: return encode<double>(picture, max_error, mask_is_known, to.data(), code);
  }
}

std::size_t encode_lerc_blob_as_is(LercPicture const& picture, std::span<std::byte> to) {
  return sample_bytes_of(picture.type) == sizeof(float) ? encode_as_is<float>(picture, to.data())
                                                        : encode_as_is<double>(picture, to.data());
}

}  // namespace terrazzo::codec
