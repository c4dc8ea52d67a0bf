// SPDX-License-Identifier: Apache-2.0
#include "codec/jpeg/jpeg12_stream.hpp"

#include <algorithm>

namespace terrazzo::codec {
namespace {

constexpr std::uint32_t kSof0 = 0xC0, kSof1 = 0xC1, kDht = 0xC4, kSof15 = 0xCF, kJpg = 0xC8, kDac = 0xCC;
constexpr std::uint32_t kRst0 = 0xD0, kRst7 = 0xD7, kSoi = 0xD8, kEoi = 0xD9, kSos = 0xDA, kDqt = 0xDB, kDri = 0xDD;
constexpr std::uint32_t kTem = 0x01;

constexpr std::array<std::uint8_t, 64> kZigzag = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                                  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                                  35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                                  58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

std::uint32_t byte_at(std::span<std::byte const> in, std::size_t at) { return std::to_integer<std::uint32_t>(in[at]); }
std::uint32_t word_at(std::span<std::byte const> in, std::size_t at) {
  return byte_at(in, at) << 8 | byte_at(in, at + 1);
}

// One pass of the inverse DCT of Loeffler, Ligtenberg and Moschytz in 13-bit fixed point, over 8 values `step` apart.
// libjpeg's "islow", whose rounding is the reference for JPEG pixels.
void transform(std::int64_t* v, std::size_t step, int shift) {
  auto const at = [v, step](std::size_t i) -> std::int64_t& { return v[i * step]; };
  std::int64_t const shared = (at(2) + at(6)) * 4433;
  std::int64_t const even2 = shared - at(6) * 15137;
  std::int64_t const even3 = shared + at(2) * 6270;
  std::int64_t const even0 = (at(0) + at(4)) * 8192;
  std::int64_t const even1 = (at(0) - at(4)) * 8192;
  std::array<std::int64_t, 4> const even = {even0 + even3, even1 + even2, even1 - even2, even0 - even3};

  std::int64_t const a = at(7), b = at(5), c = at(3), d = at(1);
  std::int64_t const turn = (a + c + b + d) * 9633;
  std::int64_t const ad = -(a + d) * 7373, bc = -(b + c) * 20995;
  std::int64_t const ac = turn - (a + c) * 16069, bd = turn - (b + d) * 3196;
  std::array<std::int64_t, 4> const odd = {d * 12299 + ad + bd, c * 25172 + bc + ac, b * 16819 + bc + bd,
                                           a * 2446 + ad + ac};
  std::int64_t const half = std::int64_t{1} << (shift - 1);
  for (std::size_t i = 0; i < 4; ++i) {
    at(i) = (even[i] + odd[i] + half) >> shift;
    at(7 - i) = (even[i] - odd[i] + half) >> shift;
  }
}

}  // namespace

// Entropy-coded bytes as bits. Past the end, or at a marker, gives zeros and sets a flag.
struct Jpeg12Stream::Bits {
  std::span<std::byte const> in;
  std::size_t at = 0;
  std::uint64_t window = 0;
  int count = 0;
  bool at_marker = false;
  bool ran_dry = false;
  bool bad_code = false;

