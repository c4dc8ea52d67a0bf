// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"
#include "errors.hpp"
#include "exit_code.hpp"
#include "format.hpp"
#include "interrupt.hpp"
#include "json_output.hpp"
#include "npy.hpp"
#include "options.hpp"
#include "parse.hpp"
#include "progress_bar.hpp"

#include "terrazzo/blocks.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/output_file.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace terrazzo::cli {
namespace {

constexpr std::uint64_t kBlockBytes = 256U << 20;

constexpr char kFooter[] =
    R"(The result is bands x rows x columns (--interleave pixel: rows x columns x bands). X.npy and standard
output are in NumPy's format (numpy.load opens it), other names, and --raw, mean bare little-endian samples.
Complex integers and complex float16, which NumPy lacks, have a last axis of two: the real and the imaginary part.
With --out -, the JSON of --json is one line on standard error.

Examples:
  terrazzo read dem.tif --out dem.npy                                everything
  terrazzo read dem.tif --out a.npy --window 1024,2048,512,512       a window
  terrazzo read rgbn.tif --out a.npy --bands 4,1 --dtype float32     two bands, converted
  terrazzo read dem.tif --out a.npy --masked --unpack                real values, NaN where there are none
  terrazzo read dem.tif --out a.npy --target-size 800,600            small, from the best overview
  terrazzo read dem.tif --out - --raw | sha256sum                    to a pipe
  terrazzo read dem.tif --out a.npy --device                         decoded on the GPU, the same pixels)";

struct Options {
  CommonOptions common;
  Selection selection;
  EngineOptions engine;
  std::string file, out;
  bool mask = false, raw = false;
  RowBlocks::Order order = RowBlocks::Order::band;
};

std::vector<std::uint64_t> shape_of(RowBlocks const& blocks, RowBlocks::Order order) {
  if (order == RowBlocks::Order::pixel) { return {blocks.height(), blocks.width(), blocks.bands()}; }
  return {blocks.bands(), blocks.height(), blocks.width()};
}

// Places blocks in a file whose samples start at `origin`.
class Placer {
 public:
  Placer(OutputFile& out, RowBlocks const& blocks, RowBlocks::Order order, DType dtype, std::uint64_t origin)
      : out_(out),
        order_(order),
        origin_(origin),
        bands_(blocks.bands()),
        row_bytes_(std::uint64_t{blocks.width()} * size_bytes(dtype)),
        height_(blocks.height()) {}

  // `block`: rows of the result from `first_row` on, contiguous, in the order given.
  void place(std::span<std::byte const> block, std::uint32_t first_row, std::uint32_t rows) {
    if (!out_.seekable()) {
      out_.write(block);
      return;
    }
    if (order_ == RowBlocks::Order::pixel) {
      out_.write_at(origin_ + first_row * row_bytes_ * bands_, block);
      return;
    }
    std::size_t const band_bytes = rows * row_bytes_;
    for (std::uint64_t band = 0; band < bands_; ++band) {
      out_.write_at(origin_ + (band * height_ + first_row) * row_bytes_, block.subspan(band * band_bytes, band_bytes));
    }
  }

 private:
  OutputFile& out_;
  RowBlocks::Order order_;
  std::uint64_t origin_, bands_, row_bytes_, height_;
};

std::string suffix_of(std::string const& path) { return lower_case(std::filesystem::path(path).extension().string()); }

bool wants_npy(Options const& options) {
  return !options.raw && (options.out == "-" || suffix_of(options.out) == ".npy");
}

// Nobody means to lose a raster, or to find one that has no header.
void check_out(Options const& options) {
  auto const refuse = [](std::string message) -> void { throw Error(ErrorKind::usage, std::move(message)); };
  if (options.out.empty()) { refuse("--out is empty; give X.npy, any other name, or - for standard output"); }
  std::error_code error;
  if (std::filesystem::equivalent(options.file, options.out, error)) {
    refuse("--out is the file that is read: \"" + options.out + '"');
  }
  std::string const suffix = suffix_of(options.out);
  if (!options.raw && (suffix == ".tif" || suffix == ".tiff")) {
    refuse("`read` writes no TIFF: `terrazzo convert` does; --raw makes a file of bare samples of any name");
  }
}

