// SPDX-License-Identifier: Apache-2.0
//
// nvCOMP's encoders on a device: what they write is read by other libraries and by nvCOMP itself, the bytes of a tile
// do not depend on its batch, and figures for every level.
#include "device_test.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/vendor/nvcomp_encode.hpp"
#include "terrain_tile.hpp"

#include <libdeflate.h>
#include <zstd.h>

#include <cstring>

namespace terrazzo::gpu::device_test {
namespace {

using tile::TileStatus;
using Bytes = std::vector<std::byte>;

constexpr std::byte kPoison{0xA5};
constexpr std::uint64_t kGuard = 64;  // behind every place

enum class Content { terrain, zeros, noise };

Bytes content(Content kind, std::size_t size, std::uint64_t seed) {
  if (kind == Content::zeros) { return Bytes(size); }
  Bytes out;
  if (kind == Content::terrain) {
    std::uint32_t edge = 1;
    while (std::size_t{edge} * edge * 4 < size) { ++edge; }
    out = terrain_tile(edge, seed);
    out.resize(size);
    return out;
  }
  Noise noise(seed);
  for (std::size_t i = 0; i < size; ++i) { out.push_back(static_cast<std::byte>(noise.next() & 0xFF)); }
  return out;
}

struct Encoded {
  std::vector<TileStatus> statuses;
  std::vector<Bytes> streams;
  bool kept_to_its_places = true;
};

// A batch on the device, with tiles placed as the engine places them. The last tile ends where the input ends.
class EncodeRun {
 public:
  EncodeRun(NvcompCodec codec, int level, std::vector<Bytes const*> const& tiles, std::uint64_t longest = 0)
      : codec_(codec), level_(level), longest_(longest) {
    Bytes input;
    for (Bytes const* const tile : tiles) {
      input.resize((input.size() + 15) / 16 * 16);
      input_offsets_.push_back(input.size());
      sizes_.push_back(tile->size());
      input.insert(input.end(), tile->begin(), tile->end());
      longest_ = std::max<std::uint64_t>(longest_, tile->size());
      total_ += tile->size();
    }
    bound_ = nvcomp_encode_bound(codec, level, longest_);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      output_offsets_.push_back(nvcomp_input_phase(codec) + i * (bound_ + kGuard));
    }
    output_bytes_ = 16 + tiles.size() * (bound_ + kGuard);
    input_ = uploaded(input);
    output_ = device_bytes(output_bytes_);
    check_cuda(cudaMemset(output_.get(), static_cast<int>(kPoison), output_bytes_), "poisoning");
    output_sizes_ = device_bytes(tiles.size() * 8);
    statuses_ = device_bytes(tiles.size());
    scratch_bytes_ = nvcomp_encode_scratch_bytes(codec, level, count(), longest_, total_);
    scratch_ = device_bytes(scratch_bytes_ + 16);
  }

  // Before run(): places and sizes against the rules.
  std::uint64_t& input_offset(std::size_t i) { return input_offsets_[i]; }
  std::uint64_t& output_offset(std::size_t i) { return output_offsets_[i]; }
  std::uint64_t& size(std::size_t i) { return sizes_[i]; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(sizes_.size()); }
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_bytes_; }

  void upload() {
    device_arrays_[0] = uploaded(input_offsets_);
    device_arrays_[1] = uploaded(sizes_);
    device_arrays_[2] = uploaded(output_offsets_);
  }

  void start(cudaStream_t stream) const {
    auto const array = [&](int k) { return reinterpret_cast<std::uint64_t const*>(device_arrays_[k].get()); };
    tile::EncodeBatch const batch{input_.get(),
                                  array(0),
                                  array(1),
                                  output_.get(),
                                  array(2),
                                  reinterpret_cast<std::uint64_t*>(output_sizes_.get()),
                                  reinterpret_cast<TileStatus*>(statuses_.get()),
                                  count(),
                                  longest_};
    // An odd start: the adapter must align its parts itself.
    nvcomp_encode(codec_, level_, batch, total_, scratch_.get() + 16, scratch_bytes_, stream);
  }

