// SPDX-License-Identifier: Apache-2.0
#include "terrazzo/write.hpp"

#include "arrays.hpp"
#include "bindings.hpp"
#include "callbacks.hpp"
#include "requests.hpp"
#include "values.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>

namespace terrazzo::python {

namespace {

constexpr Names<PredictorChoice, 4> kPredictors{{{"automatic", PredictorChoice::automatic},
                                                 {"none", PredictorChoice::none},
                                                 {"horizontal", PredictorChoice::horizontal},
                                                 {"floating-point", PredictorChoice::floating_point}}};
constexpr Names<BigTiff, 3> kBigTiff{
    {{"automatic", BigTiff::automatic}, {"always", BigTiff::always}, {"never", BigTiff::never}}};
constexpr Names<ChromaSubsampling, 3> kChroma{
    {{"420", ChromaSubsampling::s420}, {"422", ChromaSubsampling::s422}, {"444", ChromaSubsampling::s444}}};
constexpr Names<SpoolWay, 4> kSpools{{{"automatic", SpoolWay::automatic},
                                      {"memory", SpoolWay::memory},
                                      {"in-place", SpoolWay::in_place},
                                      {"unnamed-file", SpoolWay::unnamed_file}}};
constexpr Names<PlanarLayout, 2> kInterleaves{{{"pixel", PlanarLayout::contiguous}, {"band", PlanarLayout::separate}}};
constexpr Names<Durability, 2> kDurability{{{"none", Durability::none}, {"fsync", Durability::fsync}}};

Compression compression_from(std::string_view name) {
  std::optional<Compression> const compression = parse_compression(name);
  if (!compression) { throw Error(ErrorKind::usage, "'" + std::string(name) + "' is not a compression"); }
  return *compression;
}

void bind_options(nb::module_& module) {
  auto options = nb::class_<WriteOptions>(module, "WriteOptions").def(nb::init<>());
  options
      .def_prop_rw(
          "dtype", [](WriteOptions const& o) { return to_str(to_string(o.dtype)); },
          [](WriteOptions& o, std::string_view name) { o.dtype = dtype_from(name); })
      .def_rw("bands", &WriteOptions::bands)
      // A text in the notation of make_nodata(); None removes it. Set dtype first.
      .def_prop_rw(
          "nodata", [](WriteOptions const& o) { return nodata_value(o.nodata, o.dtype); },
          [](WriteOptions& o, std::optional<std::string> const& text) {
            o.nodata = text ? std::optional(make_nodata(*text, o.dtype)) : std::nullopt;
          },
          nb::for_getter(nb::sig("def nodata(self) -> int | float | None")), nb::for_setter(nb::arg("text").none()))
      .def_rw("nan_to_nodata", &WriteOptions::nan_to_nodata)
      .def_rw("band_info", &WriteOptions::band_info)
      .def_rw("mask", &WriteOptions::mask)
      .def_rw("mask_bits", &WriteOptions::mask_bits)
      .def_prop_rw(
          "tile_size", [](WriteOptions const& o) { return nb::make_tuple(o.tile_size.width, o.tile_size.height); },
          [](WriteOptions& o, std::pair<std::uint32_t, std::uint32_t> const& size) {
            o.tile_size = {size.first, size.second};
          })
      .def_rw("strip_rows", &WriteOptions::strip_rows)
      .def_rw("cog", &WriteOptions::cog)
      .def_rw("sparse", &WriteOptions::sparse)
      .def_rw("photometric", &WriteOptions::photometric)
      .def_prop_rw(
          "compression", [](WriteOptions const& o) { return to_str(to_string(o.compression)); },
          [](WriteOptions& o, std::string_view name) { o.compression = compression_from(name); })
      .def_rw("level", &WriteOptions::level)
      .def_rw("checksum", &WriteOptions::checksum)
      .def_rw("lerc_max_error", &WriteOptions::lerc_max_error)
      .def_rw("quality", &WriteOptions::quality)
      .def_rw("lossless", &WriteOptions::lossless)
      .def_rw("jpeg2000_rate", &WriteOptions::jpeg2000_rate)
      .def_rw("overview_factors", &WriteOptions::overview_factors)
      .def_prop_rw(
          "overview_resampling",
          [](WriteOptions const& o) {
            return to_str_or_none(o.overview_resampling ? to_string(*o.overview_resampling) : "");
          },
          [](WriteOptions& o, std::string_view name) { o.overview_resampling = resampling_from(name); })
      .def_rw("georeference", &WriteOptions::georeference)
      .def_prop_rw(
          "metadata", [](WriteOptions const& o) { return metadata_dict(o.metadata); },
          [](WriteOptions& o, nb::dict const& metadata) { o.metadata = metadata_from(metadata); })
      .def("add_extra_tag",
           [](WriteOptions& o, std::uint16_t tag, std::uint16_t type, std::uint64_t count, nb::bytes const& bytes) {
             ExtraTag extra{.tag = tag, .type = type, .count = count};
             extra.bytes.resize(bytes.size());
             std::memcpy(extra.bytes.data(), bytes.data(), bytes.size());
             o.extra_tags.push_back(std::move(extra));
           })
      .def_rw("statistics", &WriteOptions::statistics)
      .def_rw("streaming_buffer_bytes", &WriteOptions::streaming_buffer_bytes)
      .def_rw("spool_bytes", &WriteOptions::spool_bytes)
      .def_rw("threads", &WriteOptions::threads)
      .def_rw("device_budget_bytes", &WriteOptions::device_budget_bytes);
  def_enum<&WriteOptions::planar>(options, "interleave", kInterleaves);
  def_enum<&WriteOptions::bigtiff>(options, "bigtiff", kBigTiff);
  def_enum<&WriteOptions::predictor>(options, "predictor", kPredictors);
  def_enum<&WriteOptions::chroma>(options, "chroma", kChroma);
  def_enum<&WriteOptions::engine>(options, "engine", kEngines);
  def_enum<&WriteOptions::spool_way>(options, "spool_way", kSpools);
  def_enum<&WriteOptions::durability>(options, "durability", kDurability);
  def_progress(options);
}

// A tile as Python passes it: (column, row, plane).
using TileTuple = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
TileId tile_from(TileTuple const& tile) { return {std::get<0>(tile), std::get<1>(tile), std::get<2>(tile)}; }

// [((column, row, plane), bytes), ...]
nb::list to_list(EncodedTiles const& encoded) {
  nb::list tiles;
  for (EncodedTile const& tile : encoded.tiles) {
    auto const bytes = encoded.bytes_of(tile);
    tiles.append(nb::make_tuple(nb::make_tuple(tile.id.column, tile.id.row, tile.id.plane),
                                nb::bytes(bytes.data(), bytes.size())));
  }
  return tiles;
}

// A Writer with the flag and the progress function that its threads use until it is closed. Calls of several threads of
// Python take turns.
class PythonWriter {
 public:
  PythonWriter(Target const& target, std::uint32_t width, std::uint32_t height, WriteOptions options)
      : options_(std::move(options)), work_(options_) {
    writer_ = work_.run([&] {
      return with_target(
          target, [&](auto const& place) { return std::optional<Writer>(create(place, width, height, options_)); });
    });
  }
  PythonWriter(PythonWriter const&) = delete;
  PythonWriter& operator=(PythonWriter const&) = delete;
  ~PythonWriter() { abort(); }