int run(Options const& options) {
  check_out(options);
  auto const started = std::chrono::steady_clock::now();
  Dataset const dataset = open_file(options.file, options.common);
  ProgressBar bar("read", options.common.quiet);
  ReadRequest request = make_request(dataset, options.selection, options.engine);
  request.progress = bar.callback();

  // Places in the file are counted in 63 bits.
  if (plan(dataset, request).result_bytes() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    throw Error(ErrorKind::limit, "the result has more bytes than a file can hold");
  }
  OutputFile out(options.out, cancel_flag());
  // A pipe takes bytes in order: band order needs the whole result at once.
  bool const whole = !out.seekable() && options.order == RowBlocks::Order::band;
  RowBlocks const blocks(dataset, request, whole ? ~std::uint64_t{0} : kBlockBytes);
  DType const dtype = options.mask ? DType::u8 : blocks.dtype();
  std::vector<std::uint64_t> const shape = shape_of(blocks, options.order);
  std::string const header = wants_npy(options) ? npy_header(dtype, shape) : std::string();
  out.write(std::as_bytes(std::span(header)));

  Placer placer(out, blocks, options.order, dtype, header.size());
  ReadReport report;
  std::optional<HostArray> buffer;
  for (std::uint64_t i = 0; i < blocks.count(); ++i) {
    HostView view;
    if (options.mask) {
      buffer.emplace(blocks.read_mask(i, &report));
      view = buffer->view();
    } else {
      view = blocks.read(i, buffer, &report, options.order);
    }
    std::size_t const bytes = std::size_t{view.bands} * view.height * view.width * size_bytes(view.dtype);
    placer.place({static_cast<std::byte const*>(view.data), bytes}, blocks.first_row(i), view.height);
  }
  out.publish();

  std::uint64_t const bytes = header.size() + shape[0] * shape[1] * shape[2] * size_bytes(dtype);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  bool const stdout_taken = is_standard_output(options.out);
  if (options.common.json) {
    print_json_beside({{"file", options.file},
                       {"out", options.out},
                       {"shape", shape},
                       {"dtype", to_string(dtype)},
                       {"bytes", bytes},
                       {"seconds", seconds},
                       {"tiles", report.tiles},
                       {"bytes_read", report.bytes_read},
                       {"bad_tiles", bad_tiles_to_json(report.bad_tiles)}},
                      stdout_taken);
  } else if (!options.common.quiet && !stdout_taken) {
    std::cout << options.out << ": " << shape[0] << " x " << shape[1] << " x " << shape[2] << ' ' << to_string(dtype)
              << ", " << format_bytes(bytes) << " in " << format_seconds(seconds) << '\n';
  }
  if (!options.common.json && !options.common.quiet) { warn_of_bad_tiles(options.file, report.bad_tiles); }
  return kExitOk;
}

}  // namespace

void add_read(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("read", "Pixels into a NumPy or raw file");
  command->footer(kFooter);
  add_file(*command, options->file);
  command->add_option("-o,--out", options->out, "Result: X.npy, - for standard output, any other name for bare samples")
      ->required()
      ->type_name("PATH");
  command->add_flag("--raw", options->raw, "Bare samples, no .npy header, whatever the name");
  add_area(*command, options->selection);
  add_level(*command, options->selection);
  add_target(*command, options->selection);
  add_conversion(*command, options->selection);
  auto* mask = command->add_flag("--mask", options->mask, "The mask instead of the pixels: uint8, 255 valid, 0 not")
                   ->group("Pixels");
  add_choice(
      *command, "--interleave", {"band", "pixel"},
      [options](std::size_t index) { options->order = index == 1 ? RowBlocks::Order::pixel : RowBlocks::Order::band; },
      "Bands first (band, the default) or last (pixel)")
      ->excludes(mask)
      ->group("Pixels");
  for (char const* const option : {"--dtype", "--masked", "--unpack"}) { mask->excludes(command->get_option(option)); }
  add_tolerance(*command, options->selection);
  add_engine(*command, options->engine);
  add_device_tuning(*command, options->engine);
  mask->excludes(command->get_option("--device"));  // masks are decoded on the host
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
