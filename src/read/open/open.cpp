// SPDX-License-Identifier: Apache-2.0
#include "base/memory_budget.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "geo/crs/complete_crs.hpp"
#include "geo/describe.hpp"
#include "geo/metadata/color.hpp"
#include "io/file_source.hpp"
#include "io/file_url.hpp"
#include "io/memory_source.hpp"
#include "read/open/checked_source.hpp"
#include "read/open/dataset.hpp"
#include "read/open/sidecar.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/read.hpp"
#include "tiff/directory.hpp"
#include "tiff/ghost_area.hpp"
#include "tiff/image.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace terrazzo {

namespace {

using reading::Level;
using reading::LevelPtr;

// GDAL's limit against files that consist of overviews only.
constexpr std::size_t kMaxOverviews = 30;

// A directory of the file with its image; the image is missing if it cannot be parsed. Candidates are made one at a
// time: a chain may have 65,536 of them, each with its own tables.
struct Candidate {
  tiff::Directory const& directory;
  std::optional<tiff::Image> image;
};

std::shared_ptr<Level> try_level(ByteSourcePtr const& source, Candidate const& candidate) {
  if (!candidate.image) { return nullptr; }
  try {
    return std::make_shared<Level>(source, candidate.directory, *candidate.image);
  } catch (Error const& error) {
    if (error.kind() == ErrorKind::io) { throw; }
    return nullptr;
  }
}

bool same_size(Level const& a, Level const& b) {
  return a.image.width_px == b.image.width_px && a.image.height_px == b.image.height_px;
}

bool is_mask_level(Level const& level, std::uint32_t bands) {
  return level.dtype == DType::u8 && (level.bands == 1 || level.bands == bands);
}

// The memory of a level: its directory and the tables that its image read from it.
std::uint64_t held_bytes(Level const& level, tiff::Directory const& directory) {
  return sizeof(Level) + tiff::held_bytes(directory) + level.image.jpeg_tables.size() +
         level.image.extra_samples.size() * sizeof(std::uint16_t);
}

// Collects overviews and masks for the raster at levels[0] by GDAL's rules.
class LevelBuilder {
 public:
  LevelBuilder(std::shared_ptr<Level> full, MemoryBudget& budget) : budget_(budget) {
    levels_.push_back(std::move(full));
  }

  void add(ByteSourcePtr const& source, Candidate const& candidate, bool external) {
    if (!candidate.image) { return; }
    tiff::Image const& image = *candidate.image;
    if (image.is_reduced() && !image.is_mask()) {
      add_overview(source, candidate, external);
    } else if (image.is_mask()) {
      add_mask(source, candidate, external);
    }
  }

  // Adds an overview of an .ovr file, whose first directory may lack the flag for reduced resolution.
  void add_overview(ByteSourcePtr const& source, Candidate const& candidate, bool external) {
    if (levels_.size() > kMaxOverviews) { return; }
    auto const level = try_level(source, candidate);
    if (level == nullptr || level->bands != levels_[0]->bands) { return; }
    level->external = external;
    budget_.charge(held_bytes(*level, candidate.directory), "the overviews");
    levels_.push_back(level);
  }

  void add_mask(ByteSourcePtr const& source, Candidate const& candidate, bool external) {
    auto const mask = try_level(source, candidate);
    if (mask == nullptr || !is_mask_level(*mask, levels_[0]->bands)) { return; }
    mask->external = external;
    for (auto const& level : levels_) {
      if (same_size(*level, *mask) && (level->mask == nullptr || external)) {
        // External masks may replace each other any number of times; only the last one is held.
        if (level->mask == nullptr) { budget_.charge(held_bytes(*mask, candidate.directory), "the masks"); }
        level->mask = mask;
        return;
      }
    }
  }

  [[nodiscard]] std::size_t overview_count() const noexcept { return levels_.size() - 1; }
  [[nodiscard]] std::vector<LevelPtr> finish() const { return {levels_.begin(), levels_.end()}; }