  Encoded run() {
    upload();
    StreamHandle const stream = make_stream();
    check_cuda(cudaMemset(scratch_.get(), 0xC3, scratch_bytes_ + 16), "poisoning");
    check_cuda(cudaDeviceSynchronize(), "uploading");  // our stream does not wait for the default one
    start(stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "encoding");
    Encoded encoded;
    encoded.statuses = downloaded<TileStatus>(statuses_.get(), count());
    auto const lengths = downloaded<std::uint64_t>(output_sizes_.get(), count());
    Bytes output = downloaded<std::byte>(output_.get(), output_bytes_);
    for (std::size_t i = 0; i < count(); ++i) {
      auto const begin = output.begin() + static_cast<std::ptrdiff_t>(output_offsets_[i]);
      encoded.kept_to_its_places &= lengths[i] <= bound_;
      encoded.streams.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(lengths[i], bound_)));
      encoded.kept_to_its_places &= (lengths[i] != 0) == (encoded.statuses[i] == TileStatus::ok);
      std::fill(begin, begin + static_cast<std::ptrdiff_t>(bound_), kPoison);  // nvCOMP works in all of it
    }
    encoded.kept_to_its_places &= std::all_of(output.begin(), output.end(), [](std::byte b) { return b == kPoison; });
    return encoded;
  }

  // nvCOMP decodes from where it encoded to.
  [[nodiscard]] bool decodes_to_its_input() const {
    std::size_t const bytes = nvcomp_decode_scratch_bytes(codec_, count(), longest_, total_);
    Device const scratch = device_bytes(bytes);
    std::uint64_t const input_bytes = input_offsets_.back() + sizes_.back();
    Device const back = device_bytes(input_bytes);
    Device const statuses = device_bytes(count());
    auto const array = [&](int k) { return reinterpret_cast<std::uint64_t const*>(device_arrays_[k].get()); };
    tile::DeviceTiles const tiles{output_.get(),
                                  array(2),
                                  reinterpret_cast<std::uint64_t const*>(output_sizes_.get()),
                                  back.get(),
                                  array(0),
                                  array(1),
                                  reinterpret_cast<TileStatus*>(statuses.get()),
                                  count()};
    StreamHandle const stream = make_stream();
    nvcomp_decode(codec_, tiles, longest_, total_, scratch.get(), bytes, stream.get());
    check_cuda(cudaStreamSynchronize(stream.get()), "decoding");
    Bytes const got = downloaded<std::byte>(back.get(), input_bytes);
    Bytes const want = downloaded<std::byte>(input_.get(), input_bytes);
    auto const said = downloaded<TileStatus>(statuses.get(), count());
    bool right = true;
    for (std::size_t i = 0; i < count(); ++i) {
      right &= said[i] == (sizes_[i] == 0 ? TileStatus::sparse : TileStatus::ok);
      right &= std::memcmp(got.data() + input_offsets_[i], want.data() + input_offsets_[i], sizes_[i]) == 0;
    }
    return right;
  }

 private:
  NvcompCodec codec_;
  int level_;
  std::uint64_t longest_, bound_ = 0, total_ = 0, output_bytes_ = 0;
  std::vector<std::uint64_t> input_offsets_, sizes_, output_offsets_;
  Device input_, output_, output_sizes_, statuses_, scratch_, device_arrays_[3];
  std::size_t scratch_bytes_ = 0;
};

// By libdeflate, checksum included; by libzstd in small pieces, as libtiff reads.
bool host_decodes(NvcompCodec codec, Bytes const& stream, Bytes const& raw) {
  Bytes out(raw.size() + 1);
  std::size_t written = 0;
  if (codec == NvcompCodec::deflate) {
    libdeflate_decompressor* const decompressor = libdeflate_alloc_decompressor();
    std::size_t read = 0;
    bool const good = libdeflate_zlib_decompress_ex(decompressor, stream.data(), stream.size(), out.data(), out.size(),
                                                    &read, &written) == LIBDEFLATE_SUCCESS &&
                      read == stream.size();
    libdeflate_free_decompressor(decompressor);
    if (!good) { return false; }
  } else {
    constexpr std::size_t kPiece = 1000;
    ZSTD_DCtx* const context = ZSTD_createDCtx();
    ZSTD_outBuffer target{out.data(), out.size(), 0};
    std::size_t left = 1;
    for (std::size_t at = 0; at < stream.size() && ZSTD_isError(left) == 0; at += kPiece) {
      ZSTD_inBuffer source{stream.data() + at, std::min(kPiece, stream.size() - at), 0};
      while (source.pos < source.size && ZSTD_isError(left) == 0) {
        left = ZSTD_decompressStream(context, &target, &source);
      }
    }
    ZSTD_freeDCtx(context);
    if (left != 0) { return false; }
    written = target.pos;
  }
  return written == raw.size() && std::memcmp(out.data(), raw.data(), raw.size()) == 0;
}

