// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/validate.hpp"

#include "base/memory_budget.hpp"
#include "base/settings.hpp"
#include "base/text.hpp"
#include "ops/validate/blocks.hpp"
#include "ops/validate/decode.hpp"
#include "ops/validate/images.hpp"
#include "ops/validate/layout.hpp"
#include "ops/validate/overlap.hpp"
#include "ops/validate/rules.hpp"
#include "read/open/sidecar.hpp"
#include "terrazzo/error.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace terrazzo {

namespace {

using namespace ops;

// Reports progress. Throws `cancelled` if the caller cancels.
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

// Opens the file as a reader does; a file that does not open is a finding, not an exception.
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

// GDAL's reader prefers overviews in the file to those beside it, but its validator still reports the sidecar.
void check_idle_sidecar(std::string const& path, CheckedFile const& file, Findings& findings) {
  if (file.levels_outside > 0) { return; }  // reported by check_layout
  try {
    ByteSourcePtr const sidecar = reading::open_sidecar(path + ".ovr");
    if (sidecar == nullptr) { return; }
    static_cast<void>(tiff::read_chain(sidecar, 1));
  } catch (Error const&) {
    return;  // not a TIFF, or unreadable: no reader will take it for overviews
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

Validation run(std::function<Dataset()> const& open_it, bool is_path, ValidateOptions const& options) {
  Validation result;
  Findings findings(options.max_findings);
  std::optional<Dataset> const dataset = try_open(open_it, findings);
  if (dataset) {
    MemoryBudget budget(resolve_memory_limit(options.memory_limit_bytes));
    CheckedFile file = collect_images(*dataset, options.open.page, budget, findings);
    if (is_path && options.open.sidecars) { check_idle_sidecar(dataset->info().source, file, findings); }
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
  return run([&] { return open(path, options.open); }, true, options);
}

Validation validate_memory(std::span<std::byte const> bytes, std::string name, ValidateOptions const& options) {
  return run([&] { return open_memory(bytes, name, options.open); }, false, options);
}

Validation validate(std::shared_ptr<ByteSource const> source, ValidateOptions const& options) {
  return run([&] { return open(source, options.open); }, false, options);
}

}  // namespace terrazzo
