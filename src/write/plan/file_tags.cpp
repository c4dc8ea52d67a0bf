// SPDX-License-Identifier: Apache-2.0
#include "write/plan/file_tags.hpp"

#include "base/text.hpp"
#include "geo/encode.hpp"
#include "terrazzo/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iomanip>
#include <sstream>
#include <string>
#include <utility>

namespace terrazzo::writing {

namespace {

namespace tag = tiff::tag;

// Tags that the writer sets itself; extra tags must not contain them.
constexpr std::uint16_t kOwnTags[] = {tag::NewSubfileType, tag::ImageWidth,       tag::ImageLength,
                                      tag::BitsPerSample,  tag::Compression,      tag::PhotometricInterpretation,
                                      tag::FillOrder,      tag::StripOffsets,     tag::SamplesPerPixel,
                                      tag::RowsPerStrip,   tag::StripByteCounts,  tag::PlanarConfiguration,
                                      tag::Predictor,      tag::ColorMap,         tag::TileWidth,
                                      tag::TileLength,     tag::TileOffsets,      tag::TileByteCounts,
                                      tag::SubIFDs,        tag::ExtraSamples,     tag::SampleFormat,
                                      tag::JPEGTables,     tag::YCbCrSubSampling, tag::ReferenceBlackWhite,
                                      tag::LercParameters};

void set_samples(FilePlan const& plan, tiff::TagSet& tags) {
  std::uint32_t const bands = plan.options.bands;
  tags.set_shorts(tag::BitsPerSample,
                  std::vector(bands, static_cast<std::uint16_t>(plan.format.block.bits_per_sample)));
  tags.set_short(tag::Compression, static_cast<std::uint16_t>(plan.format.block.compression));
  tags.set_short(tag::PhotometricInterpretation, static_cast<std::uint16_t>(plan.photometric));
  tags.set_short(tag::SamplesPerPixel, static_cast<std::uint16_t>(bands));
  tags.set_short(tag::PlanarConfiguration, plan.planes > 1 ? 2 : 1);
  if (plan.predictor != tiff::Predictor::none) {
    tags.set_short(tag::Predictor, static_cast<std::uint16_t>(plan.predictor));
  }
  if (!plan.extra_samples.empty()) { tags.set_shorts(tag::ExtraSamples, plan.extra_samples); }
  tags.set_shorts(tag::SampleFormat, std::vector(bands, static_cast<std::uint16_t>(plan.format.block.sample_format)));
}

void set_codec_tags(FilePlan const& plan, tiff::TagSet& tags) {
  if (plan.encoder->set_tags != nullptr) { plan.encoder->set_tags(plan.format, tags); }
  if (plan.photometric == tiff::Photometric::ycbcr) {
    std::array const subsampling{static_cast<std::uint16_t>(plan.format.chroma_horizontal),
                                 static_cast<std::uint16_t>(plan.format.chroma_vertical)};
    tags.set_shorts(tag::YCbCrSubSampling, subsampling);
    // The full range of bytes, as in JPEG.
    constexpr std::array<std::uint32_t, 12> kReference{0, 1, 255, 1, 128, 1, 255, 1, 128, 1, 255, 1};
    tiff::TagValue value{tiff::FieldType::rational, 6, std::vector<std::byte>(sizeof kReference)};
    std::memcpy(value.bytes.data(), kReference.data(), sizeof kReference);
    tags.set(tag::ReferenceBlackWhite, std::move(value));
  }
}

std::string number(double value) {
  std::ostringstream out;
  out << std::setprecision(17) << value;
  return out.str();
}

std::vector<BandInfo> with_statistics(FilePlan const& plan, std::span<Moments const> moments) {
  std::vector<BandInfo> bands = plan.options.band_info;
  bands.resize(plan.options.bands);
  // Longer than any number that can occur: reserves space for it.
  std::string const longest = "-1.2345678901234567e+308";
  std::uint64_t const pixels = std::uint64_t{plan.levels[0].width} * plan.levels[0].height;
  for (std::size_t b = 0; b < bands.size(); ++b) {
    // Old statistics describe other pixels.
    MetadataItems& items = bands[b].metadata.domains[""];
    std::erase_if(items, [](auto const& item) { return item.first.starts_with("STATISTICS_"); });
    Moments const* const known = moments.empty() ? nullptr : &moments[b];
    if (known != nullptr && known->count == 0) { continue; }
    auto const set = [&](char const* key, double value) {
      if (std::isnan(value)) { return; }  // infinities have no mean
      items.emplace_back(key, known != nullptr ? number(value) : longest);
    };
    set("STATISTICS_MINIMUM", known != nullptr ? known->minimum : 0);
    set("STATISTICS_MAXIMUM", known != nullptr ? known->maximum : 0);
    set("STATISTICS_MEAN", known != nullptr ? known->mean : 0);
    set("STATISTICS_STDDEV", known != nullptr ? std::sqrt(known->m2 / static_cast<double>(known->count)) : 0);
    set("STATISTICS_VALID_PERCENT",
        known != nullptr ? 100.0 * static_cast<double>(known->count) / static_cast<double>(pixels) : 0);
  }
  return bands;
}

}  // namespace

void BlockPlaces::encode(bool tiled, bool bigtiff, tiff::TagSet& tags) const {
  // Some writers use the tags of strips for tiles, or those of tiles for strips.
  tags.erase(tiled ? tag::StripOffsets : tag::TileOffsets);
  tags.erase(tiled ? tag::StripByteCounts : tag::TileByteCounts);
  tags.set_offsets(tiled ? tag::TileOffsets : tag::StripOffsets, offsets_bytes, bigtiff);
  tags.set_longs(tiled ? tag::TileByteCounts : tag::StripByteCounts, sizes_bytes);
}

FileTags::FileTags(FileTags&& made, FilePlan const& plan) : FileTags(std::move(made)) { plan_ = &plan; }

FileTags::FileTags(FilePlan const& plan) : plan_(&plan) {
  WriteOptions const& options = plan.options;
  set_samples(plan, of_levels_);
  if (options.nodata) { geo::encode_nodata(*options.nodata, of_levels_); }
  if (plan.photometric == tiff::Photometric::palette) {
    geo::encode_color_table(options.band_info.front().color_table, plan.format.block.bits_per_sample, of_levels_);
  }
  set_codec_tags(plan, of_levels_);
  // Metadata contains only items that no tag above expresses.
  of_raster_ = of_levels_;
  std::string const crs_wkt = geo::encode_georeference(options.georeference, of_raster_);
  pam_ = geo::encode_pam(options.band_info, crs_wkt);
  std::vector<BandInfo> const bands = options.statistics ? with_statistics(plan, {}) : options.band_info;
  geo::encode_metadata(options.metadata, bands, of_raster_);
  if (tiff::TagValue const* const metadata = of_raster_.find(tag::GDALMetadata)) {
    metadata_bytes_ = metadata->bytes.size();
  }
  for (ExtraTag const& extra : options.extra_tags) {
    std::size_t const unit = tiff::field_type_bytes(extra.type);
    bool const own = std::ranges::find(kOwnTags, extra.tag) != std::end(kOwnTags) || of_raster_.has(extra.tag);
    if (own) {
      throw Error(ErrorKind::usage, text("tag ", extra.tag, " is set by the writer itself"), {.tag = extra.tag});
    }
    if (unit == 0 || extra.bytes.size() / unit != extra.count || extra.bytes.size() % unit != 0) {
      throw Error(ErrorKind::usage,
                  text("extra tag ", extra.tag, ": ", extra.bytes.size(), " bytes are not ", extra.count,
                       " values of field type ", extra.type),
                  {.tag = extra.tag});
    }
    of_raster_.set(extra.tag, {static_cast<tiff::FieldType>(extra.type), extra.count, extra.bytes});
  }
}

void FileTags::set_places(LevelPlan const& level, BlockPlaces const& places, tiff::TagSet& tags) const {
  tags.set_long(tag::ImageWidth, level.width);
  tags.set_long(tag::ImageLength, level.height);
  if (plan_->tiled) {
    tags.set_long(tag::TileWidth, level.block_width);
    tags.set_long(tag::TileLength, level.block_height);
  } else {
    tags.set_long(tag::RowsPerStrip, level.block_height);
  }
  places.encode(plan_->tiled, plan_->bigtiff, tags);
}

tiff::TagSet FileTags::image(std::size_t level, BlockPlaces const& places, std::span<Moments const> moments) const {
  tiff::TagSet tags = level == 0 ? of_raster_ : of_levels_;
  if (level > 0) {
    tags.set_long(tag::NewSubfileType, 1);
  } else if (plan_->options.statistics && !moments.empty()) {
    set_statistics(moments, tags);
  }
  set_places(plan_->levels[level], places, tags);
  return tags;
}

tiff::TagSet FileTags::mask(std::size_t level, BlockPlaces const& places) const {
  tiff::TagSet tags;
  tags.set_long(tag::NewSubfileType, level == 0 ? 4 : 5);
  tags.set_short(tag::BitsPerSample, static_cast<std::uint16_t>(plan_->mask_format.block.bits_per_sample));
  tags.set_short(tag::Compression, static_cast<std::uint16_t>(plan_->mask_format.block.compression));
  tags.set_short(tag::PhotometricInterpretation, static_cast<std::uint16_t>(tiff::Photometric::mask));
  tags.set_short(tag::SamplesPerPixel, 1);
  tags.set_short(tag::PlanarConfiguration, 1);
  tags.set_short(tag::SampleFormat, static_cast<std::uint16_t>(tiff::SampleFormat::uint));
  set_places(plan_->levels[level], places, tags);
  return tags;
}

void FileTags::set_statistics(std::span<Moments const> moments, tiff::TagSet& tags) const {
  tiff::TagSet fresh = of_raster_;
  fresh.erase(tag::GDALMetadata);
  geo::encode_metadata(plan_->options.metadata, with_statistics(*plan_, moments), fresh);
  tiff::TagValue value;
  if (tiff::TagValue const* const found = fresh.find(tag::GDALMetadata)) { value = *found; }
  value.type = tiff::FieldType::ascii;
  // Fill the reserved space with blanks after the document, before the NUL.
  if (!value.bytes.empty()) { value.bytes.pop_back(); }
  value.bytes.resize(metadata_bytes_ - 1, std::byte{' '});
  value.bytes.push_back(std::byte{0});
  value.count = value.bytes.size();
  tags.set(tag::GDALMetadata, std::move(value));
}

}  // namespace terrazzo::writing
