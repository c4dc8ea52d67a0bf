// SPDX-License-Identifier: Apache-2.0
#include "device_write_studies.hpp"

#include "json_line.hpp"

#include "terrazzo/error.hpp"

#include <cstddef>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>

namespace terrazzo::bench {
namespace {

constexpr std::uint32_t kBandRows = 512;

// A value of /proc/self/status, in bytes; 0 if it is missing.
std::uint64_t process_memory(std::string_view name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(name) || line.size() <= name.size() || line[name.size()] != ':') { continue; }
    std::istringstream value(line.substr(name.size() + 1));
    std::uint64_t kibibytes = 0;
    value >> kibibytes;
    return kibibytes << 10;
  }
  return 0;
}

// VmHWM starts anew, where the kernel lets us.
void forget_process_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

template <class View>
View rows_of(View view, std::uint32_t first, std::uint32_t count) {
  using Byte = std::conditional_t<std::is_same_v<decltype(view.data), void*>, std::byte, std::byte const>;
  view.data = static_cast<Byte*>(view.data) + static_cast<std::int64_t>(first) * view.row_stride_bytes;
  view.height = count;
  return view;
}

template <class View>
void write_in_bands(Writer& writer, View const& raster) {
  for (std::uint32_t row = 0; row < raster.height; row += kBandRows) {
    writer.write_rows(rows_of(raster, row, std::min(kBandRows, raster.height - row)));
  }
}

struct Streamed {
  std::vector<std::byte> file{};
  std::uint64_t peak_bytes = 0;
  double seconds = 0;
  WriteReport report{};
};

// `give_rows(writer)`: all of them.
template <class GiveRows>
Streamed stream(DeviceView const& shape, WriteOptions const& options, GiveRows const& give_rows) {
  Streamed result;
  forget_device_memory();
  std::uint64_t const before = device_memory_use().used_bytes;
  result.seconds = seconds_of([&] {
    Writer writer = create(memory_sink(result.file), shape.width, shape.height, options);
    give_rows(writer);
    result.report = writer.close();
  });
  result.peak_bytes = device_memory_use().peak_bytes - before;
  return result;
}

void print_streamed(char const* way, WriteOptions const& options, Streamed const& result, Streamed const& eager,
                    std::uint64_t input_bytes) {
  JsonLine("streaming")
      .put("way", way)
      .put("layout", options.cog ? "cog" : "gtiff")
      .put("codec", to_string(options.compression))
      .put("budget_bytes", options.device_budget_bytes)
      .put("seconds", result.seconds)
      .put("peak_bytes", result.peak_bytes)
      .put("held_bytes", result.peak_bytes + input_bytes)
      .put("file_bytes", std::uint64_t{result.file.size()})
      .put("device_tiles", result.report.device_tiles)
      .put("identical", result.file == eager.file)
      .print();
}

void stream_every_way(DeviceView const& raster, ConstHostView const& on_host, WriteOptions options,
                      std::uint64_t raster_bytes) {
  std::uint64_t const band_bytes = raster_bytes / raster.height * kBandRows;
  Streamed const eager = stream(raster, options, [&](Writer& writer) { writer.write_rows(raster); });
  print_streamed("eager", options, eager, eager, raster_bytes);
  for (std::uint64_t const budget : {std::uint64_t{256} << 20, std::uint64_t{64} << 20}) {
    options.device_budget_bytes = budget;
    Streamed const banded = stream(raster, options, [&](Writer& writer) { write_in_bands(writer, raster); });
    print_streamed("bands of 512 device rows", options, banded, eager, band_bytes);
    Streamed const uploaded = stream(raster, options, [&](Writer& writer) { write_in_bands(writer, on_host); });
    print_streamed("bands of 512 host rows", options, uploaded, eager, 0);
  }
}

}  // namespace

std::shared_ptr<ByteSink> nowhere() {
  return seekable_sink("nowhere", [](std::uint64_t, std::span<std::byte const>) {});
}

void forget_device_memory() {
  release_device_memory();
  reset_device_memory_peak();
}

