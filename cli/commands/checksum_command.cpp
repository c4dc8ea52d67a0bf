// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "commands/each_file.hpp"
#include "options/options.hpp"
#include "output/errors.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/progress_bar.hpp"
#include "output/sha256.hpp"

#include "terrazzo/blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <future>
#include <iostream>
#include <memory>

namespace terrazzo::cli {
namespace {

// Two blocks are held: one is hashed while the next is read.
constexpr std::uint64_t kBlockBytes = 128U << 20;

static_assert(std::endian::native == std::endian::little, "samples are hashed as they lie in memory");

constexpr char kFooter[] =
    R"(Hashes each band's samples: little-endian, rows from top to bottom, in the band's type. Files with equal sums hold
the same pixels, for any compression, tiling and interleaving.

Examples:
  terrazzo checksum a.tif b.tif              compare by eye
  terrazzo checksum --json a.tif             {"file", "width", "height", "dtype", "bands": [{"sha256"}]}
  terrazzo checksum --level 1 a.tif          of the largest overview
  terrazzo checksum --mask a.tif             of the mask (255 valid, 0 invalid)
  terrazzo checksum --device a.tif           decoded on the GPU: lossless files must give the same sums)";

struct Options {
  CommonOptions common;
  Selection selection;
  EngineOptions engine;
  std::vector<std::string> files;
  bool mask = false;
};

struct Checksum {
  std::uint32_t width = 0, height = 0;
  DType dtype = DType::u8;
  std::vector<std::uint32_t> bands;      // 1-based
  std::vector<std::string> sha256;
  ReadReport report;
};

// Adds a block (bands x rows x columns, contiguous) to the hashes of its bands, several bands at a time.
void hash_block(HostView const& view, std::vector<Sha256>& hashes, unsigned threads) {
  auto const band_bytes = static_cast<std::size_t>(view.band_stride_bytes);
  auto const hash_bands = [&](std::size_t first, std::size_t step) {
    for (std::size_t band = first; band < hashes.size(); band += step) {
      hashes[band].update({static_cast<std::byte const*>(view.data) + band * band_bytes, band_bytes});
    }
  };
  std::size_t const workers = std::clamp<std::size_t>(hashes.size(), 1, threads);
  std::vector<std::future<void>> others;
  for (std::size_t worker = 1; worker < workers; ++worker) {
    others.push_back(std::async(std::launch::async, hash_bands, worker, workers));
  }
  hash_bands(0, workers);
  for (auto& other : others) { other.get(); }
}

// Hashes bands of one type together.
std::vector<std::string> hash_bands(Dataset const& dataset, ReadRequest const& request, Checksum& result, bool mask) {
  RowBlocks const blocks(dataset, request, kBlockBytes);
  result.width = blocks.width();
  result.height = blocks.height();
  std::vector<Sha256> hashes(blocks.bands());
  std::array<std::optional<HostArray>, 2> buffers;
  std::future<void> hashing;  // after the buffers: its destructor waits before they are freed
  for (std::uint64_t i = 0; i < blocks.count(); ++i) {
    auto& buffer = buffers[i % 2];
    HostView view;
    if (mask) {
      buffer.emplace(blocks.read_mask(i, &result.report));
      view = buffer->view();
    } else {
      view = blocks.read(i, buffer, &result.report);
    }
    if (hashing.valid()) { hashing.get(); }
    hashing = std::async(std::launch::async,
                         [view, &hashes, threads = blocks.threads()] { hash_block(view, hashes, threads); });
  }
  if (hashing.valid()) { hashing.get(); }
  std::vector<std::string> sums;
  for (Sha256& hash : hashes) { sums.push_back(hash.finish()); }
  return sums;
}

Checksum checksum(Dataset const& dataset, ReadRequest request, bool mask) {
  auto const& bands = dataset.info().bands;
  Checksum result;
  result.bands = request.bands;
  if (result.bands.empty()) {
    for (std::uint32_t band = 1; band <= bands.size(); ++band) { result.bands.push_back(band); }
  }
  bool const one_type =
      std::all_of(bands.begin(), bands.end(), [&](BandInfo const& b) { return b.dtype == bands.front().dtype; });
  if (mask || one_type) {
    result.dtype = mask ? DType::u8 : dataset.info().dtype();
    result.sha256 = hash_bands(dataset, request, result, mask);
    return result;
  }
  // Read bands of one type at a time: a common type would change the samples.
  for (std::uint32_t band : result.bands) {
    request.bands = {band};
    for (auto& sum : hash_bands(dataset, request, result, false)) { result.sha256.push_back(std::move(sum)); }
  }
  result.dtype = bands.at(result.bands.front() - 1).dtype;
  return result;
}

Json to_json(std::string const& file, Checksum const& result) {
  Json bands = Json::array();
  for (std::size_t i = 0; i < result.sha256.size(); ++i) {
    bands.push_back({{"band", result.bands[i]}, {"sha256", result.sha256[i]}});
  }
  return {{"file", file},
          {"width", result.width},
          {"height", result.height},
          {"dtype", to_string(result.dtype)},
          {"bands", std::move(bands)},
          {"bad_tiles", bad_tiles_to_json(result.report.bad_tiles)}};
}

FileResult run_file(Options const& options, std::string const& file) {
  Dataset const dataset = open_file(file, options.common);
  ProgressBar bar("checksum", options.common.quiet);
  ReadRequest request = make_request(dataset, options.selection, options.engine);
  request.progress = bar.callback();
  Checksum const result = checksum(dataset, request, options.mask);
  if (!options.common.json) {
    for (std::size_t i = 0; i < result.sha256.size(); ++i) {
      std::cout << result.sha256[i] << "  " << printable_name(file) << "  band " << result.bands[i] << '\n';
    }
    if (!options.common.quiet) { warn_of_bad_tiles(file, result.report.bad_tiles); }
  }
  return {to_json(file, result)};
}

int run(Options const& options) {
  return run_each_file(options.files, options.common.json,
                       [&](std::string const& file) { return run_file(options, file); });
}

}  // namespace

void add_checksum(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("checksum", "SHA-256 of each band's pixels");
  command->footer(kFooter);
  add_files(*command, options->files);
  add_area(*command, options->selection);
  add_level(*command, options->selection);
  add_tolerance(*command, options->selection);
  auto* mask = command->add_flag("--mask", options->mask, "Hash the mask instead of the pixels")->group("Pixels");
  add_engine(*command, options->engine);
  add_device_tuning(*command, options->engine);
  mask->excludes(command->get_option("--device"));  // masks are decoded on the host
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