char const* name_of(NvcompCodec codec) { return codec == NvcompCodec::deflate ? "deflate" : "zstd"; }

// Levels that ask nvCOMP for different things.
std::vector<int> distinct_levels(NvcompCodec codec) {
  std::vector<int> levels;
  for (int level = 1; level <= 12; ++level) {
    if (levels.empty() || nvcomp_algorithm(codec, level) != nvcomp_algorithm(codec, levels.back())) {
      levels.push_back(level);
    }
  }
  return levels;
}

bool round_trip(NvcompCodec codec, int level, std::vector<std::size_t> const& sizes) {
  std::vector<Bytes> raw;
  for (std::size_t const size : sizes) {
    for (Content const kind : {Content::terrain, Content::zeros, Content::noise}) {
      raw.push_back(content(kind, size, size + raw.size()));
    }
    raw.emplace_back();  // a sparse one between others
  }
  std::vector<Bytes const*> tiles;
  for (Bytes const& tile : raw) { tiles.push_back(&tile); }
  EncodeRun run(codec, level, tiles);
  Encoded const encoded = run.run();
  bool right = encoded.kept_to_its_places;
  if (!right) { std::printf("  bytes outside the places were written, or tiles that are not ok have a size\n"); }
  for (std::size_t i = 0; i < raw.size(); ++i) {
    bool const good = raw[i].empty()
                          ? encoded.statuses[i] == TileStatus::sparse && encoded.streams[i].empty()
                          : encoded.statuses[i] == TileStatus::ok && host_decodes(codec, encoded.streams[i], raw[i]);
    if (!good) {
      std::printf("  tile %zu of %zu bytes: status %d, %zu encoded\n", i, raw[i].size(),
                  static_cast<int>(encoded.statuses[i]), encoded.streams[i].size());
    }
    right &= good;
  }
  std::string const title = std::string(name_of(codec)) + " level " + std::to_string(level) + ", tiles up to " +
                            std::to_string(sizes.back()) + " bytes";
  bool const passed = report(right, title + ": other libraries read what was encoded");
  return report(run.decodes_to_its_input(), title + ": nvCOMP reads what it encoded") && passed;
}