  void write_rows(AnyConstArray const& rows, std::optional<AnyConstArray> const& mask, std::uintptr_t stream) {
    if (is_on_device(rows)) {
      StreamView const queue = StreamView::from_address(stream);
      ConstDeviceView const view = device_view(rows);
      if (mask) {
        ConstDeviceView const valid = device_view(*mask);
        work_.run([&] { in_turn([&](Writer& writer) { writer.write_rows(view, valid, queue); }); });
      } else {
        work_.run([&] { in_turn([&](Writer& writer) { writer.write_rows(view, queue); }); });
      }
      return;
    }
    ConstHostView const view = host_view(rows);
    if (mask) {
      ConstHostView const valid = host_view(*mask);
      work_.run_interruptible([&] { in_turn([&](Writer& writer) { writer.write_rows(view, valid); }); });
    } else {
      work_.run_interruptible([&] { in_turn([&](Writer& writer) { writer.write_rows(view); }); });
    }
  }

  void write_encoded(TileTuple const& tile, nb::bytes const& bytes) {
    std::span const data(static_cast<std::byte const*>(bytes.data()), bytes.size());
    work_.run([&] { in_turn([&](Writer& writer) { writer.write_encoded(tile_from(tile), data); }); });
  }

  [[nodiscard]] std::uint32_t rows_left() {
    return work_.run([&] { return in_turn([](Writer& writer) { return writer.rows_left(); }); });
  }

