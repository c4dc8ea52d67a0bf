// SPDX-License-Identifier: Apache-2.0
#include "ops/convert/color_tags.hpp"

#include "read/open/dataset.hpp"
#include "tiff/directory.hpp"
#include "tiff/format.hpp"
#include "tiff/metadata_reader.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace terrazzo::ops {
namespace {

namespace tag = tiff::tag;

// Larger values are not profiles: data copied from a file needs a bound.
constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;

// The size of the integers in a value: a rational consists of two.
std::size_t unit_bytes(std::uint16_t type) {
  bool const rational = static_cast<tiff::FieldType>(type) == tiff::FieldType::rational ||
                        static_cast<tiff::FieldType>(type) == tiff::FieldType::srational;
  return rational ? 4 : tiff::field_type_bytes(type);
}

std::optional<ExtraTag> tag_of(tiff::Directory const& directory, std::uint16_t number) {
  tiff::Entry const* const entry = directory.find(number);
  if (entry == nullptr || entry->value_bytes == 0 || entry->value_bytes > kMostBytes) { return std::nullopt; }
  ExtraTag found{number, entry->type, entry->count, directory.bytes_value(number)};
  if (found.bytes.size() != entry->value_bytes) { return std::nullopt; }  // the value extends past the end of the file
  if (directory.header().order == std::endian::big) {
    std::size_t const unit = unit_bytes(entry->type);
    for (auto at = found.bytes.begin(); at != found.bytes.end(); at += static_cast<std::ptrdiff_t>(unit)) {
      std::reverse(at, at + static_cast<std::ptrdiff_t>(unit));
    }
  }
  return found;
}

// True if the read returns the stored samples, band by band.
bool keeps_samples(Dataset const& source, ReadPlan const& planned) {
  Info const& info = source.info();
  std::vector<std::uint32_t> const& bands = planned.bands();
  for (std::size_t i = 0; i < bands.size(); ++i) {
    if (bands[i] != i + 1) { return false; }
  }
  tiff::Image const& image = source.shared_impl()->levels.front()->image;
  bool const other_colors = image.is_converted_to_rgb() && image.photometric != tiff::Photometric::ycbcr;
  return bands.size() == info.bands.size() && planned.dtype() == info.dtype() && !other_colors;
}

}  // namespace

std::vector<ExtraTag> color_tags(Dataset const& source, ReadPlan const& planned) {
  if (!keeps_samples(source, planned)) { return {}; }
  reading::Level const& level = *source.shared_impl()->levels.front();
  auto const reader = std::make_shared<tiff::MetadataReader const>(level.source);
  tiff::Directory const directory =
      tiff::read_directory(reader, tiff::read_header(*reader), level.image.ifd_offset_bytes, level.image.ifd);
  if (auto profile = tag_of(directory, tag::ICCProfile)) { return {*std::move(profile)}; }
  std::vector<ExtraTag> tags;
  // A transfer function has an entry for every sample value.
  bool const same_bits = level.image.bits == size_bytes(planned.dtype()) * 8;
  for (std::uint16_t const number : {tag::TransferFunction, tag::WhitePoint, tag::PrimaryChromaticities}) {
    if (number == tag::TransferFunction && !same_bits) { continue; }
    if (auto found = tag_of(directory, number)) { tags.push_back(*std::move(found)); }
  }
  return tags;
}

}  // namespace terrazzo::ops
