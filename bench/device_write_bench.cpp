// SPDX-License-Identifier: Apache-2.0
//
// device_write_bench [FILE] [options]: from a raster in device memory to a file, and to nowhere. One JSON object a
// line.
//
//   device_write_bench dem.tif --folder /tmp --verify         the table: layouts x codecs x sinks
//   device_write_bench --synthetic 4096 --only zstd --layout cog --to nowhere
//   device_write_bench dem.tif --no-table --streaming --tall --overviews
//
// FILE is read into device memory first; without it an elevation model of --synthetic N x N pixels (default 8192) is
// made. Tiles have 512 pixels, the predictor is the library's choice, levels are its defaults, nothing is synced.
//   --only LIST       codecs of none,deflate,zstd,lzw (default: all)     --level N   of compression
//   --layout LIST     gtiff,cog (default: both)                          --to LIST   file,nowhere (default: both)
//   --folder FOLDER   where files are made and removed (default: .)      --repeat N  timed writes (default 5)
//   --keep            files stay: FOLDER/device_{gtiff,cog}_CODEC.tif    --tile N    pixels (default 512)
//   --device-budget N MiB (default: the library's)                       --resampling NAME
//   --verify          before timing: the host engine reads the file back and finds the raster's pixels; overviews are
//                     those that the host engine makes; a COG is valid
//   --no-table        leaves the table out
//   --streaming, --tall [GIB], --overviews   see device_write_studies.hpp; --streaming takes 8192 x 8192 pixels of FILE
#include "device_write_studies.hpp"
#include "json_line.hpp"

#include "terrazzo/convert.hpp"
#include "terrazzo/device.hpp"
#include "terrazzo/error.hpp"
#include "terrazzo/settings.hpp"
#include "terrazzo/validate.hpp"
#include "terrazzo/write.hpp"

#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace terrazzo;
using bench::JsonLine;

struct Options {
  std::string file, folder = ".";
  std::uint32_t synthetic_px = 8192;
  std::vector<std::string> codecs{"none", "deflate", "zstd", "lzw"}, layouts{"gtiff", "cog"}, sinks{"file", "nowhere"};
  int repeats = 5;
  std::optional<int> level{};
  std::uint32_t tile_px = 512;
  std::uint64_t budget_bytes = 0;
  std::optional<Resampling> resampling{};
  bool verify = false, keep = false, table = true, streaming = false, overviews = false;
  std::uint64_t tall_bytes = 0;
};

