// SPDX-License-Identifier: Apache-2.0
//
// nvCOMP's ZSTD encoder on a device: what it writes is read by libzstd and by nvCOMP itself, the bytes of a tile do not
// depend on its batch, and figures.
#include "device_test.hpp"
#include "gpu/runtime/stream.hpp"
#include "gpu/vendor/nvcomp.hpp"
#include "gpu/vendor/nvcomp_encode.hpp"
#include "terrain_tile.hpp"

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
  explicit EncodeRun(std::vector<Bytes const*> const& tiles, std::uint64_t longest = 0) : longest_(longest) {
    Bytes input;
    for (Bytes const* const tile : tiles) {
      input.resize((input.size() + 15) / 16 * 16);
      input_offsets_.push_back(input.size());
      sizes_.push_back(tile->size());
      input.insert(input.end(), tile->begin(), tile->end());
      longest_ = std::max<std::uint64_t>(longest_, tile->size());
      total_ += tile->size();
    }
    bound_ = nvcomp_encode_bound(longest_);
    for (std::size_t i = 0; i < tiles.size(); ++i) { output_offsets_.push_back(i * (bound_ + kGuard)); }
    output_bytes_ = tiles.size() * (bound_ + kGuard);
    input_ = uploaded(input);
    output_ = device_bytes(output_bytes_);
    check_cuda(cudaMemset(output_.get(), static_cast<int>(kPoison), output_bytes_), "poisoning");
    output_sizes_ = device_bytes(tiles.size() * 8);
    statuses_ = device_bytes(tiles.size());
    scratch_bytes_ = nvcomp_encode_scratch_bytes(count(), longest_, total_);
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
    nvcomp_encode(batch, total_, scratch_.get() + 16, scratch_bytes_, stream);
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
    std::size_t const bytes = nvcomp_decode_scratch_bytes(NvcompCodec::zstd, count(), longest_, total_);
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
    nvcomp_decode(NvcompCodec::zstd, tiles, longest_, total_, scratch.get(), bytes, stream.get());
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
  std::uint64_t longest_, bound_ = 0, total_ = 0, output_bytes_ = 0;
  std::vector<std::uint64_t> input_offsets_, sizes_, output_offsets_;
  Device input_, output_, output_sizes_, statuses_, scratch_, device_arrays_[3];
  std::size_t scratch_bytes_ = 0;
};

// By libzstd in small pieces, as libtiff reads.
bool host_decodes(Bytes const& stream, Bytes const& raw) {
  constexpr std::size_t kPiece = 1000;
  Bytes out(raw.size() + 1);
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
  return left == 0 && target.pos == raw.size() && std::memcmp(out.data(), raw.data(), raw.size()) == 0;
}

bool round_trip(std::vector<std::size_t> const& sizes) {
  std::vector<Bytes> raw;
  for (std::size_t const size : sizes) {
    for (Content const kind : {Content::terrain, Content::zeros, Content::noise}) {
      raw.push_back(content(kind, size, size + raw.size()));
    }
    raw.emplace_back();  // a sparse one between others
  }
  std::vector<Bytes const*> tiles;
  for (Bytes const& tile : raw) { tiles.push_back(&tile); }
  EncodeRun run(tiles);
  Encoded const encoded = run.run();
  bool right = encoded.kept_to_its_places;
  if (!right) { std::printf("  bytes outside the places were written, or tiles that are not ok have a size\n"); }
  for (std::size_t i = 0; i < raw.size(); ++i) {
    bool const good = raw[i].empty()
                          ? encoded.statuses[i] == TileStatus::sparse && encoded.streams[i].empty()
                          : encoded.statuses[i] == TileStatus::ok && host_decodes(encoded.streams[i], raw[i]);
    if (!good) {
      std::printf("  tile %zu of %zu bytes: status %d, %zu encoded\n", i, raw[i].size(),
                  static_cast<int>(encoded.statuses[i]), encoded.streams[i].size());
    }
    right &= good;
  }
  std::string const title = "zstd, tiles up to " + std::to_string(sizes.back()) + " bytes";
  bool const passed = report(right, title + ": libzstd reads what was encoded");
  return report(run.decodes_to_its_input(), title + ": nvCOMP reads what it encoded") && passed;
}

