// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/overviews.hpp"

#include "base/checked.hpp"
#include "base/text.hpp"
#include "ops/stream_device_rows.hpp"
#include "read/dataset.hpp"
#include "terrazzo/convert.hpp"
#include "terrazzo/error.hpp"
#include "tiff/directory.hpp"
#include "tiff/ghost_area.hpp"
#include "tiff/image.hpp"
#include "write/directory_links.hpp"
#include "write/engine_choice.hpp"
#include "write/file_plan.hpp"
#include "write/file_update.hpp"
#include "write/overview_writer.hpp"
#include "write/reduce.hpp"

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

// What writes tiles like these; nothing when we do not.
std::optional<Compression> compression_like(tiff::Image const& image) {
  switch (image.compression) {
    case tiff::Compression::none: return Compression::none;
    case tiff::Compression::packbits: return Compression::packbits;
    case tiff::Compression::lzw: return Compression::lzw;
    case tiff::Compression::deflate:
    case tiff::Compression::pkzip_deflate: return Compression::deflate;
    case tiff::Compression::zstd: return Compression::zstd;
    case tiff::Compression::lerc:
      return image.lerc_additional_compression == 1   ? Compression::lerc_deflate
             : image.lerc_additional_compression == 2 ? Compression::lerc_zstd
                                                      : Compression::lerc;
    case tiff::Compression::jpeg: return Compression::jpeg;
    case tiff::Compression::jpeg2000: return Compression::jpeg2000;
    case tiff::Compression::webp: return Compression::webp;
    case tiff::Compression::lzma: return Compression::lzma;
    case tiff::Compression::lz4: return Compression::lz4;
    default: return std::nullopt;
  }
}

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

// Of overviews in an .ovr file, which are made anew with the others. The smallest that fits both sides; 0: none does.
std::uint32_t factor_of(OverviewInfo const& overview, Info const& info) {
  std::uint32_t const factor = std::max({2U, writing::overview_size(info.width, std::max(overview.width, 1U)),
                                         writing::overview_size(info.height, std::max(overview.height, 1U))});
  return has_size(overview, info, factor) ? factor : 0;
}

// Factors to be made. With `keep`, levels that are there stay (internal) or are to be there again (external).
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
      if (std::uint32_t const factor = factor_of(overview, info); factor != 0) { factors.push_back(factor); }
    }
    std::ranges::sort(factors);
    auto const rest = std::ranges::unique(factors);
    factors.erase(rest.begin(), rest.end());
  }
  return factors;
}

// The raster's own, unless it does not take the samples as we have them (12-bit JPEG) or this build lacks it.
Compression writable_compression(Info const& info, tiff::Image const& image, WriteOptions const& write) {
  auto const like = compression_like(image);
  if (!like) { return Compression::deflate; }
  WriteOptions tried = write;
  tried.compression = *like;
  try {
    static_cast<void>(writing::plan_file(info.width, info.height, tried));
    return *like;
  } catch (Error const&) { return Compression::deflate; }
}

WriteOptions overview_write_options(Dataset const& dataset, OverviewOptions const& options) {
  Info const& info = dataset.info();
  tiff::Image const& image = raster_image(dataset);
  if (image.is_converted_to_rgb()) {
    refuse(ErrorKind::unsupported,
           text("pixels of ", info.layout.source_color_space,
                " are converted to RGB; write overviews with the file: ", "terrazzo convert --overviews"));
  }
  WriteOptions write = conversion_options(dataset);
  write.georeference = {};  // overviews have that of the raster
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
  write.resampling = options.resampling;
  write.overview_factors = choose_factors(info, options);
  write.streaming_buffer_bytes = options.streaming_buffer_bytes;
  write.durability = options.durability;
  write.threads = options.threads;
  write.progress = options.progress;
  write.cancel = options.cancel;
  return write;
}

struct Made {
  ReadReport read{};
  WriteReport write{};
};

ReadRequest overview_request(OverviewOptions const& options, WriteOptions const& write) {
  ReadRequest request;
  if (write.engine == Engine::host) { request.engine = Engine::host; }
  request.bad_tile = options.bad_tile;
  request.exact = true;  // what a file holds does not depend on who decoded it
  return request;
}

Made make(Dataset const& dataset, WriteOptions const& write, ReadRequest const& request, Writer writer) {
  Made made;
  made.read = ops::stream_either_way(dataset, request, write, writer);
  made.write = writer.close();
  return made;
}

// ---------------------------------------------------------------------------------------------------------------
// Beside the file