 private:
  MemoryBudget& budget_;
  std::vector<std::shared_ptr<Level>> levels_;
};

// "http://...", "s3://...", "/vsicurl/...": a location that a later version will read.
bool is_remote(std::string const& path) {
  auto const scheme_end = path.find("://");
  bool const scheme = scheme_end != std::string::npos && scheme_end > 0 &&
                      std::all_of(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(scheme_end),
                                  [](unsigned char c) { return std::isalnum(c) || c == '+' || c == '-' || c == '.'; });
  return scheme || path.starts_with("/vsi");
}

// True if GDAL's ghost area declares the COG layout and no later change has revoked it.
bool has_cog_layout(tiff::Directory const& directory) {
  auto const ghost = tiff::read_ghost_area(directory.reader(), directory.header());
  return ghost && ghost->ifds_before_data && !ghost->edited;
}

std::string_view sample_format_name(tiff::SampleFormat format) {
  switch (format) {
    case tiff::SampleFormat::int_: return "int";
    case tiff::SampleFormat::ieee_float: return "float";
    case tiff::SampleFormat::complex_int: return "complex-int";
    case tiff::SampleFormat::complex_float: return "complex-float";
    case tiff::SampleFormat::undefined: return "undefined";
    default: return "uint";
  }
}

std::string source_colour_space(tiff::Image const& image) {
  bool const by_codec = tiff::decodes_ycbcr(image.compression) && image.photometric == tiff::Photometric::ycbcr;
  if (!image.is_converted_to_rgb() && !by_codec) { return {}; }
  switch (image.photometric) {
    case tiff::Photometric::cielab: return "CIELAB";
    case tiff::Photometric::logl: return "LOGL";
    case tiff::Photometric::logluv: return "LOGLUV";
    case tiff::Photometric::separated: return "CMYK";
    default: return "YCbCr";
  }
}

Layout layout_of(tiff::Directory const& directory, tiff::Image const& image) {
  Layout layout;
  layout.tiled = image.tiled;
  layout.tile_width = image.block_width_px;
  layout.tile_height = image.block_height_px;
  layout.planar = image.separate_planes ? PlanarLayout::separate : PlanarLayout::contiguous;
  layout.compression = static_cast<std::uint32_t>(image.compression);
  layout.compression_name = tiff::compression_name(image.compression);
  layout.predictor = static_cast<std::uint32_t>(image.predictor);
  layout.bits_per_sample = image.bits;
  layout.sample_format = sample_format_name(image.sample_format);
  layout.photometric = tiff::photometric_name(image.photometric);
  layout.source_color_space = source_colour_space(image);
  layout.bigtiff = directory.header().big;
  layout.big_endian = directory.header().order == std::endian::big;
  layout.cog = has_cog_layout(directory);
  return layout;
}

// In GDAL's order of preference: a mask, nodata, an alpha band.
MaskKind mask_kind(Info const& info, Level const& full, std::size_t band) {
  if (full.mask != nullptr) { return full.mask->external ? MaskKind::external : MaskKind::internal; }
  if (info.bands[band].nodata && info.bands[band].nodata->representable) { return MaskKind::nodata; }
  std::size_t const count = info.bands.size();
  bool const has_alpha = info.bands.back().color == ColorInterpretation::alpha;
  bool const last = band + 1 == count;
  if (has_alpha && !last && geo::last_alpha_masks_others(count, full.dtype)) { return MaskKind::alpha; }
  return MaskKind::all_valid;
}

void describe_levels(std::vector<LevelPtr> const& levels, Info& info) {
  for (std::size_t i = 1; i < levels.size(); ++i) {
    tiff::Image const& image = levels[i]->image;
    info.overviews.push_back({image.width_px, image.height_px, image.block_width_px, image.block_height_px,
                              levels[i]->external, levels[i]->mask != nullptr});
  }
  for (std::size_t band = 0; band < info.bands.size(); ++band) {
    info.bands[band].mask = mask_kind(info, *levels[0], band);
  }
}

// True if GDAL's metadata of the directory contains this text. In valid files, values of different directories share no
// bytes, so their total is at most the file size: `allowance` is the rest of that total.
bool metadata_says(tiff::Directory const& directory, std::string_view item, std::uint64_t& allowance) {
  tiff::Entry const* const entry = directory.find(tiff::tag::GDALMetadata);
  if (entry == nullptr || entry->value_bytes > allowance) { return false; }
  allowance -= entry->value_bytes;
  auto const metadata = directory.text_value(tiff::tag::GDALMetadata);
  return metadata && metadata->find(item) != std::string::npos;
}

void add_external_levels(std::string const& path, LevelBuilder& builder, Info& info, MemoryBudget& budget) {
  using Use = std::function<void(ByteSourcePtr const&, Candidate const&)>;
  auto const each_image = [&](std::string const& name, Use const& use) {
    try {
      ByteSourcePtr const source = reading::open_sidecar(name);
      if (source == nullptr) { return; }
      tiff::Chain const chain = tiff::read_chain(source, budget);
      for (tiff::Directory const& directory : chain.directories) {
        use(source, {directory, tiff::try_parse_image(directory)});
      }
      info.files.push_back(name);
    } catch (Error const& error) {
      if (error.kind() == ErrorKind::limit) { throw error.located({.source = name}); }
      info.warnings.push_back(text("ignoring the unreadable sidecar ", name, ": ", error.message()));
    }
  };
  // GDAL reads the sidecar only if the file has no overviews of its own.
  if (builder.overview_count() == 0) {
    each_image(path + ".ovr", [&](ByteSourcePtr const& source, Candidate const& candidate) {
      if (candidate.image && candidate.image->is_mask()) {
        builder.add_mask(source, candidate, false);
      } else {
        builder.add_overview(source, candidate, true);
      }
    });
  }
  // GDAL accepts a .msk file as a mask only with these flags. They exclude files of other programs.
  bool flagged = false;
  std::optional<std::uint64_t> allowance;
  auto const add_mask = [&](ByteSourcePtr const& source, Candidate const& candidate) {
    if (!allowance) { allowance = source->size_bytes(); }
    flagged = flagged || metadata_says(candidate.directory, "INTERNAL_MASK_FLAGS_", *allowance);
    if (flagged) { builder.add_mask(source, candidate, true); }
  };
  each_image(path + ".msk", add_mask);
  if (flagged) { each_image(path + ".msk.ovr", add_mask); }
}

std::shared_ptr<Dataset::Impl const> open_source(ByteSourcePtr const& source, OpenOptions const& options,
                                                 std::string const* path) {
  auto impl = std::make_shared<Dataset::Impl>();
  Info& info = impl->info;
  info.source = source->name();
  info.files.push_back(source->name());
  impl->trust_is_stated = options.trust == Trust::trusted;
  impl->trusted = impl->trust_is_stated || (options.trust == Trust::automatic && source->hints().trusted);

  MemoryBudget budget(resolve_memory_limit(0));
  tiff::Chain const chain = tiff::read_chain(source, budget);
  info.warnings = chain.warnings;
  if (options.page >= chain.directories.size()) {
    throw Error(
        ErrorKind::usage,
        text("page ", options.page, " is out of range: the file has ", chain.directories.size(), " directories"),
        {.source = source->name()});
  }
  tiff::Directory const& main = chain.directories[options.page];
  auto const full = std::make_shared<Level>(source, main, tiff::parse_image(main, info.warnings));
  budget.charge(held_bytes(*full, main), "the directories");
  LevelBuilder builder(full, budget);
  for (tiff::Directory const& sub : tiff::read_sub_directories(main)) {
    budget.charge(tiff::held_bytes(sub), "the directories");
    builder.add(source, {sub, tiff::try_parse_image(sub)}, false);
  }

  bool in_pyramid = false;  // true between the opened image and the next full image
  for (std::uint32_t i = 0; i < chain.directories.size(); ++i) {
    if (i == options.page) {
      in_pyramid = true;
      continue;
    }
    Candidate const candidate{chain.directories[i], tiff::try_parse_image(chain.directories[i])};
    std::optional<tiff::Image> const& image = candidate.image;
    bool const own = image && !image->is_reduced() && !image->is_mask();
    if (own) {
      info.pages.push_back({i, image->width_px, image->height_px, image->samples});
      // Pages of the first image's pyramid may come in any order. For another page, only the pages after it count.
      if (options.page != 0) { in_pyramid = false; }
    } else if (in_pyramid || options.page == 0) {
      builder.add(source, candidate, false);
    }
  }

  geo::Sidecars sidecars;
  if (path != nullptr && options.sidecars) {
    sidecars = reading::read_text_sidecars(*path, info.files, budget);
    add_external_levels(*path, builder, info, budget);
  }
  impl->levels = builder.finish();

  info.width = full->image.width_px;
  info.height = full->image.height_px;
  info.layout = layout_of(main, full->image);
  info.bands.resize(full->bands);
  for (BandInfo& band : info.bands) {
    band.dtype = full->dtype;
    band.bits = full->image.is_converted_to_rgb() ? 8 : full->image.bits;
  }
  impl->crs = geo::describe(main, sidecars, info, budget);
  describe_levels(impl->levels, info);
  return impl;
}

}  // namespace

