// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/overviews.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "ops/convert/stream_device_rows.hpp"
#include "ops/edit/cog_layout.hpp"
#include "read/open/dataset.hpp"
#include "terrazzo/convert.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory.hpp"
#include "tiff/ghost_area.hpp"
#include "tiff/image.hpp"
#include "write/overviews/reduction.hpp"
#include "write/plan/compression.hpp"
#include "write/plan/engine_choice.hpp"
#include "write/plan/file_plan.hpp"
#include "write/update/directory_links.hpp"
#include "write/update/file_claims.hpp"
#include "write/update/file_update.hpp"
#include "write/update/overview_writer.hpp"
#include "write/update/read_back.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

namespace terrazzo {
namespace {

using writing::FilePlan;
using writing::FileUpdate;

[[noreturn]] void refuse(ErrorKind kind, std::string message) { throw Error(kind, std::move(message)); }

tiff::Image const& raster_image(Dataset const& dataset) { return dataset.shared_impl()->levels.front()->image; }

std::vector<std::uint32_t> automatic_factors(Info const& info) {
  constexpr std::uint32_t kEnough = 256;
  std::vector<std::uint32_t> factors;
  for (std::uint32_t factor = 1; writing::overview_size(std::max(info.width, info.height), factor) > kEnough;) {
    factors.push_back(factor *= 2);
  }
  return factors;
}

bool has_size(OverviewInfo const& overview, Info const& info, std::uint32_t factor) {
  return overview.width == writing::overview_size(info.width, factor) &&
         overview.height == writing::overview_size(info.height, factor);
}

// The factor of an overview in an .ovr file, which is rebuilt with the others: the smallest that fits both sides, or 0.
std::uint32_t factor_of(OverviewInfo const& overview, Info const& info) {
  std::uint32_t const factor = std::max({2U, writing::overview_size(info.width, std::max(overview.width, 1U)),
                                         writing::overview_size(info.height, std::max(overview.height, 1U))});
  return has_size(overview, info, factor) ? factor : 0;
}

// The factors to build. With `keep`, existing levels stay (internal) or are built again (external).
std::vector<std::uint32_t> choose_factors(Info const& info, OverviewOptions const& options) {
  std::vector<std::uint32_t> factors = options.factors ? *options.factors : automatic_factors(info);
  if (!options.keep) { return factors; }
  bool const external = options.place == OverviewPlace::external;
  std::erase_if(factors, [&](std::uint32_t factor) {
    return std::ranges::any_of(
        info.overviews, [&](OverviewInfo const& o) { return o.external == external && has_size(o, info, factor); });
  });
  if (external) {
    for (OverviewInfo const& overview : info.overviews) {
      std::uint32_t const factor = factor_of(overview, info);
      if (factor == 0) {
        refuse(ErrorKind::unsupported, text("the overview of ", overview.width, " x ", overview.height,
                                            " pixels cannot be made again, and so not be kept"));
      }
      factors.push_back(factor);
    }
    std::ranges::sort(factors);
    auto const rest = std::ranges::unique(factors);
    factors.erase(rest.begin(), rest.end());
  }
  return factors;
}

// The raster's compression, unless it does not support the decoded samples (12-bit JPEG) or this build lacks it.
Compression writable_compression(Info const& info, tiff::Image const& image, WriteOptions const& write) {
  auto const like = writing::compression_like(image);
  if (!like) { return writing::fallback_compression(); }
  WriteOptions tried = write;
  tried.compression = *like;
  try {
    static_cast<void>(writing::plan_file(info.width, info.height, tried));
    return *like;
  } catch (Error const&) { return writing::fallback_compression(); }
}

WriteOptions overview_write_options(Dataset const& dataset, OverviewOptions const& options) {
  Info const& info = dataset.info();
  tiff::Image const& image = raster_image(dataset);
  if (image.is_converted_to_rgb()) {
    refuse(ErrorKind::unsupported,
           text("pixels of ", info.layout.source_color_space,
                " are converted to RGB; write overviews together with the file: WriteOptions::overview_factors"));
  }
  WriteOptions write = conversion_options(dataset);
  write.georeference = {};  // overviews use the raster's georeference
  write.metadata = {};
  for (BandInfo& band : write.band_info) {
    band.metadata = {};
    band.description.clear();
  }
  if (image.photometric == tiff::Photometric::min_is_white) { write.photometric = "miniswhite"; }
  if (image.photometric == tiff::Photometric::separated && write.bands >= 4) { write.photometric = "cmyk"; }
  write.planar = info.layout.planar;
  bool const takes_tiles = image.tiled && image.block_width_px % 16 == 0 && image.block_height_px % 16 == 0;
  write.tile_size = takes_tiles ? TileSize{image.block_width_px, image.block_height_px} : TileSize{256, 256};
  write.compression = writable_compression(info, image, write);
  if (options.adjust) { options.adjust(write); }
  write.overview_resampling = options.resampling;
  write.overview_factors = choose_factors(info, options);
  write.streaming_buffer_bytes = options.streaming_buffer_bytes;
  write.durability = options.durability;
  write.threads = options.threads;
  write.progress = options.progress;
  write.cancel = options.cancel;
  return write;
}

// Only an explicit empty list removes overviews: a raster that needs no more overviews keeps its own.
bool has_nothing_to_do(OverviewOptions const& options, WriteOptions const& write) {
  return write.overview_factors->empty() && (options.keep || !options.factors);
}

// The directories of the plan, in order.
std::vector<writing::WantedLevel> wanted_levels(FilePlan const& plan) {
  std::vector<writing::WantedLevel> wanted;
  for (std::size_t i = plan.first_level; i < plan.levels.size(); ++i) {
    for (bool const mask : {false, true}) {
      if (!mask || plan.options.mask) { wanted.push_back({plan.levels[i].width, plan.levels[i].height, mask}); }
    }
  }
  return wanted;
}

// Throws unless readers find the levels that were made.
void require_overviews(Info const& info, std::vector<writing::WantedLevel> const& wanted, bool external) {
  for (writing::WantedLevel const& level : wanted) {
    bool const seen = level.mask || std::ranges::any_of(info.overviews, [&](OverviewInfo const& o) {
                        return o.external == external && o.width == level.width_px && o.height == level.height_px;
                      });
    if (!seen) {
      refuse(ErrorKind::io, text("the overview of ", level.width_px, " x ", level.height_px,
                                 " pixels was written, and readers do not find it"));
    }
  }
}

struct Made {
  ReadReport read{};
  WriteReport write{};
};

ReadRequest overview_request(OverviewOptions const& options, WriteOptions const& write) {
  ReadRequest request;
  if (write.engine == Engine::host) { request.engine = Engine::host; }
  request.bad_tile = options.bad_tile;
  request.exact = true;  // the contents of a file do not depend on the decoder
  return request;
}

Made make(Dataset const& dataset, ReadPlan const& planned, WriteOptions const& write, ReadRequest const& request,
          Writer writer) {
  Made made;
  made.read = ops::stream_either_way(dataset, planned, request, write, writer);
  made.write = writer.close();
  return made;
}

// Options for opening the file as readers do.
OpenOptions with_sidecars(OpenOptions options) {
  options.sidecars = true;
  return options;
}

// True by its ghost area, or by the layout of its overviews. Files without overviews have COG layout by chance.
bool is_cog(std::string const& path, Info const& info) {
  if (info.layout.cog) { return true; }
  ops::CogLayout const layout = ops::cog_layout(path);
  return layout.valid && layout.has_overviews;
}

// ---------------------------------------------------------------------------------------------------------------
// External overviews

void add_external(std::string const& path, OverviewOptions const& options, OverviewReport& report) {
  Dataset const dataset = open(path, options.open);
  Info const& info = dataset.info();
  report.file = path + ".ovr";
  WriteOptions write = overview_write_options(dataset, options);
  if (has_nothing_to_do(options, write)) { return; }
  if (write.overview_factors->empty()) {
    std::error_code error;
    std::filesystem::remove(report.file, error);
    if (error) { refuse(ErrorKind::io, text("cannot remove ", report.file, ": ", error.message())); }
    return;
  }
  bool const own = std::ranges::any_of(info.overviews, [](OverviewInfo const& o) { return !o.external; });
  if (own) {
    refuse(ErrorKind::usage,
           "the file has internal overviews, so readers would ignore an .ovr file; replace them with "
           "OverviewPlace::internal");
  }
  report.no_longer_cog = is_cog(path, info);
  ReadRequest request = overview_request(options, write);
  ReadPlan const planned = terrazzo::plan(dataset, request);
  ops::share_device_budget(planned, request, write);
  FilePlan plan = writing::plan_overviews(info.width, info.height, write);
  writing::check_engine(plan);
  auto const check = [wanted = wanted_levels(plan)](ByteSourcePtr const& source) {
    tiff::Chain const written = writing::read_back_chain(source, wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      writing::require_level(written.directories[i], wanted[i], 0, source->size_bytes());
    }
  };
  // The user did not type this name: a pipe with this name is not ours, and opening it would block.
  std::error_code unknown;
  std::filesystem::file_status const there = std::filesystem::status(report.file, unknown);
  if (std::filesystem::is_other(there)) {
    refuse(ErrorKind::io, text("cannot replace ", report.file, ": it is no regular file"));
  }
  auto const sink = writing::checked_sink(file_sink(report.file, options.durability), check);
  sink->open();
  std::vector<writing::WantedLevel> const wanted = wanted_levels(plan);
  Made made = make(dataset, planned, write, request, writing::create_overviews(sink, std::move(plan), 0));
  report.read = std::move(made.read);
  report.write = std::move(made.write);
  require_overviews(open(path, with_sidecars(options.open)).info(), wanted, true);
}

// ---------------------------------------------------------------------------------------------------------------
// Internal overviews

bool is_overview(tiff::Directory const& directory, tiff::Image const& raster) {
  auto const image = tiff::try_parse_image(directory);
  if (!image) { return false; }
  bool const other_size = image->width_px != raster.width_px || image->height_px != raster.height_px;
  return image->is_reduced() || (image->is_mask() && other_size);
}

void check_internal(Info const& info, tiff::Chain const& chain, OverviewOptions const& options) {
  if (info.layout.big_endian) {
    refuse(ErrorKind::unsupported, "the file is big-endian: write its overviews beside it (OverviewPlace::external)");
  }
  if (!info.pages.empty()) {
    refuse(ErrorKind::unsupported,
           "the file holds several images: write overviews of the first beside it (OverviewPlace::external)");
  }
  if (!chain.warnings.empty()) { refuse(ErrorKind::malformed, chain.warnings.front()); }
  if (options.keep) { return; }
  for (tiff::Directory const& sub : tiff::read_sub_directories(chain.directories.front())) {
    if (is_overview(sub, tiff::Image{})) {
      refuse(ErrorKind::unsupported, "the file has overviews in SubIFDs, which cannot be replaced in place");
    }
  }
}

// Directories that stay: `before` keep their offsets; `copied` follow a removed directory and are appended as copies.
struct KeptDirectories {
  std::vector<tiff::Directory const*> before{}, copied{};
};

KeptDirectories kept_directories(tiff::Chain const& chain, tiff::Image const& raster, bool keep) {
  KeptDirectories kept;
  bool gap = false;
  for (tiff::Directory const& directory : chain.directories) {
    bool const goes = !keep && &directory != &chain.directories.front() && is_overview(directory, raster);
    if (goes) {
      gap = true;
    } else {
      (gap ? kept.copied : kept.before).push_back(&directory);
    }
  }
  return kept;
}

// The offset of the pointer to the next directory in the last one that stays.
std::uint64_t link_offset_bytes(tiff::Directory const& last) {
  std::uint64_t const at = writing::next_pointer_offset_bytes(last);
  if (!range_fits(at, last.header().big ? 8 : 4, last.reader().size_bytes())) {
    throw Error(ErrorKind::malformed,
                "the file ends inside the directory: the pointer to the next one is cut off, so no overviews can be "
                "appended; write them beside the file (OverviewPlace::external)",
                {.ifd = last.index(), .offset = at});
  }
  return at;
}

// Copies of directories that stay and follow a removed one, from `start_bytes` on. The last copy links to the new
// directories.
class CopiedDirectories {
 public:
  CopiedDirectories(std::vector<tiff::Directory const*> const& directories, std::uint64_t start_bytes)
      : directories_(directories), end_bytes_(start_bytes) {
    for (tiff::Directory const* const directory : directories) {
      places_.push_back(end_bytes_);
      end_bytes_ = round_up(end_bytes_ + writing::relinked(*directory, 0).size(), writing::kAppendedAlignmentBytes);
    }
  }