bool round_trips() {
  bool passed = round_trip({1, 2, 7, 15, 16, 17, 1000, 65'535, 65'536});
  passed &= round_trip({1 << 20});
  return round_trip({3, 70'001, 4 << 20}) && passed;
}

// A tile longer than the vendor's manual speaks of.
bool huge() { return round_trip({nvcomp_encode_longest_tile_bytes()}); }

// The bytes of one tile alone against those in other batches, at other positions, in other runs.
bool same_bytes(std::size_t size) {
  Bytes const tile = content(Content::terrain, size, 1);
  Bytes const others[] = {content(Content::noise, size, 2), content(Content::zeros, size, 3),
                          content(Content::terrain, size, 4), Bytes()};
  Bytes const reference = EncodeRun({&tile}).run().streams[0];
  bool same = !reference.empty();
  for (std::size_t const count : {1u, 3u, 64u}) {
    for (std::size_t const position : {std::size_t{0}, count / 2, count - 1}) {
      std::vector<Bytes const*> tiles(count);
      for (std::size_t i = 0; i < count; ++i) { tiles[i] = i == position ? &tile : &others[(i + count) % 4]; }
      EncodeRun run(tiles);
      for (int repeat = 0; repeat < 2; ++repeat) { same &= run.run().streams[position] == reference; }
    }
  }
  std::string const title = "zstd, " + std::to_string(size >> 10) + " KiB";
  bool const passed = report(same, title + ": a tile's bytes do not depend on its batch");
  Bytes const larger = content(Content::terrain, 2 * size + 48, 5);
  EncodeRun mixed({&tile, &larger});
  EncodeRun told({&tile}, 4 * size);
  return report(mixed.run().streams[0] == reference && told.run().streams[0] == reference,
                title + ": nor on the longest tile of its batch") &&
         passed;
}

bool determinism() {
  bool passed = true;
  for (std::size_t const size : {std::size_t{65'536}, std::size_t{1} << 18, std::size_t{1} << 20}) {
    passed &= same_bytes(size);
  }
  return passed;
}

// Tiles that never reach nvCOMP, among good ones.
bool bad_among_good() {
  Bytes const good = content(Content::terrain, 16'384, 7);
  std::vector<Bytes const*> const tiles(100, &good);
  EncodeRun run(tiles);
  run.output_offset(3) += 1;  // as good a place: nvCOMP wants no alignment of a frame
  run.input_offset(50) += 2;
  run.size(51) = 0;
  run.size(98) = good.size() + 1;
  Encoded const encoded = run.run();
  bool right = encoded.kept_to_its_places;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    TileStatus const expected = i == 51 ? TileStatus::sparse : i == 50 || i == 98 ? TileStatus::failed : TileStatus::ok;
    bool const fits =
        encoded.statuses[i] == expected && (expected != TileStatus::ok || host_decodes(encoded.streams[i], good));
    if (!fits) { std::printf("  tile %zu: status %d\n", i, static_cast<int>(encoded.statuses[i])); }
    right &= fits;
  }
  return report(right, "zstd: bad tiles are reported, their neighbours are right");
}

// 256 MiB of terrain.
bool rates() {
  constexpr std::size_t kDistinct = 16, kCount = 256;
  std::vector<Bytes> raw(kDistinct);
  parallel(kDistinct, [&](std::size_t i) { raw[i] = terrain_tile(512, i + 1); });
  std::vector<Bytes const*> tiles(kCount);
  for (std::size_t i = 0; i < kCount; ++i) { tiles[i] = &raw[i % kDistinct]; }
  double const total = static_cast<double>(raw[0].size()) * kCount;
  EncodeRun run(tiles);
  Encoded const encoded = run.run();
  double bytes = 0;
  for (Bytes const& stream : encoded.streams) { bytes += static_cast<double>(stream.size()); }
  StreamHandle const stream = make_stream();
  double const ms = best_ms(3, [&] { run.start(stream.get()); });
  std::printf("  %8.2f ms, %6.1f GB/s in, ratio %.3f, scratch %.1f MB\n", ms, total / ms / 1e6, total / bytes,
              static_cast<double>(run.scratch_bytes()) / 1e6);
  return true;
}

}  // namespace

std::vector<Part> nvcomp_encode_parts() {
  return {{"nvcomp-encode-bad", &bad_among_good},
          {"nvcomp-encode-round-trips", &round_trips},
          {"nvcomp-encode-determinism", &determinism},
          {"nvcomp-encode-huge", &huge, 150, true},
          {"nvcomp-encode-rates", &rates}};
}

}  // namespace terrazzo::gpu::device_test