Info const& Dataset::info() const noexcept { return impl_->info; }

Info Dataset::detailed_info() const {
  Info info = impl_->info;
  geo::complete_crs(impl_->crs, info);
  return info;
}

Dataset open(std::string const& path_or_url, OpenOptions const& options) {
  std::optional<std::string> const from_url = io::path_of_file_url(path_or_url);
  std::string const& path = from_url ? *from_url : path_or_url;
  if (!from_url && is_remote(path)) {
    throw Error(ErrorKind::unsupported, "remote sources are not supported yet", {.source = path});
  }
  auto const source = std::make_shared<io::FileSource const>(path);
  try {
    return Dataset(open_source(source, options, &path));
  } catch (Error const& error) { throw error.located({.source = path}); }
}

Dataset open(ByteSourcePtr source, OpenOptions const& options) {
  ByteSourcePtr const safe = reading::checked(std::move(source));
  try {
    return Dataset(open_source(safe, options, nullptr));
  } catch (Error const& error) { throw error.located({.source = safe->name()}); }
}

Dataset open_memory(std::span<std::byte const> bytes, std::string name, OpenOptions const& options) {
  auto const source = std::make_shared<io::MemorySource const>(bytes, name);
  try {
    return Dataset(open_source(source, options, nullptr));
  } catch (Error const& error) { throw error.located({.source = std::move(name)}); }
}

}  // namespace terrazzo