  [[nodiscard]] std::vector<std::uint64_t> const& places() const noexcept { return places_; }
  // The offset for the next directory.
  [[nodiscard]] std::uint64_t end_bytes() const noexcept { return end_bytes_; }
  void write(FileUpdate& file, std::uint64_t next_bytes) const {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      std::uint64_t const next = i + 1 < places_.size() ? places_[i + 1] : next_bytes;
      file.write_at(places_[i], writing::relinked(*directories_[i], next));
    }
  }

 private:
  std::vector<tiff::Directory const*> const& directories_;
  std::vector<std::uint64_t> places_{};
  std::uint64_t end_bytes_;
};

// Throws unless `source` has the directories that stay, then those that were made.
void check_chain(ByteSourcePtr const& source, KeptDirectories const& kept,
                 std::vector<writing::WantedLevel> const& made, std::uint64_t begin_bytes, std::uint64_t end_bytes) {
  std::vector<tiff::Directory const*> stay = kept.before;
  stay.insert(stay.end(), kept.copied.begin(), kept.copied.end());
  tiff::Chain const chain = writing::read_back_chain(source, stay.size() + made.size());
  for (std::size_t i = 0; i < stay.size(); ++i) {
    writing::require_same(chain.directories[i], *stay[i], writing::Values::in_place);
  }
  for (std::size_t i = 0; i < made.size(); ++i) {
    writing::require_level(chain.directories[stay.size() + i], made[i], begin_bytes, end_bytes);
  }
}

void add_internal(std::string const& path, OverviewOptions const& options, OverviewReport& report) {
  report.file = path;
  auto const file = std::make_shared<FileUpdate>(path, options.durability);
  file->open();
  Dataset const dataset = open(path, options.open);
  Info const& info = dataset.info();
  tiff::Chain const chain = tiff::read_chain(dataset.shared_impl()->levels.front()->source);
  check_internal(info, chain, options);
  KeptDirectories const kept = kept_directories(chain, raster_image(dataset), options.keep);
  WriteOptions write = overview_write_options(dataset, options);
  write.bigtiff = chain.header.big ? BigTiff::always : BigTiff::never;
  bool const makes_some = !write.overview_factors->empty();
  if (has_nothing_to_do(options, write) || (!makes_some && kept.before.size() == chain.directories.size())) { return; }

  // The bytes to change; they must not belong to any data.
  tiff::Directory const& last = *kept.before.back();
  writing::Patch link{link_offset_bytes(last), {}};
  writing::FileClaims const claims(chain);
  std::vector<writing::ByteRange> changes{{link.offset_bytes, link.offset_bytes + (chain.header.big ? 8U : 4U)}};
  // Revoke the declared layout before changing it.
  std::vector<writing::Patch> patches;
  if (auto const edit = tiff::take_back_ghost(chain.directories.front().reader(), chain.header)) {
    auto const words = std::as_bytes(std::span(edit->text));
    patches.push_back({edit->offset_bytes, {words.begin(), words.end()}});
    changes.push_back({edit->offset_bytes, edit->offset_bytes + words.size()});
  }
  claims.check_patches(changes);
  bool const was_cog = is_cog(path, info);

  // Old overviews can be unlinked in a truncated file too: it does not grow.
  bool const grows = makes_some || !kept.copied.empty();
  CopiedDirectories const copied(kept.copied, grows ? claims.append_start_bytes() : file->old_size_bytes());
  std::uint64_t const first_new_bytes = makes_some ? copied.end_bytes() : 0;
  link.bytes = writing::encode_pointer(last.header(), kept.copied.empty() ? first_new_bytes : copied.places().front());
  copied.write(*file, first_new_bytes);
  std::vector<writing::WantedLevel> made_levels;
  std::uint64_t end_bytes = kept.copied.empty() ? file->old_size_bytes() : copied.end_bytes();
  if (makes_some) {
    ReadRequest request = overview_request(options, write);
    ReadPlan const planned = terrazzo::plan(dataset, request);
    ops::share_device_budget(planned, request, write);
    FilePlan plan = writing::plan_overviews(info.width, info.height, write);
    writing::check_engine(plan);
    made_levels = wanted_levels(plan);
    Made made =
        make(dataset, planned, write, request, writing::create_overviews(file, std::move(plan), first_new_bytes));
    report.read = std::move(made.read);
    report.write = std::move(made.write);
    end_bytes = report.write.bytes_written;
  } else {
    file->publish(end_bytes);
  }
  patches.push_back(std::move(link));
  auto const check = [&](std::vector<writing::Patch> const& made) {
    check_chain(writing::patched_file(path, made), kept, made_levels, first_new_bytes, end_bytes);
  };
  file->while_named([&] { check(patches); });
  for (writing::Patch const& patch : patches) { file->patch(patch.offset_bytes, patch.bytes); }
  file->while_named([&] {
    check({});
    require_overviews(open(path, options.open).info(), made_levels, false);
  });
  file->commit();
  report.no_longer_cog = was_cog;
}

}  // namespace

OverviewReport add_overviews(std::string const& path, OverviewOptions const& options) {
  OverviewReport report;
  if (options.open.page != 0) { refuse(ErrorKind::unsupported, "only the first image of a file can have overviews"); }
  try {
    if (options.place == OverviewPlace::external) {
      add_external(path, options, report);
    } else {
      add_internal(path, options, report);
    }
  } catch (Error const& error) { throw error.located({.source = path}); }
  report.overviews = open(path, with_sidecars(options.open)).info().overviews;
  std::error_code error;
  report.hides_sidecar = options.place == OverviewPlace::internal && !report.overviews.empty() &&
                         !report.overviews.front().external && std::filesystem::exists(path + ".ovr", error);
  return report;
}

}  // namespace terrazzo
