// SPDX-License-Identifier: Apache-2.0
//
// Descriptive tags of baseline TIFF as metadata items, with GDAL's names and formats (TIFFTAG_SOFTWARE, ...).
#pragma once

#include "geo/metadata/metadata.hpp"
#include "tiff/directory.hpp"
#include "tiff/directory_writer.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace terrazzo::geo {

// Adds to the default domain; the XMP packet becomes "xml:XMP".
void add_baseline_metadata(tiff::Directory const& dir, MetadataBuilder& metadata);

// Bytes of the tags that add_baseline_metadata() reads. Tags may share them, so the sum may exceed the file's size.
[[nodiscard]] std::uint64_t baseline_text_bytes(tiff::Directory const& dir) noexcept;

// The inverse, for one item of the default domain. Returns false if the item has no tag of its own, or its value does
// not fit.
bool set_baseline_tag(std::string_view key, std::string const& value, tiff::TagSet& tags);

// A text tag of at most `max_bytes`, as UTF-8, otherwise nullopt: texts from a file are copied only up to a bound.
inline constexpr std::uint64_t kMaxTextTagBytes = std::uint64_t{64} << 20;
[[nodiscard]] std::optional<std::string> bounded_text(tiff::Directory const& dir, std::uint16_t tag,
                                                      std::uint64_t max_bytes = kMaxTextTagBytes);

}  // namespace terrazzo::geo