  WriteReport close() {
    WriteReport report =
        work_.run_interruptible([&] { return in_turn([](Writer& writer) { return writer.close(); }); });
    abort();
    return report;
  }

  void abort() {
    nb::gil_scoped_release const released;  // threads of the writer may wait for the GIL to call a sink
    std::lock_guard const turn(turns_);
    writer_.reset();
  }

 private:
  // Call without the GIL: the thread whose turn it is may need it.
  template <class Body>
  std::invoke_result_t<Body, Writer&> in_turn(Body const& body) {
    std::lock_guard const turn(turns_);
    if (!writer_) { throw Error(ErrorKind::usage, "the writer is closed"); }
    return body(*writer_);
  }

  WriteOptions options_;
  Work work_;
  std::mutex turns_;
  std::optional<Writer> writer_;
};

}  // namespace

void bind_write(nb::module_& module) {
  bind_options(module);
  nb::class_<WriteReport>(module, "WriteReport")
      .def_ro("tiles", &WriteReport::tiles)
      .def_ro("sparse_tiles", &WriteReport::sparse_tiles)
      .def_ro("bytes_written", &WriteReport::bytes_written)
      .def_ro("compressed_bytes", &WriteReport::compressed_bytes)
      .def_ro("device_tiles", &WriteReport::device_tiles)
      .def_ro("spool_way", &WriteReport::spool_way);
  nb::class_<PythonWriter>(module, "Writer")
      .def(nb::init<Target const&, std::uint32_t, std::uint32_t, WriteOptions>())
      .def("write_rows", &PythonWriter::write_rows, nb::arg("rows"), nb::arg("mask").none() = nb::none(),
           nb::arg("stream") = 0)
      .def("write_encoded", &PythonWriter::write_encoded)
      .def_prop_ro("rows_left", &PythonWriter::rows_left)
      .def("close", &PythonWriter::close)
      .def("abort", &PythonWriter::abort);
  module.def(
      "encode_tiles",
      [](AnyConstArray const& pixels, TileTuple const& tile, std::uint32_t width, std::uint32_t height,
         WriteOptions options, std::uintptr_t stream) {
        Work work(options);
        TileId const first = tile_from(tile);
        if (is_on_device(pixels)) {
          ConstDeviceView const view = device_view(pixels);
          StreamView const queue = StreamView::from_address(stream);
          return to_list(work.run([&] { return encode_tiles(view, first, width, height, options, queue); }));
        }
        ConstHostView const view = host_view(pixels);
        return to_list(work.run_interruptible([&] { return encode_tiles(view, first, width, height, options); }));
      },
      nb::arg("pixels"), nb::arg("first"), nb::arg("width"), nb::arg("height"), nb::arg("options"),
      nb::arg("stream") = 0);
  module.def("options_like", [](Info const& info) { return options_like(info); });
  module.def(
      "write",
      [](Target const& target, AnyConstArray const& pixels, WriteOptions options, std::uintptr_t stream) {
        Work work(options);
        if (is_on_device(pixels)) {
          ConstDeviceView const view = device_view(pixels);
          StreamView const queue = StreamView::from_address(stream);
          return work.run([&] {
            return with_target(target, [&](auto const& place) { return write(place, view, options, queue); });
          });
        }
        ConstHostView const view = host_view(pixels);
        return work.run_interruptible(
            [&] { return with_target(target, [&](auto const& place) { return write(place, view, options); }); });
      },
      nb::arg("target"), nb::arg("pixels"), nb::arg("options"), nb::arg("stream") = 0);
}

}  // namespace terrazzo::python