void measure_streaming(Subject const& subject, std::vector<Compression> const& codecs) {
  DeviceView const& raster = subject.raster.view();
  HostArray const on_host = subject.raster.to_host();
  for (Compression const codec : codecs) {
    for (bool const cog : {false, true}) {
      WriteOptions options = subject.options;
      options.compression = codec;
      options.cog = cog;
      stream_every_way(raster, on_host.view(), options, subject.raster.size_bytes());
    }
  }
}

void measure_tall(Subject const& subject, std::vector<Compression> const& codecs, std::uint64_t total_bytes) {
  DeviceView const& raster = subject.raster.view();
  std::uint64_t const row_bytes = subject.raster.size_bytes() / raster.height;
  auto const height = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(total_bytes / row_bytes, std::numeric_limits<std::uint32_t>::max()));
  for (Compression const codec : codecs) {
    WriteOptions options = subject.options;
    options.compression = codec;
    forget_device_memory();
    forget_process_peak();
    std::uint64_t const before = device_memory_use().used_bytes;
    auto const start = std::chrono::steady_clock::now();
    auto const tell = [&](std::uint64_t written) {
      JsonLine("tall")
          .put("codec", to_string(codec))
          .put("written_bytes", written)
          .put("seconds", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count())
          .put("rss_bytes", process_memory("VmRSS"))
          .put("hwm_bytes", process_memory("VmHWM"))
          .put("device_peak_bytes", device_memory_use().peak_bytes - before)
          .print();
    };
    tell(0);
    Writer writer = create(nowhere(), raster.width, height, options);
    std::uint64_t mark = std::uint64_t{1} << 30;
    std::uint32_t const step = std::min(2 * kBandRows, raster.height);
    for (std::uint32_t row = 0, from = 0; row < height;) {
      std::uint32_t const count = std::min({step, height - row, raster.height - from});
      writer.write_rows(rows_of(raster, from, count));
      row += count;
      from = (from + count) % raster.height;
      for (; row * row_bytes >= mark && mark < total_bytes; mark *= 2) { tell(row * row_bytes); }
    }
    WriteReport const report = writer.close();
    tell(height * row_bytes);
    JsonLine("tall end")
        .put("codec", to_string(codec))
        .put("file_bytes", report.bytes_written)
        .put("tiles", report.tiles)
        .put("device_tiles", report.device_tiles)
        .print();
  }
}

void measure_overviews(Subject const& subject, int repeats) {
  DeviceView const& raster = subject.raster.view();
  WriteOptions plain = subject.options;
  plain.compression = Compression::none;
  plain.overview_factors = std::vector<std::uint32_t>{};
  std::vector<std::uint32_t> factors;
  for (std::uint32_t factor = 2; std::max(raster.width, raster.height) / factor * 2 > plain.tile_size.width;
       factor *= 2) {
    factors.push_back(factor);
  }
  auto const time = [&](WriteOptions const& options) {
    Times times;
    write(nowhere(), raster, options);
    for (int i = 0; i < repeats; ++i) {
      times.seconds.push_back(seconds_of([&] { write(nowhere(), raster, options); }));
    }
    return times;
  };
  Times const without = time(plain);
  for (Resampling const method : {Resampling::nearest, Resampling::average, Resampling::bilinear, Resampling::cubic,
                                  Resampling::cubic_spline, Resampling::lanczos, Resampling::mode, Resampling::minimum,
                                  Resampling::maximum, Resampling::median, Resampling::rms}) {
    WriteOptions with = plain;
    with.overview_factors = factors;
    with.overview_resampling = method;
    Times const times = time(with);
    double const cost = times.median() - without.median();
    JsonLine line("overviews");
    line.put("method", to_string(method))
        .put("levels", std::uint64_t{factors.size()})
        .put("with_s", times.median())
        .put("without_s", without.median())
        .put("cost_s", cost);
    if (cost > 0) { line.put("input_gb_per_s", static_cast<double>(subject.raster.size_bytes()) / 1e9 / cost); }
    line.print();
  }
}

}  // namespace terrazzo::bench