std::vector<std::string> split(std::string const& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= list.size();) {
    std::size_t const comma = std::min(list.find(',', at), list.size());
    parts.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

std::uint32_t whole(std::string const& text) {
  char* end = nullptr;
  unsigned long const value = std::strtoul(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') { throw std::invalid_argument("not a number: " + text); }
  return static_cast<std::uint32_t>(value);
}

Options parse(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string const word = arguments[i];
    auto const value = [&]() -> std::string {
      if (i + 1 >= arguments.size()) { throw std::invalid_argument(word + " takes a value"); }
      return arguments[++i];
    };
    if (word == "--only") {
      options.codecs = split(value());
    } else if (word == "--layout") {
      options.layouts = split(value());
    } else if (word == "--to") {
      options.sinks = split(value());
    } else if (word == "--folder") {
      options.folder = value();
    } else if (word == "--repeat") {
      options.repeats = std::max(1, static_cast<int>(whole(value())));
    } else if (word == "--level") {
      options.level = static_cast<int>(whole(value()));
    } else if (word == "--tile") {
      options.tile_px = whole(value());
    } else if (word == "--device-budget") {
      options.budget_bytes = std::uint64_t{whole(value())} << 20;
    } else if (word == "--resampling") {
      options.resampling = parse_resampling(value());
    } else if (word == "--synthetic") {
      options.synthetic_px = whole(value());
    } else if (word == "--verify") {
      options.verify = true;
    } else if (word == "--keep") {
      options.keep = true;
    } else if (word == "--no-table") {
      options.table = false;
    } else if (word == "--streaming") {
      options.streaming = true;
    } else if (word == "--overviews") {
      options.overviews = true;
    } else if (word == "--tall") {
      bool const told = i + 1 < arguments.size() && std::isdigit(static_cast<unsigned char>(arguments[i + 1][0])) != 0;
      options.tall_bytes = std::uint64_t{told ? whole(value()) : 16} << 30;
    } else if (word.starts_with("--")) {
      throw std::invalid_argument("unknown option " + word);
    } else {
      options.file = word;
    }
  }
  return options;
}

Compression codec_named(std::string const& name) {
  auto const codec = parse_compression(name);
  if (!codec) { throw std::invalid_argument("no such codec: " + name); }
  return *codec;
}

// Hills with noise of a few centimetres: compresses as elevation models do.
HostArray synthetic_terrain(std::uint32_t size_px) {
  HostArray terrain(DType::f32, 1, size_px, size_px);
  auto* const samples = reinterpret_cast<float*>(terrain.bytes().data());
  std::vector<float> across(size_px);
  for (std::uint32_t x = 0; x < size_px; ++x) {
    across[x] = 120.0F * std::sin(static_cast<float>(x) * 0.003F) + 17.0F * std::sin(static_cast<float>(x) * 0.041F);
  }
  std::uint32_t noise = 1;
  for (std::uint32_t y = 0; y < size_px; ++y) {
    float const down =
        90.0F * std::cos(static_cast<float>(y) * 0.004F) + 11.0F * std::sin(static_cast<float>(y) * 0.057F);
    for (std::uint32_t x = 0; x < size_px; ++x) {
      noise = noise * 1664525U + 1013904223U;
      samples[std::size_t{y} * size_px + x] =
          500.0F + across[x] + down + static_cast<float>(noise >> 24) * (1.0F / 2048.0F);
    }
  }
  return terrain;
}

// The raster's bytes as a file: in a file, or made.
class Source {
 public:
  explicit Source(Options const& options) {
    if (!options.file.empty()) {
      dataset_.emplace(open(options.file));
      return;
    }
    WriteOptions plain;
    plain.compression = Compression::none;
    plain.engine = Engine::host;
    write(memory_sink(bytes_), synthetic_terrain(options.synthetic_px).view(), plain);
    OpenOptions trusted;
    trusted.trust = Trust::trusted;
    dataset_.emplace(open_memory(bytes_, "synthetic", trusted));
  }
  [[nodiscard]] Dataset const& dataset() const { return *dataset_; }

  // The first `most_px` columns and rows, or all.
  [[nodiscard]] bench::Subject subject(Options const& options, std::uint32_t most_px) const {
    ReadRequest request;
    request.window =
        Window{0, 0, std::min(most_px, dataset_->info().width), std::min(most_px, dataset_->info().height)};
    bench::Subject subject{read_device(*dataset_, request), conversion_options(*dataset_, request)};
    subject.options.mask = false;
    subject.options.engine = Engine::device;
    subject.options.tile_size = {options.tile_px, options.tile_px};
    subject.options.overview_resampling = options.resampling;
    subject.options.device_budget_bytes = options.budget_bytes;
    subject.options.durability = Durability::none;
    return subject;
  }

 private:
  std::vector<std::byte> bytes_;
  std::optional<Dataset> dataset_;
};

bool same_bytes(HostArray const& a, HostArray const& b) {
  return a.bytes().size() == b.bytes().size() && std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}

// The reference for comparing files: the raster, and the host engine's COG of it.
class Reference {
 public:
  explicit Reference(bench::Subject const& subject) : raster_(subject.raster.to_host()) {
    WriteOptions options = subject.options;
    options.engine = Engine::host;
    options.cog = true;
    options.compression = Compression::none;
    options.spool_bytes = std::uint64_t{64} << 30;
    write(memory_sink(cog_), raster_.view(), options);
  }

  // "equal", or the first difference.
  [[nodiscard]] std::string compare(std::string const& path, bool cog) const {
    Dataset const written = open(path);
    ReadRequest request;
    request.engine = Engine::host;
    if (!same_bytes(read(written, request), raster_)) { return "pixels differ"; }
    if (!cog) { return "equal"; }
    Dataset const expected = open_memory(cog_);
    if (written.info().overviews.size() != expected.info().overviews.size()) { return "other overviews"; }
    for (std::uint32_t level = 1; level <= written.info().overviews.size(); ++level) {
      request.level = level;
      if (!same_bytes(read(written, request), read(expected, request))) {
        return "overview " + std::to_string(level) + " differs";
      }
    }
    Validation const validation = validate(path);
    return validation.valid_cog ? "equal" : "no valid COG";
  }

 private:
  HostArray raster_;
  std::vector<std::byte> cog_;
};

// One row of the table. False: the file is wrong.
bool measure_write(Options const& options, bench::Subject const& subject, Reference const* reference,
                   std::string const& layout, std::string const& codec, bool to_file) {
  DeviceView const& raster = subject.raster.view();
  WriteOptions how = subject.options;
  how.compression = codec_named(codec);
  how.cog = layout == "cog";
  if (how.compression == Compression::deflate || how.compression == Compression::zstd) { how.level = options.level; }
  std::string const path =
      (std::filesystem::path(options.folder) / ("device_" + layout + "_" + codec + ".tif")).string();
  WriteReport report;
  auto const once = [&] { report = to_file ? write(path, raster, how) : write(bench::nowhere(), raster, how); };
  auto const forget_file = [&] {
    if (to_file) { std::filesystem::remove(path); }
  };
  forget_file();
  bench::forget_device_memory();
  std::uint64_t const before = device_memory_use().used_bytes;
  double const first = bench::seconds_of(once);
  std::uint64_t const peak = device_memory_use().peak_bytes - before;
  std::string const verdict = to_file && reference != nullptr ? reference->compare(path, how.cog) : "not looked at";
  bench::Times times;
  for (int i = 0; i < options.repeats; ++i) {
    forget_file();
    times.seconds.push_back(bench::seconds_of(once));
  }
  if (!options.keep) { forget_file(); }
  JsonLine("write")
      .put("layout", layout)
      .put("codec", codec)
      .put("to", to_file ? "file" : "nowhere")
      .put("best_s", times.best())
      .put("median_s", times.median())
      .put("first_s", first)
      .put("gb_per_s", static_cast<double>(subject.raster.size_bytes()) / 1e9 / times.median())
      .put("raster_bytes", subject.raster.size_bytes())
      .put("file_bytes", report.bytes_written)
      .put("tiles", report.tiles)
      .put("device_tiles", report.device_tiles)
      .put("spool_way", report.spool_way)
      .put("device_peak_bytes", peak)
      .put("verified", verdict)
      .print();
  return verdict == "equal" || verdict == "not looked at";
}

// Rows of the table that failed or are wrong.
int measure_table(Options const& options, bench::Subject const& subject) {
  std::optional<Reference> reference;
  if (options.verify) { reference.emplace(subject); }
  int failures = 0;
  for (std::string const& layout : options.layouts) {
    for (std::string const& codec : options.codecs) {
      for (std::string const& sink : options.sinks) {
        try {
          Reference const* const compared = reference ? &*reference : nullptr;
          failures += measure_write(options, subject, compared, layout, codec, sink == "file") ? 0 : 1;
        } catch (std::exception const& error) {
          ++failures;
          JsonLine("error").put("layout", layout).put("codec", codec).put("to", sink).put("text", error.what()).print();
        }
      }
    }
  }
  return failures;
}

int run(Options const& options) {
  Source const source(options);
  int failures = 0;
  auto const attempt = [&](char const* what, auto const& work) {
    try {
      work();
    } catch (std::exception const& error) {
      ++failures;
      JsonLine("error").put("of", what).put("text", error.what()).print();
    }
  };
  DeviceState const state = device_state();
  JsonLine("machine").put("gpu", state.name).put("default_budget_bytes", state.default_budget_bytes).print();
  std::vector<Compression> packed;
  for (std::string const& codec : options.codecs) {
    if (codec == "zstd" || codec == "deflate") { packed.push_back(codec_named(codec)); }
  }
  if (options.streaming) {
    attempt("streaming", [&] { bench::measure_streaming(source.subject(options, 8192), packed); });
  }
  if (!options.table && options.tall_bytes == 0 && !options.overviews) { return failures; }
  bench::Subject const subject = source.subject(options, ~std::uint32_t{0});
  if (options.table) { failures += measure_table(options, subject); }
  if (options.overviews) {
    attempt("overviews", [&] { bench::measure_overviews(subject, options.repeats); });
  }
  if (options.tall_bytes != 0) {
    attempt("tall", [&] { bench::measure_tall(subject, packed, options.tall_bytes); });
  }
  return failures;
}

}  // namespace

int main(int argc, char** argv) {
  terrazzo::set_log([](std::string_view message) {
    std::fprintf(stderr, "note: %.*s\n", static_cast<int>(message.size()), message.data());
  });
  try {
    return run(parse({argv + 1, static_cast<std::size_t>(argc - 1)})) == 0 ? 0 : 1;
  } catch (std::exception const& error) {
    std::fprintf(stderr, "device_write_bench: %s\n", error.what());
    return 1;
  }
}
