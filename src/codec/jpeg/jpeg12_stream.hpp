// SPDX-License-Identifier: Apache-2.0
//
// Decodes a 12-bit JPEG stream to the sample planes of its components, still subsampled. ITU-T T.81, sequential DCT
// with Huffman coding (SOF0, SOF1), interleaved or one scan per component.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace terrazzo::codec {

constexpr int kJpeg12Max = 4095;
constexpr int kJpeg12Centre = 2048;

struct Jpeg12Plane {
  std::uint32_t h = 1, v = 1;                  // sampling factors
  std::uint32_t width = 0, height = 0;         // size of the component, without padding
  std::uint32_t pitch = 0, padded_rows = 0;    // in samples; whole MCUs
  std::vector<std::uint16_t> samples;
  std::uint8_t id = 0, quantiser = 0;
  bool decoded = false;
  [[nodiscard]] std::uint16_t const* row(std::uint32_t y) const { return samples.data() + std::size_t{y} * pitch; }
};

struct Jpeg12Limits {
  std::uint32_t width = 0, height = 0;  // the stream's image must fit in these
  std::uint32_t components = 0;         // the image must have exactly this number
};

enum class Jpeg12Trouble : std::uint8_t { none, ended_early, damaged, does_not_fit, not_sequential_12_bit };

class Jpeg12Stream {
 public:
  explicit Jpeg12Stream(Jpeg12Limits limits) : limits_(limits) {}

  // Reads tables (and, in the second call, the image) from one datastream. Throws bad_alloc.
  [[nodiscard]] Jpeg12Trouble read(std::span<std::byte const> in, bool want_image);

  std::uint32_t width = 0, height = 0;
  std::uint32_t max_h = 1, max_v = 1;
  std::vector<Jpeg12Plane> planes;
  std::uint32_t good_rows = 0;  // good rows of the image, after ended_early

 private:
  // Canonical Huffman code: for each length the first code, the number of codes and the index of their first value.
  struct Huffman {
    bool present = false;
    std::array<std::uint32_t, 17> first_code{}, count{}, first_value{};
    std::array<std::uint8_t, 256> values{};
  };
  struct Bits;
  struct ScanComponent {
    Jpeg12Plane* plane = nullptr;
    Huffman const* dc = nullptr;
    Huffman const* ac = nullptr;
    std::array<std::uint16_t, 64> const* quantiser = nullptr;
    int prediction = 0;
  };

  [[nodiscard]] Jpeg12Trouble read_quantisers(std::span<std::byte const> body);
  [[nodiscard]] Jpeg12Trouble read_huffman(std::span<std::byte const> body);
  [[nodiscard]] Jpeg12Trouble read_frame(std::span<std::byte const> body);
  // `rest` starts after the SOS header; on return, after the entropy-coded data.
  [[nodiscard]] Jpeg12Trouble read_scan(std::span<std::byte const> body, std::span<std::byte const>& rest);
  [[nodiscard]] Jpeg12Trouble decode_mcus(std::span<ScanComponent> scan, Bits& bits);
  static void decode_block(ScanComponent& component, Bits& bits, std::uint32_t block_x, std::uint32_t block_y);

  Jpeg12Limits limits_;
  std::array<std::array<std::uint16_t, 64>, 4> quantisers_{};  // in row order, not in zigzag order
  std::array<bool, 4> has_quantiser_{};
  std::array<Huffman, 4> dc_{}, ac_{};
  std::uint32_t restart_interval_ = 0;
};

}  // namespace terrazzo::codec
