// SPDX-License-Identifier: Apache-2.0
//
// COGs made by hand for the tests of validate(): GDAL's layout, uncompressed bytes, and a way to bend every part of it.
#pragma once

#include "terrazzo/validate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace terrazzo::testing {

struct LaidImage {
  std::uint32_t width = 0, height = 0;
  std::uint32_t subfile_type = 0;  // 1 overview, 4 mask, 5 mask of an overview
  std::uint32_t tile = 64;
  std::uint32_t bits = 8;
  bool sparse = false;  // no tile is in the file
  std::vector<std::uint32_t> offsets{}, counts{};  // as laid out

  [[nodiscard]] std::size_t tiles() const {
    return std::size_t{(width + tile - 1) / tile} * ((height + tile - 1) / tile);
  }
};

inline std::string const kGhostLines =
    "LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\n"
    "BLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=NO\n ";

inline std::string ghost_area(std::string const& lines) {
  std::string digits = std::to_string(lines.size());
  digits.insert(0, 6 - digits.size(), '0');
  return "GDAL_STRUCTURAL_METADATA_SIZE=" + digits + " bytes\n" + lines;
}

// Classic and little-endian: header, ghost area, directories with their values, tiles of the last image first.
class CogLayout {
 public:
  std::string ghost = ghost_area(kGhostLines);
  bool framed = true;  // leaders and trailers around tiles
  std::uint32_t slack_bytes = 0;  // between the directories and the tiles
  std::vector<LaidImage> images{{256, 192}, {128, 96, 1}, {64, 48, 1}};
  std::function<void(std::vector<LaidImage>&)> bend{};  // changes the indexes after the tiles were laid
  std::uint32_t last_link = 0;  // of the last directory

  [[nodiscard]] std::vector<std::byte> bytes() {
    std::vector<std::uint32_t> ifds;
    std::uint32_t at = even(8 + ghost.size());
    for (LaidImage const& image : images) {
      ifds.push_back(at);
      at = even(at + directory_bytes() + (image.tiles() == 1 ? 0 : 8 * image.tiles()));
    }
    std::vector<std::byte> out(at + slack_bytes);
    for (auto image = images.rbegin(); image != images.rend(); ++image) { lay_tiles(*image, out); }
    std::vector<LaidImage> told = images;
    if (bend) { bend(told); }
    put32(out, 0, 0x002A4949);
    put32(out, 4, ifds.front());
    std::memcpy(out.data() + 8, ghost.data(), ghost.size());
    for (std::size_t i = 0; i < told.size(); ++i) {
      std::uint32_t const next = i + 1 < ifds.size() ? ifds[i + 1] : last_link;
      put_directory(out, ifds[i], told[i], next);
    }
    return out;
  }

  [[nodiscard]] Validation validate(ValidateOptions const& options = {}) {
    std::vector<std::byte> const made = bytes();
    return validate_memory(made, "made.tif", options);
  }

 private:
  static constexpr std::uint32_t kEntries = 9;
  static std::uint32_t even(std::size_t n) { return static_cast<std::uint32_t>(n + n % 2); }
  static std::uint32_t directory_bytes() { return 2 + 12 * kEntries + 4; }

  static void put16(std::vector<std::byte>& out, std::size_t at, std::uint16_t v) { std::memcpy(&out[at], &v, 2); }
  static void put32(std::vector<std::byte>& out, std::size_t at, std::uint32_t v) { std::memcpy(&out[at], &v, 4); }

  void lay_tiles(LaidImage& image, std::vector<std::byte>& out) const {
    image.offsets.clear();
    image.counts.clear();
    std::uint32_t const size = image.tile * image.tile * image.bits / 8;
    for (std::size_t i = 0; i < image.tiles(); ++i) {
      if (image.sparse) {
        image.offsets.push_back(0);
        image.counts.push_back(0);
        continue;
      }
      if (framed) {
        out.resize(out.size() + 4);
        put32(out, out.size() - 4, size);
      }
      image.offsets.push_back(static_cast<std::uint32_t>(out.size()));
      image.counts.push_back(size);
      for (std::uint32_t k = 0; k < size; ++k) { out.push_back(static_cast<std::byte>((k * 7 + i) % 251)); }
      if (framed) {
        for (int k = 0; k < 4; ++k) { out.push_back(out[out.size() - 4]); }
      }
    }
  }

  void put_directory(std::vector<std::byte>& out, std::uint32_t at, LaidImage const& image, std::uint32_t next) const {
    auto const count = static_cast<std::uint32_t>(image.offsets.size());
    std::uint32_t const values = at + directory_bytes();
    put16(out, at, kEntries);
    std::size_t entry = at + 2;
    auto const add = [&](std::uint16_t tag, std::uint16_t type, std::uint32_t items, std::uint32_t value) {
      put16(out, entry, tag);
      put16(out, entry + 2, type);
      put32(out, entry + 4, items);
      put32(out, entry + 8, value);
      entry += 12;
    };
    add(254, 4, 1, image.subfile_type);
    add(256, 4, 1, image.width);
    add(257, 4, 1, image.height);
    add(258, 3, 1, image.bits);
    add(262, 3, 1, (image.subfile_type & 4) != 0 ? 4 : 1);
    add(322, 4, 1, image.tile);
    add(323, 4, 1, image.tile);
    bool const inlined = count == 1;
    add(324, 4, count, inlined ? image.offsets[0] : values);
    add(325, 4, count, inlined ? image.counts[0] : values + 4 * count);
    put32(out, entry, next);
    for (std::uint32_t i = 0; !inlined && i < count; ++i) {
      put32(out, values + 4 * i, image.offsets[i]);
      put32(out, values + 4 * (count + i), image.counts[i]);
    }
  }
};

using Images = std::vector<LaidImage>;

inline CogLayout bent(std::function<void(Images&)> bend) {
  CogLayout layout;
  layout.bend = std::move(bend);
  return layout;
}

// The same without the ghost area's promises.
inline CogLayout unpromised(std::function<void(Images&)> bend) {
  CogLayout layout = bent(std::move(bend));
  layout.ghost.clear();
  layout.framed = false;
  return layout;
}

// The rules that were broken, each once, in the order of the findings.
inline std::vector<std::string> rules_of(Validation const& result) {
  std::vector<std::string> rules;
  for (Finding const& finding : result.findings) {
    if (rules.empty() || rules.back() != finding.rule) { rules.push_back(finding.rule); }
  }
  return rules;
}

inline Finding const* find_rule(Validation const& result, std::string const& rule) {
  auto const found = std::ranges::find(result.findings, rule, &Finding::rule);
  return found == result.findings.end() ? nullptr : &*found;
}

using Rules = std::vector<std::string>;

}  // namespace terrazzo::testing
