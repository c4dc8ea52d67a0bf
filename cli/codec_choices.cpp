// SPDX-License-Identifier: Apache-2.0
#include "codec_choices.hpp"

#include "terrazzo/error.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace terrazzo::cli {
namespace {

[[noreturn]] void refuse(std::string message) { throw Error(ErrorKind::usage, std::move(message)); }

// "jpeg, jpeg2000 and webp"
std::string list_of(std::vector<Compression> const& codecs) {
  std::string list;
  for (std::size_t i = 0; i < codecs.size(); ++i) {
    if (i > 0) { list += i + 1 == codecs.size() ? " and " : ", "; }
    list += to_string(codecs[i]);
  }
  return list;
}

void want(char const* option, Compression chosen, std::vector<Compression> const& codecs) {
  if (std::ranges::find(codecs, chosen) != codecs.end()) { return; }
  refuse(std::string(option) + " is for " + list_of(codecs) + ", and the compression is " +
         std::string(to_string(chosen)) + "; type \"--compression " + std::string(to_string(codecs.front())) +
         "\", or leave " + option + " out");
}

}  // namespace

void check_codec_choices(WriteChoices const& choices, WriteOptions const& options) {
  using enum Compression;
  Compression const chosen = options.compression;
  if (choices.level) { want("--compression-level", chosen, {deflate, zstd, lerc_deflate, lerc_zstd, lzma, lz4}); }
  if (choices.max_error) { want("--max-error", chosen, {lerc, lerc_deflate, lerc_zstd}); }
  if (choices.quality) { want("--quality", chosen, {jpeg, webp}); }
  if (choices.lossy) { want("--lossy", chosen, {jpeg2000, webp, jpeg}); }  // JPEG always is
  if (choices.rate) { want("--rate", chosen, {jpeg2000}); }
  if (choices.chroma) { want("--chroma", chosen, {jpeg}); }
  if (choices.quality && chosen == webp && options.lossless) {
    refuse("--quality is for lossy WebP; type \"--lossy\" too, or leave --quality out");
  }
  if (choices.rate && options.lossless) {
    refuse("--rate is for lossy JPEG 2000; type \"--lossy\" too, or leave --rate out");
  }
  if (choices.lossy && chosen == jpeg2000 && options.jpeg2000_rate == 0) {
    refuse("--lossy JPEG 2000 wants to know how small: type \"--rate 20\" for a twentieth");
  }
  if (choices.chroma && (options.bands != 3 || options.planar == PlanarLayout::separate)) {
    refuse("--chroma is for colours, three bands that are stored together; leave it out");
  }
}

}  // namespace terrazzo::cli
