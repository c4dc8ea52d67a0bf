// SPDX-License-Identifier: Apache-2.0
//
// liblerc is the oracle: its encoder for the bytes, its decoder for the samples.
#include "codec/lerc/blob.hpp"

#include "codec/registry/libraries.hpp"
#include "codec/support.hpp"

#if TERRAZZO_HAVE_LERC

#include <Lerc_c_api.h>

#include <cmath>
#include <concepts>
#include <limits>

namespace terrazzo::codec::testing {
namespace {

template <class T>
constexpr unsigned kType = std::same_as<T, std::int8_t>     ? 0
                           : std::same_as<T, std::uint8_t>  ? 1
                           : std::same_as<T, std::int16_t>  ? 2
                           : std::same_as<T, std::uint16_t> ? 3
                           : std::same_as<T, std::int32_t>  ? 4
                           : std::same_as<T, std::uint32_t> ? 5
                           : std::same_as<T, float>         ? 6
                                                            : 7;

template <class T>
struct Scene {
  std::uint32_t width = 1, height = 1, depth = 1;
  std::vector<T> samples;
  Bytes valid{};

  [[nodiscard]] LercPicture picture() const {
    return {kType<T>, width, height, depth, std::as_bytes(std::span(samples)), valid};
  }
  [[nodiscard]] bool is_valid(std::size_t sample) const {
    return valid.empty() || valid[sample / depth] != std::byte{0};
  }
};

template <class T>
Bytes encode(Scene<T> const& scene, double max_error, LercCode code = LercCode::fastest) {
  LercPicture const picture = scene.picture();
  Bytes blob(lerc_blob_room(picture), std::byte{0xA5});
  blob.shrink_to_fit();
  std::size_t const size = encode_lerc_blob(picture, max_error, false, blob, code);
  EXPECT_LE(size, lerc_blob_bound(picture.pixels(), picture.depth, sizeof(T)));
  blob.resize(size);
  return blob;
}

template <class T>
Bytes encode_by_liblerc(Scene<T> const& scene, double max_error) {
  Bytes blob(2 * scene.samples.size() * sizeof(T) + scene.valid.size() + 8 * scene.depth + 1000);
  unsigned size = 0;
  EXPECT_EQ(lerc_encodeForVersion(
                scene.samples.data(), 4, kType<T>, static_cast<int>(scene.depth), static_cast<int>(scene.width),
                static_cast<int>(scene.height), 1, scene.valid.empty() ? 0 : 1,
                reinterpret_cast<unsigned char const*>(scene.valid.data()), max_error,
                reinterpret_cast<unsigned char*>(blob.data()), static_cast<unsigned>(blob.size()), &size),
            0U);
  blob.resize(size);
  return blob;
}

template <class T>
std::vector<T> decode(Scene<T> const& scene, Bytes const& blob) {
  std::vector<T> samples(scene.samples.size());
  Bytes valid(std::size_t{scene.width} * scene.height, std::byte{1});
  EXPECT_EQ(lerc_decode(reinterpret_cast<unsigned char const*>(blob.data()), static_cast<unsigned>(blob.size()), 1,
                        reinterpret_cast<unsigned char*>(valid.data()), static_cast<int>(scene.depth),
                        static_cast<int>(scene.width), static_cast<int>(scene.height), 1, kType<T>, samples.data()),
            0U);
  for (std::size_t i = 0; i < valid.size(); ++i) {
    EXPECT_EQ(valid[i] != std::byte{0}, scene.is_valid(i * scene.depth)) << "pixel " << i;
  }
  return samples;
}

// What the decoder's sum, from a sample of the block up, adds by being a double, and its outcome by being a T.
template <class T>
double rounding(Scene<T> const& scene, double max_error) {
  double largest = max_error;
  for (T const sample : scene.samples) { largest = std::max(largest, std::fabs(static_cast<double>(sample))); }
  return 2 * largest *
         (std::floating_point<T> ? static_cast<double>(std::numeric_limits<T>::epsilon())
                                 : std::numeric_limits<double>::epsilon());
}

enum class Expect : std::uint8_t { same_bytes, same_samples };

template <class T>
void expect_liblercs(Scene<T> const& scene, double max_error, Expect expect) {
  Bytes const ours = encode(scene, max_error);
  ASSERT_EQ(ours, encode(scene, max_error, LercCode::portable));
  Bytes const theirs = encode_by_liblerc(scene, max_error);
  if (expect == Expect::same_bytes) {
    ASSERT_EQ(ours, theirs);
  } else {
    ASSERT_LE(ours.size(), theirs.size() + theirs.size() / 100 + 16);
  }
  std::vector<T> const back = decode(scene, ours);
  double const allowed = max_error + rounding(scene, max_error);
  for (std::size_t i = 0; i < back.size(); ++i) {
    if (!scene.is_valid(i)) { continue; }
    auto const was = static_cast<double>(scene.samples[i]), is = static_cast<double>(back[i]);
    if (was == is) { continue; }
    ASSERT_LE(std::fabs(was - is), allowed) << "sample " << i;
  }
}

template <class T>
T clamped(double value) {
  if constexpr (std::floating_point<T>) {
    return static_cast<T>(value);
  } else {
    return static_cast<T>(std::clamp(std::floor(value), static_cast<double>(std::numeric_limits<T>::lowest()),
                                     static_cast<double>(std::numeric_limits<T>::max())));
  }
}

std::uint32_t below(std::mt19937& generator, std::uint32_t end) {
  return static_cast<std::uint32_t>(generator() % end);
}

enum class Kind : std::uint8_t { waves, noise, few, constant, steps, decimals, any_bits, runs, zeros, count };

// Bits of any kind, NaN aside, which has its place in the mask.
template <class T>
T any_bits(std::mt19937& generator) {
  std::uint64_t const bits = std::uint64_t{generator()} << 32 | generator();
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value == value ? value : T{};
}

template <class T>
Scene<T> make_scene(std::mt19937& generator, Kind kind, std::uint32_t width, std::uint32_t height,
                    std::uint32_t depth) {
  Scene<T> scene{width, height, depth, {}, {}};
  double const scale = std::pow(10.0, static_cast<int>(generator() % 9) - 3);
  double const base = static_cast<double>(generator() % 3) * (std::numeric_limits<T>::is_signed ? -1000.0 : 1000.0);
  for (std::size_t i = 0; i < std::size_t{width} * height * depth; ++i) {
    auto const x = static_cast<double>(i / depth % width), y = static_cast<double>(i / depth / width);
    bool const rarely = generator() % 40 == 0;
    T value{};
    switch (kind) {
      case Kind::waves:
        value = clamped<T>(base + scale * (std::sin(x / 9) + std::cos(y / 7)) + static_cast<double>(i % depth));
        break;
      case Kind::noise: value = clamped<T>(base + scale * (static_cast<double>(generator() % 1000) / 500 - 1)); break;
      case Kind::few: value = clamped<T>(base + scale * static_cast<double>(generator() % 4)); break;
      case Kind::constant: value = clamped<T>(base + scale); break;
      case Kind::steps: value = clamped<T>(base + scale * (std::floor(x / 5) + (rarely ? 7 : 0))); break;
      case Kind::decimals: value = clamped<T>(std::round(base + 100 * scale * std::sin(x / 9 + y / 5)) / 10); break;
      case Kind::any_bits: value = any_bits<T>(generator); break;
      case Kind::runs: value = i != 0 && generator() % 9 != 0 ? scene.samples.back() : clamped<T>(scale * x); break;
      case Kind::zeros:
        value = x < width / 2.0 ? T{} : (rarely ? clamped<T>(-0.0) : clamped<T>(base + scale * x));
        break;
      case Kind::count: break;
    }
    scene.samples.push_back(value);
  }
  return scene;
}

template <class T>
void add_mask(Scene<T>& scene, std::mt19937& generator) {
  std::uint32_t const pattern = below(generator, 8);
  if (pattern > 3) { return; }
  scene.valid.assign(std::size_t{scene.width} * scene.height, std::byte{1});
  for (std::size_t i = 0; i < scene.valid.size(); ++i) {
    bool const hole = pattern == 0   ? generator() % 2 == 0
                      : pattern == 1 ? (i % scene.width) * 3 < scene.width + i / scene.width
                      : pattern == 2 ? i % 97 == 0
                                     : true;
    if (hole) { scene.valid[i] = std::byte{0}; }
  }
}

template <class T>
class LercBlob : public ::testing::Test {};
using AllTypes = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                                  float, double>;
TYPED_TEST_SUITE(LercBlob, AllTypes);

// Of bytes that keep their value the Huffman codes may differ.
template <class T>
Expect expectation(double max_error) {
  return sizeof(T) == 1 && max_error < 1 ? Expect::same_samples : Expect::same_bytes;
}

TYPED_TEST(LercBlob, IsLiblercsForScenesOfEveryKind) {
  std::mt19937 generator(11);
  for (int round = 0; round < 60; ++round) {
    for (std::uint8_t kind = 0; kind < static_cast<std::uint8_t>(Kind::count); ++kind) {
      std::uint32_t const depth = below(generator, 3) == 0 ? 1 + below(generator, 4) : 1;
      auto scene = make_scene<TypeParam>(generator, static_cast<Kind>(kind), 1 + below(generator, 70),
                                         1 + below(generator, 70), depth);
      add_mask(scene, generator);
      constexpr double kErrors[] = {0, 0.01, 0.5, 1, 0.001, 2.7, 1e-6, 100, 0.3, 1e-30, 3};
      double const max_error = kErrors[generator() % std::size(kErrors)];
      SCOPED_TRACE(::testing::Message() << "round " << round << ", kind " << int{kind} << ", " << scene.width << " x "
                                        << scene.height << " x " << depth << ", error " << max_error);
      expect_liblercs(scene, max_error, expectation<TypeParam>(max_error));
      if (this->HasFatalFailure()) { return; }
    }
  }
}

TYPED_TEST(LercBlob, IsLiblercsForEverySmallSize) {
  std::mt19937 generator(12);
  for (std::uint32_t width = 1; width <= 35; ++width) {
    for (std::uint32_t height = 1; height <= 35; height += 1 + below(generator, 2)) {
      auto scene = make_scene<TypeParam>(generator, Kind::waves, width, height, 1);
      SCOPED_TRACE(::testing::Message() << width << " x " << height);
      expect_liblercs(scene, 0.01, expectation<TypeParam>(0.01));
      if (this->HasFatalFailure()) { return; }
    }
  }
}

// Flat scenes are stored in blocks of 16, of which the lines are long enough here.
TYPED_TEST(LercBlob, IsLiblercsForLargeFlatScenes) {
  std::mt19937 generator(13);
  for (Kind const kind : {Kind::runs, Kind::steps, Kind::zeros}) {
    Scene<TypeParam> scene = make_scene<TypeParam>(generator, Kind::constant, 200, 137, 1);
    auto const marks = make_scene<TypeParam>(generator, kind, 200, 137, 1);
    for (std::size_t i = 0; i < 3000; ++i) { scene.samples[i] = marks.samples[i]; }
    expect_liblercs(scene, 1, expectation<TypeParam>(1));
    if (this->HasFatalFailure()) { return; }
  }
}

TYPED_TEST(LercBlob, TakesSamplesOfAnyAlignment) {
  std::mt19937 generator(14);
  auto const scene = make_scene<TypeParam>(generator, Kind::waves, 33, 21, 2);
  Bytes shifted(scene.samples.size() * sizeof(TypeParam) + 1);
  std::memcpy(shifted.data() + 1, scene.samples.data(), shifted.size() - 1);
  LercPicture picture = scene.picture();
  Bytes const expected = encode(scene, 0.5);
  picture.samples = std::span<std::byte const>(shifted).subspan(1);
  Bytes blob(lerc_blob_room(picture));
  blob.resize(encode_lerc_blob(picture, 0.5, false, blob));
  EXPECT_EQ(blob, expected);
}

template <class T>
void expect_signs_kept(std::vector<T> const& samples) {
  Scene<T> const scene{static_cast<std::uint32_t>(samples.size()), 1, 1, samples, {}};
  EXPECT_EQ(encode(scene, 0), encode_by_liblerc(scene, 0));
}

TEST(LercBlobOfFloats, TellsTheZerosApartAsLiblercDoes) {
  expect_signs_kept<float>({-0.0F, -0.0F});
  expect_signs_kept<float>({0.0F, -0.0F});
  expect_signs_kept<float>({5, -0.0F, 0.0F, 7});
  expect_signs_kept<float>({-5, 0.0F, -0.0F, -7});
  expect_signs_kept<double>({-0.0, 0.0, 3});
}

TEST(LercBlobOfFloats, TakesInfinitiesDenormalsAndTheLargest) {
  using Limits = std::numeric_limits<float>;
  for (double const max_error : {0.0, 1e-40, 0.01, 1e30}) {
    Scene<float> scene{32, 9, 1, std::vector<float>(32 * 9, 1.25F), {}};
    for (std::size_t i = 0; i < 8; ++i) { scene.samples[i * 32] = Limits::infinity(); }
    scene.samples[8] = -Limits::infinity();
    scene.samples[16] = Limits::max();
    scene.samples[17] = Limits::lowest();
    scene.samples[24] = Limits::denorm_min();
    SCOPED_TRACE(max_error);
    expect_liblercs(scene, max_error, Expect::same_bytes);
    for (float const infinity : {Limits::infinity(), -Limits::infinity()}) {
      std::ranges::fill(scene.samples, infinity);
      expect_liblercs(scene, max_error, Expect::same_bytes);
    }
  }
}

TEST(LercBlobOfFloats, KeepsWithinTheErrorWhatIsOnlyJustNotADecimal) {
  std::mt19937 generator(15);
  Scene<double> scene{64, 64, 1, {}, {}};
  for (std::size_t i = 0; i < 64 * 64; ++i) {
    scene.samples.push_back(static_cast<double>(generator() % 1000) +
                            (static_cast<double>(generator() % 100) - 50) / 1e4);
  }
  expect_liblercs(scene, 0.01, Expect::same_bytes);
  scene.samples[4000] += 0.3;
  expect_liblercs(scene, 0.01, Expect::same_bytes);
}

TEST(LercBlobOfBytes, IsNoLongerThanLiblercsForPictures) {
  for (std::uint32_t const depth : {1U, 3U}) {
    Scene<std::uint8_t> scene{256, 256, depth, {}, {}};
    std::mt19937 generator(16);
    for (std::size_t i = 0; i < std::size_t{256} * 256 * depth; ++i) {
      std::size_t const x = i / depth % 256, y = i / depth / 256;
      double const light = 128 + 60 * std::sin(static_cast<double>(x) / 20) * std::cos(static_cast<double>(y) / 31);
      scene.samples.push_back(clamped<std::uint8_t>(light + static_cast<double>(generator() % 9)));
    }
    Bytes const ours = encode(scene, 0), theirs = encode_by_liblerc(scene, 0);
    EXPECT_LE(ours.size(), theirs.size() + theirs.size() / 500);
    EXPECT_EQ(decode(scene, ours), scene.samples);
  }
}

TEST(LercBlobMask, IsLeftOutWhereItIsKnown) {
  std::mt19937 generator(17);
  auto scene = make_scene<float>(generator, Kind::waves, 40, 40, 1);
  scene.valid.assign(1600, std::byte{1});
  for (std::size_t i = 0; i < 1600; i += 3) { scene.valid[i] = std::byte{0}; }
  LercPicture const picture = scene.picture();
  Bytes with(lerc_blob_room(picture)), without(lerc_blob_room(picture));
  std::size_t const with_size = encode_lerc_blob(picture, 0.01, false, with);
  EXPECT_LT(encode_lerc_blob(picture, 0.01, true, without), with_size - 100);
}

TEST(LercBlobRoom, IsNoneForWhatTheFormatCannotHold) {
  LercPicture const picture{.type = 6, .width_px = 40'000, .height_px = 40'000};
  EXPECT_EQ(lerc_blob_room(picture), 0U);
}

}  // namespace
}  // namespace terrazzo::codec::testing

#endif
