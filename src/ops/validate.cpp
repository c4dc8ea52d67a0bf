// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/validate.hpp"

#include "base/memory_budget.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "ops/validate_blocks.hpp"
#include "ops/validate_decode.hpp"
#include "ops/validate_images.hpp"
#include "ops/validate_layout.hpp"
#include "ops/validate_overlap.hpp"
#include "ops/validate_rules.hpp"
#include "read/sidecar.hpp"
#include "terrazzo/error.hpp"

#include <functional>
#include <optional>
#include <utility>

namespace terrazzo {

namespace {

using namespace ops;

// Tells how far we are, and stops when told so.
class Meter {
 public:
  Meter(ValidateOptions const& options, std::uint64_t total) : options_(options), total_(total) {}

  void advance(std::uint64_t tiles) {
    done_ += tiles;
    bool const stop = (options_.cancel != nullptr && *options_.cancel) ||
                      (options_.progress && !options_.progress(std::min(done_, total_), total_));
    if (stop) { throw Error(ErrorKind::cancelled, "the validation was cancelled"); }
  }

 private:
  ValidateOptions const& options_;
  std::uint64_t total_, done_ = 0;
};

// Directories and tags as a reader meets them; what does not open is a finding, not an exception.
std::optional<Dataset> try_open(std::function<Dataset()> const& open_it, Findings& findings) {
  try {
    return open_it();
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::malformed && error.kind() != ErrorKind::unsupported) { throw; }
    findings.add(Rule::not_a_tiff, {.ifd = error.where().ifd, .offset = error.where().offset},
                 [&] { return error.message(); });
    return std::nullopt;
  }
}

// GDAL's reader takes overviews in the file before those beside it, its validator minds the file beside it all the
// same.
void check_idle_sidecar(std::string const& path, CheckedFile const& file, Findings& findings) {
  if (file.levels_outside > 0) { return; }  // told by check_layout
  try {
    ByteSourcePtr const sidecar = reading::open_sidecar(path + ".ovr");
    if (sidecar == nullptr) { return; }
    static_cast<void>(tiff::read_chain(sidecar, 1));
  } catch (Error const&) {
    return;  // no TIFF, or nobody can read it: no reader will mistake it for overviews
  }
  findings.add(Rule::external_overviews, {},
               [&] { return text("there is a file of overviews beside it, ", path, ".ovr"); });
}

void check_tiles_and_layout(CheckedFile& file, Dataset const& dataset, ValidateOptions const& options,
                            MemoryBudget& budget, Findings& findings, Validation& result) {
  std::uint64_t const total = checkable_blocks(file);
  Meter meter(options, total);
  MemoryBudget::Reservation held;
  std::optional<ExtentList> extents;
  try {
    held = budget.reserve(ExtentList::bytes_for(total), "the places of all tiles");
    extents.emplace(total);
  } catch (Error const& error) {
    if (error.kind() != ErrorKind::limit) { throw; }
    findings.add(Rule::tiles_not_checked, {},
                 [&] { return text("tiles that overlap were not looked for: ", error.message()); });
  }
  BlockCounts const counts = check_blocks(file, resolve_threads(options.threads), extents ? &*extents : nullptr,
                                          findings, [&](std::uint64_t tiles) { meter.advance(tiles); });
  result.tiles = counts.tiles;
  result.sparse_tiles = counts.sparse;
  check_layout(file, dataset, findings);
  if (extents) { check_extents(file, *std::move(extents), findings, result); }
}

Validation run(std::function<Dataset()> const& open_it, std::string const* path, ValidateOptions const& options) {
  Validation result;
  Findings findings(options.max_findings);
  std::optional<Dataset> const dataset = try_open(open_it, findings);
  if (dataset) {
    MemoryBudget budget(resolve_memory_limit(options.memory_limit_bytes));
    CheckedFile file = collect_images(*dataset, options.open.page, budget, findings);
    if (path != nullptr && options.open.sidecars) { check_idle_sidecar(*path, file, findings); }
    check_tiles_and_layout(file, *dataset, options, budget, findings, result);
    if (options.decode) { check_pixels(*dataset, options, options.progress, findings); }
  }
  result.valid_tiff =
      dataset && findings.count(Rule::tile_past_end) == 0 && findings.count(Rule::tile_undecodable) == 0;
  result.valid_cog = !findings.has_error();
  findings.move_to(result);
  return result;
}

}  // namespace

Validation validate(std::string const& path, ValidateOptions const& options) {
  return run([&] { return open(path, options.open); }, &path, options);
}

Validation validate_memory(std::span<std::byte const> bytes, std::string name, ValidateOptions const& options) {
  return run([&] { return open_memory(bytes, name, options.open); }, nullptr, options);
}

}  // namespace terrazzo