void add_external(std::string const& path, OverviewOptions const& options, OverviewReport& report) {
  Dataset const dataset = open(path, options.open);
  Info const& info = dataset.info();
  report.file = path + ".ovr";
  WriteOptions write = overview_write_options(dataset, options);
  if (write.overview_factors->empty()) {
    std::error_code error;
    std::filesystem::remove(report.file, error);
    if (error) { refuse(ErrorKind::io, text("cannot remove ", report.file, ": ", error.message())); }
    return;
  }
  bool const own = std::ranges::any_of(info.overviews, [](OverviewInfo const& o) { return !o.external; });
  if (own) {
    refuse(ErrorKind::usage,
           "the file has overviews of its own, and readers would not look at an .ovr file beside it; leave --external "
           "out to replace them");
  }
  report.no_longer_cog = info.layout.cog;
  ReadRequest request = overview_request(options, write);
  ops::share_device_budget(dataset, request, write);
  FilePlan plan = writing::plan_overviews(info.width, info.height, write);
  writing::check_engine(plan);
  auto const sink = file_sink(report.file, options.durability);
  sink->open();
  Made made = make(dataset, write, request, writing::create_overviews(sink, std::move(plan), 0));
  report.read = std::move(made.read);
  report.write = std::move(made.write);
}

// ---------------------------------------------------------------------------------------------------------------
// In the file

bool is_overview(tiff::Directory const& directory, tiff::Image const& raster) {
  auto const image = tiff::try_parse_image(directory);
  if (!image) { return false; }
  bool const other_size = image->width_px != raster.width_px || image->height_px != raster.height_px;
  return image->is_reduced() || (image->is_mask() && other_size);
}

void check_internal(Info const& info, tiff::Chain const& chain, OverviewOptions const& options) {
  if (info.layout.big_endian) {
    refuse(ErrorKind::unsupported, "the file is big-endian: its overviews go beside it (--external)");
  }
  if (!info.pages.empty()) {
    refuse(ErrorKind::unsupported, "the file holds several images: overviews of the first go beside it (--external)");
  }
  if (!chain.warnings.empty()) { refuse(ErrorKind::malformed, chain.warnings.front()); }
  if (options.keep) { return; }
  for (tiff::Directory const& sub : tiff::read_sub_directories(chain.directories.front())) {
    if (is_overview(sub, tiff::Image{})) {
      refuse(ErrorKind::unsupported, "the file has overviews in SubIFDs, which cannot be replaced in place");
    }
  }
}

// Directories that stay: `before` in their places, `copied` again behind the end, as something between them goes.
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

// Makes `first_new_bytes` (0: nothing) the successor of the directories that stay; the last write is the one that
// counts.
void link(FileUpdate& file, std::uint64_t end_bytes, KeptDirectories const& kept, std::uint64_t first_new_bytes) {
  std::uint64_t next = first_new_bytes;
  std::uint64_t at = round_up(end_bytes, writing::kAppendedAlignmentBytes);
  for (auto it = kept.copied.rbegin(); it != kept.copied.rend(); ++it) {
    std::vector<std::byte> const bytes = writing::relinked(**it, next);
    file.patch(at, bytes);
    next = at;
    at = round_up(at + bytes.size(), writing::kAppendedAlignmentBytes);
  }
  tiff::Directory const& last = *kept.before.back();
  if (last.next_bytes() == next) { return; }
  file.patch(writing::next_pointer_offset_bytes(last), writing::encode_pointer(last.header(), next));
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
  std::uint64_t end_bytes = file->old_size_bytes(), first_new_bytes = 0;
  if (write.overview_factors->empty()) {
    if (kept.before.size() == chain.directories.size()) { return; }
    file->publish(end_bytes);
  } else {
    first_new_bytes = round_up(end_bytes, writing::kAppendedAlignmentBytes);
    ReadRequest request = overview_request(options, write);
    ops::share_device_budget(dataset, request, write);
    FilePlan plan = writing::plan_overviews(info.width, info.height, write);
    writing::check_engine(plan);
    Made made = make(dataset, write, request, writing::create_overviews(file, std::move(plan), first_new_bytes));
    report.read = std::move(made.read);
    report.write = std::move(made.write);
    end_bytes = report.write.bytes_written;
  }
  // The promise goes before it is broken.
  if (auto const edit = tiff::take_back_ghost(chain.directories.front().reader(), chain.header)) {
    file->patch(edit->offset_bytes, std::as_bytes(std::span(edit->text)));
    report.no_longer_cog = true;
  }
  link(*file, end_bytes, kept, first_new_bytes);
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
  report.overviews = open(path).info().overviews;
  std::error_code error;
  report.hides_sidecar = options.place == OverviewPlace::internal && !report.overviews.empty() &&
                         !report.overviews.front().external && std::filesystem::exists(path + ".ovr", error);
  return report;
}

}  // namespace terrazzo
