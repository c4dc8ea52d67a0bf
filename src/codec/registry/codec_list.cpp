// SPDX-License-Identifier: Apache-2.0
//
// The table of codecs for callers: lists, names and settings of compressions (terrazzo/codecs.hpp).
#include "terrazzo/codecs.hpp"

#include "codec/libtiff/decoder.hpp"
#include "codec/registry/codec.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace terrazzo {

namespace {

// Ignores case; "_" equals "-".
bool is_name(std::string_view given, std::string_view known) noexcept {
  return std::ranges::equal(given, known, [](char a, char b) {
    char const lower = a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a == '_' ? '-' : a;
    return lower == b;
  });
}

bool has_name(codec::Choice const& choice, std::string_view name) noexcept {
  auto const is_other = [&](std::string_view other) { return !other.empty() && is_name(name, other); };
  return is_name(name, choice.name) || std::ranges::any_of(choice.other_names, is_other);
}

}  // namespace

std::vector<CodecInfo> codecs() {
  std::vector<CodecInfo> list;
  for (codec::Codec const& codec : codec::all_codecs()) {
    list.push_back({static_cast<std::uint32_t>(codec.compression), std::string(compression_name(codec.compression)),
                    std::string(codec.library), codec.is_available(), false, codec.is_loaded != nullptr});
  }
  for (tiff::Compression const compression : codec::LibtiffDecoder::long_tail()) {
    list.push_back({static_cast<std::uint32_t>(compression), std::string(compression_name(compression)), "libtiff",
                    codec::LibtiffDecoder::decodes(compression), true, true});
  }
  std::ranges::sort(list, {}, &CodecInfo::compression);
  return list;
}

std::string_view to_string(Compression compression) noexcept {
  codec::Choice const* const choice = codec::find_choice(compression).choice;
  return choice != nullptr ? choice->name : "unknown";
}

std::optional<Compression> parse_compression(std::string_view name) noexcept {
  for (codec::Codec const& codec : codec::all_codecs()) {
    for (codec::Choice const& choice : codec.choices) {
      if (has_name(choice, name)) { return choice.value; }
    }
  }
  return std::nullopt;
}

std::vector<Compression> compressions() {
  std::vector<Compression> all;
  for (codec::Codec const& codec : codec::all_codecs()) {
    for (codec::Choice const& choice : codec.choices) { all.push_back(choice.value); }
  }
  std::ranges::sort(all);
  return all;
}

CompressionSettings settings_of(Compression compression) noexcept {
  codec::Codec const* const codec = codec::find_choice(compression).codec;
  if (codec == nullptr) { return {}; }
  CompressionSettings settings = codec->encoder.settings;
  settings.level = levels_of(compression).has_value();
  return settings;
}

std::optional<CompressionLevels> levels_of(Compression compression) noexcept {
  auto const [codec, choice] = codec::find_choice(compression);
  if (codec == nullptr) { return std::nullopt; }
  // LERC's blobs are compressed once more by another codec, which has the levels.
  codec::Encoder const* const leveled = choice->around ? codec::find_encoder(*choice->around) : &codec->encoder;
  if (leveled == nullptr || leveled->highest_level == 0) { return std::nullopt; }
  return CompressionLevels{leveled->lowest_level, leveled->highest_level, leveled->default_level};
}

}  // namespace terrazzo
