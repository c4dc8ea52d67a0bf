// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "interrupt.hpp"
#include "options/options.hpp"
#include "options/output_name.hpp"
#include "options/parse.hpp"
#include "output/errors.hpp"
#include "output/exit_code.hpp"
#include "output/format.hpp"
#include "output/json_output.hpp"
#include "output/npy.hpp"
#include "output/progress_bar.hpp"

#include "terrazzo/blocks.hpp"
#include "terrazzo/boundless.hpp"
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
output have NumPy's format (numpy.load opens it); other names, and --raw, give plain little-endian samples. Complex
integers and complex float16, which NumPy lacks, get a last axis of two: the real and the imaginary part.
With --out -, the JSON of --json is one line on standard error.

Examples:
  terrazzo read dem.tif --out dem.npy                                everything
  terrazzo read dem.tif --out a.npy --window 1024,2048,512,512       a window
  terrazzo read dem.tif --out a.npy --bbox 9.1,45.2,9.4,45.5 --bbox-crs EPSG:4326
  terrazzo read rgbn.tif --out a.npy --bands 4,1 --dtype float32     two bands, converted
  terrazzo read dem.tif --out a.npy --masked --unpack                physical values, NaN for missing pixels
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
  bool no_clobber = false;
};

std::vector<std::uint64_t> shape_of(RowBlocks const& blocks, RowBlocks::Order order) {
  if (order == RowBlocks::Order::pixel) { return {blocks.height(), blocks.width(), blocks.bands()}; }
  return {blocks.bands(), blocks.height(), blocks.width()};
}

// Places blocks in a file whose samples start at `origin`.
class SampleFile {
 public:
  SampleFile(OutputFile& out, RowBlocks const& blocks, RowBlocks::Order order, DType dtype, std::uint64_t origin)
      : out_(out),
        order_(order),
        origin_(origin),
        bands_(blocks.bands()),
        row_bytes_(std::uint64_t{blocks.width()} * size_bytes(dtype)),
        height_(blocks.height()) {}

  // `block`: rows of the result from `first_row` on, contiguous, in the given order.
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

bool wants_npy(Options const& options) {
  return !options.raw && (options.out == "-" || extension_of(options.out) == ".npy");
}

// Refuses to overwrite the source, and to write samples without a TIFF header under a TIFF name.
void check_out(Options const& options) {
  auto const refuse = [](std::string message) -> void { throw Error(ErrorKind::usage, std::move(message)); };
  if (options.out.empty()) { refuse("--out is empty; give X.npy, any other name, or - for standard output"); }
  std::error_code error;
  if (std::filesystem::equivalent(options.file, options.out, error)) {
    refuse("--out is the file that is read: \"" + options.out + '"');
  }
  std::string const suffix = extension_of(options.out);
  if (!options.raw && (suffix == ".tif" || suffix == ".tiff")) {
    refuse("`read` writes no TIFF: `terrazzo convert` does; --raw makes a file of bare samples of any name");
  }
  if (!options.raw) { check_array_name(options.out); }
  if (options.no_clobber) { check_no_clobber(options.out); }
}

// The array that was written.
struct Written {
  std::vector<std::uint64_t> shape;
  DType dtype = DType::u8;
  std::size_t header_bytes = 0;
  ReadReport report;
};

Written write_blocks(Options const& options, Dataset const& dataset) {
  ProgressBar bar("read", options.common.quiet);
  ReadRequest request = make_request(dataset, options.selection, options.engine);
  request.progress = bar.callback();

  // Offsets in the file have 63 bits.
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

  SampleFile samples(out, blocks, options.order, dtype, header.size());
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
    samples.place({static_cast<std::byte const*>(view.data), bytes}, blocks.first_row(i), view.height);
  }
  out.publish();
  return {shape, dtype, header.size(), std::move(report)};
}

// The whole result at once: --boundless.
Written write_boundless(Options const& options, Dataset const& dataset) {
  ProgressBar bar("read", options.common.quiet);
  ReadRequest request = make_request(dataset, options.selection, options.engine);
  request.window.reset();
  request.progress = bar.callback();
  Written written;
  GridWindow const window = selected_area(dataset, options.selection);
  HostArray const pixels = read_boundless(dataset, window, request, &written.report);
  written.shape = {pixels.bands(), pixels.height(), pixels.width()};
  written.dtype = pixels.dtype();
  std::string const header = wants_npy(options) ? npy_header(written.dtype, written.shape) : std::string();
  written.header_bytes = header.size();
  OutputFile out(options.out, cancel_flag());
  out.write(std::as_bytes(std::span(header)));
  out.write(pixels.bytes());
  out.publish();
  return written;
}

int run(Options const& options) {
  check_out(options);
  auto const started = std::chrono::steady_clock::now();
  Dataset const dataset = open_file(options.file, options.common);
  Written const written =
      options.selection.boundless ? write_boundless(options, dataset) : write_blocks(options, dataset);
  auto const& [shape, dtype, header_bytes, report] = written;

  std::uint64_t const bytes = header_bytes + shape[0] * shape[1] * shape[2] * size_bytes(dtype);
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
    std::cout << printable_name(options.out) << ": " << shape[0] << " x " << shape[1] << " x " << shape[2] << ' '
              << to_string(dtype) << ", " << format_bytes(bytes) << " in " << format_seconds(seconds) << '\n';
  }
  if (!options.common.json && !options.common.quiet) { warn_of_bad_tiles(options.file, report.bad_tiles); }
  return kExitOk;
}

}  // namespace

void add_read(CLI::App& app, Action& action) {
  auto const options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("read", "Read pixels into a NumPy or raw file");
  command->footer(kFooter);
  add_file(*command, options->file);
  command
      ->add_option("-o,--out", options->out, "Result: X.npy, - for standard output, any other name for plain samples")
      ->required()
      ->type_name("PATH");
  command->add_flag("--raw", options->raw, "Plain samples without an .npy header, for any name");
  add_no_clobber(*command, options->no_clobber);
  add_area(*command, options->selection);
  add_level(*command, options->selection);
  add_target(*command, options->selection);
  add_target_resampling(*command, options->selection);
  add_conversion(*command, options->selection);
  auto* mask =
      command->add_flag("--mask", options->mask, "Read the mask instead of pixels: uint8, 255 valid, 0 invalid")
          ->group("Pixels");
  add_choice(
      *command, "--interleave", {"band", "pixel"},
      [options](std::size_t index) { options->order = index == 1 ? RowBlocks::Order::pixel : RowBlocks::Order::band; },
      "Bands first (band, the default) or last (pixel)")
      ->excludes(mask)
      ->group("Pixels");
  for (char const* const option : {"--dtype", "--masked", "--unpack"}) { mask->excludes(command->get_option(option)); }
  auto* const boundless = add_boundless(*command, options->selection);
  for (char const* const option : {"--mask", "--interleave"}) { boundless->excludes(command->get_option(option)); }
  add_tolerance(*command, options->selection);
  add_engine(*command, options->engine);
  add_device_tuning(*command, options->engine);
  mask->excludes(command->get_option("--device"));  // masks are decoded on the host
  add_common(*command, options->common);
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace terrazzo::cli
