// SPDX-License-Identifier: Apache-2.0
#include "options/codec_choices.hpp"

#include "terrazzo/codecs.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
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

// The compressions that take a setting.
std::vector<Compression> that_take(bool CompressionSettings::*setting) {
  std::vector<Compression> codecs = compressions();
  std::erase_if(codecs, [&](Compression codec) { return !(settings_of(codec).*setting); });
  return codecs;
}

void want(char const* option, Compression chosen, std::vector<Compression> const& codecs) {
  if (std::ranges::find(codecs, chosen) != codecs.end()) { return; }
  refuse(std::string(option) + " is for " + list_of(codecs) + ", and the compression is " +
         std::string(to_string(chosen)) + "; type \"--compression " + std::string(to_string(codecs.front())) +
         "\", or leave " + option + " out");
}

}  // namespace

std::vector<std::string> const& compression_names() {
  static std::vector<std::string> const kNames = [] {
    std::vector<std::string> names;
    for (Compression const one : compressions()) { names.emplace_back(to_string(one)); }
    return names;
  }();
  return kNames;
}

std::string compressions_text() {
  std::string list;
  for (Compression const one : compressions()) {
    list += (list.empty() ? "" : ", ") + std::string(to_string(one));
    if (one == WriteOptions{}.compression) { list += " (default)"; }
  }
  return list;
}

std::string levels_text() {
  std::string list;
  for (Compression const one : compressions()) {
    auto const levels = levels_of(one);
    if (!levels || settings_of(one).max_error) { continue; }
    list += (list.empty() ? "" : ", ") + std::string(to_string(one)) + ' ' + std::to_string(levels->lowest) + '-' +
            std::to_string(levels->highest) + " (" + std::to_string(levels->usual) + ')';
  }
  return list;
}

void check_codec_choices(WriteChoices const& choices, WriteOptions const& options) {
  using Settings = CompressionSettings;
  Compression const chosen = options.compression;
  Settings const settings = settings_of(chosen);
  if (choices.level) { want("--compression-level", chosen, that_take(&Settings::level)); }
  if (choices.checksum) { want("--checksum", chosen, that_take(&Settings::checksum)); }
  if (choices.max_error) { want("--max-error", chosen, that_take(&Settings::max_error)); }
  if (choices.quality) { want("--quality", chosen, that_take(&Settings::quality)); }
  if (choices.lossy) {
    std::vector<Compression> lossy = that_take(&Settings::lossless);
    std::ranges::copy(that_take(&Settings::always_lossy), std::back_inserter(lossy));
    want("--lossy", chosen, lossy);
  }
  if (choices.rate) { want("--rate", chosen, that_take(&Settings::rate)); }
  if (choices.chroma) { want("--chroma", chosen, that_take(&Settings::chroma)); }
  if (choices.quality && settings.lossless && options.lossless) {
    refuse("--quality is for lossy WebP; type \"--lossy\" too, or leave --quality out");
  }
  if (choices.rate && options.lossless) {
    refuse("--rate is for lossy JPEG 2000; type \"--lossy\" too, or leave --rate out");
  }
  if (choices.lossy && settings.rate && options.jpeg2000_rate == 0) {
    refuse("--lossy JPEG 2000 needs a compression ratio: type \"--rate 20\" for a twentieth of the size");
  }
  if (choices.chroma && (options.bands != 3 || options.planar == PlanarLayout::separate)) {
    refuse("--chroma needs three bands stored together (--interleave pixel); leave it out");
  }
}

}  // namespace terrazzo::cli
