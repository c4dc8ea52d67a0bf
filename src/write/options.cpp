// SPDX-License-Identifier: Apache-2.0
//
// Names of what can be chosen, and options taken from a raster that exists.
#include "terrazzo/info.hpp"
#include "terrazzo/write.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace terrazzo {

namespace {

constexpr std::array<std::pair<Compression, std::string_view>, 13> kCompressions{{
    {Compression::none, "none"},
    {Compression::packbits, "packbits"},
    {Compression::lzw, "lzw"},
    {Compression::deflate, "deflate"},
    {Compression::zstd, "zstd"},
    {Compression::lerc, "lerc"},
    {Compression::lerc_deflate, "lerc-deflate"},
    {Compression::lerc_zstd, "lerc-zstd"},
    {Compression::jpeg, "jpeg"},
    {Compression::jpeg2000, "jpeg2000"},
    {Compression::webp, "webp"},
    {Compression::lzma, "lzma"},
    {Compression::lz4, "lz4"},
}};

constexpr std::array<std::pair<Resampling, std::string_view>, 10> kResamplings{{
    {Resampling::nearest, "nearest"},
    {Resampling::average, "average"},
    {Resampling::bilinear, "bilinear"},
    {Resampling::cubic, "cubic"},
    {Resampling::lanczos, "lanczos"},
    {Resampling::mode, "mode"},
    {Resampling::minimum, "min"},
    {Resampling::maximum, "max"},
    {Resampling::median, "median"},
    {Resampling::rms, "rms"},
}};

template <class Table, class Value>
std::string_view name_in(Table const& table, Value value) noexcept {
  auto const found = std::ranges::find(table, value, &Table::value_type::first);
  return found != table.end() ? found->second : "unknown";
}

// Names in any case, "_" for "-".
template <class Table>
auto value_in(Table const& table, std::string_view name) noexcept
    -> std::optional<typename Table::value_type::first_type> {
  auto const same = [](char a, char b) {
    char const lower = a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a == '_' ? '-' : a;
    return lower == b;
  };
  for (auto const& [value, known] : table) {
    if (std::ranges::equal(name, known, same)) { return value; }
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Compression compression) noexcept { return name_in(kCompressions, compression); }
std::string_view to_string(Resampling method) noexcept { return name_in(kResamplings, method); }

std::optional<Compression> parse_compression(std::string_view name) noexcept {
  if (auto const found = value_in(kCompressions, name)) { return found; }
  // GDAL's spellings.
  constexpr std::array<std::pair<Compression, std::string_view>, 4> kOthers{
      {{Compression::lerc_deflate, "lerc-deflate"},
       {Compression::jpeg2000, "jp2000"},
       {Compression::jpeg2000, "j2k"},
       {Compression::deflate, "zip"}}};
  return value_in(kOthers, name);
}

std::optional<Resampling> parse_resampling(std::string_view name) noexcept {
  if (auto const found = value_in(kResamplings, name)) { return found; }
  constexpr std::array<std::pair<Resampling, std::string_view>, 5> kOthers{{{Resampling::average, "mean"},
                                                                            {Resampling::minimum, "minimum"},
                                                                            {Resampling::maximum, "maximum"},
                                                                            {Resampling::nearest, "near"},
                                                                            {Resampling::median, "med"}}};
  return value_in(kOthers, name);
}

WriteOptions options_like(Info const& info) {
  WriteOptions options;
  options.dtype = info.dtype();
  options.bands = static_cast<std::uint32_t>(info.bands.size());
  options.band_info = info.bands;
  options.georeference = info.georeference;
  options.metadata = info.metadata;
  if (!info.bands.empty()) {
    // A marker that no pixel can have marks nothing.
    if (auto const& nodata = info.bands.front().nodata; nodata && nodata->representable) { options.nodata = nodata; }
    MaskKind const mask = info.bands.front().mask;
    options.mask = mask == MaskKind::internal || mask == MaskKind::external;
  }
  return options;
}

}  // namespace terrazzo