bool round_trips(NvcompCodec codec) {
  bool passed = true;
  int const levels = codec == NvcompCodec::deflate ? 12 : 2;
  for (int level = 1; level <= levels; ++level) {
    passed &= round_trip(codec, level, {1, 2, 7, 15, 16, 17, 1000, 65'535, 65'536});
  }
  for (int const level : distinct_levels(codec)) {
    passed &= round_trip(codec, level, {1 << 20});
    passed &= round_trip(codec, level, {3, 70'001, 4 << 20});
  }
  return passed;
}

bool deflate_round_trips() { return round_trips(NvcompCodec::deflate); }
bool zstd_round_trips() { return round_trips(NvcompCodec::zstd); }

// A tile longer than the vendor's manual speaks of.
bool deflate_huge() {
  bool const passed = round_trip(NvcompCodec::deflate, 1, {100'000'001});
  return round_trip(NvcompCodec::deflate, 6, {50'000'001}) && passed;
}
bool zstd_huge() { return round_trip(NvcompCodec::zstd, 9, {nvcomp_encode_longest_tile_bytes(NvcompCodec::zstd)}); }

// The bytes of one tile alone against those in other batches, at other positions, in other runs.
bool same_bytes(NvcompCodec codec, int level, std::size_t size) {
  Bytes const tile = content(Content::terrain, size, 1);
  Bytes const others[] = {content(Content::noise, size, 2), content(Content::zeros, size, 3),
                          content(Content::terrain, size, 4), Bytes()};
  Bytes const reference = EncodeRun(codec, level, {&tile}).run().streams[0];
  bool same = !reference.empty();
  for (std::size_t const count : {1u, 3u, 64u}) {
    for (std::size_t const position : {std::size_t{0}, count / 2, count - 1}) {
      std::vector<Bytes const*> tiles(count);
      for (std::size_t i = 0; i < count; ++i) { tiles[i] = i == position ? &tile : &others[(i + count) % 4]; }
      EncodeRun run(codec, level, tiles);
      for (int repeat = 0; repeat < 2; ++repeat) { same &= run.run().streams[position] == reference; }
    }
  }
  std::string const title =
      std::string(name_of(codec)) + " level " + std::to_string(level) + ", " + std::to_string(size >> 10) + " KiB";
  bool const passed = report(same, title + ": a tile's bytes do not depend on its batch");
  Bytes const larger = content(Content::terrain, 2 * size + 48, 5);
  EncodeRun mixed(codec, level, {&tile, &larger});
  EncodeRun told(codec, level, {&tile}, 4 * size);
  return report(mixed.run().streams[0] == reference && told.run().streams[0] == reference,
                title + ": nor on the longest tile of its batch") &&
         passed;
}

bool determinism(NvcompCodec codec) {
  bool passed = true;
  for (int const level : distinct_levels(codec)) {
    for (std::size_t const size : {std::size_t{65'536}, std::size_t{1} << 18, std::size_t{1} << 20}) {
      passed &= same_bytes(codec, level, size);
    }
  }
  return passed;
}

bool deflate_determinism() { return determinism(NvcompCodec::deflate); }
bool zstd_determinism() { return determinism(NvcompCodec::zstd); }

// Tiles that never reach nvCOMP, among good ones.
bool bad_among_good(NvcompCodec codec) {
  Bytes const good = content(Content::terrain, 16'384, 7);
  std::vector<Bytes const*> const tiles(100, &good);
  EncodeRun run(codec, 6, tiles);
  run.output_offset(3) += 1;
  run.input_offset(50) += 4;
  run.size(51) = 0;
  run.size(98) = good.size() + 1;
  Encoded const encoded = run.run();
  bool right = encoded.kept_to_its_places;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    // nvCOMP wants no alignment of a ZSTD frame, so one byte further is a good place too.
    bool const moved = i == 3 && codec == NvcompCodec::deflate;
    TileStatus const expected = i == 51                       ? TileStatus::sparse
                                : moved || i == 50 || i == 98 ? TileStatus::failed
                                                              : TileStatus::ok;
    bool const fits = encoded.statuses[i] == expected &&
                      (expected != TileStatus::ok || host_decodes(codec, encoded.streams[i], good));
    if (!fits) { std::printf("  tile %zu: status %d\n", i, static_cast<int>(encoded.statuses[i])); }
    right &= fits;
  }
  return report(right, std::string(name_of(codec)) + ": bad tiles are reported, their neighbours are right");
}

bool deflate_bad() { return bad_among_good(NvcompCodec::deflate); }
bool zstd_bad() { return bad_among_good(NvcompCodec::zstd); }

// 256 MiB of terrain at every level that differs.
bool rates(NvcompCodec codec) {
  constexpr std::size_t kDistinct = 16, kCount = 256;
  std::vector<Bytes> raw(kDistinct);
  parallel(kDistinct, [&](std::size_t i) { raw[i] = terrain_tile(512, i + 1); });
  std::vector<Bytes const*> tiles(kCount);
  for (std::size_t i = 0; i < kCount; ++i) { tiles[i] = &raw[i % kDistinct]; }
  double const total = static_cast<double>(raw[0].size()) * kCount;
  for (int const level : distinct_levels(codec)) {
    EncodeRun run(codec, level, tiles);
    Encoded const encoded = run.run();
    double bytes = 0;
    for (Bytes const& stream : encoded.streams) { bytes += static_cast<double>(stream.size()); }
    StreamHandle const stream = make_stream();
    double const ms = best_ms(3, [&] { run.start(stream.get()); });
    std::printf("  level %2d (algorithm %d): %8.2f ms, %6.1f GB/s in, ratio %.3f, scratch %.1f MB\n", level,
                nvcomp_algorithm(codec, level), ms, total / ms / 1e6, total / bytes,
                static_cast<double>(run.scratch_bytes()) / 1e6);
  }
  return true;
}

bool deflate_rates() { return rates(NvcompCodec::deflate); }
bool zstd_rates() { return rates(NvcompCodec::zstd); }

}  // namespace

std::vector<Part> nvcomp_encode_parts() {
  return {{"nvcomp-encode-deflate-bad", &deflate_bad},
          {"nvcomp-encode-zstd-bad", &zstd_bad},
          {"nvcomp-encode-zstd-round-trips", &zstd_round_trips},
          {"nvcomp-encode-deflate-round-trips", &deflate_round_trips},
          {"nvcomp-encode-zstd-determinism", &zstd_determinism},
          {"nvcomp-encode-deflate-determinism", &deflate_determinism},
          {"nvcomp-encode-zstd-huge", &zstd_huge},
          {"nvcomp-encode-deflate-huge", &deflate_huge},
          {"nvcomp-encode-zstd-rates", &zstd_rates},
          {"nvcomp-encode-deflate-rates", &deflate_rates}};
}

}  // namespace terrazzo::gpu::device_test