  void fill() {
    while (count <= 48) {
      if (at_marker || at >= in.size()) { return; }
      std::uint32_t const value = byte_at(in, at);
      if (value == 0xFF) {
        if (at + 1 >= in.size() || byte_at(in, at + 1) != 0) {
          at_marker = true;
          return;
        }
        ++at;  // the stuffed zero
      }
      ++at;
      window = window << 8 | value;
      count += 8;
    }
  }
  std::uint32_t take(int bits) {
    if (bits == 0) { return 0; }
    if (count < bits) { fill(); }
    if (count < bits) {
      ran_dry = true;
      window <<= 32;
      count += 32;
    }
    count -= bits;
    return static_cast<std::uint32_t>(window >> count & ((1U << bits) - 1));
  }
  std::uint32_t symbol(Huffman const& table) {
    std::uint32_t code = 0;
    for (std::size_t length = 1; length <= 16; ++length) {
      code = code << 1 | take(1);
      if (code - table.first_code[length] < table.count[length]) {  // a smaller code wraps to a large number
        return table.values[table.first_value[length] + code - table.first_code[length]];
      }
    }
    bad_code = true;
    return 0;
  }
  // A signed value in `bits` bits, T.81's EXTEND.
  int value(std::uint32_t bits) {
    if (bits == 0) { return 0; }
    auto const raw = static_cast<int>(take(static_cast<int>(bits)));
    return raw < (1 << (bits - 1)) ? raw - (1 << bits) + 1 : raw;
  }
  void restart() {
    window = 0;
    count = 0;
    at_marker = false;
  }
};

Jpeg12Trouble Jpeg12Stream::read(std::span<std::byte const> in, bool want_image) {
  if (in.size() < 2) { return Jpeg12Trouble::ended_early; }
  if (word_at(in, 0) != (0xFF00 | kSoi)) { return Jpeg12Trouble::damaged; }
  in = in.subspan(2);
  for (;;) {
    while (in.size() >= 2 && byte_at(in, 0) == 0xFF && byte_at(in, 1) == 0xFF) { in = in.subspan(1); }  // fill bytes
    bool const complete = want_image && !planes.empty() && std::ranges::all_of(planes, &Jpeg12Plane::decoded);
    if (in.size() < 2) { return complete ? Jpeg12Trouble::none : Jpeg12Trouble::ended_early; }
    if (byte_at(in, 0) != 0xFF) { return Jpeg12Trouble::damaged; }
    std::uint32_t const marker = byte_at(in, 1);
    in = in.subspan(2);
    if (marker == kEoi) { return !want_image || complete ? Jpeg12Trouble::none : Jpeg12Trouble::ended_early; }
    if (marker == kTem || (marker >= kRst0 && marker <= kRst7)) { continue; }
    if (in.size() < 2) { return Jpeg12Trouble::ended_early; }
    std::size_t const length = word_at(in, 0);
    if (length < 2) { return Jpeg12Trouble::damaged; }
    if (length > in.size()) { return Jpeg12Trouble::ended_early; }
    std::span<std::byte const> const body = in.subspan(2, length - 2);
    in = in.subspan(length);
    Jpeg12Trouble trouble = Jpeg12Trouble::none;
    if (marker == kDqt) {
      trouble = read_quantisers(body);
    } else if (marker == kDht) {
      trouble = read_huffman(body);
    } else if (marker == kDri) {
      if (body.size() < 2) { return Jpeg12Trouble::damaged; }
      restart_interval_ = word_at(body, 0);
    } else if (marker == kSof0 || marker == kSof1) {
      trouble = want_image ? read_frame(body) : Jpeg12Trouble::damaged;
    } else if (marker > kSof1 && marker <= kSof15 && marker != kJpg && marker != kDac) {
      trouble = Jpeg12Trouble::not_sequential_12_bit;
    } else if (marker == kSos) {
      trouble = want_image ? read_scan(body, in) : Jpeg12Trouble::damaged;
    }
    if (trouble != Jpeg12Trouble::none) { return trouble; }
  }
}

Jpeg12Trouble Jpeg12Stream::read_quantisers(std::span<std::byte const> body) {
  while (!body.empty()) {
    std::uint32_t const which = byte_at(body, 0) & 15;
    std::size_t const entry_bytes = (byte_at(body, 0) >> 4) != 0 ? 2 : 1;
    if (which > 3 || body.size() < 1 + 64 * entry_bytes) { return Jpeg12Trouble::damaged; }
    for (std::size_t i = 0; i < 64; ++i) {
      quantisers_[which][kZigzag[i]] =
          static_cast<std::uint16_t>(entry_bytes == 2 ? word_at(body, 1 + 2 * i) : byte_at(body, 1 + i));
    }
    has_quantiser_[which] = true;
    body = body.subspan(1 + 64 * entry_bytes);
  }
  return Jpeg12Trouble::none;
}

Jpeg12Trouble Jpeg12Stream::read_huffman(std::span<std::byte const> body) {
  while (!body.empty()) {
    if (body.size() < 17) { return Jpeg12Trouble::damaged; }
    std::uint32_t const which = byte_at(body, 0);
    if ((which & 15) > 3 || which >> 4 > 1) { return Jpeg12Trouble::damaged; }
    Huffman table;
    std::uint32_t code = 0, total = 0;
    for (std::size_t length = 1; length <= 16; ++length, code <<= 1) {
      table.count[length] = byte_at(body, length);
      table.first_code[length] = code;
      table.first_value[length] = total;
      code += table.count[length];
      total += table.count[length];
      if (code > 1U << length || total > 256) { return Jpeg12Trouble::damaged; }  // more codes than the length allows
    }
    if (body.size() < 17 + total) { return Jpeg12Trouble::damaged; }
    for (std::uint32_t i = 0; i < total; ++i) { table.values[i] = static_cast<std::uint8_t>(byte_at(body, 17 + i)); }
    table.present = true;
    ((which >> 4) != 0 ? ac_ : dc_)[which & 15] = table;
    body = body.subspan(17 + total);
  }
  return Jpeg12Trouble::none;
}

Jpeg12Trouble Jpeg12Stream::read_frame(std::span<std::byte const> body) {
  if (!planes.empty() || body.size() < 6) { return Jpeg12Trouble::damaged; }
  if (byte_at(body, 0) != 12) { return Jpeg12Trouble::not_sequential_12_bit; }
  height = word_at(body, 1);
  width = word_at(body, 3);
  std::uint32_t const components = byte_at(body, 5);
  if (body.size() < 6 + 3 * std::size_t{components} || width == 0 || height == 0) { return Jpeg12Trouble::damaged; }
  if (width > limits_.width || height > limits_.height || components != limits_.components) {
    return Jpeg12Trouble::does_not_fit;
  }
  std::vector<Jpeg12Plane> found(components);
  for (std::uint32_t i = 0; i < components; ++i) {
    Jpeg12Plane& plane = found[i];
    plane.id = static_cast<std::uint8_t>(byte_at(body, 6 + 3 * i));
    plane.h = byte_at(body, 7 + 3 * i) >> 4;
    plane.v = byte_at(body, 7 + 3 * i) & 15;
    plane.quantiser = static_cast<std::uint8_t>(byte_at(body, 8 + 3 * i));
    if (plane.h == 0 || plane.h > 4 || plane.v == 0 || plane.v > 4 || plane.quantiser > 3) {
      return Jpeg12Trouble::damaged;
    }
    max_h = std::max(max_h, plane.h);
    max_v = std::max(max_v, plane.v);
  }
  std::uint32_t const mcus_across = (width + 8 * max_h - 1) / (8 * max_h);
  std::uint32_t const mcus_down = (height + 8 * max_v - 1) / (8 * max_v);
  for (Jpeg12Plane& plane : found) {
    plane.width = (width * plane.h + max_h - 1) / max_h;
    plane.height = (height * plane.v + max_v - 1) / max_v;
    plane.pitch = mcus_across * plane.h * 8;
    plane.padded_rows = mcus_down * plane.v * 8;
    plane.samples.assign(std::size_t{plane.pitch} * plane.padded_rows, kJpeg12Centre);
  }
  planes = std::move(found);
  return Jpeg12Trouble::none;
}

Jpeg12Trouble Jpeg12Stream::read_scan(std::span<std::byte const> body, std::span<std::byte const>& rest) {
  if (planes.empty() || body.empty()) { return Jpeg12Trouble::damaged; }
  std::uint32_t const components = byte_at(body, 0);
  if (components == 0 || components > 4 || body.size() < 1 + 2 * std::size_t{components} + 3) {
    return Jpeg12Trouble::damaged;
  }
  std::array<ScanComponent, 4> scan;
  for (std::uint32_t i = 0; i < components; ++i) {
    std::uint32_t const id = byte_at(body, 1 + 2 * i), tables = byte_at(body, 2 + 2 * i);
    // A component that occurs twice would be decoded repeatedly.
    auto const plane = std::ranges::find_if(planes, [id](Jpeg12Plane const& p) { return p.id == id && !p.decoded; });
    if (plane == planes.end() || tables >> 4 > 3 || (tables & 15) > 3) { return Jpeg12Trouble::damaged; }
    scan[i] = {&*plane, &dc_[tables >> 4], &ac_[tables & 15], &quantisers_[plane->quantiser], 0};
    if (!scan[i].dc->present || !scan[i].ac->present || !has_quantiser_[plane->quantiser]) {
      return Jpeg12Trouble::damaged;
    }
    plane->decoded = true;
  }
  Bits bits{rest};
  Jpeg12Trouble const trouble = decode_mcus(std::span(scan).first(components), bits);
  // Whole bytes may have been read ahead, but never past a marker.
  std::size_t at = bits.at;
  while (at + 1 < rest.size() && !(byte_at(rest, at) == 0xFF && byte_at(rest, at + 1) != 0)) { ++at; }
  rest = rest.subspan(at + 1 < rest.size() ? at : rest.size());
  return trouble;
}

Jpeg12Trouble Jpeg12Stream::decode_mcus(std::span<ScanComponent> scan, Bits& bits) {
  // A scan of one component has no padding to whole MCUs: it has only blocks with samples.
  bool const single = scan.size() == 1;
  Jpeg12Plane const& lead = *scan[0].plane;
  std::uint32_t const across = single ? (lead.width + 7) / 8 : (width + 8 * max_h - 1) / (8 * max_h);
  std::uint32_t const down = single ? (lead.height + 7) / 8 : (height + 8 * max_v - 1) / (8 * max_v);
  std::uint32_t until_restart = restart_interval_;
  for (std::uint32_t y = 0; y < down; ++y) {
    for (std::uint32_t x = 0; x < across; ++x) {
      if (restart_interval_ != 0 && until_restart == 0) {
        bits.fill();  // the bits before the marker are padding
        if (bits.at + 1 >= bits.in.size()) {
          bits.ran_dry = true;
        } else if (std::uint32_t const marker = byte_at(bits.in, bits.at + 1);
                   !bits.at_marker || marker < kRst0 || marker > kRst7) {
          return Jpeg12Trouble::damaged;
        } else {
          bits.at += 2;
          bits.restart();
          for (ScanComponent& component : scan) { component.prediction = 0; }
        }
        until_restart = restart_interval_;
      }
      --until_restart;
      for (ScanComponent& component : scan) {
        std::uint32_t const h = single ? 1 : component.plane->h, v = single ? 1 : component.plane->v;
        for (std::uint32_t i = 0; i < h * v; ++i) { decode_block(component, bits, x * h + i % h, y * v + i / h); }
      }
      if (bits.bad_code) { return Jpeg12Trouble::damaged; }
      if (bits.ran_dry) {
        // Interpolation reads one chroma row, that is max_v rows, of the previous row of MCUs.
        good_rows = planes.size() == scan.size() ? std::max(y * 8 * max_v, max_v) - max_v : 0;
        return Jpeg12Trouble::ended_early;
      }
    }
  }
  return Jpeg12Trouble::none;
}

void Jpeg12Stream::decode_block(ScanComponent& component, Bits& bits, std::uint32_t block_x, std::uint32_t block_y) {
  std::array<std::int64_t, 64> block{};
  auto const& quantiser = *component.quantiser;
  // A category has at most 16 bits; wrapping sums keep a damaged stream within 16 bits too.
  std::uint32_t const category = std::min<std::uint32_t>(bits.symbol(*component.dc), 16);
  component.prediction = static_cast<std::int16_t>(component.prediction + bits.value(category));
  block[0] = std::int64_t{component.prediction} * quantiser[0];
  for (std::size_t i = 1; i < 64; ++i) {
    std::uint32_t const symbol = bits.symbol(*component.ac);
    std::uint32_t const run = symbol >> 4, size = symbol & 15;
    if (size == 0) {
      if (run != 15) { break; }  // the rest is zero
      i += 15;
      continue;
    }
    i += run;
    int const value = bits.value(size);
    if (i > 63) {
      bits.bad_code = true;
      return;
    }
    block[kZigzag[i]] = std::int64_t{value} * quantiser[kZigzag[i]];
  }
  // 12-bit samples leave one extra bit of precision between the passes (8-bit ones leave two).
  for (std::size_t i = 0; i < 8; ++i) { transform(block.data() + i, 8, 13 - 1); }
  for (std::size_t i = 0; i < 8; ++i) { transform(block.data() + 8 * i, 1, 13 + 1 + 3); }
  Jpeg12Plane& plane = *component.plane;
  std::uint16_t* target = plane.samples.data() + std::size_t{block_y} * 8 * plane.pitch + block_x * 8;
  for (std::size_t y = 0; y < 8; ++y, target += plane.pitch) {
    for (std::size_t x = 0; x < 8; ++x) {
      target[x] = static_cast<std::uint16_t>(std::clamp<std::int64_t>(block[y * 8 + x] + kJpeg12Centre, 0, kJpeg12Max));
    }
  }
}

}  // namespace terrazzo::codec
